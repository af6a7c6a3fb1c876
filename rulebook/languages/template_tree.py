"""What a template may be made of: an allow-list over the tree that Jinja2's parser makes.

Nodes are known by the names of their classes, so that nothing here loads Jinja2.
"""

from collections.abc import Iterator
from inspect import signature
from typing import Any

from rulebook.languages.faults import Fault
from rulebook.languages.template_filters import FILTER_FUNCTIONS
from rulebook.spelling import guess, listed

MAX_DEPTH = 40
MAX_LOOP_DEPTH = 2
MAX_JOINED = 50
"""How many values one `~` chain may join."""

FILTERS = (*FILTER_FUNCTIONS, "default")
TESTS = (
    "defined",
    "undefined",
    "none",
    "number",
    "string",
    "boolean",
    "true",
    "false",
    "in",
    "eq",
    "ne",
    "lt",
    "gt",
)


def kind_of(node: Any) -> str:
    """The class of a node of Jinja2's tree."""
    return type(node).__name__


def refusals(tree: Any, text: str) -> list[Fault]:
    """RB419 for each thing that templates may not hold, RB706 for what goes too deep; each said once."""
    found: list[Fault] = []
    for fault in _all_refusals(tree, text):
        if fault not in found:
            found.append(fault)
    return found


def _all_refusals(tree: Any, text: str) -> Iterator[Fault]:
    waiting = [(tree, 0, 0)]
    while waiting:
        node, deep, loops = waiting.pop()
        if deep > MAX_DEPTH:
            yield too_much(MAX_DEPTH + 1, "parts inside one another", MAX_DEPTH)
            return
        yield from (Fault("RB419", words, *line_span(text, node.lineno)) for words in _refused(node))
        loops += kind_of(node) == "For"
        if loops > MAX_LOOP_DEPTH:
            yield too_much(loops, "loops inside one another", MAX_LOOP_DEPTH)
            return
        waiting.extend((child, deep + 1, loops) for child in node.iter_child_nodes())


def too_much(count: int, parts: str, limit: int) -> Fault:
    """RB706 for a template."""
    return Fault("RB706", {"what": "template", "count": count, "parts": parts, "limit": limit})


def line_span(text: str, line: int) -> tuple[int, int]:
    """Start and end of a 1-based line of the template."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1 or len(text)
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end


def _refused(node: Any) -> Iterator[dict[str, object]]:
    kind = kind_of(node)
    if kind not in _ALLOWED:
        what, hint = _REFUSED.get(kind, ("this", ""))
        yield {"what": what, "hint": hint}
    elif kind == "Filter":
        yield from _refused_filter(node)
    elif kind == "Test" and node.name not in TESTS:
        yield {"what": f"The test `is {node.name}`", "hint": guess(node.name, TESTS, list_up_to=20)}
    elif kind == "Name" and node.name in {"self", "super", "caller", "varargs", "kwargs"}:
        yield {"what": f"`{node.name}`", "hint": ""}
    elif kind == "Getattr" and node.attr.startswith("_"):
        yield {"what": f"`.{node.attr}`", "hint": " Names of fields do not begin with `_`."}
    elif kind == "For":
        yield from _refused_loop(node)
    elif kind == "Neg" and not (kind_of(node.node) == "Const" and isinstance(node.node.value, int | float)):
        yield {"what": "Arithmetic", "hint": ""}
    elif kind == "Concat" and len(node.nodes) > MAX_JOINED:
        yield {"what": f"Joining more than {MAX_JOINED} values with `~`", "hint": ""}


def _refused_filter(node: Any) -> Iterator[dict[str, object]]:
    if node.node is None:
        yield {"what": "`{% filter %}`", "hint": " Write the filter behind the name: `{{ name | upper }}`."}
    if node.name not in FILTERS:
        yield {"what": f"The filter `{node.name}`", "hint": guess(node.name, FILTERS, list_up_to=0)}
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        yield {"what": "`*` in a filter's options", "hint": ""}
    elif node.name in FILTER_FUNCTIONS and not _fits(node):
        yield {"what": f"`{node.name}` with these options", "hint": f" It takes {_options(node.name)}."}


def _fits(node: Any) -> bool:
    try:
        signature(FILTER_FUNCTIONS[node.name]).bind(node, *node.args, **{pair.key: pair for pair in node.kwargs})
    except TypeError:
        return False
    return True


def _options(name: str) -> str:
    return listed(list(signature(FILTER_FUNCTIONS[name]).parameters)[1:]) or "none"


def _refused_loop(node: Any) -> Iterator[dict[str, object]]:
    if node.recursive:
        yield {"what": "A loop that calls itself", "hint": ""}
    if kind_of(node.target) != "Name":
        yield {"what": "More than one name for a loop's items", "hint": " Write `{% for item in list %}`."}
    names = [] if node.test is None else [*node.test.find_all(type(node.target)), node.test]
    if any(getattr(name, "name", "") == "loop" for name in names if kind_of(name) == "Name"):
        yield {"what": "`loop` in the condition of its own loop", "hint": " Write an `if` inside the loop."}


_ALLOWED = frozenset(
    (
        "Template", "Output", "TemplateData", "Name", "Getattr", "Getitem", "Const", "Filter", "Keyword",
        "If", "For", "Compare", "Operand", "And", "Or", "Not", "Test", "CondExpr", "Concat", "Slice", "Neg",
    )
)  # fmt: skip
_SUM = ("Arithmetic", " Have the value worked out before, as a param.")
_FILE = " Write the text here."
_LITERAL = (" Compare with `==` and join with `or`.",)
_REFUSED = {
    "Call": ("A call like `name()`", ""),
    "Macro": ("`{% macro %}`", ""),
    "CallBlock": ("`{% call %}`", ""),
    "FilterBlock": ("`{% filter %}`", " Write the filter behind the name: `{{ name | upper }}`."),
    "Include": ("`{% include %}`", _FILE),
    "Import": ("`{% import %}`", _FILE),
    "FromImport": ("`{% import %}`", _FILE),
    "Extends": ("`{% extends %}`", _FILE),
    "Block": ("`{% block %}`", _FILE),
    "Assign": ("`{% set %}`", " Use the value where it is needed."),
    "AssignBlock": ("`{% set %}`", " Use the value where it is needed."),
    "NSRef": ("`{% set %}`", " Use the value where it is needed."),
    "With": ("`{% with %}`", " Use the value where it is needed."),
    "ScopedEvalContextModifier": ("`{% autoescape %}`", ""),
    "List": ("A list", *_LITERAL),
    "Tuple": ("A list", *_LITERAL),
    "Dict": ("A mapping", ""),
    "Pair": ("A mapping", ""),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Pos"), _SUM),
}
