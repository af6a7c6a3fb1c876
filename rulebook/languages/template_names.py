"""The names that a template reads, followed through the types of the evidence."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from rulebook.languages.faults import Fault
from rulebook.languages.template_tree import kind_of, line_span
from rulebook.languages.types import (
    ANYTHING,
    NUMBER,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Scope,
    Type,
)
from rulebook.spelling import guess, listed, nearest

LOOP = RecordOf(
    "a loop",
    {
        "index": NUMBER,
        "index0": NUMBER,
        "revindex": NUMBER,
        "length": NUMBER,
        "first": YES_NO,
        "last": YES_NO,
    },
)
"""What `loop` offers inside a loop."""


def names_of(tree: Any) -> frozenset[str]:
    """The top-level names that the template reads."""
    walk = _Walk("", None)
    walk.visit(tree, {})
    return frozenset(walk.roots)


def paths_of(tree: Any) -> tuple[str, ...]:
    """Every dotted path that the template writes, such as `params.x`."""
    walk = _Walk("", None)
    walk.visit(tree, {})
    return tuple(dict.fromkeys(walk.paths))


def faults_of(tree: Any, text: str, scope: Scope) -> tuple[Fault, ...]:
    """RB418 for names and fields that are not there, RB419 for a record filled in as a whole."""
    walk = _Walk(text, scope)
    walk.visit(tree, {})
    return tuple(walk.faults)


class Fill(Struct, frozen=True):
    """A value that a template writes into its text: the path as it is written, and its kind.

    `root` is the top-level name, empty for a name that a loop made. `start` and `end` count characters of the template.
    """

    path: str
    root: str
    kind: Type
    start: int
    end: int


def fills_of(tree: Any, text: str, scope: Scope) -> tuple[Fill, ...]:
    """The values that become part of the text, in its order; what only a condition or a count reads is none."""
    walk = _Fills(text, scope)
    walk.visit(tree, {})
    return tuple(walk.fills)


class _Walk(Struct):
    text: str
    scope: Scope | None
    roots: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def visit(self, node: Any, own: Mapping[str, Type]) -> None:
        """Look at a statement. `own` holds the names that loops around it have made."""
        match kind_of(node):
            case "For":
                inside = {**own, node.target.name: _item_of(self.kind(node.iter, own)), "loop": LOOP}
                if node.test is not None:
                    self.kind(node.test, inside)
                for part in node.body:
                    self.visit(part, inside)
                for part in node.else_:
                    self.visit(part, own)
            case "Template" | "If":
                for part in node.iter_child_nodes():
                    self.visit(part, own)
            case "Output":
                for part in node.nodes:
                    self._output(part, own)
            case _:
                self.kind(node, own)

    def kind(self, node: Any, own: Mapping[str, Type]) -> Type:
        """The kind of an expression's value; anything where it cannot be told."""
        match kind_of(node):
            case "Name":
                return self._name(node, own)
            case "Getattr":
                return self._field(node, self.kind(node.node, own), node.attr)
            case "Getitem":
                return self._item(node, own)
            case "Filter" if node.name in {"first", "last"} and not node.args:
                return _item_of(self.kind(node.node, own))
        for part in node.iter_child_nodes():
            self.kind(part, own)
        return TEXT if kind_of(node) == "TemplateData" else ANYTHING

    def _name(self, node: Any, own: Mapping[str, Type]) -> Type:
        if node.name in own:
            return own[node.name]
        self.roots.add(node.name)
        self.paths.append(node.name)
        if self.scope is None:
            return ANYTHING
        if node.name not in self.scope.names:
            self._unknown(node, node.name, node.name, tuple(self.scope.names))
            return ANYTHING
        return self.scope.names[node.name]

    def _item(self, node: Any, own: Mapping[str, Type]) -> Type:
        kind, key = self.kind(node.node, own), node.arg
        if kind_of(key) == "Const" and isinstance(key.value, str):
            return self._field(node, kind, key.value)
        self.kind(key, own)
        return kind if kind_of(key) == "Slice" else _item_of(kind)

    def _field(self, node: Any, kind: Type, name: str) -> Type:
        written = _written(node)
        self.paths.append(written)
        match kind:
            case RecordOf(_, fields) if name in fields:
                return fields[name]
            case MapOf(value):
                return value
            case Scalar(name="anything") | RecordOf(open=True):
                return ANYTHING
            case RecordOf(_, fields) if fields:
                self._unknown(node, name, written, tuple(fields))
            case RecordOf():
                says = f" Nothing is declared under `{written.removesuffix(f'.{name}')}`."
                self._unknown(node, name, written, (), says)
            case _:
                self._unknown(node, name, written, ())
        return ANYTHING

    def _unknown(self, node: Any, name: str, written: str, choices: tuple[str, ...], says: str = "") -> None:
        start, end = self._place(node, name)
        best = nearest(name, choices)
        mended = None if best is None else self.text[:start] + best + self.text[end:]
        words = {"name": written, "guess": says or guess(name, choices)}
        self._say(Fault("RB418", words, start, end, mended=mended))

    def _output(self, node: Any, own: Mapping[str, Type]) -> None:
        self._filled_in(node, self.kind(node, own))

    def _filled_in(self, node: Any, kind: Type) -> None:
        if not isinstance(kind, RecordOf) or kind.open or not kind.fields:
            return
        written = _written(node)
        best = next((name for name in ("write_to", "path") if name in kind.fields), None)
        hint = f" Write `{{{{ {written}.{best} }}}}`." if best else f" Name one of its parts: {listed(kind.fields)}."
        self._say(Fault("RB419", {"what": f"`{written}` as a whole", "hint": hint}, *self._place(node, "")))

    def _say(self, fault: Fault) -> None:
        if fault not in self.faults:
            self.faults.append(fault)

    def _place(self, node: Any, name: str) -> tuple[int, int]:
        """Where the name stands; the parser tells the line only."""
        start, end = line_span(self.text, node.lineno)
        pattern = r"\s*\.\s*".join(rf"(?<!\w){re.escape(part)}(?!\w)" for part in _written(node).split("."))
        found = re.compile(pattern).search(self.text, start)
        if found is None:
            found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(self.text, start) if name else None
            return (start, end) if found is None else found.span()
        return (found.end() - len(name) if name else found.start()), found.end()


class _Fills(_Walk):
    fills: list[Fill] = field(default_factory=list)

    def _output(self, node: Any, own: Mapping[str, Type]) -> None:
        match kind_of(node):
            case "Name" | "Getattr" | "Getitem":
                self._fill(node, own)
            case "Filter" if node.name in {"length", "count"}:
                pass
            case "Compare" | "Not" | "Test":
                pass
            case "CondExpr":
                for part in (node.expr1, node.expr2):
                    if part is not None:
                        self._output(part, own)
            case _:
                for part in node.iter_child_nodes():
                    self._output(part, own)

    def _fill(self, node: Any, own: Mapping[str, Type]) -> None:
        root = node
        while kind_of(root) in {"Getattr", "Getitem"}:
            root = root.node
        if kind_of(root) != "Name":
            self._output(root, own)
            return
        start, end = self._place(node, "")
        name = "" if root.name in own else root.name
        self.fills.append(Fill(_written(node), name, self.kind(node, own), start, end))


def _item_of(kind: Type) -> Type:
    match kind:
        case ListOf(item):
            return item
        case _:
            return ANYTHING


def _written(node: Any) -> str:
    """The dotted path of a node as an author would write it."""
    return "".join(_parts(node)).lstrip(".")


def _parts(node: Any) -> Iterator[str]:
    match kind_of(node):
        case "Name":
            yield node.name
        case "Getattr":
            yield from _parts(node.node)
            yield f".{node.attr}"
        case "Getitem":
            yield from _parts(node.node)
            key = getattr(node.arg, "value", None)
            if key is None:
                below = kind_of(node.arg) == "Neg" and getattr(node.arg.node, "value", None)
                yield f"[-{below}]" if below else "[…]"
            else:
                yield f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"
        case _:
            yield "…"
