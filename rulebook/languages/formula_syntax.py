"""From the text of an expression to its terms: what the language allows, and nothing else."""

import ast
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec import Struct

from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.formula_reading import Findings, Reading
from rulebook.languages.formula_source import Source
from rulebook.languages.formula_terms import (
    Calculate,
    Choices,
    Compare,
    Comparison,
    Joined,
    Literal,
    Negative,
    Not,
    Operator,
    Pick,
    Read,
    Term,
    Value,
)

MAX_CHARACTERS = 1000
MAX_TERMS = 200
MAX_DEPTH = 20
MAX_WHOLE_NUMBER = 2**53 - 1


class Parsed(Struct, eq=False):
    """An expression in both of its forms: Python's tree, and our terms with the term of each of its nodes."""

    text: str
    tree: ast.expr
    root: Term
    terms: dict[ast.AST, Term]


@lru_cache(maxsize=4096)
def parsed(text: str) -> Parsed:
    """Parse an expression. Raises LanguageError for what is not in the language."""
    if len(text) > MAX_CHARACTERS:
        raise LanguageError(_too_much(len(text), "characters", MAX_CHARACTERS))
    source, findings = Source(text, text), Findings()
    tree = source.tree()
    root = _Reader(source, findings, "").whole(tree, 1)
    if findings.faults:
        raise LanguageError(*sorted(findings.faults, key=lambda fault: fault.start))
    return Parsed(text, tree, root, findings.terms)


class _Reader(Reading):
    def __init__(self, source: Source, findings: Findings, prefix: str) -> None:
        super().__init__(source, findings, prefix)
        self._foreign: list[ast.expr] = []

    def whole(self, tree: ast.expr, depth: int) -> Term:
        root = self.term(tree, depth)
        if self._foreign:
            self._refuse_foreign()
        return root

    def term(self, node: ast.expr, depth: int) -> Term:
        self.findings.count += 1
        if depth > MAX_DEPTH:
            raise LanguageError(_too_much(depth, "levels", MAX_DEPTH))
        if self.findings.count > MAX_TERMS:
            raise LanguageError(_too_much(self.findings.count, "parts", MAX_TERMS))
        read = _READERS.get(type(node))
        term = read(self, node, depth + 1) if read is not None else self.refuse_syntax(node, node)
        self.findings.terms[node] = term
        return term

    def inside(self, node: ast.expr, prefix: str, depth: int) -> Term:
        found = self.source.quoted(node)
        inner = Source(self.source.whole, found.value, found.offsets)
        return _Reader(inner, self.findings, prefix).whole(inner.tree(), depth)

    def name(self, node: ast.Name, _depth: int) -> Term:
        start, end = self.source.span(node)
        if node.id in _CONSTANTS:
            return Literal(_CONSTANTS[node.id], start, end)
        return self._read(node, (node.id,), None, (end,))

    def field(self, node: ast.Attribute | ast.Subscript, depth: int) -> Term:
        key = self._key(node)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self.refuse_syntax(node, node.slice)
        if key is None:
            return self.refuse(node, "Picking an item by its position", " Write `path('$.messages[-1].text')`.")
        before, end = node.value, self.source.span(node)[1]
        if isinstance(before, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            inner = self.term(before, depth - 1)
            if isinstance(inner, Read):
                return self._read(node, (*inner.keys, key), inner.base, (*inner.ends, end))
            if isinstance(before, ast.Call):
                return self._read(node, (key,), inner, (end,))
            if not isinstance(before, ast.Name):
                return inner
        return self.refuse(node, f"A field of `{self.source.slice(before)}`")

    def constant(self, node: ast.Constant, _depth: int) -> Term:
        value, (start, end) = node.value, self.source.span(node)
        if isinstance(value, str):
            return self._text(node, start, end)
        if isinstance(value, bool) or value is None:
            return Literal(value, start, end)
        if isinstance(value, float) and value <= sys.float_info.max:
            return Literal(value, start, end)
        if isinstance(value, int) and value <= MAX_WHOLE_NUMBER:
            return Literal(value, start, end)
        if isinstance(value, (int, float)):
            return self.refuse(node, f"A number above {MAX_WHOLE_NUMBER}")
        return self.refuse(node, f"`{self.source.slice(node)}`")

    def joined(self, node: ast.BoolOp, depth: int) -> Term:
        parts = tuple(self.term(part, depth) for part in node.values)
        return Joined("and" if isinstance(node.op, ast.And) else "or", parts, *self.source.span(node))

    def pair(self, node: ast.Tuple, _depth: int) -> Term:
        self._foreign.append(node)
        return Literal(None, *self.source.span(node))

    def unary(self, node: ast.UnaryOp, depth: int) -> Term:
        part = self.term(node.operand, depth)
        if isinstance(node.op, ast.Not):
            return Not(part, *self.source.span(node))
        if isinstance(node.op, ast.USub):
            return Negative(part, *self.source.span(node))
        if isinstance(node.op, ast.UAdd):
            return self.refuse_syntax(node, node.op)
        self._foreign.append(node)
        return part

    def binary(self, node: ast.BinOp, depth: int) -> Term:
        operator = _OPERATORS.get(type(node.op))
        if operator is None:
            self._foreign.append(node)
        chained = isinstance(node.left, ast.BinOp) and _rank(node.left.op) == _rank(node.op)
        left = self.term(node.left, depth - 1 if chained else depth)
        right = self.term(node.right, depth)
        for part in (left, right):
            if isinstance(part, Literal) and isinstance(part.value, str):
                return self.refuse(node, "Calculating with text", " `+`, `-`, `*` and `/` work on numbers.")
        return Calculate(operator or "+", left, right, *self.source.span(node))

    def compare(self, node: ast.Compare, depth: int) -> Term:
        span = self.source.span(node)
        if any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
            return self._identity(node)
        operators = tuple(COMPARISONS[type(operator)] for operator in node.ops)
        chain = all(sign in ("<", "<=") for sign in operators) or all(sign in (">", ">=") for sign in operators)
        if len(operators) > 2 or (len(operators) == 2 and not chain):
            return self.refuse(node, "This chain of comparisons", " Join two comparisons with `and`.")
        left = self.term(node.left, depth)
        rest = tuple(
            self._where(part, depth) if sign in ("in", "not in") else self.term(part, depth)
            for sign, part in zip(operators, node.comparators, strict=True)
        )
        return Compare(operators, (left, *rest), *span)

    def pick(self, node: ast.IfExp, depth: int) -> Term:
        then, test, otherwise = (self.term(part, depth) for part in (node.body, node.test, node.orelse))
        return Pick(test, then, otherwise, *self.source.span(node))

    def call(self, node: ast.Call, depth: int) -> Term:
        from rulebook.languages.formula_calls import read_call  # the functions: many expressions call none

        return read_call(self, node, depth)

    def _refuse_foreign(self) -> None:
        from rulebook.languages.formula_mistakes import foreign  # only a mistake pays for it

        faults = foreign(self.source.text)
        self.findings.faults += self.source.outward(faults).faults
        for node in () if faults else self._foreign:
            self.refuse_syntax(node, getattr(node, "op", node))

    def _read(self, node: ast.expr, keys: tuple[str, ...], base: Term | None, ends: tuple[int, ...]) -> Term:
        start, end = self.source.span(node)
        written = isinstance(node, ast.Subscript) or self.source.slice(node).endswith(keys[-1])
        if keys[-1].startswith("__") or not written:
            return self.refuse(node, f"`{keys[-1]}`")
        label = ".".join(keys) if base is None else self.source.slice(node)
        label = f"{self.prefix}.{label}" if self.prefix and base is None else label
        return Read(keys, base, label, ends, start, end)

    def _key(self, node: ast.Attribute | ast.Subscript) -> str | None:
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self.source.quoted(node.slice).value
        return None

    def _text(self, node: ast.Constant, start: int, end: int) -> Term:
        if end - start == len(str(node.value)) + 2 and not self.source.rewritten:
            return Literal(str(node.value), start, end)
        found = self.source.quoted(node)
        if not self.source.is_one_text(node, found):
            return self.refuse(node, "Two texts side by side", " Put a comma between them.")
        node.value = found.value
        return Literal(found.value, start, end)

    def _where(self, where: ast.expr, depth: int) -> Term:
        if isinstance(where, (ast.List, ast.Tuple)):
            items = tuple(self.term(item, depth + 1) for item in where.elts)
            written = tuple(map(_written, items))
            if not items:
                return self.refuse(where, "An empty list", " Write what may stand in it.")
            if None in written:
                return self._unwritten(where, items)
            choices = Choices(tuple(item for item in written if item is not None), *self.source.span(where))
            self.findings.terms[where] = choices
            return choices
        if isinstance(where, ast.Constant) and isinstance(where.value, str):
            written_text = self.source.slice(where)
            mended = self.source.mended(*self.source.span(where), f"[{written_text}]")
            return self.refuse(where, "`in` before a single text", f" Write `in [{written_text}]`, or `==`.", mended)
        return self.term(where, depth)

    def _unwritten(self, where: ast.List | ast.Tuple, items: tuple[Term, ...]) -> Term:
        from rulebook.languages.formula_texts import is_bare_text  # only a mistake pays for it

        words = [self.source.slice(item) for item in where.elts]
        quote = self.source.quote
        texts = [f"{quote}{word}{quote}" if is_bare_text(word) else word for word in words]
        hint, mended = "", None
        if all(map(_written, items)) or texts != words:
            new = f"[{', '.join(texts)}]"
            hint, mended = f" Put texts in quotes: `{new}`.", self.source.mended(*self.source.span(where), new)
        return self.refuse(where, "A list of anything but written values", hint, mended)

    def _identity(self, node: ast.Compare) -> Term:
        from rulebook.languages.formula_texts import side_of_is  # only a mistake pays for it

        left, right = self.source.slice(node.left), self.source.slice(node.comparators[0])
        same = isinstance(node.ops[0], ast.Is)
        if right.lower() in ("none", "null", "missing", "known"):
            new = f"{'not ' if same != (right.lower() == 'known') else ''}known({left})"
        elif right == "empty":
            new = f"len({left}) {'==' if same else '>'} 0"
        else:
            new = f"{left} {'==' if same else '!='} {side_of_is(right, self.source.quote)}"
        words = {"ours": new, "theirs": self.source.slice(node)}
        return self.wrong("RB402", words, node, self.source.mended(*self.source.span(node), new))


def _written(term: Term) -> Literal | None:
    match term:
        case Literal():
            return term
        case Negative(part=Literal(value=int() | float() as value), start=start, end=end) if value is not True:
            return Literal(-value, start, end)
        case _:
            return None


def _rank(operator: ast.operator) -> str:
    return "+-" if isinstance(operator, (ast.Add, ast.Sub)) else "*/"


def _too_much(count: int, parts: str, limit: int) -> Fault:
    return Fault("RB706", {"what": "expression", "count": count, "parts": parts, "limit": limit})


_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "null": None}
_OPERATORS: dict[type[ast.operator], Operator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
COMPARISONS: dict[type[ast.cmpop], Comparison] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_READERS: dict[type[ast.expr], Callable[[_Reader, Any, int], Term]] = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.field,
    ast.Subscript: _Reader.field,
    ast.Constant: _Reader.constant,
    ast.Tuple: _Reader.pair,
    ast.BoolOp: _Reader.joined,
    ast.UnaryOp: _Reader.unary,
    ast.BinOp: _Reader.binary,
    ast.Compare: _Reader.compare,
    ast.IfExp: _Reader.pick,
    ast.Call: _Reader.call,
}
