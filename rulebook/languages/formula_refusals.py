"""Python's syntax that is not in the rule language, in an author's words."""

import ast

_NODES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: (
        "A lambda",
        " Put an expression over one item in quotes: `any(tool_calls, \"name == 'bash'\")`.",
    ),
    ast.ListComp: (
        "A loop in brackets",
        " Write `count`, `any`, `all`, `sum`, `min`, `max` or `mean` over the list.",
    ),
    ast.SetComp: (
        "A loop in brackets",
        " Write `count`, `any`, `all`, `sum`, `min`, `max` or `mean` over the list.",
    ),
    ast.DictComp: (
        "A loop in brackets",
        " Write `count`, `any`, `all`, `sum`, `min`, `max` or `mean` over the list.",
    ),
    ast.GeneratorExp: (
        "A loop in brackets",
        " Write `count`, `any`, `all`, `sum`, `min`, `max` or `mean` over the list.",
    ),
    ast.JoinedStr: ("Text with values filled in", " Compare the values themselves."),
    ast.NamedExpr: ("Assignment", " Write `==` to compare."),
    ast.Dict: ("A mapping", ""),
    ast.Set: ("A set", " After `in`, write a list: `['a', 'b']`."),
    ast.List: ("A list here", " A written list can only stand after `in`."),
    ast.Tuple: ("A list here", " A written list can only stand after `in`."),
    ast.Starred: ("`*` before a value", ""),
    ast.Slice: ("A slice", " Write `path('$…[a:b]')`."),
    ast.Await: ("`await`", ""),
    ast.Yield: ("`yield`", ""),
    ast.YieldFrom: ("`yield`", ""),
    ast.UAdd: ("A `+` before a value", " Leave it out."),
    ast.Pow: ("`**`", " Multiply instead: `x * x`."),
    ast.Mod: ("`%`", " A share is written `0.1`; there is no remainder."),
    ast.LShift: ("`<<`", ""),
    ast.RShift: ("`>>`", ""),
    ast.MatMult: ("`@`", ""),
    ast.BitAnd: ("`&`", " Write `and`."),
    ast.BitOr: ("`|`", " Write `or`."),
    ast.BitXor: ("`^`", " Write `!=`."),
    ast.FloorDiv: ("`//`", " Write `/`."),
    ast.Invert: ("`~`", " Write `not`."),
}


def refusal(node: ast.AST) -> tuple[str, str]:
    """What a piece of syntax is called, and what to write instead (empty, or with a leading space)."""
    return _NODES.get(type(node), ("Calling a value", ""))
