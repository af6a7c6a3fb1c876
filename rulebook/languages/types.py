"""The kinds of value that expressions and paths can meet, in the words that authors see."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace


class Scalar(Struct, frozen=True):
    """Text, a number, yes/no, nothing, or anything at all.

    `choices` closes a text to the words it can be; `least` and `most` bound a number.
    """

    name: Literal["text", "number", "yes or no", "nothing", "anything"]
    optional: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


class ListOf(Struct, frozen=True):
    """A list whose items are of one kind."""

    item: "Type"
    optional: bool = False


class MapOf(Struct, frozen=True):
    """A mapping with any keys and one kind of value."""

    value: "Type"
    optional: bool = False


class RecordOf(Struct, frozen=True):
    """A mapping with known fields. `place` names it in messages: "the session", "an event `usage`".

    An open record may hold other fields, of which nothing is known. `narrow` gives the record that is left once a
    field is known to equal a text: `events` by `name`. `value` is what the record alone is worth: a part's score.
    """

    place: str
    fields: Mapping[str, "Type"]
    open: bool = False
    optional: bool = False
    narrow: Mapping[str, Mapping[str, "RecordOf"]] = field(default_factory=dict)
    value: "Type | None" = None


Type = Scalar | ListOf | MapOf | RecordOf

TEXT = Scalar("text")
NUMBER = Scalar("number")
YES_NO = Scalar("yes or no")
NOTHING = Scalar("nothing")
ANYTHING = Scalar("anything")


def optional(kind: Type) -> Type:
    """The same kind, but it may be missing."""
    return replace(kind, optional=True)


def described(kind: Type) -> str:
    """The kind in an author's words: "a number", "a list of text"."""
    match kind:
        case Scalar(name="text"):
            return "text"
        case Scalar(name="number"):
            return "a number"
        case Scalar(name="yes or no"):
            return "yes or no"
        case Scalar(name="nothing"):
            return "nothing"
        case Scalar():
            return "anything"
        case ListOf(item):
            return f"a list of {described(item)}" if isinstance(item, Scalar) else "a list"
        case MapOf():
            return "a mapping"
        case RecordOf(place):
            return place


class Scope(Struct, frozen=True):
    """The names that an expression, a path or a template may use here, with their kinds.

    `place` says where "here" is, for messages: "the session", "an event".
    """

    place: str
    names: Mapping[str, Type]

    def plus(self, names: Mapping[str, Type]) -> "Scope":
        """The scope with a file's own names added."""
        return Scope(self.place, {**self.names, **names})


class MissingValue(Struct, frozen=True):
    """What a field that is not there is worth: not false, not 0, not nothing. `what` is the path that has no value."""

    what: str = ""


MISSING = MissingValue()
