"""What one span tells of an agent's run: a model call with its messages, a tool that ran, or an agent at work."""

from typing import Literal

from msgspec import Struct, field

from rulebook.evidence.transcript import Message, Usage

Kind = Literal["model", "tool", "agent", "other"]


class Told(Struct):
    """A model call. `asked` and `replies` are None where their content was not captured.

    `damaged` names what was captured and cannot be read; `cost` is in US dollars.
    """

    asked: list[Message] | None = None
    replies: list[Message] | None = None
    stop: str | None = None
    model: str | None = None
    reply_id: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    tools: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


class Ran(Struct):
    """A tool that ran. Arguments and result are None where they were not captured."""

    name: str
    call_id: str | None = None
    arguments: object = None
    result: str | None = None
    failed: bool | None = None
    refused: bool = False


class Step(Struct):
    """One span with what it tells.

    `told` is set for models, and for agents that captured messages; `ran` for tools. `done`: it is stated to have gone
    well. `whole`: model calls inside this one are its own.
    """

    id: str
    parent: str | None
    name: str
    kind: Kind
    start_ms: int | None = None
    end_ms: int | None = None
    failed: bool = False
    done: bool = False
    trouble: str = ""
    told: Told | None = None
    ran: Ran | None = None
    agent: str | None = None
    whole: bool = False
    src: int | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if self.start_ms is None or self.end_ms is None or self.end_ms < self.start_ms:
            return None
        return (self.end_ms - self.start_ms) / 1000
