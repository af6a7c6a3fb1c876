"""Which of the expected texts stand in a text."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, get_args

from rulebook.measures.texts import as_text

Mode = Literal["all", "any", "fraction"]
MODES: tuple[Mode, ...] = get_args(Mode)


class ContainsOptions(NamedTuple):
    """How much of what is expected must be there, and whether case matters."""

    mode: Mode = "all"
    case_insensitive: bool = False


def contains_score(candidate: str, reference: str, options: ContainsOptions) -> tuple[float, dict[str, list[str]]]:
    """The score, 0..1, and which of the texts were found. Where nothing is asked for, `all` of it is.

    Source: scorers, contains.
    """
    return needles_score(candidate, needles(reference), options)


def needles_score(candidate: str, wanted: list[str], options: ContainsOptions) -> tuple[float, dict[str, list[str]]]:
    """The same where what is asked for is known."""
    mode, case_insensitive = options
    if case_insensitive:
        candidate, wanted = candidate.casefold(), [needle.casefold() for needle in wanted]
    matched: list[str] = []
    missing: list[str] = []
    for needle in wanted:
        (matched if needle in candidate else missing).append(needle)
    if mode == "all":
        score = 0.0 if missing else 1.0
    elif mode == "any":
        score = 1.0 if matched else 0.0
    else:
        score = len(matched) / len(wanted) if wanted else 0.0
    return score, {"matched": matched, "missing": missing}


def needles(reference: str) -> list[str]:
    """The texts that `reference` asks for: the entries of a JSON list or the text itself, but empty ones.

    An entry that is no text is looked for as the list spells it, so that `[true, 3.00]` looks for `true` and `3.00`.
    """
    text = reference.strip()
    entries = _entries(text) if text.startswith("[") else None
    if entries is None:
        return [text] if text else []
    return [stripped for entry in entries if (stripped := entry.strip())]


def needles_in(value: object) -> list[str]:
    """The texts that a column's value asks for."""
    return needles(as_text(value))


def _entries(text: str) -> list[str] | None:
    """The entries of a JSON list; None where it is none."""
    from json import JSONDecoder  # 1 ms, which a plain text does not pay

    # numbers stay as they are spelt, which also keeps the longest of them readable
    reader = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
    try:
        read = reader.decode(text)
        if any(isinstance(entry, bool | list | dict) for entry in read):
            return list(_spelt(text, reader.raw_decode))
    except (ValueError, RecursionError):
        return None
    return [entry or "" for entry in read]


def _spelt(text: str, read: Callable[[str, int], tuple[object, int]]) -> Iterator[str]:
    """The entries of what is known to be a list, those that are no text as they are spelt."""
    at = _next(text, 1)
    while text[at] != "]":
        entry, end = read(text, at)
        yield entry if isinstance(entry, str) else "" if entry is None else text[at:end]
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """Where the next entry begins, or the list ends."""
    while text[at] in " \t\n\r,":
        at += 1
    return at
