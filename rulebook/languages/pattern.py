"""Regular expressions: whose meaning they have, what they can cost, and where they are wrong."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.pattern_cost import Cost, cost_of
from rulebook.languages.pattern_pieces import Piece, depth, pieces, repeated
from rulebook.languages.pattern_re2 import faults_for_re2
from rulebook.languages.pattern_words import in_words
from rulebook.languages.types import Scope

Engine = Literal["python", "re2"]
SEARCH_LIMIT_S = 2.0
"""A search stops after this long whatever the pattern."""

MAX_TEXT_CHARACTERS = 1024 * 1024
"""A search looks at no more than this much text, and the finding says so."""

MAX_PATTERN_CHARACTERS = 10_000
MAX_DEPTH = 40
"""Groups within groups: above this Python's own parser may run out of stack."""

QUICK_STEPS = 5_000_000
"""A search proved to take fewer steps than this needs no time limit: a tenth of a second or so."""

_LETTERS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that has been read. `flags` are letters of `imsx`."""

    text: str
    flags: str = ""
    engine: Engine = "python"

    @property
    def harmless(self) -> bool:
        """Whether it is proved that no search takes more than linear time."""
        cost = _known_cost(self)
        return self.engine == "re2" or (cost.degree == 1 and cost.ways <= 100)

    def quick_on(self, characters: int) -> bool:
        """Whether it is proved that no text of this length takes long."""
        cost = _known_cost(self)
        return self.harmless or (
            cost.degree is not None and cost.ways * max(characters, 1) ** cost.degree <= QUICK_STEPS
        )

    def faults(self, scope: Scope | None = None) -> tuple[Fault, ...]:  # noqa: ARG002
        """What works and is likely not what was meant: RB126, RB421, RB422, RB423, RB705.

        A pattern reads no names, so `scope` changes nothing; it is taken so that patterns are asked like
        other languages.
        """
        return tuple(_warnings(self))


def read_pattern(text: str, flags: str = "", engine: Engine = "python") -> Pattern:
    """Parse a pattern.

    Raises LanguageError for a mistake in it (RB420, RB424), for one that can take forever (RB704), and for one that
    is too long or too deep (RB706).
    """
    pattern = Pattern(text, "".join(sorted(set(flags))), engine)
    faults = _errors(pattern)
    if faults:
        raise LanguageError(*faults)
    return pattern


def flags_of(letters: str) -> int:
    """Python's flags for letters of `imsx`."""
    result = 0
    for letter in letters:
        result |= _LETTERS[letter]
    return result


@lru_cache(maxsize=1024)
def compiled(text: str, flags: str) -> re.Pattern[str]:
    """The pattern in Python's engine. Raises re.error, OverflowError or RecursionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set" speaks of a future Python, and of no mistake
        return re.compile(text, flags_of(flags))


def pattern_from(value: object, flags: str = "", engine: Engine = "python") -> Pattern:
    """What stands in a field, as a pattern. Raises what a field validator may raise, RB127 among it."""
    match value:
        case Pattern():
            return value
        case str():
            try:
                return read_pattern(value, flags, engine)
            except LanguageError as error:
                raise refused(error) from error
        case [str() as inside] if re.fullmatch(r"[\w^-]+", inside):
            fault = Fault("RB127", {"inside": inside}, mended=f"[{inside}]")
            raise refused(LanguageError(fault))
        case _:
            raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text (a pattern)"})


PatternField = Annotated[
    Pattern,
    PlainValidator(lambda value: pattern_from(value)),
    WithJsonSchema({"type": "string", "format": "regex"}),
]
"""A field that holds one pattern, read without flags: a check with `flags` or `engine` reads it again."""


@lru_cache(maxsize=2048)
def _errors(pattern: Pattern) -> tuple[Fault, ...]:
    text = pattern.text
    if len(text) > MAX_PATTERN_CHARACTERS:
        limit = {
            "what": "pattern",
            "count": len(text),
            "parts": "characters",
            "limit": MAX_PATTERN_CHARACTERS,
        }
        return (Fault("RB706", limit),)
    deep = depth(text)
    if deep > MAX_DEPTH:
        return (Fault("RB706", {"what": "pattern", "count": deep, "parts": "groups in groups", "limit": MAX_DEPTH}),)
    if pattern.engine == "re2":
        return faults_for_re2(text, pattern.flags)
    try:
        compiled(text, pattern.flags)
    except re.error as error:
        return (_mistake(error.msg, text, error.pos),)
    except (OverflowError, RecursionError) as error:
        return (_mistake(str(error), text, None),)
    return (_endless(pattern),) if _cost(pattern).endless else ()


def _mistake(message: str, text: str, position: int | None) -> Fault:
    start = min(position or 0, max(len(text) - 1, 0))
    end = None if position is None else min(start + 1, len(text))
    return Fault("RB420", {"at": start + 1, "sentence": in_words(message)}, start, end)


def _endless(pattern: Pattern) -> Fault:
    flags = int(compiled(pattern.text, pattern.flags).flags)
    for start, end in repeated(pattern.text, verbose="x" in pattern.flags):
        part = pattern.text[start:end]
        try:
            # With the text's end demanded behind the part, every way through it is tried.
            cost = cost_of(f"(?:{part})\\Z", flags)
        except (re.error, OverflowError, RecursionError):
            continue
        if cost.endless:
            return Fault("RB704", {"part": part, "hint": _KEEP_ONE}, start, end)
    return Fault("RB704", {"part": pattern.text, "hint": _KEEP_ONE})


def _cost(pattern: Pattern) -> Cost:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cost_of(pattern.text, flags_of(pattern.flags))


def _known_cost(pattern: Pattern) -> Cost:
    """The cost in Python's engine; nothing is known of what only re2 can read."""
    try:
        return _cost(pattern)
    except (re.error, OverflowError, RecursionError):
        return Cost()


def _warnings(pattern: Pattern) -> Iterator[Fault]:
    text, verbose = pattern.text, "x" in pattern.flags
    if text.endswith("\n") and not verbose:
        mended = text.rstrip("\n")
        yield Fault("RB126", start=len(mended), mended=mended)
    cost = _known_cost(pattern)
    if cost.always:
        yield Fault("RB421")
    written = list(pieces(text, verbose=verbose))
    yield from _loose_dots(text, written)
    yield from _anchors(pattern, written)
    if cost.slow and pattern.engine == "python":
        yield Fault("RB705", {"why": _SLOW[cost.slow]})


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


def _anchors(pattern: Pattern, written: list[Piece]) -> Iterator[Fault]:
    """`^` or `$` alone, or in the middle: who means the whole text writes both, or `\\A` and `\\z`."""
    if "m" in pattern.flags or any(piece.kind in {"flags", "open"} and "m" in piece.text for piece in written):
        return
    anchors = [piece for piece in written if piece.kind == "other" and piece.text in "^$"]
    beginnings = [piece for piece in anchors if piece.text == "^"]
    both_ends = len(beginnings) == 1 == len(anchors) - len(beginnings)
    if not anchors or (both_ends and {anchors[0].start, anchors[-1].end} == {0, len(pattern.text.rstrip("\n"))}):
        return
    whole = {"^": "\\A", "$": "\\z" if pattern.engine == "re2" else "\\Z"}[anchors[0].text]
    help = f"If you mean the whole text, write `{whole}`, which always means that."
    yield Fault("RB423", {"anchor": anchors[0].text}, anchors[0].start, anchors[0].end, help)
