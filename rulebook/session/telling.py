"""What a student is given to read: the conversation so far, the instructions of its step last."""

from collections.abc import Sequence

from rulebook.evidence.run_events import Event, MessageAddedEvent
from rulebook.evidence.run_transcript import event_line

_VARIABLE_LIMIT = 100_000
"""More than some 130,000 bytes cannot stand in one variable."""


def told_as_events(events: Sequence[Event]) -> bytes:
    """The events so far, one a line."""
    return b"".join(event_line(event) for event in events)


def told_as_text(events: Sequence[Event]) -> bytes:
    """The messages so far: a single one as it is, several under the role of who said them."""
    messages = [event.message for event in events if isinstance(event, MessageAddedEvent)]
    if len(messages) == 1:
        return _bytes(messages[0].text)
    return _bytes("\n\n".join(f"[{each.role}]\n{each.text.rstrip()}" for each in messages) + "\n")


def told_by_name(events: Sequence[Event]) -> dict[str, str]:
    """The step's own instructions as a variable, where they fit in one."""
    last = events[-1]
    text = last.message.text if isinstance(last, MessageAddedEvent) else ""
    written = _bytes(text)
    if not text or b"\0" in written or len(written) > _VARIABLE_LIMIT:
        return {}
    return {"RULEBOOK_INSTRUCTIONS": written.decode()}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
