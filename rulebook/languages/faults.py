"""What is wrong with a piece of text in one of the small languages, before anyone knows where it stands."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.place import Path


class Shown(Struct, frozen=True):
    """Plain data that a message shows as the file's own language writes it; with `key`, as the value of that key.

    `around` is the phrase in which it stands, with `{}` in its place; `quotes`: a text has them, needed or not.
    """

    data: object
    key: str = ""
    around: str = "{}"
    quotes: bool = False


class Fault(Struct, frozen=True):
    """One problem within a text value.

    `code` and `words` fill a sentence of `rulebook.codes`, with `Shown` data among the words; `start` and `end` count
    characters of the value (`end` None: to its end). `mended` is the whole value as it should be, `safe` whether it
    means the same. `path` leads from the value that was read to the text in which the problem stands; empty: it is
    that value itself.
    """

    code: str
    words: Mapping[str, object] = field(default_factory=dict)
    start: int = 0
    end: int | None = None
    help: str = ""
    mended: str | None = None
    safe: bool = False
    path: Path = ()


class LanguageError(Exception):
    """A text that its language refuses. `faults` has one entry or more."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(fault.code for fault in faults))


def refused(error: LanguageError) -> Exception:
    """The error to raise from a field validator, so that the reader of the file finds the faults again."""
    from pydantic_core import PydanticCustomError  # 10 ms, which only who reads fields pays for

    return PydanticCustomError("rulebook_language", "not valid", {"faults": error.faults})
