"""Judges of a harness's own, which the cases of `python` name."""

from rulebook import StudentMisbehaviorError, UnmeasuredError
from rulebook.judges import Judge
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


class NoJudge:
    pass


def function() -> None:
    pass
