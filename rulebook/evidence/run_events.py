"""The events of a run, one class a type. Source: karotte 3.0.100, its transcripts.

An event that was read is written again as it stood, with whatever of it is not known here.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field, PrivateAttr, ValidationError, field_serializer, field_validator

from rulebook.evidence.run_messages import CallToolResult, ChatCompletionMessageToolCall, Delta, Message, Told
from rulebook.evidence.scoring import Scoring


class Event(Told):
    """One thing that happened. `timestamp` is None where the event was read and has none."""

    type: str
    timestamp: datetime | None = Field(default_factory=lambda: datetime.now(UTC))

    _read: bool = PrivateAttr(False)
    _written: object = PrivateAttr(None)

    def as_data(self) -> object:
        """The event as plain data: exactly what was read, or, of one made here, every field."""
        return self._written if self._read else self.model_dump(mode="json")


class UnknownEvent(Event):
    """An event of a type that is not known here, or that is not as its type should be: `problem` says why."""

    type: str = ""
    _problem: str = PrivateAttr("")

    @property
    def problem(self) -> str:
        """What is wrong with it; empty for a type that is merely unknown."""
        return self._problem


class TaskStartedEvent(Event):
    """The run began. `n_steps` is -1 where nobody can count the steps."""

    type: Literal["task_started"] = "task_started"
    run_id: str
    task_id: str
    model: str | None = None
    n_steps: int = -1
    reasoning_effort: str | None = None
    temperature: float | None = None
    agent: str | None = None
    use_hints: bool | None = None


class TaskPreHookCompletedEvent(Event):
    """What the task prepared."""

    type: Literal["task_pre_hook_completed"] = "task_pre_hook_completed"
    metadata: dict[str, Any]


class StepStartedEvent(Event):
    """A step began; steps count from 0."""

    type: Literal["step_started"] = "step_started"
    step: int


class StepCompletedEvent(Event):
    """A step was scored."""

    type: Literal["step_completed"] = "step_completed"
    step: int


class MessageAddedEvent(Event):
    """A message, whole. `raw` is the model's own reply, where it is kept."""

    type: Literal["message_added"] = "message_added"
    message: Message
    finish_reason: str | None = None
    raw: dict[str, Any] | None = None


class MessageChunkEvent(Event):
    """A piece of a message for who is looking on."""

    type: Literal["message_chunk"] = "message_chunk"
    delta: Delta


class MessageChunkResetEvent(Event):
    """The pieces so far are void."""

    type: Literal["message_chunk_reset"] = "message_chunk_reset"


class ToolCallStartedEvent(Event):
    """A call goes to its tool."""

    type: Literal["tool_call_started"] = "tool_call_started"
    tool_call: ChatCompletionMessageToolCall


class ToolCallCompletedEvent(Event):
    """A tool answered."""

    type: Literal["tool_call_completed"] = "tool_call_completed"
    tool_call_id: str
    result: CallToolResult


class AnswersSubmittedEvent(Event):
    """Answers handed in by name."""

    type: Literal["answers_submitted"] = "answers_submitted"
    answers: dict[str, str]


class ScoringEvent(Event):
    """A step's judge gave its result."""

    type: Literal["scoring"] = "scoring"
    scoring: Scoring
    resource_metrics: dict[str, Any] | None = None

    @field_validator("scoring", mode="before")
    @classmethod
    def _made(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return Scoring(*(value.get(name) for name in ("score", "metadata", "continue_task")))  # type: ignore[arg-type]

    @field_serializer("scoring")
    def _told(self, scoring: Scoring) -> dict[str, object]:
        return scoring.as_data()


class ErrorEvent(Event):
    """The run broke."""

    type: Literal["error"] = "error"
    exception_type: str
    message: str
    traceback: str | None = None


class TaskCompletedEvent(Event):
    """The run ended."""

    type: Literal["task_completed"] = "task_completed"
    status: Literal["pending", "running", "passed", "failed", "error"]


class TokenUsageEvent(Event):
    """One request's tokens; `input_tokens` has the cached ones in it."""

    type: Literal["token_usage"] = "token_usage"
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    estimated: bool = False
    service_tier: str | None = None


EVENTS: Mapping[str, type[Event]] = {
    str(each.model_fields["type"].default): each
    for each in (
        TaskStartedEvent, TaskPreHookCompletedEvent, StepStartedEvent, StepCompletedEvent, MessageAddedEvent,
        MessageChunkEvent, MessageChunkResetEvent, ToolCallStartedEvent, ToolCallCompletedEvent, AnswersSubmittedEvent,
        ScoringEvent, ErrorEvent, TaskCompletedEvent, TokenUsageEvent,
    )
}  # fmt: skip
"""The type of each event and its class."""


def event_from(data: object) -> Event:
    """The event that stands in a transcript; nothing is refused, and nothing of it is lost."""
    event = _known(data) if isinstance(data, Mapping) else _unknown({}, "it is no mapping")
    event._read, event._written = True, data
    return event


def _known(data: Mapping[str, object]) -> Event:
    kind = data.get("type")
    known = EVENTS.get(kind) if isinstance(kind, str) else None
    if known is None:
        return _unknown(data, "" if isinstance(kind, str) else "it has no type")
    try:
        return known.model_validate({"timestamp": None, **data})
    except (ValidationError, RecursionError) as error:
        return _unknown(data, _where(error))


def _unknown(data: Mapping[str, object], problem: str) -> UnknownEvent:
    kind = data.get("type")
    event = UnknownEvent(type=kind if isinstance(kind, str) else "", timestamp=None)
    event._problem = problem
    return event


def _where(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    first = error.errors(include_url=False, include_context=False)[0]["loc"]
    return f"its `{'.'.join(map(str, first))}` is not as it should be"
