"""The neutral transcript: one shape into which every session format is read.

What a format does not say is None or absent, never a guessed value.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

EndReason = str
"""The log's own words: finished, turn_limit, budget_reached, time_limit, context_limit, truncated_output,
refused_by_model, canceled_by_user, format_error, forfeit, errored, rate_limited, handed_over, no_progress,
empty_response, unknown; a name that is none of these is kept as it came."""

Role = Literal["system", "user", "assistant", "tool"]


class Source(Struct):
    """Where a transcript comes from. `sha256` is that of the raw file's bytes, in hex.

    `places` says what every `src` counts: the file's lines from 1, or the items of its list from 0. `part` names the
    session where the file holds several.
    """

    format: str
    path: str
    sha256: str
    format_version: str | None = None
    producer: str | None = None
    producer_version: str | None = None
    places: Literal["lines", "items"] = "items"
    part: str | None = None


class ToolCall(Struct):
    """One call of a tool. `args` is None when `args_raw` is not a JSON object; `args_error` then says why."""

    id: str
    name: str
    args: Mapping[str, object] | None
    args_raw: str
    args_error: str | None = None


class ToolResult(Struct):
    """What a tool answered. `is_error` is None when the format does not say.

    `ran` is False when the tool never ran because a policy or a person said no. `answers` is for formats that give a
    result to a step and not to a call: the calls that it answers together, of which no one alone can be named, or an
    empty list where it answers none; None: `call_id` says it.
    """

    call_id: str | None
    text: str
    name: str | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    truncated: bool | None = None
    seconds: float | None = None
    ran: bool | None = None
    answers: list[str] | None = None


class Usage(Struct):
    """Tokens. `input` includes cache reads and writes in every format; `output` includes reasoning.

    None is unknown, never 0. `requests` counts model calls.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    requests: int | None = None
    source: Literal["reported", "summed"] = "summed"

    @property
    def total(self) -> int | None:
        """Input and output together; None when either is unknown."""
        return None if self.input is None or self.output is None else self.input + self.output


class Message(Struct):
    """One message. `index` is its place in its thread, `text` its text parts joined by a blank line.

    `injected`: put there by the harness and not by the user. `hidden`: not shown to model or user as conversation.
    `copied`: it happened in another session, is context here, and counts nowhere.
    `src` is the line (1-based) or item (0-based) of the source file; `at_ms` is Unix time in milliseconds.
    """

    index: int
    role: Role
    text: str = ""
    id: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None
    at_ms: int | None = None
    model: str | None = None
    stop: str | None = None
    usage: Usage | None = None
    injected: bool = False
    hidden: bool = False
    copied: bool = False
    src: int | None = None


class Thread(Struct):
    """A sub-agent's conversation, never merged into the main thread."""

    id: str
    messages: list[Message]
    parent_call_id: str | None = None
    name: str | None = None


class SideEvent(Struct):
    """Something that happened and is not a message: a compaction, an abort, a hook, an API error."""

    kind: str
    data: Mapping[str, object] = field(default_factory=dict)
    at_ms: int | None = None
    src: int | None = None


class Cost(Struct):
    """Money spent. `value` is None when unknown, which is not 0."""

    value: float | None = None
    currency: str | None = None

    @property
    def known(self) -> bool:
        """Whether the format says what it cost."""
        return self.value is not None


class End(Struct):
    """How it ended; `raw` and `detail` hold the format's own words."""

    reason: EndReason = "unknown"
    detail: str = ""
    raw: str | None = None


class Irregularity(Struct):
    """One irregularity of the source: unpaired_call, orphan_result, bad_line, unknown_record, usage_zero, …"""

    code: str
    where: int | None
    text: str


class Transcript(Struct):
    """A whole session. `messages` is the main thread in order of conversation.

    `outcome` is what the producer's own grader said: score, reward, patch or error. It is never our score.
    """

    source: Source
    session_id: str | None = None
    parent_session: str | None = None
    agent_name: str | None = None
    models: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    events: list[SideEvent] = field(default_factory=list)
    usage: Usage | None = None
    cost: Cost = field(default_factory=Cost)
    end: End = field(default_factory=End)
    outcome: Mapping[str, object] = field(default_factory=dict)
    warnings: list[Irregularity] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, str] | None:
        """What was handed in by name, the later of two of one name; None where an event of that kind cannot be read."""
        found: dict[str, str] = {}
        for happened in self.events:
            if happened.kind != "answers_submitted":
                continue
            told = happened.data.get("answers")
            if not isinstance(told, Mapping) or not all(isinstance(value, str) for value in told.values()):
                return None
            found |= told
        return found
