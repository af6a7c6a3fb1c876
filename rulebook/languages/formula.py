"""Expressions over the evidence: parsed once, allow-listed, typed, run by simpleeval on the parsed tree."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula_run import (
    Lookup,
    Search,
    apply,
    closure,
    each_of,
    field_of,
    joined,
    of_item,
    read,
)
from rulebook.languages.formula_search import quick_search, search_with
from rulebook.languages.formula_syntax import Parsed, parsed
from rulebook.languages.formula_terms import Call, Choices, Read, names_of, paths_of
from rulebook.languages.formula_types import faults_of
from rulebook.languages.formula_values import calculate, compare, named, negative, opposite
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


@dataclass(frozen=True, slots=True)
class Formula:
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
        proved to be quick raises UsageError.
        """
        form = parsed(self.text)
        return self._fit(form, _Walk(form, lookup, search or quick_search).value())

    def quick_value(self, lookup: Lookup, search: Search | None = None) -> object:
        """The same value, found by compiled closures: for what is asked thousands of times."""
        form = parsed(self.text)
        return self._fit(form, closure(form.root, form.text)(lookup, search or quick_search))

    def _fit(self, form: Parsed, value: object) -> object:
        fits = {
            "yes or no": isinstance(value, bool),
            "number": isinstance(value, (int, float)) and not isinstance(value, bool),
            "anything": not isinstance(value, (Mapping, Sequence)) or isinstance(value, str),
        }[self.wanted]
        return value if fits or isinstance(value, MissingValue) else MissingValue(form.text.strip())


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
    form = parsed(condition.text)
    run, find = closure(form.root, form.text), search or quick_search
    values = [run(of_item(item, lookup), find) for item in items]
    matching = [position for position, value in enumerate(values) if value is True]
    return matching, sum(not isinstance(value, bool) for value in values)


class _Handle:
    """A list or mapping on its way through simpleeval, which can neither walk it nor reach anything of it."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


class _Walk:
    """One evaluation by simpleeval, which knows no syntax but what stands in `nodes` here."""

    def __init__(self, form: Parsed, lookup: Lookup, search: Search) -> None:
        self._form, self._lookup, self._search = form, lookup, search
        self._engine = engine = copy.copy(_engine())
        engine.nodes = {
            ast.Constant: engine._eval_constant,
            ast.Name: self._name,
            ast.Attribute: self._field,
            ast.Subscript: self._field,
            ast.List: self._choices,
            ast.Tuple: self._choices,
            ast.UnaryOp: self._named(engine._eval_unaryop),
            ast.BinOp: self._named(engine._eval_binop),
            ast.BoolOp: self._joined,
            ast.Compare: self._compare,
            ast.IfExp: self._pick,
            ast.Call: self._named(self._call),
        }

    def value(self) -> object:
        return _held(self._eval(self._form.tree))

    def _eval(self, node: ast.expr) -> object:
        return self._engine._eval(node)

    def _where(self, node: ast.expr) -> str:
        term = self._form.terms[node]
        return self._form.text[term.start : term.end]

    def _named(self, handler: Callable[[Any], object]) -> Callable[[ast.expr], object]:
        return lambda node: named(handler(node), self._where(node))

    def _name(self, node: ast.Name) -> object:
        term = self._form.terms[node]
        return _wrapped(read(term, self._lookup)) if isinstance(term, Read) else _CONSTANTS[node.id]

    def _field(self, node: ast.Attribute | ast.Subscript) -> object:
        term = self._form.terms[node]
        assert isinstance(term, Read)
        if term.base is None:
            return _wrapped(read(term, self._lookup))
        base: ast.expr = node
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        return _wrapped(field_of(_held(self._eval(base)), term.keys, term.label))

    def _choices(self, node: ast.expr) -> object:
        term = self._form.terms[node]
        assert isinstance(term, Choices)
        return _Handle([item.value for item in term.items])

    def _joined(self, node: ast.BoolOp) -> object:
        word = "or" if isinstance(node.op, ast.Or) else "and"
        return joined(word, map(self._yes_or_no, node.values))

    def _yes_or_no(self, node: ast.expr) -> object:
        value = self._eval(node)
        return value if isinstance(value, (bool, MissingValue)) else MissingValue(self._where(node))

    def _compare(self, node: ast.Compare) -> object:
        values = [_held(self._eval(part)) for part in (node.left, *node.comparators)]
        answers = [
            named(compare(_SIGNS[type(sign)], left, right), self._where(node))
            for sign, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        return joined("and", answers)

    def _pick(self, node: ast.IfExp) -> object:
        answer = self._yes_or_no(node.test)
        if isinstance(answer, MissingValue):
            return answer
        return self._eval(node.body if answer else node.orelse)

    def _call(self, node: ast.Call) -> object:
        call = self._form.terms[node]
        assert isinstance(call, Call)
        values = [_held(self._eval(argument)) for argument in node.args if self._form.terms.get(argument) in call.args]
        each = each_of(call, self._form.text, self._lookup, self._search)
        return _wrapped(apply(call, values, each, self._lookup, self._search))


@cache
def _engine() -> Any:
    import simpleeval  # 21 ms: only what is evaluated pays for it, never lint

    return simpleeval.SimpleEval(operators=_OPERATORS, functions={}, names={}, allowed_attrs={})


def _held(value: object) -> object:
    return value.held if isinstance(value, _Handle) else value


def _wrapped(value: object) -> object:
    return _Handle(value) if isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) else value


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

_CONSTANTS = {"true": True, "false": False, "null": None}
_OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: lambda left, right: calculate("+", left, right),
    ast.Sub: lambda left, right: calculate("-", left, right),
    ast.Mult: lambda left, right: calculate("*", left, right),
    ast.Div: lambda left, right: calculate("/", left, right),
    ast.USub: negative,
    ast.Not: opposite,
}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
