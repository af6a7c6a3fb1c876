"""The outcome of a rule, as the `Scoring` that Python authors know."""

from rulebook.errors import MisbehaviorError, Missing
from rulebook.evidence.scoring import Scoring
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured


def scoring_of(outcome: Outcome) -> Scoring:
    """The `Scoring` of an outcome.

    Raises StudentMisbehaviorError for misbehaviour, and UnmeasuredError for what could not be told or was skipped.
    """
    match outcome:
        case Measurement(score, passed, reason, metadata=metadata):
            told = {"reason": reason} if reason and outcome.student_fault and not metadata else {}
            return Scoring(score, {**metadata, **told}, passed)
        case Misbehavior(reason, metadata):
            raise MisbehaviorError(reason, metadata=metadata)
        case Unmeasured(category, reason, metadata=metadata):
            raise Missing(category, reason, metadata=metadata)
        case Skipped(reason):
            raise Missing("harness", reason or "the judge was skipped")


def misbehaved(error: MisbehaviorError) -> Scoring:
    """What a step scores when the student misbehaved. Source: scoring, "Student misbehavior"."""
    return Scoring(0.0, {**error.metadata, "misbehavior": error.reason}, False)
