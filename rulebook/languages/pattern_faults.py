"""What is wrong with a pattern, or likely not meant: its mistakes, and what searching for it can cost."""

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

from rulebook.languages.faults import Fault, Shown
from rulebook.languages.pattern_compiled import compiled, flags_of
from rulebook.languages.pattern_cost import Cost, cost_of
from rulebook.languages.pattern_pieces import Piece, depth, pieces, repeated

MAX_DEPTH = 40
"""Groups within groups: above this Python's own parser may run out of stack."""


@lru_cache(maxsize=2048)
def errors_of(text: str, flags: str, engine: str) -> tuple[Fault, ...]:
    """What keeps a pattern from being used: a mistake, groups too deep, or searches that can take forever."""
    deep = depth(text) if text.count("(") > MAX_DEPTH else 0
    if deep > MAX_DEPTH:
        return (Fault("RB706", {"what": "pattern", "count": deep, "parts": "groups in groups", "limit": MAX_DEPTH}),)
    if engine == "re2":
        from rulebook.languages.pattern_re2 import faults_for_re2  # only what is for re2 pays for it

        return faults_for_re2(text, flags)
    try:
        compiled(text, flags)
    except re.error as error:
        return (_mistake(error.msg, text, error.pos),)
    except (OverflowError, RecursionError) as error:
        return (_mistake(str(error), text, None),)
    return (_endless(text, flags),) if _cost(text, flags).endless else ()


def is_linear(text: str, flags: str) -> bool:
    """Whether it is proved that no search with Python's engine takes more than linear time."""
    cost = _known_cost(text, flags)
    return cost.degree == 1 and cost.ways <= 100


def most_steps(text: str, flags: str, characters: int) -> int | None:
    """The most steps that a search of so many characters takes; None where nothing is proved."""
    cost = _known_cost(text, flags)
    return None if cost.degree is None else cost.ways * max(characters, 1) ** cost.degree


@lru_cache(maxsize=2048)
def warnings_of(text: str, flags: str, engine: str) -> tuple[Fault, ...]:
    """What works and is likely not what was meant: RB126, RB421, RB422, RB423, RB426, RB705."""
    return tuple(_warnings(text, flags, engine))


def _mistake(message: str, text: str, position: int | None) -> Fault:
    from rulebook.languages.pattern_words import in_words  # 33 patterns, for what is wrong

    start = min(position or 0, max(len(text) - 1, 0))
    end = None if position is None else min(start + 1, len(text))
    return Fault("RB420", {"at": start + 1, "sentence": in_words(message)}, start, end)


def _endless(text: str, letters: str) -> Fault:
    flags = int(compiled(text, letters).flags)
    for start, end in repeated(text, verbose="x" in letters):
        part = text[start:end]
        try:
            # With the text's end demanded behind the part, every way through it is tried.
            cost = cost_of(f"(?:{part})\\Z", flags)
        except (re.error, OverflowError, RecursionError):
            continue
        if cost.endless:
            return Fault("RB704", {"part": part, "hint": _KEEP_ONE}, start, end)
    return Fault("RB704", {"part": text, "hint": _KEEP_ONE})


def _cost(text: str, flags: str) -> Cost:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cost_of(text, flags_of(flags))


@lru_cache(maxsize=1024)
def _known_cost(text: str, flags: str) -> Cost:
    """The cost in Python's engine; nothing is known of what only re2 can read."""
    try:
        return _cost(text, flags)
    except (re.error, OverflowError, RecursionError):
        return Cost()


def _warnings(text: str, flags: str, engine: str) -> Iterator[Fault]:
    slashes = _slashes(text)
    if slashes is not None:
        yield slashes
        return
    verbose = "x" in flags
    if text.endswith("\n") and not verbose:
        mended = text.rstrip("\n")
        yield Fault("RB126", start=len(mended), mended=mended)
    cost = _known_cost(text, flags)
    if cost.always:
        yield Fault("RB421")
    written = list(pieces(text, verbose=verbose))
    yield from _loose_dots(text, written)
    yield from _anchors(text, flags, engine, written)
    if cost.slow and engine == "python":
        yield Fault("RB705", {"why": _SLOW[cost.slow]})


def _slashes(text: str) -> Fault | None:
    """`/done/i`: a pattern as JavaScript writes it. A word between two slashes may be a folder, and is none."""
    found = re.fullmatch(r"/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([dgimsuvy]{0,6})", text)
    if found is None or not (found[2] or re.search(r"[\\^$*+?{}\[\]()|\s]", found[1])):
        return None
    inside = found[1].replace("\\/", "/")
    letters = [letter for letter in found[2] if letter in "ims"]
    flags = Shown(letters, "flags", " and `{}`") if letters else ""
    words = {"pattern": Shown(inside, quotes=True), "flags": flags}
    return Fault("RB426", words, mended=None if letters else inside)


_KEEP_ONE = (
    "A repeat stands inside a repeat over the same characters; keep one, or part them by a sign that neither matches."
)
_SLOW = {
    "side by side": "two repeats side by side match the same characters; make one of them match fewer",
    "leading": "it begins with a repeat, which is tried again from every character; "
    "a search starts anywhere, so leave the repeat out, or write one in its place (`\\s` for `\\s+`)",
}


def _loose_dots(text: str, written: list[Piece]) -> Iterator[Fault]:
    loose = [
        dot.start
        for before, dot, after in zip(written, written[1:], written[2:], strict=False)
        if dot.text == "." and before.text in _DIGITS and after.text in _DIGITS
    ]
    if not loose:
        return
    start, end = loose[0], loose[0] + 1
    while start > 0 and text[start - 1] in _DIGITS | {"."}:
        start -= 1
    while end < len(text) and text[end] in _DIGITS | {"."}:
        end += 1
    value = text[start:end]
    mended = "".join("\\." if position in loose else one for position, one in enumerate(text))
    words = {"value": value, "other": value.replace(".", "x"), "example": value.replace(".", "\\.")}
    yield Fault("RB422", words, start, end, mended=mended)


_DIGITS = set("0123456789")


def _anchors(text: str, flags: str, engine: str, written: list[Piece]) -> Iterator[Fault]:
    """`^` or `$` alone, or in the middle: who means the whole text writes both, or `\\A` and `\\z`."""
    if "m" in flags or any(piece.kind in {"flags", "open"} and "m" in piece.text for piece in written):
        return
    anchors = [piece for piece in written if piece.kind == "other" and piece.text in "^$"]
    beginnings = [piece for piece in anchors if piece.text == "^"]
    both_ends = len(beginnings) == 1 == len(anchors) - len(beginnings)
    if not anchors or (both_ends and {anchors[0].start, anchors[-1].end} == {0, len(text.rstrip("\n"))}):
        return
    whole = {"^": "\\A", "$": "\\z" if engine == "re2" else "\\Z"}[anchors[0].text]
    help = f"If you mean the whole text, write `{whole}`, which always means that."
    yield Fault("RB423", {"anchor": anchors[0].text}, anchors[0].start, anchors[0].end, help)
