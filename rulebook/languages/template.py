"""Templates: Jinja2 in its immutable sandbox, with strict names, few filters and hard limits.

A template that cannot be filled in raises one of `TemplateError`'s three kinds, and the caller, who knows
whose values were read, turns them into an outcome: `MissingInTemplate` names the path without a value,
`TemplateLimit` is a template that grew too large, `TemplateMismatch` a value of a kind that cannot be used
there.
"""

import re
from collections.abc import Callable, Container
from typing import Annotated

from msgspec import Struct
from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.run_errors import MissingInTemplate, TemplateError, TemplateLimit, TemplateMismatch
from rulebook.languages.types import Scope

MAX_SOURCE_CHARACTERS = 20_000

__all__ = [
    "MAX_SOURCE_CHARACTERS",
    "MissingInTemplate",
    "Template",
    "TemplateError",
    "TemplateField",
    "TemplateLimit",
    "TemplateMismatch",
    "looks_like_template",
    "read_template",
]


class Template(Struct, frozen=True):
    """A template that has been read; text without `{{`, `{%` or `{#` renders as itself, without Jinja2."""

    text: str

    @property
    def live(self) -> bool:
        """Whether it holds anything to fill in."""
        return "{{" in self.text or "{%" in self.text or "{#" in self.text

    def names(self) -> frozenset[str]:
        """The top-level names it reads."""
        if not self.live:
            return frozenset()
        from rulebook.languages.template_jinja import names_in  # only a template with something to fill in pays for it

        return names_in(self.text)

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything wrong with it where `scope`'s names can be used."""
        if not self.live:
            return ()
        from rulebook.languages.template_jinja import faults_in  # as above

        return faults_in(self.text, scope)

    def render(self, lookup: Callable[[str], object]) -> str:
        """The filled-in text. Raises MissingInTemplate, TemplateLimit or TemplateMismatch."""
        if not self.live:
            return self.text
        from rulebook.languages.template_jinja import rendered  # as above

        return rendered(self.text, lookup)


def read_template(text: str) -> Template:
    """Parse a template. Raises LanguageError: RB417 (mistakes), RB419 (what may not be there), RB706."""
    template = Template(text)
    if len(text) > MAX_SOURCE_CHARACTERS:
        words = {"what": "template", "count": len(text), "parts": "characters", "limit": MAX_SOURCE_CHARACTERS}
        raise LanguageError(Fault("RB706", words))
    if template.live:
        from rulebook.languages.template_jinja import refusals_in  # as above

        faults = refusals_in(text)
        if faults:
            raise LanguageError(*faults)
    return template


def looks_like_template(text: str, names: Container[str] | None = None) -> tuple[int, int] | None:
    """Where a `{{ name … }}` stands in a text that is no template; only one in `names`, if given."""
    for found in re.finditer(_FILLED, text):
        if names is None or found[1] in names:
            return found.span()
    return None


_FILLED = r"\{\{-?[ \t]*([A-Za-z_]\w*)[^{}\n]*(?:\}\})?"


def _template_field(value: object) -> Template:
    if isinstance(value, Template):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text"})
    try:
        return read_template(value)
    except LanguageError as error:
        raise refused(error) from error


TemplateField = Annotated[Template, PlainValidator(_template_field), WithJsonSchema({"type": "string"})]
"""A field that holds one template."""
