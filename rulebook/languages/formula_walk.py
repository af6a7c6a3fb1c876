"""An expression run by simpleeval on the tree that was parsed once; simpleeval never sees a text."""

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from rulebook.languages.formula_run import apply, each_of, field_of, joined, read
from rulebook.languages.formula_syntax import COMPARISONS, Parsed
from rulebook.languages.formula_terms import Call, Choices, Lookup, Read, Search
from rulebook.languages.formula_values import calculate, compare, named, negative, opposite
from rulebook.languages.types import MissingValue


def walked(form: Parsed, lookup: Lookup, search: Search) -> object:
    """The value of an expression: a number, text, yes/no, None, a list or mapping, or a MissingValue."""
    return _Walk(form, lookup, search).value()


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
            named(compare(COMPARISONS[type(sign)], left, right), self._where(node))
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
    import simpleeval  # 21 ms: an expression that is run by closures alone does not pay for it

    return simpleeval.SimpleEval(operators=_OPERATORS, functions={}, names={}, allowed_attrs={})


def _held(value: object) -> object:
    return value.held if isinstance(value, _Handle) else value


def _wrapped(value: object) -> object:
    return _Handle(value) if isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) else value


_CONSTANTS = {"true": True, "false": False, "null": None}
_OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: lambda left, right: calculate("+", left, right),
    ast.Sub: lambda left, right: calculate("-", left, right),
    ast.Mult: lambda left, right: calculate("*", left, right),
    ast.Div: lambda left, right: calculate("/", left, right),
    ast.USub: negative,
    ast.Not: opposite,
}
