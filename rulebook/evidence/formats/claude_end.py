"""How a Claude Code session ended: the closed list of reasons, from its last records."""

from collections.abc import Mapping

from msgspec import Struct

from rulebook.evidence.formats.claude_blocks import INTERRUPTED
from rulebook.evidence.session_files.values import sequence, word
from rulebook.evidence.transcript import End, EndReason, Message

_STOPS: dict[str, EndReason] = {
    "end_turn": "finished",
    "max_tokens": "truncated_output",
    "refusal": "refused_by_model",
    "model_context_window_exceeded": "context_limit",
}
_RESULTS: dict[str, EndReason] = {
    "success": "finished",
    "error_max_turns": "turn_limit",
    "error_max_budget_usd": "budget_reached",
    "error_max_structured_output_retries": "format_error",
}


class Closing(Struct):
    """What the reading noted on the way.

    `stop` is the last stop reason that the main thread states, `trouble` the API's last that no message
    followed, `result` the closing record of a stream.
    """

    stop: str | None = None
    trouble: EndReason | None = None
    trouble_text: str = ""
    result: Mapping[str, object] | None = None


def end_of(messages: list[Message], closing: Closing) -> End:
    """The end: what a stream's closing record says, else what the last message states, else unknown."""
    if closing.result is not None:
        return _of_result(closing.result, messages, closing)
    return _of_messages(messages, closing)


def _of_result(result: Mapping[str, object], messages: list[Message], closing: Closing) -> End:
    subtype = word(result.get("subtype"))
    errors = [error for error in sequence(result.get("errors")) if isinstance(error, str)]
    detail = (word(result.get("result")) or "; ".join(errors))[:500]
    raw = subtype or "result"
    if result.get("is_error") is True and subtype in (None, "success"):
        return End("errored", detail, raw)
    if subtype is not None:
        return End(_RESULTS.get(subtype, "errored" if subtype.startswith("error") else "unknown"), detail, raw)
    return End(_of_messages(messages, closing).reason, detail, raw)


def _of_messages(messages: list[Message], closing: Closing) -> End:
    last = messages[-1] if messages else None
    if last is not None and last.role == "user" and last.text.startswith(INTERRUPTED):
        return End("canceled_by_user", last.text, closing.stop)
    if closing.trouble is not None:
        return End(closing.trouble, closing.trouble_text, closing.stop)
    spoken = next((message for message in reversed(messages) if not message.injected), None)
    if spoken is None:
        return End("unknown", "the session has no message", closing.stop)
    if spoken.role != "assistant":
        return End("unknown", f"the last message is from the {spoken.role}", closing.stop)
    if spoken.stop is None:
        return End("unknown", "the last message states no stop reason", closing.stop)
    return End(_STOPS.get(spoken.stop, "unknown"), "", closing.stop)
