"""A task as it was written: its steps, what is handed in, its cases. `task` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct, field

from rulebook.languages.formula import Formula
from rulebook.languages.template import Template
from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.params import Param
from rulebook.spec.rules import Named, PackSpec, RuleSpec

Aggregate = Literal["last", "sum", "mean", "min", "max", "weighted"]
AGGREGATES: tuple[Aggregate, ...] = ("last", "sum", "mean", "min", "max", "weighted")
"""The ways of making one score of the steps' that have a name."""

WhenMissing = Literal["judge", "zero", "misbehavior"]

HINTS_PARAM = "use_hints"
"""The parameter that decides whether hints are shown."""


class SubmissionSpec(Struct, frozen=True):
    """One thing to hand in: `path` is relative to the student's own folder. A limit of None is custody's own.

    `missing` says what it means that nothing stands there.
    """

    name: str
    path: str
    missing: WhenMissing = "judge"
    max_bytes: int | None = None
    max_entries: int | None = None
    max_depth: int | None = None


class OracleSpec(Struct, frozen=True):
    """Right work of a step: what is handed in by submission, a folder's files by their paths in it, and what is said.

    `say` None: nothing is written about that.
    """

    hand_in: Mapping[str, Template | Mapping[str, Template]]
    say: Template | None = None


class StepSpec(Struct, frozen=True):
    """One step. `place` is its path in the file; `judge` and `instructions` are None when they are not valid."""

    name: str
    place: Path
    instructions: Template | None
    hints: tuple[Template, ...]
    submissions: tuple[SubmissionSpec, ...]
    checks: tuple[Named, ...]
    judge: RuleSpec | None
    when: Formula | None = None
    weight: float = 1.0
    oracle: OracleSpec | None = None

    @property
    def folders_on_the_way(self) -> tuple[str, ...]:
        """The folders that lead to what is handed in, outer ones first; none that is handed in itself, or lies in it.

        A student finds them made: a folder on the way that is not there is misbehaviour, and doing nothing is not.
        """
        handed_in = {PurePosixPath(each.path) for each in self.submissions}
        leading = {above for path in handed_in for above in path.parents if above.name}
        own = {each for each in leading if not handed_in.isdisjoint((each, *each.parents))}
        return tuple(sorted(str(each) for each in leading - own))


class Limits(Struct, frozen=True):
    """What a student may use up before a step ends, and whether what it has by then is scored."""

    turns: int | None = None
    step_time_s: float | None = None
    context_tokens: int | None = None
    on_limit: Literal["unmeasured", "score"] = "unmeasured"


class TaskCase(Struct, frozen=True):
    """One case: the values that it gives to declared parameters."""

    name: str
    values: Mapping[str, object]


class TaskSpec(Struct, frozen=True):
    """A `rulebook.task` file, typed, as far as it is valid."""

    document: Located
    name: str
    params: tuple[Param, ...] = ()
    packs: tuple[PackSpec, ...] = ()
    checks: tuple[Named, ...] = ()
    steps: tuple[StepSpec, ...] = ()
    cases: tuple[TaskCase, ...] = ()
    system_prompt: Template | None = None
    limits: Limits = field(default_factory=Limits)
    score: Aggregate | Formula = "last"
