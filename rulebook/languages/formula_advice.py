"""The words of what typing finds: what is wrong with an expression, and how it would be right."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from rulebook.languages.faults import Fault
from rulebook.languages.formula_terms import Compare, Literal, Pick, Read, Term
from rulebook.languages.types import ListOf, MapOf, RecordOf, Scalar, Type, described
from rulebook.spelling import guess, listed, nearest

_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null"}
"""Our word for another language's, by its small letters."""


class Lack(NamedTuple):
    """A field that may be missing where it is read: its path as written, and what it is a field of."""

    field: str
    place: str
    start: int
    end: int


class Text:
    """The whole text, and how to mend a stretch of it. `quoted`: the stretch lies inside quotes."""

    def __init__(self, whole: str, *, quoted: bool = False) -> None:
        self.whole, self.quoted = whole, quoted

    def of(self, term: Term) -> str:
        """A term as it was written."""
        return self.whole[term.start : term.end]

    def mended(self, start: int, end: int, new: str) -> str | None:
        """The whole text with `start:end` replaced; None where `new` would break out of quotes."""
        if self.quoted and any(sign in new for sign in "\"'\\"):
            return None
        return f"{self.whole[:start]}{new}{self.whole[end:]}"


def unknown_field(text: Text, term: Read, position: int, place: Type, names: Sequence[str], *, item: bool) -> Fault:
    """RB403, or RB402 for another language's word: `place` has no field of that name."""
    key = term.keys[position]
    start = term.start if position == 0 and term.base is None else term.ends[position] - len(key)
    end = term.ends[position]
    ours = _WORDS.get(key.lower())
    if position == 0 and term.base is None and ours is not None:
        words: dict[str, object] = {"ours": ours, "theirs": key}
        return Fault("RB402", words, start, end, mended=text.mended(start, end, ours), safe=not text.quoted)
    if position == 0 and term.base is None and key in _SOURCES and not item:
        return _source(text, term, key, place)
    best = nearest(key, names)
    says = f" Did you mean `{best}`?" if best else _otherwise(text, term, position, place, names)
    return Fault(
        "RB403",
        {"field": key, "place": described(place), "guess": says},
        start,
        end,
        "An expression in quotes reads the fields of one item, and `params`." if item and position == 0 else "",
        text.mended(start, end, best) if best else None,
    )


def missing_faults(text: Text, term: Term, lacks: Sequence[Lack], under: str | None) -> list[Fault]:
    """RB410 for every field that may be missing in `term`, each with an example that covers them all.

    `under` is the word that joins the condition `term` to others (empty: it stands alone); None: it is none.
    """
    written = f"({text.of(term)})" if isinstance(term, Pick) else text.of(term)
    known = _known(lacks)
    example = f"{written} if {known} else 0" if under is None else f"{known} and {written}"
    mended = text.mended(term.start, term.end, f"({example})" if under in ("or", "not") else example)
    return [
        Fault(
            "RB410",
            {"field": lack.field, "place": _bare(lack.place), "example": example},
            lack.start,
            lack.end,
            mended=mended,
        )
        for lack in lacks
    ]


def not_wanted(text: Text, term: Term, kind: Type, wanted: str) -> Fault:
    """RB408: a value of another kind than its place calls for."""
    names = {"yes or no": "yes or no", "number": "a number", "anything": "one value"}
    words = {"found": described(kind), "wanted": names[wanted], "hint": _hint(text.of(term), kind, wanted)}
    return Fault("RB408", words, term.start, term.end)


def unlike(term: Term, verb: str, left: Type, right: Type, why: str) -> Fault:
    """RB407: two kinds that do not go together."""
    words = {"verb": verb, "left": described(left), "right": described(right), "why": why}
    return Fault("RB407", words, term.start, term.end)


def not_nothing(text: Text, term: Compare, left: Type, right: Type, why: str) -> Fault:
    """RB407: a value is compared with nothing, where it was asked whether it is there."""
    fault = unlike(term, "compares", left, right, why)
    asked = next((part for part in term.parts if isinstance(part, Read)), None)
    if asked is None or len(term.operators) > 1:
        return fault
    new = f"{'not ' if term.operators[0] == '==' else ''}known({text.of(asked)})"
    return replace(fault, mended=text.mended(term.start, term.end, new))


def never_that_word(text: Text, left: Term, literal: Literal, choices: Sequence[str]) -> Fault:
    """RB407: a text that can only be one of a few words is compared with another."""
    word = str(literal.value)
    best = nearest(word, choices)
    why = (
        f"it can only be {listed(sorted(choices))}"
        if best is None
        else f"it is never that, and the nearest that it can be is `{best}`"
    )
    mended = None
    if best is not None:
        mended = f"{text.whole[: literal.start]}{text.of(literal).replace(word, best)}{text.whole[literal.end :]}"
    words = {"verb": "compares", "left": f"`{text.of(left)}`", "right": f"`{word}`", "why": why}
    return Fault("RB407", words, literal.start, literal.end, mended=mended)


def exact_decimal(text: Text, term: Compare, lacks: Sequence[Lack]) -> Fault:
    """RB412: `==` or `!=` with a decimal, and `lacks` among what it compares."""
    left, right = map(text.of, term.parts)
    example = f"{'not ' if term.operators[0] == '!=' else ''}near({left}, {right})"
    example = f"{_known(lacks)} and {example}" if lacks else example
    return Fault("RB412", {"example": example}, term.start, term.end, mended=text.mended(term.start, term.end, example))


def hyphenated(text: Text, term: Term, names: Sequence[str]) -> Fault | None:
    """RB404: `tool-calls` where `tool_calls` was meant; None when it is a subtraction."""
    written = text.of(term)
    if not re.fullmatch(_HYPHENS, written) or all(part.split(".")[0] in names for part in written.split("-")):
        return None
    best = nearest(written.replace("-", "_"), names)
    if best is None:
        return None
    mended = text.mended(term.start, term.end, best)
    return Fault("RB404", {"name": written, "best": best}, term.start, term.end, mended=mended)


def _known(lacks: Sequence[Lack]) -> str:
    return " and ".join(dict.fromkeys(f"known({lack.field})" for lack in lacks))


def _otherwise(text: Text, term: Read, position: int, place: Type, names: Sequence[str]) -> str:
    from rulebook.languages.formula_functions import FUNCTIONS  # only an expression with a call or a mistake needs it

    key, before = term.keys[position], text.whole[term.start : term.ends[position - 1]] if position else ""
    if key in FUNCTIONS and position == 0:
        return f" `{key}` is a function: write `{key}(…)`."
    if key in ("length", "size", "count", "len") and position:
        return f" Write `len({before})`."
    if isinstance(place, ListOf) and position:
        return f' Ask all its items: `any({before}, "…")`.'
    if isinstance(place, Scalar):
        return ""
    inside = next((name for name in _HOLDERS if position == 0 and _holds(place, name, key)), None)
    if inside is not None:
        return f" Write `{inside}.{key}`."
    return guess(key, names, list_up_to=_MOST_FIELDS)


def _holds(place: Type, name: str, key: str) -> bool:
    held = place.fields.get(name) if isinstance(place, RecordOf) else None
    return isinstance(held, RecordOf) and key in held.fields


def _source(text: Text, term: Read, key: str, place: Type) -> Fault:
    """RB403: the name of a text source, which only `from:` knows."""
    says = f" `{key}` is a source for `from:`; in an expression write `{_LAST_TEXT}`."
    words = {"field": key, "place": described(place), "guess": says}
    mended = text.mended(term.start, term.end, _LAST_TEXT) if len(term.keys) == 1 else None
    return Fault("RB403", words, term.start, term.ends[0], mended=mended)


def _hint(written: str, kind: Type, wanted: str) -> str:
    if isinstance(kind, ListOf):
        return f" Count it: `count({written}) > 0`." if wanted == "yes or no" else f" Count it: `count({written})`."
    if isinstance(kind, (RecordOf, MapOf)):
        return " Name one of its fields."
    if wanted == "number":
        return f" Write `1 if {written} else 0`." if kind.name == "yes or no" else ""
    if kind.name == "number":
        return f" Compare it with something, like `{written} > 0`."
    if kind.name == "text":
        return f" Compare it with something, like `{written} == '{next(iter(kind.choices), 'x')}'`."
    return ""


def _bare(place: str) -> str:
    return re.sub(r"^(?:the|an?) ", "", place)


_MOST_FIELDS = 12
"""A record with no more fields than this is shown with all of them when one is not found."""

_HOLDERS = ("steps", "params", "submissions", "tests")
"""Where names of the author's own are read from: `answer.score` was to be `steps.answer.score`."""

_SOURCES = frozenset(("assistant", "final_message", "transcript"))
_LAST_TEXT = "path('$.messages[-1].text')"
_HYPHENS = r"[^\W\d][\w.]*(?:-[^\W\d][\w.]*)+"
