"""RB505: a part behind one that always decides."""

from rulebook.expression.nodes import AllOf, AnyOf, Leaf, Node, Not, parts_of
from rulebook.expression.program import Loaded
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note the first part of an `all` or `any` which stops early that can never be reached."""
    waiting = [item.node for item in loaded.items]
    while waiting:
        node = waiting.pop()
        waiting += parts_of(node)
        if isinstance(node, AllOf | AnyOf) and node.stop:
            decides = isinstance(node, AnyOf)
            for before, part in zip(node.parts, node.parts[1:], strict=False):
                if _always(before) is decides:
                    words = {"first": before.common.kind, "does": "passes" if decides else "fails"}
                    loaded.readers[part.common.file].add_at_key("RB505", (*part.common.path, part.common.kind), **words)
                    break


def _always(node: Node) -> bool | None:
    """Whether a rule passes whatever happened; None where that depends on it."""
    if node.common.when is not None or node.common.threshold is not None:
        return None
    match node:
        case Leaf():
            return True if node.check.kind == "always_pass" else None
        case Not():
            inner = _always(node.part)
            return None if inner is None else not inner
        case AllOf() | AnyOf():
            parts = {_always(part) for part in node.parts}
            decides = isinstance(node, AnyOf)
            return decides if decides in parts else None if None in parts else not decides
        case _:
            return None
