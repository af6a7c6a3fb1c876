"""A `rulebook.task`, compiled: the steps with their judges, ready to be evaluated."""

from msgspec import Struct

from rulebook.evidence.document import wants_of_names
from rulebook.evidence.record import Wants
from rulebook.expression.items import Item, wants_of_items
from rulebook.expression.nodes import Node
from rulebook.spec.rules import Named
from rulebook.spec.steps import StepSpec, TaskSpec


class StepProgram(Struct, frozen=True):
    """One step and the tree that judges it."""

    spec: StepSpec
    judge: Node

    @property
    def wants(self) -> Wants:
        """What its judge and its `when` ask of a session beyond counts."""
        judged = wants_of_items((Item(self.spec.name, "model", 1.0, self.judge),))
        return judged if self.spec.when is None else judged | wants_of_names(self.spec.when.names())


class TaskProgram(Struct, frozen=True):
    """A task, compiled. `unused` are the named rules that no judge stands on."""

    spec: TaskSpec
    steps: tuple[StepProgram, ...]
    unused: tuple[Named, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """The judges, as what decides something in this file."""
        return tuple(
            Item(f"steps[{step.spec.name}].judge", step.judge.common.category, 1.0, step.judge) for step in self.steps
        )

    @property
    def wants(self) -> Wants:
        """What all its steps ask of a session beyond counts."""
        found = Wants()
        for step in self.steps:
            found |= step.wants
        return found
