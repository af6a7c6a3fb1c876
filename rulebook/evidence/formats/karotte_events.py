"""The events of a karotte transcript, typed: each is well-formed as a whole, or odd.

Source: karotte 3.0.100, its transcripts as they are written.
"""

from typing import Any

from msgspec import Struct


class Event(Struct, tag_field="type", gc=False, kw_only=True):
    """What every event has."""

    timestamp: str | None = None


class TaskStarted(Event, tag="task_started", gc=False, kw_only=True):
    """The run began."""

    run_id: str = ""
    task_id: str = ""
    model: str | None = None
    n_steps: int | None = None
    reasoning_effort: str | None = None
    temperature: float | None = None
    agent: str | None = None
    use_hints: bool | None = None


class PreHookCompleted(Event, tag="task_pre_hook_completed", gc=False, kw_only=True):
    """What the task prepared."""

    metadata: dict[str, Any] = {}


class StepStarted(Event, tag="step_started", gc=False, kw_only=True):
    """A step began: its instructions come next."""

    step: int | None = None


class StepCompleted(Event, tag="step_completed", gc=False, kw_only=True):
    """A step was scored."""

    step: int | None = None


class Chunk(Event, tag="message_chunk", gc=False, kw_only=True):
    """A piece of a message for who is looking on; the whole one follows."""


class ChunkReset(Event, tag="message_chunk_reset", gc=False, kw_only=True):
    """The pieces so far are void."""


class Function(Struct, gc=False):
    """What is called."""

    name: str
    arguments: str | None = None


class Called(Struct, gc=False):
    """A call."""

    function: Function
    id: str | None = None


class Part(Struct, gc=False):
    """A part of a content; only text parts have `text`."""

    type: str | None = None
    text: str | None = None


class Thought(Struct, gc=False):
    """A block of reasoning; one that is withheld has no text."""

    thinking: str | None = None


class Said(Struct, tag_field="role", gc=False):
    """A message by its role."""

    content: str | list[Part] | None = None
    tool_calls: list[Called] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    thinking_blocks: list[Thought] | None = None


class ByAssistant(Said, tag="assistant", gc=False):
    """What the model wrote."""


class BySystem(Said, tag="system", gc=False):
    """Instructions."""


class ByUser(Said, tag="user", gc=False):
    """A prompt."""


class ByTool(Said, tag="tool", gc=False):
    """What a tool answered."""


class ByFunction(Said, tag="function", gc=False):
    """The same, by the older name of the role."""


class MessageAdded(Event, tag="message_added", gc=False, kw_only=True):
    """A message, whole."""

    message: ByAssistant | BySystem | ByUser | ByTool | ByFunction
    finish_reason: str | None = None


class CallStarted(Event, tag="tool_call_started", gc=False, kw_only=True):
    """A call goes to its tool."""

    tool_call: Called


class Result(Struct, gc=False):
    """What the tool gave back."""

    content: list[Part] | None = None
    isError: bool | None = None  # noqa: N815 (the wire's own spelling)


class CallCompleted(Event, tag="tool_call_completed", gc=False, kw_only=True):
    """A tool answered."""

    tool_call_id: str
    result: Result


class AnswersSubmitted(Event, tag="answers_submitted", gc=False, kw_only=True):
    """Answers handed in by name."""

    answers: dict[str, str] = {}


class Scoring(Struct, gc=False):
    """A judge's result."""

    score: float | str | None = None
    metadata: dict[str, Any] = {}
    continue_task: bool | None = None


class Scored(Event, tag="scoring", gc=False, kw_only=True):
    """A step's judge gave its result."""

    scoring: Scoring


class Failed(Event, tag="error", gc=False, kw_only=True):
    """The run broke."""

    exception_type: str = ""
    message: str = ""
    traceback: str | None = None


class TaskCompleted(Event, tag="task_completed", gc=False, kw_only=True):
    """The run ended."""

    status: str


class TokensUsed(Event, tag="token_usage", gc=False, kw_only=True):
    """One request's tokens; `input_tokens` has the cached ones in it."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    estimated: bool = False


AnyEvent = (
    TaskStarted
    | PreHookCompleted
    | StepStarted
    | StepCompleted
    | Chunk
    | ChunkReset
    | MessageAdded
    | CallStarted
    | CallCompleted
    | AnswersSubmitted
    | Scored
    | Failed
    | TaskCompleted
    | TokensUsed
)


class Run(Struct, gc=False):
    """A whole transcript, every event of which is well-formed."""

    run_id: str
    events: list[AnyEvent]
