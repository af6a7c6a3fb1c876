"""How an Inspect sample ended, what its graders said, and what it used."""

from collections.abc import Mapping

from rulebook.evidence.formats.inspect_events import Happened, usage_of, usages_of
from rulebook.evidence.session_files.pairing import summed, warn
from rulebook.evidence.session_files.values import amount, mapping, sequence, word
from rulebook.evidence.transcript import Cost, End, EndReason, Transcript, Usage

_LIMITS: dict[str, EndReason] = {
    "message": "turn_limit",
    "turn": "turn_limit",
    "token": "budget_reached",
    "cost": "budget_reached",
    "time": "time_limit",
    "working": "time_limit",
    "context": "context_limit",
    "operator": "canceled_by_user",
}
_STOPS: dict[str, EndReason] = {
    "stop": "finished",
    "max_tokens": "truncated_output",
    "length": "truncated_output",
    "model_length": "context_limit",
    "content_filter": "refused_by_model",
}
_STATUSES: dict[str, EndReason] = {"cancelled": "canceled_by_user", "error": "errored"}

Root = Mapping[str, object]


def end_of(sample: Root, header: Root) -> End:
    """The sample's error, else its limit, else why the model stopped.

    A log that was stopped before its end says nothing of the samples that were scored before.
    """
    error, limit = mapping(sample.get("error")), mapping(sample.get("limit"))
    if error:
        return End("errored", (word(error.get("message")) or "")[:500], "error")
    if limit:
        kind = word(limit.get("type")) or ""
        return End(_LIMITS.get(kind, "unknown"), f"the limit `{kind}` of {limit.get('limit')} was met", kind or None)
    choices = [mapping(choice) for choice in sequence(mapping(sample.get("output")).get("choices"))]
    stop = word(choices[0].get("stop_reason")) if choices else None
    status = word(header.get("status")) or "started"
    if status != "success" and not mapping(sample.get("scores")):
        return End(_STATUSES.get(status, "unknown"), f"the log's status is `{status}`", stop)
    if stop is None:
        return End("unknown", "the sample does not say why the model stopped", None)
    return End(_STOPS.get(stop, "unknown"), "", stop)


def outcome_of(sample: Root) -> dict[str, object]:
    """The values that the scorers gave; a single one is the score. A sample that was not scored has none."""
    scores = {name: mapping(score).get("value") for name, score in mapping(sample.get("scores")).items()}
    outcome: dict[str, object] = {"scores": scores} if scores else {}
    if len(scores) == 1:
        outcome["score"] = next(iter(scores.values()))
    error = word(mapping(sample.get("error")).get("message"))
    return outcome | ({"error": error[:500]} if error is not None else {})


def take_usage(transcript: Transcript, sample: Root, header: Root, happened: Happened, *, alone: bool) -> None:
    """What the sample's models used without its graders, who are no part of the session.

    A log with one sample may state it for the log alone; one that states nothing has its replies.
    """
    stated = mapping(sample.get("model_usage"))
    if not stated and alone:
        stated = mapping(mapping(header.get("stats")).get("model_usage"))
    total = summed(usages_of(stated))
    if total is None:
        _sum_replies(transcript, sample, happened)
        return
    total.source, total.requests = "reported", happened.replies or None
    if total.total == 0 and happened.replies:
        warn(transcript, "usage_zero", None, "the sample has replies, and its usage is 0")
        transcript.usage = Usage(requests=total.requests, source="reported")
        return
    transcript.usage = _without(transcript, total, happened)
    prices = [amount(mapping(model).get("total_cost")) for model in stated.values()]
    known = [price for price in prices if price is not None]
    if known and len(known) == len(prices) and not happened.graded:
        transcript.cost = Cost(sum(known), "USD")


def _sum_replies(transcript: Transcript, sample: Root, happened: Happened) -> None:
    told = [usage for usage in happened.spoken if usage is not None]
    if not happened.spoken:
        only = usage_of(mapping(sample.get("output")).get("usage"))
        replies = sum(message.role == "assistant" for message in transcript.messages)
        told = [only] if only is not None else []
        silent = max(0, replies - 1)
    else:
        silent = len(happened.spoken) - len(told)
    transcript.usage = summed(told)
    if transcript.usage is not None and silent:
        warn(transcript, "usage_partial", None, f"{silent} replies state no usage")


def _without(transcript: Transcript, total: Usage, happened: Happened) -> Usage:
    """The total less what graders used; where that cannot be told, a warning keeps rules from resting on it."""
    if not happened.graded:
        return total
    told = [usage for usage in happened.graded if usage is not None]
    graded = summed(told)
    inputs = None if graded is None else _less(total.input, graded.input)
    outputs = None if graded is None else _less(total.output, graded.output)
    if graded is None or len(told) < len(happened.graded) or inputs is None or outputs is None:
        warn(transcript, "usage_differs", None, "what was used includes graders, whose share is not known")
        return total
    return Usage(
        inputs,
        outputs,
        _less(total.cache_read, graded.cache_read or 0),
        _less(total.cache_write, graded.cache_write or 0),
        _less(total.reasoning, graded.reasoning or 0),
        requests=total.requests,
        source="reported",
    )


def _less(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None or part > total else total - part
