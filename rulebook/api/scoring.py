"""Between the two ways of saying what was found: the `Scoring` that Python judges give, and the outcome of a rule."""

from typing import Protocol

from rulebook.errors import EvidenceError, MisbehaviorError, Missing, NotHandedIn, UnfitScoring
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured, student_fault


class Scores(Protocol):
    """Whatever judges a transcript."""

    def evaluate(self, transcript: Transcript) -> Scoring:
        """What the transcript is worth."""
        ...


def outcome_of(judge: Scores, transcript: Transcript) -> Outcome:
    """Ask a judge. Nothing leaves it but an outcome: one that breaks could not judge, which is never a low score."""
    name = type(judge).__name__
    try:
        scoring = judge.evaluate(transcript)
    except MisbehaviorError as tried:
        return Misbehavior(tried.reason, tried.metadata)
    except NotHandedIn as absent:
        return student_fault(absent.reason, cause=absent.cause)
    except Missing as missing:
        return Unmeasured(missing.category, missing.reason)
    except (UnfitScoring, EvidenceError) as unfit:
        return Unmeasured("harness", f"`{name}` could not judge: {unfit}")
    except Exception as fault:  # a bug of one judge must not lose what the others found
        return Unmeasured("harness", f"`{name}` broke: {type(fault).__name__}: {fault}")
    if not isinstance(scoring, Scoring):
        return Unmeasured("harness", f"`{name}` gave {scoring!r:.80} in place of a `Scoring`")
    return Measurement(scoring.score, scoring.continue_task, metadata=scoring.metadata)


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
        case Unmeasured(category, reason):
            raise Missing(category, reason)
        case Skipped(reason):
            raise Missing("harness", reason or "the judge was skipped")


def misbehaved(error: MisbehaviorError) -> Scoring:
    """What a step scores when the student misbehaved. Source: scoring, "Student misbehavior"."""
    return Scoring(0.0, {**error.metadata, "misbehavior": error.reason}, False)
