"""RB515: a pattern, or a criterion, that stands in its rule twice."""

from rulebook.expression.nodes import Leaf, Node, parts_of
from rulebook.expression.program import Loaded
from rulebook.ports import Files

_LISTS = {"regex": "patterns", "rubric": "criteria"}


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every entry that says what one before it says."""
    waiting: list[Node] = [item.node for item in loaded.items]
    while waiting:
        node = waiting.pop()
        waiting += parts_of(node)
        if isinstance(node, Leaf) and node.check.kind in _LISTS:
            _entries(loaded, node)


def _entries(loaded: Loaded, leaf: Leaf) -> None:
    name = _LISTS[leaf.check.kind]
    reader, path = loaded.readers[leaf.common.file], (*leaf.common.path, leaf.common.kind)
    seen: set[str] = set()
    for position, entry in enumerate(getattr(leaf.check, name)):
        text = getattr(entry, "criterion", entry).text
        if text in seen:
            short = (*path, position)
            place = short if short in reader.document.values else (*path, name, position)
            reader.add("RB515", place, value=text, key=name)
        seen.add(text)
