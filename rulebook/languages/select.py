"""Paths into the evidence document: a subset of JSONPath, parsed once, typed against a scope."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Struct
from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.run_errors import SelectLimit
from rulebook.languages.types import Scope

__all__ = ["Select", "SelectField", "SelectLimit", "read_select"]


class Select(Struct, frozen=True):
    """A path that has been read."""

    text: str

    @property
    def root(self) -> str:
        """The top-level name it starts at; empty for `$` alone."""
        from rulebook.languages.select_steps import root_of, steps_of  # only a file with a path pays for it

        return root_of(steps_of(self.text))

    @property
    def leads_to_one(self) -> bool:
        """Whether it leads to one value at most; of others an expression's `path('…')` gives the list."""
        from rulebook.languages.select_steps import lead_to_one, steps_of  # as above

        return lead_to_one(steps_of(self.text))

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything wrong with it where `scope`'s names can be used."""
        from rulebook.languages.select_steps import steps_of  # as above
        from rulebook.languages.select_types import faults_of

        return faults_of(self.text, steps_of(self.text), scope)

    def find(self, lookup: Callable[[str], object]) -> list[object]:
        """The values it leads to, in document order; none when its root has no value.

        Raises SelectLimit for more than `MAX_RESULTS` values, or values nested deeper than can be followed.
        """
        from rulebook.languages.select_find import along  # as above
        from rulebook.languages.select_steps import steps_of

        root = self.root
        return along([lookup(root)], steps_of(self.text)[1:]) if root else []

    def find_in(self, data: object) -> list[object]:
        """The values it leads to in plain data, taken as `$`. Raises SelectLimit."""
        from rulebook.languages.select_find import along  # as above
        from rulebook.languages.select_steps import steps_of

        return along([data], steps_of(self.text))


def read_select(text: str) -> Select:
    """Parse a path. Raises LanguageError for what is not in the language."""
    from rulebook.languages.select_steps import steps_of  # as above

    steps_of(text)
    return Select(text)


def _select_field(value: object) -> Select:
    if isinstance(value, Select):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text (a path)"})
    try:
        return read_select(value)
    except LanguageError as error:
        raise refused(error) from error


SelectField = Annotated[Select, PlainValidator(_select_field), WithJsonSchema({"type": "string"})]
"""A field that holds one path."""
