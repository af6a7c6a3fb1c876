"""Model calls, each with all that was said before it, stitched into conversations."""

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from rulebook.evidence.formats.span_steps import Step, Told
from rulebook.evidence.session_files.values import written
from rulebook.evidence.transcript import Message, SideEvent, ToolCall

_LOOKED_BACK = 50
_ASKS_FOR_TOOLS = frozenset(("tool_calls", "tool-calls", "tool_call", "tool_use", "function_call"))

Warn = Callable[[str, Step, str], None]


class Chain(Struct):
    """One conversation: its model calls, its messages, and how many of them the last call was given.

    `silent` holds the replies whose content was not captured.
    """

    steps: list[Step] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    asked: int = 0
    silent: list[Message] = field(default_factory=list)
    unasked: int = 0

    @property
    def calls(self) -> list[ToolCall]:
        """Every call of the conversation."""
        return [call for message in self.messages for call in message.tool_calls]


def chains_of(steps: Iterable[Step], events: list[SideEvent], warn: Warn) -> list[Chain]:
    """The conversations of model calls in the order of time.

    A call that was given all of an earlier conversation goes on with it, as does one that was given the results of its
    last calls; any other begins one. What no conversation holds becomes an event.
    """
    chains: list[Chain] = []
    for step in steps:
        told = step.told or Told()
        chain, fresh = _placed(chains, told.asked or [], events)
        if chain is None:
            chains.append(chain := Chain())
        chain.steps.append(step)
        chain.unasked += not told.asked
        for message in fresh:
            message.at_ms = step.start_ms if message.role == "user" else None
        chain.messages += fresh
        chain.asked = len(chain.messages)
        if told.tools:
            events.append(SideEvent("tools", {"names": list(told.tools)}, src=step.src))
        _take_replies(chain, step, told, events)
        for what in told.damaged:
            warn("unread_exchange", step, f"a model call holds {what}")
        calls = any(reply.tool_calls for reply in told.replies or ())
        if told.replies is not None and (told.stop or "").lower() in _ASKS_FOR_TOOLS and not calls:
            warn("lost_call", step, "a reply ended in tool calls that it does not show")
    return chains


def likeness(call: ToolCall) -> tuple[str, str]:
    """What two tellings of one call have in common."""
    return call.name, call.args_raw if call.args is None else written(dict(sorted(call.args.items())))


def _placed(chains: list[Chain], asked: list[Message], events: list[SideEvent]) -> tuple[Chain | None, list[Message]]:
    """The conversation that a model call with these messages goes on with, and those of them that are new to it."""
    if not asked:
        return (chains[-1] if chains else None), []
    for chain in reversed(chains[-_LOOKED_BACK:]):
        if _goes_on(chain, asked):
            for known, given in zip(chain.messages, asked, strict=False):
                _reveal(known, given, chain)
            return chain, asked[len(chain.messages) :]
        if _is_retried(chain, asked):
            for reply in chain.messages[chain.asked :]:
                events.append(SideEvent("superseded_reply", {"text": reply.text[:500]}, reply.at_ms, reply.src))
            del chain.messages[chain.asked :]
            return chain, asked[chain.asked :]
    answered = next((chain for chain in reversed(chains[-_LOOKED_BACK:]) if _answers(chain, asked)), None)
    return answered, asked if answered is None else [message for message in asked if message.role != "system"]


def _goes_on(chain: Chain, asked: list[Message]) -> bool:
    known = chain.messages
    return 0 < len(known) <= len(asked) and all(_alike(a, b, chain) for a, b in zip(known, asked, strict=False))


def _is_retried(chain: Chain, asked: list[Message]) -> bool:
    """Whether the model was asked the same once more, after a reply without calls that nobody kept."""
    kept, dropped = chain.messages[: chain.asked], chain.messages[chain.asked :]
    same = 0 < len(kept) <= len(asked) and all(_alike(a, b, chain) for a, b in zip(kept, asked, strict=False))
    return same and not any(reply.tool_calls or _is_silent(reply, chain) for reply in dropped)


def _answers(chain: Chain, asked: list[Message]) -> bool:
    """Whether only what is new was sent: the results of the last reply's calls."""
    fresh = [message for message in asked if message.role != "system"]
    waiting = {call.id for message in chain.messages[chain.asked :] for call in message.tool_calls if call.id}
    first = fresh[0].tool_result if fresh else None
    given = {message.tool_result.call_id for message in fresh if message.tool_result is not None}
    return first is not None and bool(given) and given <= waiting


def _alike(known: Message, told: Message, chain: Chain) -> bool:
    if known.role != told.role:
        return False
    match known.role:
        case "system":
            return True
        case "tool":
            one, other = known.tool_result, told.tool_result
            if one is not None and other is not None and one.call_id and other.call_id:
                return one.call_id == other.call_id
            return known.text == told.text
        case "assistant":
            if _is_silent(known, chain):
                return True
            if known.tool_calls or told.tool_calls:
                return Counter(map(likeness, known.tool_calls)) == Counter(map(likeness, told.tool_calls))
            return known.text.split() == told.text.split()
        case "user":
            return known.text == told.text


def _reveal(known: Message, given: Message, chain: Chain) -> None:
    """What a reply that was not captured said, as a later call was given it."""
    if _is_silent(known, chain):
        known.text, known.tool_calls, known.reasoning = given.text, given.tool_calls, given.reasoning
        chain.silent = [message for message in chain.silent if message is not known]


def _is_silent(message: Message, chain: Chain) -> bool:
    return any(message is silent for silent in chain.silent)


def _take_replies(chain: Chain, step: Step, told: Told, events: list[SideEvent]) -> None:
    if step.failed and not told.replies:
        events.append(SideEvent("api_error", {"message": step.trouble[:500]}, step.end_ms, step.src))
        return
    replies = told.replies or [Message(0, "assistant")]
    for reply in replies:
        reply.at_ms, reply.src = step.end_ms, step.src
    spoken = next((reply for reply in replies if reply.role == "assistant"), replies[0])
    spoken.id, spoken.model, spoken.stop = told.reply_id or spoken.id, told.model, told.stop
    spoken.usage = told.usage
    if told.replies is None:
        chain.silent.append(spoken)
    chain.messages += replies
