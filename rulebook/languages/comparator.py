"""Comparisons with one value that a session left behind: an argument of a call, a result, a field of an event.

`equals`, `contains`, `any_item`, `matches`, `glob`, `in`, `min`, `max`, `close_to`, `any` and `absent`, or a plain
value, which must be equal. They are read here; `comparison` says whether they hold.
"""

from collections.abc import Callable, Mapping
from typing import Union

from msgspec import Struct

from rulebook.languages.faults import Fault
from rulebook.languages.pattern import Pattern
from rulebook.languages.template import Template
from rulebook.languages.types import Scope
from rulebook.place import Path
from rulebook.spelling import guess

Plain = str | int | float | bool | None | list[object] | Mapping[str, object]


class Reference(Struct, frozen=True):
    """`{from: r.arguments.path}`: what stands there in the call or event that was bound to `name`."""

    name: str
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it was written."""
        return ".".join((self.name, *self.steps))


Wanted = Plain | Template | Reference
"""A value to compare with: as it was written, a template until it is filled in, or bound in another step."""


class Equals(Struct, frozen=True):
    """The value is this one; 1 and 1.0 are equal, `true` and 1 are not."""

    value: Wanted


class Contains(Struct, frozen=True):
    """A text holds this text; a list holds an equal item."""

    value: Wanted


class AnyItem(Struct, frozen=True):
    """An item of the list fits."""

    item: "Comparator"


class Matches(Struct, frozen=True):
    """The pattern is found in the text, or in a list of texts joined by blanks as a command line would be."""

    pattern: Pattern


class Glob(Struct, frozen=True):
    """The text is a path that the glob takes in."""

    pattern: str


class OneOf(Struct, frozen=True):
    """The value is one of these."""

    values: tuple[Wanted, ...]


class Between(Struct, frozen=True):
    """A number of at least `least` and at most `most`; None is no bound."""

    least: float | None
    most: float | None


class CloseTo(Struct, frozen=True):
    """A number that is at most `within` away."""

    value: float
    within: float


class Present(Struct, frozen=True):
    """There is a value, whatever it is."""


class Absent(Struct, frozen=True):
    """There is no value."""


class Items(Struct, frozen=True):
    """A list of just so many items, each of which fits."""

    items: tuple["Comparator", ...]


class Fields(Struct, frozen=True):
    """A mapping whose fields fit; whether it may have others is for `args_match` to say."""

    fields: Mapping[str, "Comparator"]


class Every(Struct, frozen=True):
    """Several comparisons with the same value."""

    parts: tuple["Comparator", ...]


Comparator = Union[  # noqa: UP007 — the names in quotes above cannot be joined by a bar
    Equals, Contains, AnyItem, Matches, Glob, OneOf, Between, CloseTo, Present, Absent, Items, Fields, Every
]


class Comparison(Struct, frozen=True):
    """A comparison that has been read, and what in it can be looked at by the linter, each with its path."""

    root: Comparator
    texts: tuple[tuple[Path, Pattern | Template | Reference], ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """What it takes from earlier steps."""
        return tuple(text for _, text in self.texts if isinstance(text, Reference))

    @property
    def names(self) -> frozenset[str]:
        """The top-level names that its templates read."""
        templates = (text.names() for _, text in self.texts if isinstance(text, Template))
        return frozenset[str]().union(*templates)

    def filled(self, fill: Callable[[Template], str]) -> "Comparison":
        """The same with every template filled in."""
        if not any(isinstance(text, Template) for _, text in self.texts):
            return self
        return Comparison(_filled(self.root, fill), self.texts)


class BoundName(Struct, frozen=True):
    """A reference as the linter looks at it: `known` are the names bound where it stands; None: none ever is."""

    reference: Reference
    known: tuple[str, ...] | None

    def faults(self, scope: Scope) -> tuple[Fault, ...]:  # noqa: ARG002 — what is bound is the rule's own affair
        """RB302 for a name that no earlier step bears."""
        if self.known is None:
            where = "in the later step of a `sequence`, whose earlier step has an `as`"
            return (Fault("RB210", {"key": "from", "where": where}),)
        if self.reference.name in self.known:
            return ()
        hint = guess(self.reference.name, self.known) or f" Write `as: {self.reference.name}` in the other step."
        return (Fault("RB302", {"name": self.reference.name, "guess": hint}),)


def _filled(comparator: Comparator, fill: Callable[[Template], str]) -> Comparator:
    match comparator:
        case Equals(Template() as value):
            return Equals(fill(value))
        case Contains(Template() as value):
            return Contains(fill(value))
        case OneOf(values):
            return OneOf(tuple(fill(value) if isinstance(value, Template) else value for value in values))
        case AnyItem(item):
            return AnyItem(_filled(item, fill))
        case Items(items):
            return Items(tuple(_filled(item, fill) for item in items))
        case Fields(fields):
            return Fields({name: _filled(field, fill) for name, field in fields.items()})
        case Every(parts):
            return Every(tuple(_filled(part, fill) for part in parts))
        case _:
            return comparator
