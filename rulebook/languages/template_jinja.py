"""Templates run by Jinja2: its sandbox cut down to plain data, few filters, and hard limits."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from rulebook.errors import EvidenceError
from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.run_errors import MissingInTemplate, TemplateError, TemplateLimit, TemplateMismatch
from rulebook.languages.template_filters import FILTER_FUNCTIONS, MAX_OUTPUT_CHARACTERS, shown, within_limit
from rulebook.languages.template_names import LOOP, Fill, faults_of, fills_of, names_of, paths_of
from rulebook.languages.template_tree import MAX_DEPTH, TESTS, line_span, refusals, too_much
from rulebook.languages.template_words import in_words
from rulebook.languages.types import MissingValue, Scope

MAX_ITEMS = 10_000
"""How many items the loops of one template may go through in all."""


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str]:
    """The top-level names that a template reads."""
    return names_of(_tree(text))


def faults_in(text: str, scope: Scope) -> tuple[Fault, ...]:
    """Everything wrong with a template where `scope`'s names can be used."""
    return faults_of(_tree(text), text, scope)


def fills_in(text: str, scope: Scope) -> tuple[Fill, ...]:
    """The values that a template writes into its text."""
    return fills_of(_tree(text), text, scope)


def refusals_in(text: str) -> list[Fault]:
    """What may not stand in a template. Raises LanguageError with RB417 when it cannot be read at all."""
    return refusals(_tree(text), text)


def rendered(text: str, lookup: Callable[[str], object]) -> str:
    """The filled-in text. Raises MissingInTemplate, TemplateLimit or TemplateMismatch."""
    values = {name: lookup(name) for name in sorted(names_in(text))}
    return _filled(text, {name: _plain(value) for name, value in values.items() if _is_known(value)})


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


class _Budget(Struct):
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


def _filled(text: str, values: dict[str, object]) -> str:
    from jinja2 import UndefinedError

    parts: list[str] = []
    size = 0
    try:
        for part in _compiled(text).generate({**values, _BUDGET: _Budget()}):
            size += len(part)
            if size > MAX_OUTPUT_CHARACTERS:
                raise TemplateLimit(f"the text grows beyond {MAX_OUTPUT_CHARACTERS:,} characters")
            parts.append(part)
    except (TemplateError, EvidenceError):
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


class _Later(dict[str, object]):
    """A mapping each of whose values is fetched, and copied, when the template first reads it."""

    def __init__(self, held: Mapping[str, object]) -> None:
        super().__init__(dict.fromkeys(held))
        self._held = held

    def __getitem__(self, key: str) -> object:
        value = self._held[key]
        if not _is_known(value):
            raise KeyError(key)
        return _plain(value)

    def get(self, key: str, default: object = None) -> object:
        try:
            return self[key]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[key] for key in self._known()]

    def items(self) -> Any:
        return [(key, self[key]) for key in self._known()]

    def _known(self) -> list[str]:
        return [key for key in self if _is_known(self._held[key])]


def _plain(value: object) -> object:
    """A copy of plain data without missing values, so that nothing a template does can reach the evidence."""
    match value:
        case Mapping() if not isinstance(value, dict):
            return _Later(value)
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items() if _is_known(inner)}
        case list() | tuple():
            return [_plain(inner) for inner in value if _is_known(inner)]
        case str() | int() | float() | None:
            return value
        case _:
            raise TypeError(f"templates read plain data, not {type(value).__name__}")
