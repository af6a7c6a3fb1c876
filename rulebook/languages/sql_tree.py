"""The parsed tree of an SQL expression, walked against the allow-list of `sql_words`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from rulebook.languages.faults import Fault
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

SqlNode = Mapping[str, object]
"""A node as DuckDB's `json_serialize_sql` gives it. `query_location` counts bytes of the query."""

_PATTERN_FUNCTIONS = words(
    "regexp_matches regexp_full_match regexp_extract regexp_extract_all regexp_replace string_split_regex "
    "regexp_split_to_array str_split_regex"
)
_OUTSIDE = words(
    "current_date current_time current_timestamp localtime localtimestamp current_user current_role session_user user "
    "current_catalog current_schema rowid"
)
"""What the engine takes for a function of the clock or the session when no column bears the name."""


class SqlWalk:
    """One walk over a tree. `text` is the expression, `shift` how many bytes of the query stand before it.

    `columns` are the names that the rows have; None: nobody knows them yet, and any name goes that is not one of the
    engine's own.
    """

    def __init__(self, text: str, shift: int, columns: Iterable[str] | None) -> None:
        self._raw = text.encode("utf-8")
        self._shift = shift
        self._columns = None if columns is None else {name.casefold(): name for name in columns}
        self.faults: list[Fault] = []
        self.read: set[str] = set()
        self.texts = 0
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
                self._below(node, ("lhs", "expr"))
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
            parts = [part for part in _parts(value) if part]
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
        arguments = _arguments(node)
        self.texts += name in TEXT_MAKERS
        self._literal_patterns(node, name, arguments)
        for argument in arguments:
            self.walk(argument)
        if {key for key, value in node.items() if value} - _WORDS_ABOUT - _OF_A_FUNCTION:
            self._refuse(node, "This")

    def _literal_patterns(self, node: SqlNode, name: str, arguments: Sequence[SqlNode]) -> None:
        """Patterns are the author's own, and no text grows where it is replaced: nested, that could fill the memory."""
        if name in _PATTERN_FUNCTIONS:
            pattern = _text(arguments[1]) if len(arguments) > 1 else None
            if pattern is None:
                self._add("RB406", node, name=name, wanted="a pattern that is written out", found="something else")
            else:
                self.patterns.append((arguments[1], pattern))
        if name == "regexp_replace" and (len(arguments) < 3 or _text(arguments[2]) != ""):
            self._add("RB406", node, name=name, wanted="'' as the text that replaces", found="something else")
        if name == "replace":
            old, new = (_text(each) for each in (*arguments, {}, {}, {})[1:3])
            if old is None or new is None or len(new.encode("utf-8")) > len(old.encode("utf-8")):
                wanted = "two written texts, the second no longer than the first"
                self._add("RB406", node, name=name, wanted=wanted, found="something else")

    def _cast(self, node: SqlNode) -> None:
        kind = cast(SqlNode, node.get("type_expr") or {})
        name = str(kind.get("type_name", "")).upper()
        sizes = _parts(kind.get("children"))
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


def _parts(value: object) -> list[SqlNode]:
    """The nodes in a value of a node: itself, those of a list, or those in its `children`."""
    match value:
        case list():
            return [part for each in value for part in _parts(each)]
        case dict():
            inner = value.get("children")
            return _parts(inner) if isinstance(inner, list) and "class" not in value else [value]
        case _:
            return []


def _arguments(node: SqlNode) -> list[SqlNode]:
    """The arguments of a function, each without the name that may stand before it."""
    return [part for each in _argument_list(node) for part in _parts(each)]


def _argument_list(node: SqlNode) -> Iterator[object]:
    for each in cast(Sequence[object], node.get("arguments") or ()):
        yield each.get("expression", each) if isinstance(each, dict) and "class" not in each else each


def _text(node: SqlNode) -> str | None:
    """The text that a node writes out, None for anything else."""
    literal = node.get("literal")
    if node.get("class") == "CONSTANT" and isinstance(literal, dict) and literal.get("kind") == "STRING":
        return str(literal.get("text", ""))
    return None
