"""What a file's rules come to: the trees that decide something, and what they need to know of a session."""

from collections.abc import Iterable

from msgspec import Struct

from rulebook.evidence.document import wants_of_names
from rulebook.evidence.record import Wants
from rulebook.expression.nodes import FirstOf, Leaf, Node, parts_of
from rulebook.languages.formula import Formula
from rulebook.outcome import Category


class Item(Struct, frozen=True):
    """One finding to come: its id, the category whose it is, its weight within it, and the tree that decides it."""

    id: str
    category: Category
    weight: float
    node: Node


def wants_of_items(items: Iterable[Item]) -> Wants:
    """What must be kept of a session so that every one of these trees can be evaluated."""
    found = Wants()
    waiting: list[Node] = [item.node for item in items]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        waiting += parts_of(node)
        if isinstance(node, Leaf):
            found |= node.check.wants()
        for formula in _conditions(node):
            found |= wants_of_names(formula.names())
    return found


def _conditions(node: Node) -> list[Formula]:
    branches = [branch.when for branch in node.branches] if isinstance(node, FirstOf) else []
    return [formula for formula in (node.common.when, *branches) if formula is not None]
