"""An expression as a small tree of terms: a closed set that typing and running match exhaustively."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal as OneOf

from msgspec import Struct

from rulebook.languages.pattern import Pattern
from rulebook.languages.select import Select

Lookup = Callable[[str], object]
"""The value of a top-level name: a scalar, plain lists and mappings, or a MissingValue."""

Search = Callable[[Pattern, str], bool]
"""Whether a pattern is found in a text. It may raise an EvidenceError, which passes through."""

PARAMS = "params"
"""The one name that a quoted expression shares with the expression around it."""

Order = OneOf["<", "<=", ">", ">="]
Comparison = OneOf["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
Operator = OneOf["+", "-", "*", "/"]
Value = str | int | float | bool | None


class Literal(Struct, eq=False):
    """A value written in the expression. Positions count characters of the whole text, here and below."""

    value: Value
    start: int
    end: int


class Choices(Struct, eq=False):
    """A list of written values, to the right of `in`."""

    items: tuple[Literal, ...]
    start: int
    end: int


class Read(Struct, eq=False):
    """A name and its fields (`usage.input_tokens`), or fields of what `base` gives (`json(x).answer`).

    `label` is the path as findings name it; for a field of a list's items it begins with the list's own path.
    `ends` holds the position past each key.
    """

    keys: tuple[str, ...]
    base: Term | None
    label: str
    ends: tuple[int, ...]
    start: int
    end: int


class Not(Struct, eq=False):
    """Yes for no, and no for yes."""

    part: Term
    start: int
    end: int


class Negative(Struct, eq=False):
    """A number with its sign turned."""

    part: Term
    start: int
    end: int


class Joined(Struct, eq=False):
    """Two or more parts joined by `and` or by `or`."""

    word: OneOf["and", "or"]
    parts: tuple[Term, ...]
    start: int
    end: int


class Compare(Struct, eq=False):
    """`left op right`, or with two operators a chain such as `1 < x < 3`."""

    operators: tuple[Comparison, ...]
    parts: tuple[Term, ...]
    start: int
    end: int


class Calculate(Struct, eq=False):
    """A sum, difference, product or quotient."""

    operator: Operator
    left: Term
    right: Term
    start: int
    end: int


class Pick(Struct, eq=False):
    """`then if test else otherwise`."""

    test: Term
    then: Term
    otherwise: Term
    start: int
    end: int


class Call(Struct, eq=False):
    """A listed function. `args` are its plain arguments, without the one that was read when the text was.

    `extra` is that one: the quoted expression over an item, a pattern, a path, a glob, or a number of digits;
    `offsets` says where its characters stand in the whole text.
    """

    name: str
    args: tuple[Term, ...]
    extra: Term | Pattern | Select | str | int | None
    start: int
    end: int
    offsets: tuple[int, ...] = ()


Term = Literal | Choices | Read | Not | Negative | Joined | Compare | Calculate | Pick | Call
TERMS = (Literal, Choices, Read, Not, Negative, Joined, Compare, Calculate, Pick, Call)


def item_of(call: Call) -> Term | None:
    """The quoted expression of a call over a list's items, or None."""
    return call.extra if isinstance(call.extra, TERMS) else None


def parts_of(term: Term) -> tuple[Term, ...]:
    """A term's parts in the order in which they were written, without the quoted expression of a call."""
    match term:
        case Literal():
            return ()
        case Choices():
            return term.items
        case Read():
            return () if term.base is None else (term.base,)
        case Not() | Negative():
            return (term.part,)
        case Joined() | Compare():
            return term.parts
        case Calculate():
            return (term.left, term.right)
        case Pick():
            return (term.then, term.test, term.otherwise)
        case Call():
            return term.args


def walk(term: Term) -> Iterator[Term]:
    """The term and all below it, without the quoted expressions."""
    yield term
    for part in parts_of(term):
        yield from walk(part)


def names_of(term: Term) -> frozenset[str]:
    """The top-level names that it reads."""
    found = {part.keys[0] for part in walk(term) if isinstance(part, Read) and part.base is None}
    found |= {part.extra.root for part in walk(term) if isinstance(part, Call) and isinstance(part.extra, Select)}
    return frozenset(found - {""})


def paths_of(term: Term) -> frozenset[str]:
    """The dotted paths that it reads, those inside quoted expressions too."""
    found: set[str] = set()
    for part in walk(term):
        if isinstance(part, Read) and part.base is None:
            found.add(part.label)
        elif isinstance(part, Call):
            item = item_of(part)
            found |= paths_of(item) if item is not None else set()
            found |= {part.extra.root} if isinstance(part.extra, Select) else set()
    return frozenset(found - {""})
