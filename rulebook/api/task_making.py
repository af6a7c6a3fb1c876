"""Tasks made from data, without a class for each. Source: scoring facts, 3.1 (`create_task`, `StepConfig`)."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from rulebook.api.judges import Judge
from rulebook.api.run_config import EvaluationRunConfig
from rulebook.api.steps import Step, Task, checked_paths

Value = TypeVar("Value")
Configured = Callable[[EvaluationRunConfig], Value]

_LONGEST_ID = 255


class StepConfig(Struct, frozen=True, kw_only=True):
    """A step as data: instructions and judge are values, or functions of the run's configuration.

    A judge that is a value is the same object in every run. The judges of Rulebook keep nothing between two students;
    one of your own that does is better made by a function. The hooks are called with the configuration.

    Raises TypeError or ValueError for a field that is not as it should be.
    """

    instructions: str | Configured[str]
    judge: Judge | Configured[Judge]
    submission_paths: tuple[Path, ...] | None = None
    pre_scoring_hook: Configured[None] | None = None
    post_hook: Configured[None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.instructions, str) and not callable(self.instructions):
            raise TypeError(f"`instructions` is text or a function that gives it; this is {self.instructions!r:.80}.")
        if not isinstance(self.judge, Judge) and not callable(self.judge):
            raise TypeError(f"`judge` is a judge or a function that gives one; this is {self.judge!r:.80}.")
        for name in ("pre_scoring_hook", "post_hook"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise TypeError(f"`{name}` is a function of the run's configuration.")
        checked_paths(self.submission_paths, "`submission_paths`")


def create_task(
    *,
    id: str,
    steps: Sequence[StepConfig],
    system_prompt: str | None | Configured[str | None] = None,
    pre_hook: Configured[Mapping[str, Any]] | None = None,
    **beside: object,
) -> type[Task]:
    """A subclass of `Task` that has these steps, in order.

    What else is given (`tools`, `required_hardware`, …) is an attribute of the task, for the harness that runs it.
    Raises ValueError for an id that is empty or of more than 255 characters and for a task without steps, TypeError
    for a step that is none and for a name that a task has already.
    """
    if not id or len(id) > _LONGEST_ID:
        raise ValueError(f"The `id` of a task has 1 to {_LONGEST_ID} characters; this has {len(id)}.")
    if not steps:
        raise ValueError("A task without steps would pass whatever happened. Give it one or more.")
    for step in steps:
        if not isinstance(step, StepConfig):
            raise TypeError(f"A step is a `StepConfig`; this is {step!r:.80}.")
    taken = [name for name in beside if hasattr(Task, name) or name.startswith("_")]
    if taken:
        raise TypeError(f"`{taken[0]}` can't be given to a task: it is a name of its own.")
    own = {name: staticmethod(value) if callable(value) else value for name, value in beside.items()}
    made = _Made(tuple(steps), system_prompt, pre_hook)
    return type(re.sub(r"\W", "_", id), (_MadeTask,), {**own, "id": id, "_made": made})


class _Made(Struct, frozen=True):
    steps: tuple[StepConfig, ...]
    system_prompt: str | None | Configured[str | None]
    pre_hook: Configured[Mapping[str, Any]] | None


class _MadeTask(Task):
    _made: ClassVar[_Made]

    @property
    def steps(self) -> list[Step]:
        return [_MadeStep(each, self.config) for each in self._made.steps]

    @property
    def system_prompt(self) -> str | None:
        return _said(self._made.system_prompt, self.config)

    def pre_hook(self) -> Mapping[str, Any]:
        return {} if self._made.pre_hook is None else self._made.pre_hook(self.config)


class _MadeStep(Step):
    def __init__(self, made: StepConfig, config: EvaluationRunConfig) -> None:
        super().__init__(config)
        self._made = made

    @property
    def instructions(self) -> str:
        return _said(self._made.instructions, self.config)

    @property
    def judge(self) -> Judge:
        judge = self._made.judge
        return judge if isinstance(judge, Judge) else judge(self.config)

    @property
    def submission_paths(self) -> tuple[Path, ...] | None:
        return self._made.submission_paths

    def pre_scoring_hook(self) -> None:
        if self._made.pre_scoring_hook is not None:
            self._made.pre_scoring_hook(self.config)

    def post_hook(self) -> None:
        if self._made.post_hook is not None:
            self._made.post_hook(self.config)


def _said(value: Value | Configured[Value], config: EvaluationRunConfig) -> Value:
    return value(config) if callable(value) else value
