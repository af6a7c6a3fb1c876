"""What an ATIF run used and cost: the sum over its own steps, held against the totals that it states."""

from collections.abc import Mapping

from rulebook.evidence.session_files.pairing import summed, warn
from rulebook.evidence.session_files.values import amount, count, mapping, sequence
from rulebook.evidence.transcript import Cost, Message, Transcript, Usage

Root = Mapping[str, object]
Tokens = tuple[int | None, int | None]


def spend(transcript: Transcript, segments: list[Root]) -> None:
    """Fill in usage and cost.

    A stated total may be of the last file alone or of all before it, with its sub-agents or without. Where the steps
    sum up to it in one of these ways, the sum with the sub-agents holds. Where they do in none, nobody can tell what
    was spent: what is stated is shown, and a warning keeps rules from resting on it. Copied steps were paid for where
    they come from.
    """
    own = _replies(transcript.messages)
    everyone = own + [reply for thread in transcript.threads for reply in _replies(thread.messages)]
    whole, stated = _sum(everyone), [usage for usage in map(_stated, segments) if usage is not None]
    silent = [reply for reply in everyone if reply.usage is None]
    transcript.cost = _cost(segments)
    if not stated:
        transcript.usage = whole
        if whole is not None and silent:
            text = f"{len(silent)} of {len(everyone)} replies state no usage"
            warn(transcript, "usage_partial", silent[0].src, text)
    elif whole is None or (silent and _within(_tokens(whole), _tokens(stated[-1]))):
        transcript.usage = stated[-1]
    elif not silent and _agree(_tokens(whole), _tokens(_sum(own)), stated):
        transcript.usage = whole
        whole.cache_read = stated[-1].cache_read if whole.cache_read is None else whole.cache_read
    else:
        transcript.usage = stated[-1]
        (inputs, outputs), (ours_in, ours_out) = _tokens(stated[-1]), _tokens(whole)
        text = f"it states {inputs} tokens in and {outputs} out, and its own steps sum up to {ours_in} and {ours_out}"
        warn(transcript, "usage_differs", None, text)


def _replies(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.role == "assistant" and not message.copied]


def _sum(replies: list[Message]) -> Usage | None:
    told = [reply.usage for reply in replies if reply.usage is not None]
    total = summed(told)
    if total is not None:
        total.requests = sum(usage.requests or 0 for usage in told)
    return total


def _stated(root: Root) -> Usage | None:
    given = mapping(root.get("final_metrics"))
    prompt, completion = count(given.get("total_prompt_tokens")), count(given.get("total_completion_tokens"))
    if prompt is None and completion is None:
        return None
    return Usage(prompt, completion, count(given.get("total_cached_tokens")), source="reported")


def _tokens(usage: Usage | None) -> Tokens:
    return (None, None) if usage is None else (usage.input, usage.output)


def _within(part: Tokens, total: Tokens) -> bool:
    """Whether what some replies state may be a part of the total."""
    return all(a is None or b is None or a <= b for a, b in zip(part, total, strict=True))


def _agree(whole: Tokens, own: Tokens, stated: list[Usage]) -> bool:
    totals = [_tokens(stated[-1]), _tokens(summed(stated))]
    return any(total in (whole, own) for total in totals)


def _cost(segments: list[Root]) -> Cost:
    """What the last file that states a total states; else the steps' own prices, where every one has its own."""
    for segment in reversed(segments):
        total = amount(mapping(segment.get("final_metrics")).get("total_cost_usd"))
        if total is not None:
            return Cost(total, "USD")
    prices: list[float | None] = []
    for step in (mapping(value) for segment in segments for value in sequence(segment.get("steps"))):
        if step.get("source") == "agent" and step.get("is_copied_context") is not True:
            prices.append(amount(mapping(step.get("metrics")).get("cost_usd")))
    known = [price for price in prices if price is not None]
    return Cost(sum(known), "USD") if known and len(known) == len(prices) else Cost()
