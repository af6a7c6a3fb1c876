"""RB513: a misbehaviour check that a part before it can hide."""

from rulebook.expression.nodes import AllOf, AnyOf, MisbehaviorIf, Node, parts_of
from rulebook.expression.program import Loaded
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note a `misbehavior` that stands behind another part of an `all` or `any` which stops early."""
    for item in loaded.items:
        _walk(loaded, item.node)


def _walk(loaded: Loaded, node: Node) -> None:
    if isinstance(node, AllOf | AnyOf) and node.stop:
        for before, part in zip(node.parts, node.parts[1:], strict=False):
            if isinstance(part, MisbehaviorIf) and not isinstance(before, MisbehaviorIf):
                reader = loaded.readers[part.common.file]
                reader.add_at_key("RB513", (*part.common.path, part.common.kind), first=before.common.kind)
    for part in parts_of(node):
        _walk(loaded, part)
