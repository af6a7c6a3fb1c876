"""Judges as Python authors hold and write them. Source: scoring, "Built-in judges" to "Writing your own judge"."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from rulebook.errors import MisbehaviorError, Missing
from rulebook.evidence.judging import outcome_of
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.expression.nodes import AllOf, AnyOf, Common
from rulebook.interpreter.algebra import all_of, any_of, decides_all, decides_any
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured

_HERE = Common("judge", "", ())


class Judge(ABC):
    """Scores a student's work. Subclass it and implement `evaluate`; `&` and `|` join judges as `and` and `or` do."""

    @abstractmethod
    def evaluate(self, transcript: Transcript) -> Scoring:
        """What the run so far is worth.

        Raise StudentMisbehaviorError for a student that cheats, UnmeasuredError for what you could not judge.
        """

    def __and__(self, other: "Judge") -> "AndJudge":
        if not isinstance(other, Judge):
            return NotImplemented
        return AndJudge([*(self.judges if isinstance(self, AndJudge) else (self,)), other])

    def __or__(self, other: "Judge") -> "OrJudge":
        if not isinstance(other, Judge):
            return NotImplemented
        return OrJudge([*(self.judges if isinstance(self, OrJudge) else (self,)), other])


class AlwaysPassJudge(Judge):
    """Scores 1 and goes on: for a step that only sets something up, or as a placeholder."""

    def evaluate(self, transcript: Transcript) -> Scoring:  # noqa: ARG002
        """Pass."""
        return Scoring(1.0, {}, True)


class GroupJudge(Judge):
    """Judges that are asked in order until one decides; the score is that one's, or the last one's."""

    name: ClassVar[str]

    def __init__(self, judges: Sequence[Judge]) -> None:
        """Raises ValueError for an empty list, TypeError for what is no judge."""
        if not judges:
            raise ValueError("A group of judges needs at least one judge.")
        for judge in judges:
            if not isinstance(judge, Judge):
                raise TypeError(f"A group of judges takes judges; this is {judge!r:.80}.")
        self.judges = tuple(judges)

    def evaluate(self, transcript: Transcript) -> Scoring:
        """Ask them. `metadata["judges"]` has an entry for each, those that were not reached too.

        Raises StudentMisbehaviorError when one that was asked found misbehaviour, which wins over all beside it, and
        UnmeasuredError when nobody decided and one could not judge; both have the entries as `metadata`.
        """
        found: list[Outcome] = []
        for judge in self.judges:
            found.append(outcome_of(judge, transcript))
            if self._decides(found[-1]):
                break
        parts: dict[str, object] = {"judges": [_entry(self.judges, found, at) for at in range(len(self.judges))]}
        match self._joined(found):
            case Measurement(score, passed):
                return Scoring(score, parts, passed)
            case Misbehavior(reason):
                raise MisbehaviorError(reason, metadata=parts)
            case Unmeasured(category, reason):
                raise Missing(category, reason, metadata=parts)
            case Skipped(reason):
                raise Missing("harness", reason, metadata=parts)

    @abstractmethod
    def _decides(self, outcome: Outcome) -> bool: ...

    @abstractmethod
    def _joined(self, found: Sequence[Outcome]) -> Outcome: ...


class AndJudge(GroupJudge):
    """`a & b`: stops at the first judge that does not pass."""

    name = "And"

    def _decides(self, outcome: Outcome) -> bool:
        return decides_all(outcome)

    def _joined(self, found: Sequence[Outcome]) -> Outcome:
        return all_of(AllOf(_HERE, ()), found)


class OrJudge(GroupJudge):
    """`a | b`: stops at the first judge that passes."""

    name = "Or"

    def _decides(self, outcome: Outcome) -> bool:
        return decides_any(outcome)

    def _joined(self, found: Sequence[Outcome]) -> Outcome:
        return any_of(AnyOf(_HERE, ()), found)


def _entry(judges: Sequence[Judge], found: Sequence[Outcome], at: int) -> dict[str, object]:
    """One judge of a group as data: what it is called, and what came of it."""
    judge = judges[at]
    group = isinstance(judge, GroupJudge)
    told: dict[str, object] = {
        "judge": judge.name if isinstance(judge, GroupJudge) else type(judge).__name__,
        "group": group,
    }
    if at >= len(found):
        return {**told, "outcome": "not evaluated"}
    match found[at]:
        case Measurement(score, passed, metadata=metadata):
            return {**told, "outcome": "scored", "score": score, "continue_task": passed, "metadata": metadata}
        case Misbehavior(reason, metadata):
            return {**told, "outcome": "misbehavior", "reason": reason, "metadata": metadata}
        case Unmeasured(category, reason, metadata=metadata):
            found_before = {"metadata": metadata} if metadata else {}
            return {**told, "outcome": "unmeasured", "category": category, "reason": reason, **found_before}
        case Skipped(reason):
            return {**told, "outcome": "skipped", "reason": reason}
