"""Judges of a harness's own, and contexts, which the cases of `python` and `rubric` name."""

from rulebook import StudentMisbehaviorError, UnmeasuredError
from rulebook.judges import Judge, RubricContext
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript


class Says(Judge):
    """The last message of the assistant holds a text."""

    def __init__(self, text: str = "42", score: float = 1.0) -> None:
        self.text, self.score = text, score

    def evaluate(self, transcript: Transcript) -> Scoring:
        replies = [m.text for m in transcript.messages if m.role == "assistant" and m.text]
        passed = bool(replies) and self.text in replies[-1]
        return Scoring(self.score * passed, {"replies": len(replies)}, passed)


class Called(Judge):
    """A tool was called, and what it answered is told."""

    def evaluate(self, transcript: Transcript) -> Scoring:
        calls = {call.id: call.function for m in transcript.messages for call in m.tool_calls or ()}
        told = {calls[m.tool_call_id].name: m.content for m in transcript.messages if m.tool_call_id}
        return Scoring(len(calls), told, bool(calls))


class Cheated(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        raise StudentMisbehaviorError("a link to the key")


class Lost(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        raise UnmeasuredError("network", "the endpoint is down")


class Breaks(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        raise KeyError("x")


class Gives(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        return 1.0  # type: ignore[return-value]


class Notes(RubricContext):
    """Every message of a role, one a line."""

    def __init__(self, role: str = "assistant") -> None:
        self.role = role

    def render(self, transcript: Transcript) -> str:
        return "\n".join(m.text for m in transcript.messages if m.role == self.role)


class Long(RubricContext):
    def render(self, transcript: Transcript) -> str:
        return "é" * 1000


class Odd(RubricContext):
    def render(self, transcript: Transcript) -> str:
        return "odd \udcff name"


class BreaksToShow(RubricContext):
    def render(self, transcript: Transcript) -> str:
        raise KeyError("x")


class ShowsNothingBut(RubricContext):
    def render(self, transcript: Transcript) -> str:
        return None  # type: ignore[return-value]


class SeesCheating(RubricContext):
    def render(self, transcript: Transcript) -> str:
        raise StudentMisbehaviorError("a link to the key")


class FindsNothing(RubricContext):
    def render(self, transcript: Transcript) -> str:
        raise UnmeasuredError("network", "the notes are not to be had")


class NoJudge:
    pass


def function() -> None:
    pass
