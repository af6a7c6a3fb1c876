"""RB609: a file in which every check is one that a session passes by doing nothing."""

from rulebook.expression.nodes import Leaf, Node, NoneOf, Not, parts_of
from rulebook.expression.program import Loaded
from rulebook.expression.task_program import TaskProgram
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note an eval, and the judge of a step, without one thing that must happen."""
    content, reader = loaded.content, loaded.readers[loaded.file]
    if isinstance(content, TaskProgram):
        for step in content.steps:
            if _only_forbids(step.judge):
                reader.add_at_key("RB609", (*step.spec.place, "judge"))
    elif loaded.items and all(_only_forbids(item.node) for item in loaded.items):
        reader.add("RB609", ("name",))


def _only_forbids(node: Node) -> bool:
    if isinstance(node, Leaf):
        return node.check.forbids()
    if isinstance(node, Not | NoneOf):
        return True
    return all(_only_forbids(part) for part in parts_of(node))
