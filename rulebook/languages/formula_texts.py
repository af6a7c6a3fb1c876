"""Words without quotes that were meant as text: `end_reason == finished`, `model is gpt-4`."""

import re
from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from rulebook.languages.faults import Fault, Shown
from rulebook.languages.formula_advice import Text
from rulebook.languages.formula_terms import Term
from rulebook.languages.types import RecordOf, Scalar, Type
from rulebook.spelling import nearest

_WORD = r"[^\W\d]\w*(?:[-./]\w+)*"
_NO_TEXT = frozenset(("true", "false", "null", "none"))


def is_bare_text(written: str) -> bool:
    """Whether what was written is one name without fields, or a word with hyphens, as `gpt-4` is."""
    return re.fullmatch(_WORD, written) is not None and (written.isidentifier() or "-" in written)


def bare_text(text: Text, term: Term, others: Sequence[Type], record: RecordOf) -> Fault | None:
    """RB403 for an unknown `term` that stands beside `others`, with quotes round it; None when no text was meant."""
    written = text.of(term)
    beside = next((kind for kind in others if isinstance(kind, Scalar) and kind.name == "text"), None)
    if beside is None or not is_bare_text(written) or _is_near_a_text(written, record):
        return None
    quote = _quote_at(text, term.start)
    meant = nearest(written, beside.choices) if beside.choices else written
    new = f"{quote}{meant or next(iter(beside.choices))}{quote}"
    says = f" If it is text, put it in quotes: `{new}`."
    mended = f"{text.whole[: term.start]}{new}{text.whole[term.end :]}" if meant else None
    words = {"field": written, "place": record.place, "guess": says}
    return Fault("RB403", words, term.start, term.end, mended=mended)


def side_of_is(written: str, quote: str) -> str:
    """The right side of `x is y`, with quotes round it where it is one word."""
    if written.lower() in ("true", "false"):
        return written.lower()
    return f"{quote}{written}{quote}" if is_bare_text(written) and written.lower() not in _NO_TEXT else written


def without_flags(fault: Fault) -> Fault:
    """A fault of a pattern (RB426) as an expression needs it, where no `flags` stand beside a pattern."""
    pattern, flags = fault.words.get("pattern"), fault.words.get("flags")
    if fault.code != "RB426" or not isinstance(pattern, Shown) or not isinstance(flags, Shown):
        return fault
    inline = f"(?{''.join(map(str, cast('list[str]', flags.data)))}){pattern.data}"
    return replace(fault, words={"pattern": replace(pattern, data=inline), "flags": ""}, mended=inline)


def word_around(text: str, place: int) -> tuple[int, int] | None:
    """Where a word with hyphens such as `gpt-4o` stands that holds `place`; None when none does."""
    found = next((f for f in re.finditer(_WORD, text) if f.start() <= place < f.end()), None)
    return found.span() if found and "-" in found.group() else None


def _is_near_a_text(written: str, record: RecordOf) -> bool:
    """Whether it is more likely a misspelt field that holds a text."""
    texts = [name for name, kind in record.fields.items() if isinstance(kind, Scalar) and kind.name == "text"]
    return nearest(written, texts) is not None


def _quote_at(text: Text, place: int) -> str:
    """The quote that can stand at `place`: the other one than that around it."""
    if not text.quoted:
        return "'"
    around = ""
    for sign in text.whole[:place]:
        if sign in "'\"" and around in ("", sign):
            around = "" if around else sign
    return "'" if around == '"' else '"'
