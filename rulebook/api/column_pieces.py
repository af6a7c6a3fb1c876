"""The columns of a row as a judge model is shown them."""

from rulebook.evidence.run_messages import Message
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import spelt_out
from rulebook.measures.texts import as_text


def pieces_of(columns: tuple[str, ...], row: tuple[object, ...]) -> list[tuple[str, str | None]]:
    """Each column's name with its value as text; None where it is null. A session is its messages with their calls."""
    return [(column, _text(value)) for column, value in zip(columns, row, strict=True)]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Transcript):
        return as_text(value)
    return "\n".join(line for message in value.messages for line in _told(message))


def _told(message: Message) -> list[str]:
    """What a message says, and what it calls; further lines are indented, so that none can pass for another message."""
    said = [(f"[{message.role}]", message.text)] if message.text.strip() else []
    called = [
        (f"[{message.role} calls {call.function.name}]", call.function.arguments) for call in message.tool_calls or ()
    ]
    return [spelt_out(f"{head}: " + "\n    ".join(text.splitlines())) for head, text in (*said, *called)]
