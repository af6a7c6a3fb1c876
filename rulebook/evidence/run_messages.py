"""The messages of a run, as its events hold them. Source: karotte 3.0.100, its transcripts."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Role = Literal["assistant", "user", "system", "tool", "function"]


class Told(BaseModel):
    """A part of a transcript. What is not known of is kept under its own name."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class Function(Told):
    """What is called: the tool, and its arguments as JSON text."""

    name: str | None
    arguments: str = ""


class ChatCompletionMessageToolCall(Told):
    """A tool call."""

    id: str
    function: Function
    type: str = "function"


class Message(Told):
    """A message. `content` is text, or a list of parts such as `{"type": "text", "text": "…"}`."""

    content: str | list[dict[str, Any]] | None = None
    role: Role = "assistant"
    tool_calls: list[ChatCompletionMessageToolCall] | None = None
    reasoning_content: str | None = None
    thinking_blocks: list[dict[str, Any]] | None = None
    reasoning_items: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """What it says: its text parts, joined by a blank line; images and other parts are left out."""
        return text_of_content(self.content)


class Delta(Told):
    """A piece of a message."""

    content: str | None = None
    role: Role | None = None
    reasoning_content: str | None = None


class CallToolResult(Told):
    """What a tool gave back."""

    content: list[dict[str, Any]] = []
    isError: bool = False  # noqa: N815 (the wire's own spelling)


def text_of_content(content: str | list[dict[str, Any]] | None) -> str:
    """The text of a message's content, its text parts joined by a blank line."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content or () if part.get("type") == "text"]
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)
