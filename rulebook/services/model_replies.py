"""What an OpenAI-compatible endpoint said: an answer with its tokens and its price, or why there is none."""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from rulebook.model_port import Finish, ModelReply
from rulebook.outcome import Spent
from rulebook.spec.providers import Chosen

MAX_ATTEMPTS = 8
"""How often an endpoint is asked that is busy, or broken for a moment."""

_TOO_LONG = r"context.?(length|window|size)|too (long|many tokens|large)|maximum.{0,40}tokens|reduce the length"
_CUT_SHORT = {"length", "model_length", "max_tokens", "max_length", "abort", "error", "insufficient_system_resource"}
_REFUSED = {"content_filter", "safety", "recitation", "blocklist", "prohibited_content", "refusal"}
_SHOWN_CHARACTERS = 300
_MOST_TOKENS = 1_000_000_000
"""No answer has more; a count that says so counts nothing."""


class Fault(Struct, frozen=True):
    """Why an attempt brought no answer.

    `attempts` is how many are worth making when this is what comes of them; `after_s` is how long the endpoint asks
    to wait.
    """

    reason: str
    attempts: int = 1
    after_s: float | None = None
    too_long: bool = False
    spent: Spent = field(default_factory=lambda: Spent(calls=1))


UNKNOWN = Spent(calls=1, uncounted=1, unpriced=1)
"""A call of which nobody knows what it came to: it was cut off, or its answer does not say."""


def reply_in(body: bytes, chosen: Chosen) -> ModelReply | Fault:
    """The answer in the body of a response whose status was 200."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Fault(f"{at(chosen)} answered with something that is not JSON", spent=UNKNOWN)
    choice = _first(data)
    if choice is None:
        told = _error_in(data)
        said = f": {shown(told)}" if told else ""
        return Fault(f"{at(chosen)} answered without a choice{said}", spent=spent_by(data, chosen))
    message = choice.get("message")
    fields = message if isinstance(message, dict) else {}
    text, refusal = _text(fields.get("content")), fields.get("refusal")
    finish = _finish(choice.get("finish_reason"))
    if isinstance(refusal, str) and refusal:
        finish = "refused"
    return ModelReply(text, chosen.model, finish, spent_by(data, chosen))


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes, chosen: Chosen) -> Fault:
    """What a status that is not a success means, and whether to ask again."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    told, code = _error_in(data), _code_in(data)
    reason = f"{at(chosen)} answered with status {status}" + (f": {shown(told)}" if told else "")
    too_long = status in (400, 413, 422) and (
        code == "context_length_exceeded" or re.search(_TOO_LONG, told, re.I) is not None
    )
    again = (status in (408, 409, 429) or status >= 500) and code != "insufficient_quota"
    attempts = MAX_ATTEMPTS if again else 1
    return Fault(reason, attempts, _after_s(headers.get("retry-after")) if again else None, too_long)


def spent_by(data: Any, chosen: Chosen) -> Spent:
    """The tokens that a response tells of, and their price; what it does not tell is unknown, and not 0."""
    usage = data.get("usage") if isinstance(data, dict) else None
    said = usage if isinstance(usage, dict) else {}
    read, written = said.get("prompt_tokens"), said.get("completion_tokens")
    if not (type(read) is int and type(written) is int and 0 <= read <= _MOST_TOKENS and 0 <= written <= _MOST_TOKENS):
        return UNKNOWN
    price = chosen.provider.prices.get(chosen.model)
    if price is None:
        return Spent(calls=1, input_tokens=read, output_tokens=written, unpriced=1)
    cost = (read * price.input + written * price.output) / 1_000_000
    return Spent(calls=1, input_tokens=read, output_tokens=written, costs={chosen.provider.currency: cost})


def at(chosen: Chosen) -> str:
    """The endpoint as messages name it."""
    return f"`{chosen.model}` at `{chosen.provider.name}`"


def shown(text: str) -> str:
    """Words of a stranger's, on one line and not too many."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _SHOWN_CHARACTERS]).split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


def writable(text: str) -> str:
    """The text with lone surrogates written out: UTF-8 cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _first(data: Any) -> dict[str, Any] | None:
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(content: Any) -> str:
    """The text of a message: as it is, or that of its parts, as it can be kept."""
    parts = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    text = "\n".join(p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))
    return writable(text)


def _finish(said: object) -> Finish:
    """How the answer ended, by the words of several makers; one that is not known has ended by itself."""
    word = said.lower() if isinstance(said, str) else ""
    if word in _REFUSED:
        return "refused"
    return "length" if word in _CUT_SHORT else "stop"


def _error_in(data: Any) -> str:
    error = data.get("error") if isinstance(data, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    if not told and isinstance(data, dict):
        told = data.get("message") or data.get("detail")
    return told if isinstance(told, str) else ""


def _code_in(data: Any) -> object:
    error = data.get("error") if isinstance(data, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def _after_s(header: str | None) -> float | None:
    """Seconds until the moment that `Retry-After` names; None for none, or for one that is no number of seconds."""
    try:
        seconds = float(header) if header else None
    except ValueError:
        return _until(header or "")
    return seconds if seconds is not None and 0 <= seconds < 1e9 else None


def _until(date: str) -> float | None:
    import time  # a date is rare: nearly every endpoint writes seconds
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
