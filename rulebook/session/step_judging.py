"""One step of a task, from the moment the student is done with it: collect what it handed in, then judge."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from rulebook.errors import MisbehaviorError, Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.submission import Submission
from rulebook.expression.task_program import StepProgram
from rulebook.interpreter.evaluate import evaluate, holds
from rulebook.outcome import Misbehavior, Outcome, Skipped, Unmeasured, student_fault
from rulebook.ports import Ports
from rulebook.report.task_scores import StepJudged, unscored
from rulebook.spec.steps import StepSpec

Collect = Callable[[], Mapping[str, Submission]]
"""Takes what a step's student handed in into custody. May raise MisbehaviorError, and Missing for a fault of ours."""


def judged_step(step: StepProgram, evidence: Evidence, collect: Collect, ports: Ports) -> StepJudged:
    """What `step` comes to over `evidence`, which has no submissions yet. Nothing is collected for a step skipped."""
    idle = left_out(step.spec, evidence, ports)
    if idle is not None:
        return unscored(step.spec, idle)
    try:
        handed_in = collect()
    except MisbehaviorError as tried:
        return unscored(step.spec, Misbehavior(tried.reason))
    except Missing as fault:
        return unscored(step.spec, Unmeasured(fault.category, fault.reason))
    return judged_over(step, replace(evidence, submissions=handed_in, _document=None), ports)


def judged_over(step: StepProgram, evidence: Evidence, ports: Ports) -> StepJudged:
    """What `step`, which is not skipped, comes to over evidence that has its submissions."""
    absent = _not_handed_in(step.spec, evidence.submissions)
    if absent is not None:
        return unscored(step.spec, absent)
    trace = evaluate(step.judge, evidence, ports)
    outcome = trace.outcome
    if isinstance(outcome, Skipped):
        outcome = Unmeasured("model", f"its judge was skipped, so nothing was judged: {outcome.reason}")
    return StepJudged(step.spec.name, outcome, trace, step.spec.weight)


def left_out(spec: StepSpec, evidence: Evidence, ports: Ports) -> Outcome | None:
    """Why a step is not taken: its `when` is false, or cannot be told. None: it is."""
    held = True if spec.when is None else holds(spec.when, evidence, ports)
    if isinstance(held, Unmeasured):
        return held
    return None if held or spec.when is None else Skipped(f"`{spec.when.text}` is false")


def _not_handed_in(spec: StepSpec, handed_in: Mapping[str, Submission]) -> Outcome | None:
    """The outcome of a step whose declaration says what it means that something was never written."""
    absent = [each for each in spec.submissions if each.name in handed_in and not handed_in[each.name].exists]
    for policy in ("misbehavior", "zero"):
        for each in absent:
            if each.missing == policy:
                reason = f"the submission `{each.name}` was not handed in"
                return Misbehavior(reason) if policy == "misbehavior" else student_fault(reason, cause="absent")
    return None
