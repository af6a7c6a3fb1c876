"""Where each step of a trace stands: below which tool, which agent, which model call."""

from collections.abc import Mapping

from msgspec import Struct

from rulebook.evidence.formats.span_steps import Step


class Around(Struct, frozen=True):
    """The nearest tool, agent and model call above a step, by id, and how many agents are above it."""

    tool: str | None = None
    agent: str | None = None
    model: str | None = None
    depth: int = 0


def surroundings(steps: list[Step]) -> Mapping[str, Around]:
    """What is around each step, by its id; a ring of parents has a step without one somewhere."""
    by_id: dict[str, Step] = {}
    for step in steps:
        by_id.setdefault(step.id, step)
    found: dict[str, Around] = {}
    for step in steps:
        path: list[Step] = []
        on_path: set[str] = set()
        above: Step | None = by_id[step.id]
        while above is not None and above.id not in found and above.id not in on_path:
            path.append(above)
            on_path.add(above.id)
            above = by_id.get(above.parent) if above.parent else None
        while path:
            below = path.pop()
            parent = by_id.get(below.parent) if below.parent else None
            known = found.get(parent.id) if parent is not None else None
            found[below.id] = Around() if parent is None or known is None else _below(parent, known)
    return found


def settle_nested(steps: list[Step], around: Mapping[str, Around]) -> None:
    """Leave one of two model calls where one stands inside the other: both tell of the same call.

    The inner one counts, unless the outer says that it is whole.
    """
    by_id = {step.id: step for step in reversed(steps)}
    models = [step for step in steps if step.kind == "model"]
    for step in models:
        if _is_inside_whole(step, around, by_id):
            step.kind = "other"
    for step in models:
        above = around[step.id].model
        while above is not None and step.kind == "model" and by_id[above].kind == "model" and above != step.id:
            by_id[above].kind = "agent"
            above = around[above].model


def _is_inside_whole(step: Step, around: Mapping[str, Around], by_id: Mapping[str, Step]) -> bool:
    above, seen = around[step.id].model, set[str]()
    while above is not None and above not in seen:
        if by_id[above].whole and above != step.id:
            return True
        seen.add(above)
        above = around[above].model
    return False


def _below(parent: Step, known: Around) -> Around:
    return Around(
        tool=parent.id if parent.kind == "tool" else known.tool,
        agent=parent.id if parent.kind == "agent" else known.agent,
        model=parent.id if parent.kind == "model" else known.model,
        depth=known.depth + (parent.kind == "agent"),
    )
