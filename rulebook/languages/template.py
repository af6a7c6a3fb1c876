"""Templates: Jinja2 in its immutable sandbox, with strict names, few filters and hard limits.

A template that cannot be filled in raises one of `TemplateError`'s three kinds, and the caller, who knows
whose values were read, turns them into an outcome: `MissingInTemplate` names the path without a value,
`TemplateLimit` is a template that grew too large, `TemplateMismatch` a value of a kind that cannot be used
there.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template_filters import (
    FILTER_FUNCTIONS,
    MAX_OUTPUT_CHARACTERS,
    MissingInTemplate,
    TemplateError,
    TemplateLimit,
    TemplateMismatch,
    shown,
    within_limit,
)
from rulebook.languages.template_names import LOOP, faults_of, names_of, paths_of
from rulebook.languages.template_tree import MAX_DEPTH, TESTS, line_span, refusals, too_much
from rulebook.languages.template_words import in_words
from rulebook.languages.types import MissingValue, Scope

MAX_SOURCE_CHARACTERS = 20_000
MAX_ITEMS = 10_000
"""How many items the loops of one template may go through in all."""

__all__ = [
    "MAX_ITEMS",
    "MAX_OUTPUT_CHARACTERS",
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


@dataclass(frozen=True, slots=True)
class Template:
    """A template that has been read; text without `{{`, `{%` or `{#` renders as itself, without Jinja2."""

    text: str

    @property
    def live(self) -> bool:
        """Whether it holds anything to fill in."""
        return any(sign in self.text for sign in ("{{", "{%", "{#"))

    def names(self) -> frozenset[str]:
        """The top-level names it reads."""
        return _names(self.text) if self.live else frozenset()

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything wrong with it where `scope`'s names can be used."""
        return faults_of(_tree(self.text), self.text, scope) if self.live else ()

    def render(self, lookup: Callable[[str], object]) -> str:
        """The filled-in text. Raises MissingInTemplate, TemplateLimit or TemplateMismatch."""
        if not self.live:
            return self.text
        values = {name: lookup(name) for name in sorted(self.names())}
        return _rendered(self.text, {name: _plain(value) for name, value in values.items() if _is_known(value)})


def read_template(text: str) -> Template:
    """Parse a template. Raises LanguageError: RB417 (mistakes), RB419 (what may not be there), RB706."""
    template = Template(text)
    if len(text) > MAX_SOURCE_CHARACTERS:
        raise LanguageError(too_much(len(text), "characters", MAX_SOURCE_CHARACTERS))
    if template.live:
        faults = refusals(_tree(text), text)
        if faults:
            raise LanguageError(*faults)
    return template


def looks_like_template(text: str, names: Container[str] | None = None) -> tuple[int, int] | None:
    """Where a `{{ name … }}` stands in a text that is no template; only one in `names`, if given."""
    for found in _FILLED.finditer(text):
        if names is None or found[1] in names:
            return found.span()
    return None


_FILLED = re.compile(r"\{\{-?[ \t]*([A-Za-z_]\w*)[^{}\n]*(?:\}\})?")


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


@lru_cache(maxsize=256)
def _tree(text: str) -> Any:
    from jinja2 import TemplateSyntaxError

    try:
        return _environment().parse(text)
    except TemplateSyntaxError as error:
        line = error.lineno
        words = {"line": line, "sentence": in_words(error.message or "")}
        raise LanguageError(Fault("RB417", words, *line_span(text, line))) from None
    except RecursionError:
        raise LanguageError(too_much(MAX_DEPTH + 1, "parts inside one another", MAX_DEPTH)) from None


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    return names_of(_tree(text))


@dataclass
class _Budget:
    """How many items the loops of one rendering may still take."""

    left: int = MAX_ITEMS

    def each(self, items: object) -> Iterator[object]:
        if not isinstance(items, str | list | tuple | Mapping):
            raise TemplateMismatch("a loop needs a list")
        for item in items:
            self.left -= 1
            if self.left < 0:
                raise TemplateLimit(f"its loops go through more than {MAX_ITEMS:,} items")
            yield item


_BUDGET = "the budget"
"""Where a rendering keeps its budget: no template can write a name with a blank."""


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined, Undefined
    from jinja2.runtime import LoopContext
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """Fields are keys of plain data and nothing else: no attribute of any object can be reached."""

        intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})
        intercepted_unops = frozenset({"+"})

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ARG002
            return False

        def is_safe_callable(self, obj: Any) -> bool:  # noqa: ARG002
            return False

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
            raise TemplateMismatch("templates do no arithmetic")

        def call_unop(self, context: Any, operator: str, arg: Any) -> Any:  # noqa: ARG002
            raise TemplateMismatch("templates do no arithmetic")

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, LoopContext) and attribute in LOOP.fields:
                return getattr(obj, attribute)
            return self.getitem(obj, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            whole = isinstance(argument, int) and not isinstance(argument, bool)
            if isinstance(obj, dict if isinstance(argument, str) else (list, str) if whole else ()):
                try:
                    return obj[argument]
                except LookupError:
                    pass
            if isinstance(obj, Undefined):
                return obj
            return self.undefined(obj=obj, name=argument)

    return _restricted(
        Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=_finalized)
    )


def _restricted(environment: Any) -> Any:
    from jinja2 import pass_context

    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update({name: _guarded(function) for name, function in FILTER_FUNCTIONS.items()})
    environment.filters["default"] = _default
    environment.filters[_BUDGET] = pass_context(lambda context, items: context[_BUDGET].each(_present(items)))
    for name in set(environment.tests) - set(TESTS):
        del environment.tests[name]
    return environment


def _finalized(value: object) -> object:
    # A missing value goes through, for Jinja2 to raise its name.
    return value if _is_undefined(value) else shown(value)


def _is_undefined(value: object) -> bool:
    from jinja2 import Undefined

    return isinstance(value, Undefined)


def _present(value: object) -> object:
    if _is_undefined(value):
        str(value)  # raises UndefinedError with the name
    return value


def _guarded(function: Callable[..., object]) -> Callable[..., object]:
    def guarded(*values: object, **options: object) -> object:
        for value in (*values, *options.values()):
            _present(value)
        result = function(*values, **options)
        return within_limit(result) if isinstance(result, str) else result

    return guarded


def _default(value: object, instead: object = "", boolean: object = False) -> object:
    return instead if _is_undefined(value) or (boolean and not value) else value


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    from jinja2 import nodes

    environment = _environment()
    tree = environment.parse(text)
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _BUDGET, [], [], None, None)
    for joined in tree.find_all(nodes.Concat):
        joined.nodes = [nodes.Filter(part, "string", [], [], None, None) for part in joined.nodes]
    return environment.from_string(tree)


def _rendered(text: str, values: dict[str, object]) -> str:
    from jinja2 import UndefinedError

    parts: list[str] = []
    size = 0
    try:
        for part in _compiled(text).generate({**values, _BUDGET: _Budget()}):
            size += len(part)
            if size > MAX_OUTPUT_CHARACTERS:
                raise TemplateLimit(f"the text grows beyond {MAX_OUTPUT_CHARACTERS:,} characters")
            parts.append(part)
    except TemplateError:
        raise
    except UndefinedError as error:
        raise MissingInTemplate(_missing(str(error), paths_of(_tree(text)))) from None
    except (RecursionError, MemoryError):
        raise TemplateLimit("it is nested too deep") from None
    except Exception as error:  # a comparison of a text with a number, and the like: whatever the values bring about
        raise TemplateMismatch(f"a value cannot be used there: {error}") from None
    return "".join(parts)


def _missing(message: str, paths: Iterable[str]) -> str:
    """The path that has no value: Jinja2's message knows its last name only."""
    found = re.search(r"'([^']*)' is undefined|no (?:attribute|element) '?([^']*)'?$", message)
    name = "" if found is None else found[1] or found[2]
    return next((path for path in paths if path == name or path.endswith(f".{name}")), name or message)


def _is_known(value: object) -> bool:
    return not isinstance(value, MissingValue)


def _plain(value: object) -> object:
    """A copy of plain data without missing values, so that nothing a template does can reach the evidence."""
    match value:
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items() if _is_known(inner)}
        case list() | tuple():
            return [_plain(inner) for inner in value if _is_known(inner)]
        case str() | int() | float() | None:
            return value
        case _:
            raise TypeError(f"templates read plain data, not {type(value).__name__}")
