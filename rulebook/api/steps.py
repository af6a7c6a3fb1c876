"""Tasks and their steps as Python authors write them.

Source: scoring, "How a step gets scored" and "Saving submissions".
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from rulebook.api.judges import Judge
from rulebook.api.run_config import EvaluationRunConfig
from rulebook.api.scoring import misbehaved, scoring_of
from rulebook.errors import MisbehaviorError
from rulebook.evidence.judging import outcome_of
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.outcome import Misbehavior

_NO_CONFIG = EvaluationRunConfig()


class Step(ABC):
    """One step of a task: what the student is told, what it hands in, and how that is judged."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _need_properties(cls, ("instructions", "judge", "submission_paths"))

    def __init__(self, config: EvaluationRunConfig = _NO_CONFIG) -> None:
        self.config = config

    @property
    @abstractmethod
    def instructions(self) -> str:
        """What the student is told."""

    @property
    @abstractmethod
    def judge(self) -> Judge:
        """How the work is judged. It is read after `pre_scoring_hook`, once the student is done."""

    @property
    def submission_paths(self) -> tuple[Path, ...] | None:
        """Where the student writes what it hands in: absolute paths."""
        return None

    def pre_scoring_hook(self) -> None:
        """Called when the student is done, before `judge` is read: save its submissions here."""

    def post_hook(self) -> None:
        """Called after the step was scored."""

    def score(self, transcript: Transcript) -> Scoring:
        """Take over the submissions and judge. Misbehaviour anywhere on the way scores 0 and stops the run.

        Raises UnmeasuredError when nobody could tell: that is never a score. What else the hook raises goes on.
        """
        try:
            paths_of(self)
            self.pre_scoring_hook()
            judge = self.judge
        except MisbehaviorError as tried:
            return misbehaved(tried)
        outcome = outcome_of(judge, transcript)
        if isinstance(outcome, Misbehavior):
            return misbehaved(MisbehaviorError(outcome.reason, metadata=outcome.metadata))
        return scoring_of(outcome)


class Task(ABC):
    """A task: its steps in order, and what holds for all of them."""

    id: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _need_properties(cls, ("steps", "system_prompt", "submission_paths"))

    def __init__(self, config: EvaluationRunConfig = _NO_CONFIG) -> None:
        self.config = config

    @property
    @abstractmethod
    def steps(self) -> Iterable[Step]:
        """The steps, in order."""

    @property
    def system_prompt(self) -> str | None:
        """What the model is told before the first step."""
        return None

    @property
    def submission_paths(self) -> tuple[Path, ...]:
        """The paths of every step, each once."""
        return tuple(dict.fromkeys(path for step in self.steps for path in paths_of(step)))

    def pre_hook(self) -> Mapping[str, Any]:
        """Called before the first step; what it gives is written into the transcript."""
        return {}


def paths_of(step: Step) -> tuple[Path, ...]:
    """A step's submission paths. Raises TypeError for what is no tuple, ValueError for what is no absolute path."""
    return checked_paths(step.submission_paths, f"`{type(step).__name__}.submission_paths`")


def checked_paths(paths: object, name: str) -> tuple[Path, ...]:
    """These submission paths, none for None; `name` is what messages call them. Raises as `paths_of` does."""
    if paths is None:
        return ()
    if not isinstance(paths, tuple):
        raise TypeError(f"{name} must be a tuple of paths: write `(path,)`.")
    for path in paths:
        if not isinstance(path, Path) or not path.is_absolute():
            raise ValueError(f"{name} holds {path!r:.80}, which is no absolute `Path`.")
    return paths


def _need_properties(cls: type, names: Iterable[str]) -> None:
    """Refuse a plain method where a value is read: it would be there, and never be called."""
    for name in names:
        if callable(cls.__dict__.get(name)):
            raise TypeError(f"`{cls.__name__}.{name}` must be a property: write `@property` above it.")
