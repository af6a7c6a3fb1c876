"""What the steps of a task came to, and the one score that they make."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from rulebook.interpreter.trace import Trace
from rulebook.languages.formula import Formula
from rulebook.languages.types import MissingValue
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured, total
from rulebook.spec.steps import Aggregate, StepSpec, TaskSpec

StepStatus = Literal["passed", "failed", "misbehavior", "unmeasured", "skipped", "not reached"]


class StepJudged(Struct, frozen=True):
    """What one step came to. `outcome` None: it was not reached. `trace` None: its judge was not read."""

    name: str
    outcome: Outcome | None = None
    trace: Trace | None = None
    weight: float = 1.0

    @property
    def status(self) -> StepStatus:
        """The outcome in one word."""
        match self.outcome:
            case Measurement():
                return "passed" if self.outcome.passed else "failed"
            case Misbehavior():
                return "misbehavior"
            case Unmeasured():
                return "unmeasured"
            case Skipped():
                return "skipped"
            case None:
                return "not reached"

    @property
    def score(self) -> float | None:
        """Its score; None when it has none."""
        match self.outcome:
            case Measurement(score):
                return score
            case Misbehavior():
                return 0.0
            case _:
                return None

    @property
    def passed(self) -> bool | None:
        """Whether the run goes on after it; None when it was not scored."""
        return None if self.score is None else self.status == "passed"

    @property
    def ends_run(self) -> bool:
        """Whether no step comes after it: it did not pass, and was not skipped."""
        return not isinstance(self.outcome, Skipped) and not self.passed


class TaskScore(Struct, frozen=True):
    """The score of a run.

    `score` and `passed` are None when a step could not be measured or the run broke off: `partial_score` is then what
    the run would have scored, had it ended before that. `why` says why there is no score.
    """

    score: float | None
    passed: bool | None
    partial_score: float | None = None
    why: str = ""


class TaskJudged(Struct, frozen=True):
    """A run of one case of a task, judged. `errored` says what broke the run off; empty when nothing did.

    `session` and `transcript` are the session's id and file as they were named, `played` says how the student was run
    where one was.
    """

    spec: TaskSpec
    spec_sha256: str
    case: str | None
    params: Mapping[str, object]
    steps: tuple[StepJudged, ...]
    errored: str = ""
    session: str | None = None
    transcript: str | None = None
    only: str | None = None
    played: Mapping[str, object] = field(default_factory=dict)

    @property
    def total(self) -> TaskScore:
        """The score of the run; of the one step alone, where only that was judged."""
        if self.only is not None:
            return task_score("last", self.steps, self.params, self.errored)
        return task_score(self.spec.score, self.steps, self.params, self.errored)


def task_score(
    how: Aggregate | Formula, steps: Sequence[StepJudged], params: Mapping[str, object], errored: str = ""
) -> TaskScore:
    """The one score of the steps, all of which are declared, in order."""
    reached = _aggregate(how, steps, params)
    broken = next((step for step in steps if step.status == "unmeasured"), None)
    if errored or broken is not None:
        reason = broken.outcome.reason if broken is not None and isinstance(broken.outcome, Unmeasured) else ""
        why = errored or f"the step `{broken.name if broken else ''}` could not be measured: {reason}"
        scored = any(step.score is not None for step in steps)
        return TaskScore(None, None, reached if scored and isinstance(reached, float) else None, why)
    if isinstance(reached, str):
        return TaskScore(None, None, None, reached)
    return TaskScore(reached, all(step.passed for step in steps if step.status != "skipped"))


def unscored(step: StepSpec, outcome: Outcome) -> StepJudged:
    """A step whose judge was not read."""
    return StepJudged(step.name, outcome, None, step.weight)


def _aggregate(how: Aggregate | Formula, steps: Sequence[StepJudged], params: Mapping[str, object]) -> float | str:
    """The score, or why there is none."""
    if isinstance(how, Formula):
        return _worked_out(how, steps, params)
    if how == "last":
        scores = [step.score for step in steps if step.score is not None]
        return scores[-1] if scores else "no step was scored"
    counted = [(step.score or 0.0, step.weight) for step in steps if step.status != "skipped"]
    if not counted:
        return "every step was skipped"
    return _finite(_BY_NAME[how](counted))


def _weighted(counted: list[tuple[float, float]]) -> float:
    whole = total(weight for _, weight in counted)
    return total(score * weight for score, weight in counted) / whole if whole else float("nan")


_BY_NAME: Mapping[str, Callable[[list[tuple[float, float]]], float]] = {
    "sum": lambda counted: total(score for score, _ in counted),
    "mean": lambda counted: total(score for score, _ in counted) / len(counted),
    "min": lambda counted: min(score for score, _ in counted),
    "max": lambda counted: max(score for score, _ in counted),
    "weighted": _weighted,
}


def _finite(score: float) -> float | str:
    if score != score:
        return "all steps that count have weight 0"
    return score if abs(score) < float("inf") else "the score is too large for a number"


def _worked_out(how: Formula, steps: Sequence[StepJudged], params: Mapping[str, object]) -> float | str:
    known: dict[str, object] = {"steps": known_steps(steps, every=True), "params": params}
    value = how.value(lambda name: known.get(name, MissingValue(name)))
    if isinstance(value, bool) or not isinstance(value, int | float):
        what = value.what if isinstance(value, MissingValue) and value.what else how.text
        return f"`{what}` has no value"
    return float(value)


def known_steps(steps: Sequence[StepJudged], *, every: bool = False) -> dict[str, Mapping[str, object]]:
    """What rules and a score's expression read of steps: nothing of those that were skipped or could not be measured.

    `every`: one that was not reached, or that broke the run off, counts 0 and has not passed.
    """
    found: dict[str, Mapping[str, object]] = {}
    for step in steps:
        if step.score is not None:
            found[step.name] = {"score": step.score, "passed": step.passed}
        elif every and step.status != "skipped":
            found[step.name] = {"score": 0.0, "passed": False}
        else:
            found[step.name] = {}
    return found
