"""What the functions of an SQL expression may be given: what is searched for is written out, and no text grows.

A pattern that came from a row could be searched for in a long text for hours within one row, where no time limit
reaches; a text that is replaced by a longer one, again and again, would fill the memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from rulebook.languages.sql_words import words

SqlNode = Mapping[str, object]
"""A node as DuckDB's `json_serialize_sql` gives it. `query_location` counts bytes of the query."""

MAX_LISTS = 2
"""How many lists may be made within each other: as a text a list is several times as long as what it was made of."""

_PATTERNS = words(
    "regexp_matches regexp_full_match regexp_extract regexp_extract_all regexp_replace string_split_regex "
    "regexp_split_to_array str_split_regex"
)
_LIKES = words("~~ !~~ ~~* !~~* like_escape not_like_escape ilike_escape not_ilike_escape")
_PATHS = words(
    "-> ->> json_extract json_extract_path json_extract_string json_extract_path_text json_value json_type "
    "json_array_length json_exists json_keys"
)
_LISTS = words(
    "string_split str_split split string_split_regex regexp_split_to_array str_split_regex regexp_extract_all "
    "json_keys list_value"
)


def pattern_in(name: str, arguments: Sequence[SqlNode]) -> tuple[SqlNode, str] | None:
    """The regular expression that a function is given, and its node; None where it takes none, or none is written."""
    pattern = text_of(arguments[1]) if name in _PATTERNS and len(arguments) > 1 else None
    return None if pattern is None else (arguments[1], pattern)


def unfit_arguments(name: str, arguments: Sequence[SqlNode]) -> Iterator[str]:
    """What a function takes in place of each thing that it may not be given, in words."""
    if name in _PATTERNS and pattern_in(name, arguments) is None:
        yield "a pattern that is written out"
    if name in _LIKES and any(text_of(each) is None for each in arguments[1:]):
        yield "a pattern that is written out (`contains(a, b)` looks for the text of a column)"
    if name == "regexp_replace" and (len(arguments) < 3 or text_of(arguments[2]) != ""):
        yield "'' as the text that replaces"
    if name == "replace":
        old, new = (text_of(each) for each in (*arguments, {}, {}, {})[1:3])
        if old is None or new is None or len(new.encode("utf-8")) > len(old.encode("utf-8")):
            yield "two written texts, the second no longer than the first"
    if name in _PATHS and not all(map(_is_path, arguments[1:])):
        yield "paths that are written out, each with `..` at most once"


def makes_list(name: str, arguments: Sequence[SqlNode]) -> bool:
    """Whether a function makes a list of what it is given."""
    return name in _LISTS or (name in _PATHS and any(map(_finds_several, arguments[1:])))


def arguments_of(node: SqlNode) -> list[SqlNode]:
    """The arguments of a function, each without the name that may stand before it."""
    return [part for each in _argument_list(node) for part in parts_of(each)]


def parts_of(value: object) -> list[SqlNode]:
    """The nodes in a value of a node: itself, those of a list, or those in its `children`."""
    match value:
        case list():
            return [part for each in value for part in parts_of(each)]
        case dict():
            inner = value.get("children")
            return parts_of(inner) if isinstance(inner, list) and "class" not in value else [value]
        case _:
            return []


def text_of(node: SqlNode) -> str | None:
    """The text that a node writes out, None for anything else."""
    literal = node.get("literal")
    if node.get("class") == "CONSTANT" and isinstance(literal, dict) and literal.get("kind") == "STRING":
        return str(literal.get("text", ""))
    return None


def _is_path(node: SqlNode) -> bool:
    """Whether a key, a position, a path or a list of them is written out, and looks through everything once at most."""
    if node.get("function_name") == "list_value":
        return all(map(_is_path, arguments_of(node)))
    return node.get("class") == "CONSTANT" and (text_of(node) or "").count("..") <= 1


def _finds_several(node: SqlNode) -> bool:
    text = text_of(node) or ""
    return node.get("function_name") == "list_value" or "*" in text or ".." in text


def _argument_list(node: SqlNode) -> Iterator[object]:
    for each in cast(Sequence[object], node.get("arguments") or ()):
        yield each.get("expression", each) if isinstance(each, dict) and "class" not in each else each
