"""The parsed tree of an SQL expression, walked against the allow-list of `sql_words`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from rulebook.languages.faults import Fault
from rulebook.languages.sql_arguments import (
    SqlNode,
    arguments_of,
    makes_list,
    parts_of,
    pattern_in,
    unfit_arguments,
)
from rulebook.languages.sql_words import (
    COMPARISONS,
    ELSEWHERE,
    FUNCTIONS,
    OPERATORS,
    REFUSED,
    TEXT_MAKERS,
    TYPES,
    words,
)
from rulebook.spelling import nearest

_OUTSIDE = words(
    "current_date current_time current_timestamp localtime localtimestamp current_user current_role session_user user "
    "current_catalog current_schema rowid"
)
"""What the engine takes for a function of the clock or the session when no column bears the name."""


class SqlWalk:
    """One walk over a tree. `text` is the expression, `shift` how many bytes of the query stand before it.

    `columns` are the names that the rows have; None: nobody knows them yet, and any name goes that is not one of the
    engine's own. `lists` counts how many lists are made within each other at most.
    """

    def __init__(self, text: str, shift: int, columns: Iterable[str] | None) -> None:
        self._raw = text.encode("utf-8")
        self._shift = shift
        self._columns = None if columns is None else {name.casefold(): name for name in columns}
        self.faults: list[Fault] = []
        self.read: set[str] = set()
        self.texts = 0
        self.lists = self._lists = 0
        self.patterns: list[tuple[SqlNode, str]] = []

    def walk(self, node: SqlNode) -> None:
        """Note everything in this node and below it that an expression may not hold."""
        match node.get("class"):
            case "CONSTANT":
                return
            case "COLUMN_REF":
                self._column(node)
            case "FUNCTION":
                self._function(node)
            case "CAST":
                self._cast(node)
            case "LAMBDA" if node.get("syntax_type") == "SINGLE_ARROW":
                self.texts += 1
                lists = self._given(node, "->", [*parts_of(node.get("lhs")), *parts_of(node.get("expr"))])
                self._below(node, ("lhs", "expr"))
                self._lists -= lists
            case "OPERATOR" if node.get("type") in OPERATORS:
                self._below(node, ("children",))
            case "COMPARISON" if node.get("type") in COMPARISONS:
                self._below(node, ("left", "right"))
            case "CONJUNCTION":
                self._below(node, ("children",))
            case "BETWEEN":
                self._below(node, ("input", "lower", "upper"))
            case "CASE":
                self._below(node, ("case_checks", "else_expr"))
            case None if set(node) <= {"when_expr", "then_expr"}:
                self._below(node, ("when_expr", "then_expr"))
            case other:
                self._refuse(node, REFUSED.get(str(other), "This"))

    def _below(self, node: SqlNode, known: Sequence[str]) -> None:
        """Walk the parts of a node; a part that it should not have is refused, whatever it is."""
        for key, value in node.items():
            parts = [part for part in parts_of(value) if part]
            if parts and key not in known and key not in _WORDS_ABOUT:
                self._refuse(node, "This")
            elif key in known:
                for part in parts:
                    self.walk(part)

    def _column(self, node: SqlNode) -> None:
        names = [str(name) for name in cast(Sequence[object], node.get("column_names") or ())]
        if not names:
            self._refuse(node, "This")
            return
        first = names[0]
        if self._columns is None:
            if first.casefold() in _OUTSIDE:
                self._add("RB411", node, what=f"`{first}`", hint=_NO_OUTSIDE)
            self.read.add(first)
        elif first.casefold() not in self._columns:
            near = nearest(first, list(self._columns.values()))
            guess = f" Did you mean `{near}`?" if near else self._quoted(first, node)
            self._add("RB403", node, field=first, place="the columns of the rows", guess=guess)
        else:
            self.read.add(self._columns[first.casefold()])

    def _quoted(self, name: str, node: SqlNode) -> str:
        start, _ = self._place(node)
        known = ", ".join(f"`{each}`" for each in list((self._columns or {}).values())[:8])
        if self._raw.decode("utf-8")[start : start + 1] == '"':
            return f" A text is written in single quotes: '{name}'. The columns are {known}."
        return f" They are {known}."

    def _function(self, node: SqlNode) -> None:
        name = str(node.get("function_name", "")).lower()
        if node.get("schema") or node.get("catalog"):
            self._refuse(node, f"`{name}` after a dot", hint=" Write the function with its arguments in parentheses.")
            return
        if name not in FUNCTIONS:
            near = None if name in ELSEWHERE else nearest(name, [each for each in FUNCTIONS if each.isidentifier()])
            guess = f" Did you mean `{near}`?" if near else ELSEWHERE.get(name, "")
            self._add("RB405", node, name=name, guess=guess)
        orders = cast(Mapping[str, object], node.get("order_bys") or {})
        if node.get("distinct") or node.get("filter") or orders.get("orders"):
            self._refuse(node, "`DISTINCT`, `FILTER` or `ORDER BY` in a function")
        arguments = arguments_of(node)
        self.texts += name in TEXT_MAKERS
        lists = self._given(node, name, arguments)
        for argument in arguments:
            self.walk(argument)
        self._lists -= lists
        if {key for key, value in node.items() if value} - _WORDS_ABOUT - _OF_A_FUNCTION:
            self._refuse(node, "This")

    def _given(self, node: SqlNode, name: str, arguments: Sequence[SqlNode]) -> bool:
        """Note what a function may not be given. Gives whether it makes a list, which then counts until it is left."""
        for wanted in unfit_arguments(name, arguments):
            shown = "LIKE" if "like" in name or "~~" in name else name
            self._add("RB406", node, name=shown, wanted=wanted, found="something else")
        pattern = pattern_in(name, arguments)
        if pattern is not None:
            self.patterns.append(pattern)
        lists = makes_list(name, arguments)
        self._lists += lists
        self.lists = max(self.lists, self._lists)
        return lists

    def _cast(self, node: SqlNode) -> None:
        kind = cast(SqlNode, node.get("type_expr") or {})
        name = str(kind.get("type_name", "")).upper()
        sizes = parts_of(kind.get("children"))
        plain = kind.get("class") == "TYPE" and not kind.get("schema") and not kind.get("catalog")
        if not plain or name not in TYPES or any(size.get("class") != "CONSTANT" for size in sizes):
            wanted = "a type such as DOUBLE, INTEGER, DECIMAL(10, 2), VARCHAR, BOOLEAN, DATE, TIMESTAMP or JSON"
            self._add("RB406", node, name="CAST", wanted=wanted, found=f"`{name or '?'}`")
        self.texts += name in ("VARCHAR", "TEXT", "STRING", "CHAR", "JSON")
        self._below(node, ("child",))

    def bad_pattern(self, node: SqlNode, reason: str) -> None:
        """Note that the pattern which stands at this node is none."""
        self._add("RB401", node, expected=f"the pattern is none: {reason}")

    def _refuse(self, node: SqlNode, what: str, hint: str = "") -> None:
        self._add("RB411", node, what=what, hint=hint or " A scorer is one value, worked out from one row.")

    def _add(self, code: str, node: SqlNode, **blanks: object) -> None:
        start, end = self._place(node)
        self.faults.append(Fault(code, blanks, start, end))

    def _place(self, node: SqlNode) -> tuple[int, int | None]:
        """Where a node stands in the expression, in characters."""
        at, length = node.get("query_location"), node.get("query_location_length")
        if not isinstance(at, int) or not isinstance(length, int):
            return 0, None
        start = max(0, at - self._shift)
        before, own = self._raw[:start], self._raw[start : start + length]
        first = len(before.decode("utf-8", "ignore"))
        return first, first + len(own.decode("utf-8", "ignore").rstrip())


_NO_OUTSIDE = " A scorer sees one row: no clock, no chance, no file, no setting and no other row."
_WORDS_ABOUT = frozenset({"type_expr", "qualified_name", "literal", "column_names"})
"""Keys whose value is a mapping or a list, and no part of the expression; `type_expr` is looked at by itself."""
_OF_A_FUNCTION = words(
    "class type alias query_location query_location_length function_name is_operator arguments order_bys distinct "
    "filter schema catalog"
)
