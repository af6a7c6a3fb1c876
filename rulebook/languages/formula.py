"""Expressions over the evidence: parsed once, allow-listed, typed, and run on the parsed tree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula_search import quick_search, search_with
from rulebook.languages.formula_syntax import parsed
from rulebook.languages.formula_terms import Lookup, Search, names_of, paths_of
from rulebook.languages.formula_types import faults_of
from rulebook.languages.types import MissingValue, Scope

__all__ = [
    "Formula",
    "Lookup",
    "NumberFormula",
    "Search",
    "Wanted",
    "YesNoFormula",
    "filter_items",
    "read_formula",
    "search_with",
]

Wanted = Literal["yes or no", "number", "anything"]


class Formula(Struct, frozen=True):
    """An expression that has been read. `wanted` is the kind of value that its place calls for."""

    text: str
    wanted: Wanted = "yes or no"

    def names(self) -> frozenset[str]:
        """The top-level names it reads."""
        return names_of(parsed(self.text).root)

    def reads(self) -> frozenset[str]:
        """The dotted paths it reads, such as `cost`, `usage.input_tokens`, `a.passed`, `tool_calls.name`."""
        return paths_of(parsed(self.text).root)

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything wrong with it where `scope`'s names can be used, the kind of its value included."""
        return faults_of(parsed(self.text), scope, self.wanted)

    def value(self, lookup: Lookup, search: Search | None = None) -> object:
        """Its value: a number, text, yes/no, None, or a MissingValue that names what has no value.

        `search` looks for the patterns of `matches`, as `search_with(ports)` does; without one, a pattern that is not
        proved to be quick raises UsageError. It is walked the first time; who asks again has many sessions, for which
        closures are compiled.
        """
        if self.text in _WALKED:
            return self.quick_value(lookup, search)
        _WALKED.add(self.text)
        from rulebook.languages.formula_walk import walked  # only what is evaluated pays for it, never lint

        return self._fit(walked(parsed(self.text), lookup, search or quick_search))

    def quick_value(self, lookup: Lookup, search: Search | None = None) -> object:
        """The same value, found by compiled closures: for what is asked thousands of times."""
        return self._fit(_closure(self.text)(lookup, search or quick_search))

    def sides(self, lookup: Lookup, search: Search | None = None) -> dict[str, object]:
        """What it compared, by its text: `count(tool_calls)` is 3. For people to read."""
        from rulebook.languages.formula_sides import sides_of  # as for `_closure`

        form = parsed(self.text)
        return sides_of(form.root, form.text, lookup, search or quick_search)

    def _fit(self, value: object) -> object:
        fits = {
            "yes or no": isinstance(value, bool),
            "number": isinstance(value, (int, float)) and not isinstance(value, bool),
            "anything": not isinstance(value, (Mapping, Sequence)) or isinstance(value, str),
        }[self.wanted]
        return value if fits or isinstance(value, MissingValue) else MissingValue(self.text.strip())


_WALKED: set[str] = set()


def read_formula(text: str, wanted: Wanted = "yes or no") -> Formula:
    """Parse an expression. Raises LanguageError for what is not in the language."""
    parsed(text)
    return Formula(text, wanted)


def filter_items(
    condition: Formula, items: Iterable[object], lookup: Lookup, search: Search | None = None
) -> tuple[list[int], int]:
    """The positions of the items that match, and how many do not because something they need is missing.

    `condition` reads an item's fields, and by `lookup` the file's `params`.
    """
    from rulebook.languages.formula_run import of_item  # as for `_closure`

    run, find = _closure(condition.text), search or quick_search
    values = [run(of_item(item, lookup), find) for item in items]
    matching = [position for position, value in enumerate(values) if value is True]
    return matching, sum(not isinstance(value, bool) for value in values)


@lru_cache(maxsize=4096)
def _closure(text: str) -> Callable[[Lookup, Search], object]:
    from rulebook.languages.formula_run import closure  # only what is evaluated pays for it, never lint

    form = parsed(text)
    return closure(form.root, form.text)


def _validated(wanted: Wanted) -> PlainValidator:
    def validate(value: object) -> Formula:
        if isinstance(value, Formula):
            return value
        if not isinstance(value, str):
            raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text"})
        try:
            return read_formula(value, wanted)
        except LanguageError as error:
            raise refused(error) from error

    return PlainValidator(validate)


YesNoFormula = Annotated[Formula, _validated("yes or no"), WithJsonSchema({"type": "string"})]
"""The field of a check that takes an expression which gives yes or no."""

NumberFormula = Annotated[Formula, _validated("number"), WithJsonSchema({"type": "string"})]
"""The field of a check that takes an expression which gives a number."""
