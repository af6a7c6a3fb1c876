"""What a student that tells its events says while it works: one event a line, written down as they come."""

import json
from collections.abc import Callable

from rulebook.evidence.run_events import (
    AnswersSubmittedEvent,
    Event,
    MessageAddedEvent,
    MessageChunkEvent,
    MessageChunkResetEvent,
    TokenUsageEvent,
    ToolCallCompletedEvent,
    ToolCallStartedEvent,
    UnknownEvent,
    event_from,
)
from rulebook.spec.steps import Limits

LINE_LIMIT_BYTES = 16 * 1024 * 1024
TOTAL_LIMIT_BYTES = 256 * 1024 * 1024

_ITS_OWN = (
    MessageAddedEvent,
    TokenUsageEvent,
    ToolCallStartedEvent,
    ToolCallCompletedEvent,
    AnswersSubmittedEvent,
)
_PASSING = (MessageChunkEvent, MessageChunkResetEvent)


class Hearing:
    """The events of one step. `hear` is given what the student prints, piece by piece, and says whether it may go on.

    Afterwards one of three says why it was stopped, if it was: `limit`, what it used up; `misbehavior`, what it told
    that only the run may tell; `fault`, what nobody can read. `counts_tokens`: it said how many tokens it used.
    """

    def __init__(self, limits: Limits, keep: Callable[[Event], None]) -> None:
        self.limit = self.misbehavior = self.fault = ""
        self.counts_tokens = False
        self._limits, self._keep = limits, keep
        self._line = bytearray()
        self._lines = self._bytes = self._turns = 0

    def hear(self, data: bytes) -> bool:
        """Take in a piece of what it prints; false when it must stop."""
        self._bytes += len(data)
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._line += piece
            if not self._told(bytes(self._line)):
                return False
            self._line.clear()
        self._line += rest
        if len(self._line) > LINE_LIMIT_BYTES or self._bytes > TOTAL_LIMIT_BYTES:
            most = LINE_LIMIT_BYTES if len(self._line) > LINE_LIMIT_BYTES else TOTAL_LIMIT_BYTES
            what = "one event" if most == LINE_LIMIT_BYTES else "what it told"
            self.misbehavior = f"{what} has more than {most // 1024**2} MiB"
        return not self.misbehavior

    def end(self) -> None:
        """It has ended: a last line without a newline is a line too, unless it was stopped."""
        if self._line and not (self.limit or self.misbehavior or self.fault):
            self._told(bytes(self._line))
        self._line.clear()

    def _told(self, line: bytes) -> bool:
        self._lines += 1
        if not line.strip():
            return True
        try:
            event = event_from(json.loads(line))
        except (ValueError, RecursionError):
            self.fault = f"line {self._lines} of what it printed is no event in JSON"
            return False
        return self._taken(event)

    def _taken(self, event: Event) -> bool:
        if isinstance(event, _PASSING):
            return True
        if isinstance(event, UnknownEvent) and event.problem:
            kind = f"`{event.type}`" if event.type else "no type"
            self.fault = (
                f"line {self._lines} of what it printed is an event of {kind} that cannot be read: {event.problem}"
            )
            return False
        if not isinstance(event, _ITS_OWN):
            self.misbehavior = f"it told an event `{event.type:.40}`, which only the run itself may tell"
            return False
        if isinstance(event, MessageAddedEvent):
            if event.message.role == "system":
                self.misbehavior = "it told a message of the role `system`, which only the task may give"
                return False
            if event.message.role == "assistant" and not self._may_turn():
                return False
        self._keep(event)
        return not (isinstance(event, TokenUsageEvent) and self._is_full(event))

    def _may_turn(self) -> bool:
        if self._limits.turns is not None and self._turns >= self._limits.turns:
            self.limit = f"{self._limits.turns} turn" + ("" if self._limits.turns == 1 else "s")
            return False
        self._turns += 1
        return True

    def _is_full(self, event: TokenUsageEvent) -> bool:
        self.counts_tokens = True
        most, used = self._limits.context_tokens, event.input_tokens + event.output_tokens
        if most is None or used <= most:
            return False
        self.limit = f"{most} tokens of context"
        return True


def uncounted(limits: Limits, hearing: Hearing | None) -> list[str]:
    """What a limit could not be held against, in sentences; `hearing` None: the student speaks text."""
    if hearing is not None:
        silent = limits.context_tokens is not None and not hearing.counts_tokens
        return ["Its tokens were not counted: it told no `token_usage`."] if silent else []
    bounds = (("turns", limits.turns), ("tokens", limits.context_tokens))
    unseen = " and ".join(word for word, most in bounds if most is not None)
    return [f"Its {unseen} were not counted: a student that speaks text does not tell them."] if unseen else []
