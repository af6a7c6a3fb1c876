"""The judge of a step that a rule file describes, as Python authors hold judges."""

from collections.abc import Callable

from rulebook.api.judges import Judge
from rulebook.api.scoring import scoring_of
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.outcome import Outcome


class StepJudge(Judge):
    """Judges by the rules of a step; it composes with other judges."""

    def __init__(self, name: str, judged: Callable[[Transcript], Outcome]) -> None:
        self.name = name
        self._judged = judged

    def evaluate(self, transcript: Transcript) -> Scoring:
        """What the rules say of the run so far.

        Raises StudentMisbehaviorError for misbehaviour, UnmeasuredError for what could not be told.
        """
        return scoring_of(self._judged(transcript))
