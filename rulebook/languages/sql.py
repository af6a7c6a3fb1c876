"""SQL expressions of scorers: one value worked out from the columns of one row, checked before anything runs.

DuckDB parses them; what its tree may hold is in `sql_words`. Source: scorers, "SQL expression scorers".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.sql_arguments import MAX_LISTS, SqlNode
from rulebook.languages.sql_tables import SqlRefused, Tables
from rulebook.languages.sql_tree import SqlWalk
from rulebook.languages.sql_words import MAX_CHARACTERS, MAX_TEXTS, NUMBER_TYPES, TYPE_WORDS

RELATION = '"the rows"'
"""What the rows are called in a query of ours."""

_BEFORE = "SELECT ("
_AFTER = f"\n) AS score FROM {RELATION}"
_EMPTY_PARTS: Mapping[str, Sequence[object]] = {
    "modifiers": ([],),
    "cte_map": ({"map": []},),
    "where_clause": (None,),
    "group_expressions": ([],),
    "group_sets": ([],),
    "aggregate_handling": ("STANDARD_HANDLING",),
    "having": (None,),
    "sample": (None,),
    "qualify": (None,),
}
"""What a query of ours has nothing of."""


def read_sql(text: str) -> str:
    """The expression without the blanks around it. Raises LanguageError for one that is empty or too long."""
    stripped = text.strip()
    if not stripped:
        why = "an expression says what a row scores, such as `CASE WHEN \"output\" <> '' THEN 1.0 ELSE 0.0 END`."
        raise LanguageError(Fault("RB216", {"key": "expression", "why": why}))
    odd = next((place for place, sign in enumerate(stripped) if sign == "\0" or "\ud800" <= sign <= "\udfff"), None)
    if odd is not None:
        fault = Fault("RB401", {"expected": "this character is no text that can be written down"}, odd, odd + 1)
        raise LanguageError(fault)
    if len(stripped) > MAX_CHARACTERS:
        words = {"what": "expression", "count": len(stripped), "parts": "characters", "limit": MAX_CHARACTERS}
        raise LanguageError(Fault("RB706", words))
    return stripped


def sql_faults(text: str, tables: Tables, columns: Mapping[str, str] | None = None) -> tuple[Fault, ...]:
    """Everything that is wrong with an expression, before any row is looked at.

    `columns` are the rows' columns with their types in SQL; None: nobody knows them yet, and neither names nor types
    are looked at. Nothing runs: the engine only parses, and works out types over no rows.
    """
    try:
        stripped = read_sql(text)
        root = _root(stripped, tables)
    except LanguageError as error:
        return error.faults
    walk = SqlWalk(stripped, len(_BEFORE), columns)
    walk.walk(root)
    if walk.texts > MAX_TEXTS:
        words = {"what": "expression", "count": walk.texts, "parts": "functions that make a text or a list"}
        walk.faults.append(Fault("RB706", {**words, "limit": MAX_TEXTS}))
    if walk.lists > MAX_LISTS:
        words = {"what": "expression", "count": walk.lists, "parts": "lists made within each other"}
        walk.faults.append(Fault("RB706", {**words, "limit": MAX_LISTS}))
    for node, pattern in walk.patterns:
        try:
            tables.sql_pattern(pattern)
        except SqlRefused as refusal:
            walk.bad_pattern(node, _plain(refusal.reason))
    if columns is not None and not walk.faults:
        walk.faults += _kind_faults(stripped, tables, columns)
    shift = len(text) - len(text.lstrip())
    return tuple(_moved(fault, shift) for fault in walk.faults)


def same_but_for_case(columns: Iterable[str]) -> tuple[str, str] | None:
    """Two columns that SQL cannot tell apart, or None."""
    seen: dict[str, str] = {}
    for name in columns:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            return other, name
    return None


def columns_read(text: str, tables: Tables, columns: Iterable[str]) -> frozenset[str]:
    """The columns that an expression reads. Raises LanguageError for one that is not valid."""
    walk = SqlWalk(text, len(_BEFORE), columns)
    walk.walk(_root(text, tables))
    if walk.faults:
        raise LanguageError(*walk.faults)
    return frozenset(walk.read)


def _root(text: str, tables: Tables) -> SqlNode:
    """The tree of the expression, which is one value and nothing beside it. Raises LanguageError."""
    item = _only_item(_tree(text, f"{_BEFORE}{text}{_AFTER}", tables))
    # a text that closes our parenthesis and opens another, such as `1) + (2`, is no expression between brackets
    within = _only_item(_tree(text, f"SELECT [{text}\n] AS score FROM {RELATION}", tables, before=len("SELECT [")))
    one = within.get("class") == "FUNCTION" and within.get("function_name") == "list_value"
    if not one or len(cast(Sequence[object], within.get("arguments") or ())) != 1:
        raise LanguageError(Fault("RB401", {"expected": "a scorer is one value; this is several"}))
    return item


def _tree(text: str, query: str, tables: Tables, before: int = len(_BEFORE)) -> Mapping[str, object]:
    try:
        return tables.sql_tree(query)
    except SqlRefused as refusal:
        raise LanguageError(_parse_fault(text, refusal, before)) from None


def _only_item(tree: Mapping[str, object]) -> SqlNode:
    """The one thing that a query of ours selects. Raises LanguageError when the text made another query of it."""
    try:
        (statement,) = cast(Sequence[Mapping[str, object]], tree["statements"])
        node = cast(Mapping[str, object], statement["node"])
        table = cast(Mapping[str, object], node["from_table"])
        (item,) = cast(Sequence[SqlNode], node["select_list"])
        ours = (
            node["type"] == "SELECT_NODE"
            and all(node.get(key) in empty for key, empty in _EMPTY_PARTS.items())
            and table["type"] == "BASE_TABLE"
            and f'"{table["table_name"]}"' == RELATION
            and not (table["schema_name"] or table["catalog_name"] or table["alias"] or table["sample"])
            and item.get("alias") == "score"
        )
    except (KeyError, ValueError, TypeError, AttributeError):
        ours = False
    if not ours:
        raise LanguageError(Fault("RB401", {"expected": "a scorer is one value, and no query"}))
    return item


def _parse_fault(text: str, refusal: SqlRefused, before: int) -> Fault:
    start = min(max(0, (refusal.position or 0) - before), len(text))
    if refusal.position is None:
        return Fault("RB401", {"expected": _plain(refusal.reason)})
    if start >= len(text.rstrip()):
        return Fault("RB401", {"expected": "something is missing at the end"}, start=max(0, len(text) - 1))
    if text[start] == ";":
        return Fault("RB401", {"expected": "`;` ends a statement, and a scorer is one value"}, start, start + 1)
    return Fault("RB401", {"expected": _plain(refusal.reason)}, start)


def _kind_faults(text: str, tables: Tables, columns: Mapping[str, str]) -> list[Fault]:
    """What the types say: whether the parts fit each other, and whether a number comes out."""
    twins = same_but_for_case(columns)
    if twins is not None:
        expected = f"the columns `{twins[0]}` and `{twins[1]}` differ only in capital letters, which SQL takes for one"
        return [Fault("RB401", {"expected": expected})]
    try:
        kind = tables.sql_kind(text, columns)
    except SqlRefused as refusal:
        return [Fault("RB401", {"expected": _plain(refusal.reason)})]
    if kind.partition("(")[0] in NUMBER_TYPES:
        return []
    hint = " Write `CASE WHEN … THEN 1.0 ELSE 0.0 END`." if kind == "BOOLEAN" else ""
    hint = " Write `CAST(… AS DOUBLE)`, or compare it with something." if kind in ("VARCHAR", "JSON") else hint
    found = TYPE_WORDS.get(kind, f"a `{kind}`")
    return [Fault("RB408", {"found": found, "wanted": "a number", "hint": hint})]


def _plain(reason: str) -> str:
    """The engine's words as the end of a sentence of ours."""
    first = reason.strip().partition("\n")[0].rstrip(".")
    return (first[:1].lower() + first[1:])[:300] if first else "this is not valid SQL"


def _moved(fault: Fault, by: int) -> Fault:
    if not by:
        return fault
    return Fault(fault.code, fault.words, fault.start + by, None if fault.end is None else fault.end + by, fault.help)
