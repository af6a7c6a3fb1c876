"""What a student says while it works: one reply in plain text, or one event a line, written down as they come."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import isfinite

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
from rulebook.services.students import OUTPUT_LIMIT_BYTES
from rulebook.spec.steps import Limits
from rulebook.terminal import cut, harmless

LINE_LIMIT_BYTES = 16 * 1024 * 1024
TOTAL_LIMIT_BYTES = 256 * 1024 * 1024
MOST_EVENTS = 100_000
MOST_VALUES = 4_000_000
"""Each takes some 100 bytes of memory here, and as few as 3 of what is told."""

_PROBLEM_COLUMNS = 200

_ITS_OWN = (
    MessageAddedEvent,
    TokenUsageEvent,
    ToolCallStartedEvent,
    ToolCallCompletedEvent,
    AnswersSubmittedEvent,
)
_PASSING = (MessageChunkEvent, MessageChunkResetEvent)


class Reply:
    """A reply in plain text. `hear` is given it piece by piece; `misbehavior` says that it grew too long to judge."""

    limit = fault = ""

    def __init__(self) -> None:
        self.misbehavior = ""
        self._bytes = 0

    def hear(self, data: bytes) -> bool:
        """Take in a piece; false when it must stop."""
        self._bytes += len(data)
        if self._bytes > OUTPUT_LIMIT_BYTES:
            self.misbehavior = f"its reply has more than {OUTPUT_LIMIT_BYTES // 1024**2} MiB"
        return not self.misbehavior

    def end(self) -> None:
        """It has ended."""


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
        self._lines = self._bytes = self._turns = self._events = self._values = 0

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
        if self._is_too_much(line):
            return False
        try:
            event = event_from(_heard_now(json.loads(line, parse_constant=_finite, parse_float=_finite)))
        except (ValueError, RecursionError):
            self.fault = f"line {self._lines} of what it printed is no event in JSON"
            return False
        return self._taken(event)

    def _is_too_much(self, line: bytes) -> bool:
        """Whether what it told, this line with it, would take too much memory; asked before anything is built."""
        self._events += 1
        self._values += sum(map(line.count, (b",", b"[", b"{")))
        if self._events > MOST_EVENTS:
            self.misbehavior = f"it told more than {MOST_EVENTS} events"
        elif self._values > MOST_VALUES:
            self.misbehavior = f"what it told has more than {MOST_VALUES} values"
        return bool(self.misbehavior)

    def _taken(self, event: Event) -> bool:
        if isinstance(event, _PASSING):
            return True
        problem = _problem(event)
        if problem:
            kind = f"`{harmless(event.type)}`" if event.type else "no type"
            said = cut(harmless(problem), _PROBLEM_COLUMNS)
            self.fault = f"line {self._lines} of what it printed is an event of {kind} that cannot be read: {said}"
            return False
        if not isinstance(event, _ITS_OWN):
            self.misbehavior = f"it told an event `{harmless(event.type[:40])}`, which only the run itself may tell"
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


def _heard_now(data: object) -> object:
    """The event with the time at which it was heard: what it took is not for the student to say."""
    return {**data, "timestamp": datetime.now(UTC).isoformat()} if isinstance(data, Mapping) else data


def _finite(word: str) -> float:
    """A number that JSON can hold. Raises ValueError: what is written down must be read again."""
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{word} is no number in JSON")
    return number


def _problem(event: Event) -> str:
    """What is wrong with an event; tokens below 0 would make room under every limit."""
    if isinstance(event, UnknownEvent):
        return event.problem
    if isinstance(event, TokenUsageEvent):
        names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        below = [name for name in names if (getattr(event, name) or 0) < 0]
        return f"its `{below[0]}` is below 0" if below else ""
    return ""


def uncounted(limits: Limits, hearing: Hearing | Reply) -> list[str]:
    """What a limit could not be held against, in sentences."""
    if isinstance(hearing, Hearing):
        silent = limits.context_tokens is not None and not hearing.counts_tokens
        return ["Its tokens were not counted: it told no `token_usage`."] if silent else []
    bounds = (("turns", limits.turns), ("tokens", limits.context_tokens))
    unseen = " and ".join(word for word, most in bounds if most is not None)
    return [f"Its {unseen} were not counted: a student that speaks text does not tell them."] if unseen else []
