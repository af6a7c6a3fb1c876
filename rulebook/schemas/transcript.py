"""The transcript of a run: its events, its messages, and how it is read and written."""

from rulebook.api.transcripts import read_transcript
from rulebook.evidence.run_events import (
    AnswersSubmittedEvent,
    ErrorEvent,
    Event,
    MessageAddedEvent,
    MessageChunkEvent,
    MessageChunkResetEvent,
    ScoringEvent,
    StepCompletedEvent,
    StepStartedEvent,
    TaskCompletedEvent,
    TaskPreHookCompletedEvent,
    TaskStartedEvent,
    TokenUsageEvent,
    ToolCallCompletedEvent,
    ToolCallStartedEvent,
    UnknownEvent,
)
from rulebook.evidence.run_messages import CallToolResult, ChatCompletionMessageToolCall, Delta, Function, Message
from rulebook.evidence.run_transcript import Transcript
from rulebook.services.transcript_log import TranscriptLog, write_transcript

__all__ = [
    "AnswersSubmittedEvent",
    "CallToolResult",
    "ChatCompletionMessageToolCall",
    "Delta",
    "ErrorEvent",
    "Event",
    "Function",
    "Message",
    "MessageAddedEvent",
    "MessageChunkEvent",
    "MessageChunkResetEvent",
    "ScoringEvent",
    "StepCompletedEvent",
    "StepStartedEvent",
    "TaskCompletedEvent",
    "TaskPreHookCompletedEvent",
    "TaskStartedEvent",
    "TokenUsageEvent",
    "ToolCallCompletedEvent",
    "ToolCallStartedEvent",
    "Transcript",
    "TranscriptLog",
    "UnknownEvent",
    "read_transcript",
    "write_transcript",
]
