"""RB609: a file in which every check is one that a session passes by doing nothing."""

from rulebook.expression.nodes import Leaf, Node, NoneOf, Not, parts_of
from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note an eval without one thing that must happen."""
    content = loaded.content
    if isinstance(content, Program) and content.items and all(_only_forbids(item.node) for item in content.items):
        loaded.readers[loaded.file].add("RB609", ("name",))


def _only_forbids(node: Node) -> bool:
    if isinstance(node, Leaf):
        return node.check.forbids()
    if isinstance(node, Not | NoneOf):
        return True
    return all(_only_forbids(part) for part in parts_of(node))
