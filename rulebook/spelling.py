"""Did you mean: the one name that a misspelt word most likely stands for."""

from collections.abc import Iterable


def nearest(word: str, options: Iterable[str]) -> str | None:
    """The option that `word` most likely means, or None when none is near.

    Spelling that differs only in case, `_`, `-`, `.` or spaces comes first, then a shared word
    (`reson` finds `end_reason`), then overall likeness.
    """
    names = list(dict.fromkeys(options))
    plain = {_plain(name): name for name in reversed(names)}
    if _plain(word) in plain:
        return plain[_plain(word)]
    import difflib  # a problem is rare, and this import is paid at start-up otherwise

    close = difflib.get_close_matches(_plain(word), list(plain), n=1, cutoff=0.6)
    parts = {part: name for name in reversed(names) for part in _words(name) if len(part) > 3}
    shared = difflib.get_close_matches(_plain(word), list(parts), n=1, cutoff=0.8)
    best_whole = difflib.SequenceMatcher(None, _plain(word), close[0]).ratio() if close else 0.0
    best_part = difflib.SequenceMatcher(None, _plain(word), shared[0]).ratio() if shared else 0.0
    if shared and best_part > best_whole:
        return parts[shared[0]]
    return plain[close[0]] if close else None


def guess(word: str, options: Iterable[str], *, list_up_to: int = 8) -> str:
    """What to say after "I don't know `word`.": a leading space, then the guess, the choices, or nothing."""
    names = list(dict.fromkeys(options))
    best = nearest(word, names)
    if best is not None:
        return f" Did you mean `{best}`?"
    if len(names) == 1:
        return f" There is only `{names[0]}`."
    if 0 < len(names) <= list_up_to:
        return f" Choose one of {listed(names)}."
    return ""


def listed(names: Iterable[str]) -> str:
    """Names in backticks, joined by commas: `a`, `b`, `c`."""
    return ", ".join(f"`{name}`" for name in names)


def _plain(word: str) -> str:
    return "".join(c for c in word.casefold() if c.isalnum())


def _words(name: str) -> list[str]:
    return [part for part in name.casefold().replace("-", "_").replace(".", "_").split("_") if part]
