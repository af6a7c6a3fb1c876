"""A value within a student's document, as a rule asks for it: a path, and what must stand there."""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from rulebook.errors import NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.data_files import Notation, read_data
from rulebook.evidence.reading_text import filled
from rulebook.languages.comparison import equal
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.select import SelectField, SelectLimit
from rulebook.languages.template import Template, looks_like_template, read_template
from rulebook.place import Path

_SHOWN_CHARACTERS = 200


class Given(NamedTuple):
    """A value that an author wrote: a text is a template, anything else stands for itself."""

    value: object


def _given(value: object) -> Given:
    if isinstance(value, Given):
        return value
    if not isinstance(value, str):
        refuse_templates(value, "equals")
        return Given(value)
    try:
        return Given(read_template(value))
    except LanguageError as error:
        raise refused(error) from error


def refuse_templates(value: object, key: str, path: Path = ()) -> None:
    """Only a text that stands alone is a template: within a list or a mapping `{{ name }}` would be literal.

    `key` is the field that holds `value`. Raises what a field validator may raise, RB425.
    """
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        found = looks_like_template(part) if isinstance(part, str) else None
        if found is not None:
            words = {"key": name, "part": part[slice(*found)], "where": f"`{key}` itself, where it is a text"}
            raise refused(LanguageError(Fault("RB425", words, path=(*path, name))))
        refuse_templates(part, key, (*path, name))


class DataAt(BaseModel):
    """What a path in a document leads to."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=True)

    path: SelectField = Field(description="A path into the document, such as `$.scripts.test`.")
    equals: Annotated[Given | None, PlainValidator(_given), WithJsonSchema({})] = Field(
        None, description="The value that stands there, of the same kind; without it, that anything does."
    )

    @property
    def template(self) -> Template | None:
        """The template that is expected there, if it is one."""
        return self.equals.value if self.equals is not None and isinstance(self.equals.value, Template) else None


class FoundAt(NamedTuple):
    """What was found: whether it is what was wanted, and both sides as JSON, cut short."""

    holds: bool
    expected: str
    actual: str
    reason: str


def found_at(wanted: DataAt, data: bytes, notation: Notation, path: str, evidence: Evidence) -> FoundAt:
    """Read the document and look the value up. A path that can lead to many is compared as their list.

    Raises NotHandedIn for what is no such document; what `filled` raises for the template.
    """
    document = read_data(data, notation, path)
    try:
        found = wanted.path.find_in(document)
    except SelectLimit as limit:
        raise NotHandedIn(f"`{path}`: {limit}", cause="excess") from limit
    where = f"`{wanted.path.text}`"
    if wanted.equals is None:
        return FoundAt(bool(found), "present", "present" if found else "absent", "" if found else f"no {where}")
    template = wanted.template
    value = wanted.equals.value if template is None else filled(template, evidence)
    expected = _as_json(value)
    if not found:
        return FoundAt(False, expected, "absent", f"no {where}")
    there = found[0] if wanted.path.leads_to_one else found
    holds = equal(value, there)
    return FoundAt(holds, expected, _as_json(there), "" if holds else f"{where} is another value")


def _as_json(value: object) -> str:
    import json  # lint, which imports this module for the kinds of check, does without

    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
