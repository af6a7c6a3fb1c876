"""The functions of expressions: what each takes."""

from typing import Literal, NamedTuple

Takes = Literal["list", "text", "number", "list or text", "list, text or mapping", "anything"]
Special = Literal["item", "pattern", "glob", "path", "digits", ""]


class Function(NamedTuple):
    """A function's signature. `wanted` says what it takes: at least `least` and at most `most` values.

    `special` names the argument that is read with the expression itself; `takes` has the kinds of the others.
    """

    wanted: str
    least: int
    most: int
    takes: tuple[Takes, ...] = ()
    special: Special = ""


FUNCTIONS: dict[str, Function] = {
    "count": Function("a list, and a condition over one item in quotes", 1, 2, ("list",), "item"),
    "any": Function("a list, and a condition over one item in quotes", 2, 2, ("list",), "item"),
    "all": Function("a list, and a condition over one item in quotes", 2, 2, ("list",), "item"),
    "sum": Function("a list, and an expression over one item in quotes", 1, 2, ("list",), "item"),
    "mean": Function("a list, and an expression over one item in quotes", 1, 2, ("list",), "item"),
    "min": Function("numbers, or a list and an expression over one item in quotes", 1, 20, ("list",), "item"),
    "max": Function("numbers, or a list and an expression over one item in quotes", 1, 20, ("list",), "item"),
    "len": Function("a list, text or mapping", 1, 1, ("list, text or mapping",)),
    "lower": Function("text", 1, 1, ("text",)),
    "upper": Function("text", 1, 1, ("text",)),
    "strip": Function("text", 1, 1, ("text",)),
    "contains": Function("text or a list, and what to look for in it", 2, 2, ("list or text", "anything")),
    "starts_with": Function("text, and its beginning", 2, 2, ("text", "text")),
    "ends_with": Function("text, and its end", 2, 2, ("text", "text")),
    "matches": Function("a pattern in quotes, and text", 2, 2, ("text",), "pattern"),
    "glob": Function("a path pattern in quotes, and text", 2, 2, ("text",), "glob"),
    "near": Function("two numbers, and how far apart they may be", 2, 3, ("number", "number", "number")),
    "abs": Function("a number", 1, 1, ("number",)),
    "round": Function("a number, and how many decimals to keep (0 to 15)", 1, 2, ("number",), "digits"),
    "json": Function("text", 1, 1, ("text",)),
    "path": Function("a path in quotes, such as `'$.messages[-1].text'`", 1, 1, (), "path"),
    "known": Function("one value", 1, 1, ("anything",)),
    "default": Function("a value, and what to take in its place when it is missing", 2, 2, ("anything", "anything")),
}
"""Every function that an expression can call, by name."""
