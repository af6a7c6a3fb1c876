"""Recorded exchanges stitched into conversations, whichever provider each of them is of."""

import json
from collections import Counter

from msgspec import Struct, field

from rulebook.evidence.formats.exchanges import Told
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.transcript import Message, SideEvent, Thread, ToolCall, Transcript


class Chain(Struct):
    """Exchanges of one conversation: `messages` is all that the last was asked, `places` says where each reply is."""

    told: list[Told] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def add(self, told: Told) -> None:
        """Go on with one more exchange: a request repeats the conversation, or names the reply that it goes on with."""
        if told.after is not None and self.told:
            fresh = told.asked
            if self.messages and fresh and fresh[0].role == "system" and fresh[0].text == self.messages[0].text:
                fresh = fresh[1:]
            self.messages += [*self.told[-1].reply, *fresh]
        else:
            self.messages = list(told.asked)
        self.told.append(told)
        self.places.append(len(self.messages))


class Stitched(Struct):
    """What came of it: the `last` exchange of the main thread, and how many of its replies no exchange brought."""

    last: Told
    elsewhere: int


def stitch(transcript: Transcript, exchanges: list[Told]) -> Stitched:
    """Fill `transcript` from one exchange or more.

    A request whose messages begin with all of an earlier request's goes on with that conversation; the longest is the
    main thread, and the others (a judge, a title) are threads of their own.
    """
    chains = _chained(exchanges)
    main = max(chains, key=lambda chain: len(chain.messages))
    transcript.messages = _conversation(transcript, main)
    others = [chain for chain in chains if chain is not main]
    transcript.threads = [
        Thread(f"exchange-{chain.told[0].exchange.index}", messages)
        for chain in others
        if (messages := _conversation(transcript, chain))
    ]
    beside = next((t for t in transcript.threads if any(m.tool_calls for m in t.messages)), None)
    if beside is not None:
        text = f"tools were called in `{beside.id}`, which is not the main conversation"
        warn(transcript, "split_conversation", None, text)
    replies = {place for place, message in enumerate(transcript.messages) if message.role == "assistant"}
    return Stitched(main.told[-1], len(replies - _answered(main)))


class _Marks(Struct):
    """Finds the conversation that a request goes on with, by what stands before its new messages, in one step each.

    `ends` knows the end of every conversation by its mark, `replies` by the id of its last reply.
    """

    ends: dict[int, Chain] = field(default_factory=dict)
    replies: dict[str, Chain] = field(default_factory=dict)
    marks: dict[int, list[int]] = field(default_factory=dict)

    def chain(self, told: Told, marks: list[int]) -> Chain | None:
        """The conversation that goes on with this request; None when it begins one."""
        if told.after is not None:
            return self.replies.get(told.after)
        for length in range(len(marks) - 1, 0, -1):
            chain = self.ends.get(marks[length])
            if chain is not None and (length > chain.places[-1] or self._goes_on(chain, told, length)):
                return chain
        return None

    def note(self, chain: Chain, marks: list[int]) -> None:
        """Learn where a conversation ends now, with its last reply and without it."""
        for mark in self.marks.pop(id(chain), []):
            if self.ends.get(mark) is chain:
                del self.ends[mark]
        last = chain.told[-1]
        before = marks[-1]
        ends = [before, *([hash((before, _likeness(last.reply[0])))] if last.reply else [])]
        self.marks[id(chain)] = ends
        self.ends.update(dict.fromkeys(ends, chain))
        if last.reply and last.reply[0].id is not None:
            self.replies[last.reply[0].id] = chain

    @staticmethod
    def _goes_on(chain: Chain, told: Told, length: int) -> bool:
        """Whether it does: the same is asked again without anything new only after a failure."""
        return len(told.asked) > length or not chain.told[-1].reply


def _chained(exchanges: list[Told]) -> list[Chain]:
    chains: list[Chain] = []
    known = _Marks()
    for told in exchanges:
        marks = [0]
        for message in told.asked:
            marks.append(hash((marks[-1], _likeness(message))))
        chain = known.chain(told, marks)
        if chain is None:
            if told.after is not None:
                text = f"it goes on with the reply `{told.after}`, which is not in the file or not the last one"
                told.faults.append(("unread_exchange", text))
            chains.append(chain := Chain())
        if told.after is not None and chain.told:
            last = chain.told[-1].reply
            known.replies.pop(told.after, None)
            marks = [hash((id(chain), len(chain.places), len(last)))]
        chain.add(told)
        known.note(chain, marks)
    return chains


def _likeness(message: Message) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return message.role, message.text, tuple(map(_call_likeness, message.tool_calls))


def _call_likeness(call: ToolCall) -> tuple[str, str]:
    """A call without its id, which some clients replace, and its arguments without their spelling."""
    if call.args is not None:
        return call.name, json.dumps(call.args, sort_keys=True, default=str)
    return call.name, call.args_raw.strip() or "{}"


def _conversation(transcript: Transcript, chain: Chain) -> list[Message]:
    """The last request's messages and its reply, every reply with what its response said of it."""
    messages = [*chain.messages, *chain.told[-1].reply]
    answered = _answered(chain)
    ends = [*chain.places[1:], len(messages)]
    for told, place, end in zip(chain.told, chain.places, ends, strict=True):
        _note(transcript, told)
        there = messages[place] if place < len(messages) else None
        reply = there if there is not None and there.role == "assistant" else None
        if told.reply:
            _check(transcript, told, messages[place : max(end, place + len(told.reply))])
            if reply is not None:
                _enrich(reply, told.reply[0])
        elif reply is not None and place not in answered:
            _mark_not_run(reply, messages[place:end])
    return messages


def _answered(chain: Chain) -> set[int]:
    """The places of the conversation at which an exchange has a reply."""
    return {place for told, place in zip(chain.told, chain.places, strict=True) if told.reply}


def _check(transcript: Transcript, told: Told, following: list[Message]) -> None:
    """Warn of a reply, or of its calls, that the next request does not repeat: the conversation does not show them."""
    where = told.exchange.index
    if not any(message.role == "assistant" for message in following):
        warn(transcript, "unread_exchange", where, "the conversation goes on without this reply")
        return
    made = Counter(_call_likeness(call) for call in told.reply[0].tool_calls)
    shown = Counter(_call_likeness(call) for message in following for call in message.tool_calls)
    for (name, _), _ in (made - shown).items():
        warn(transcript, "lost_call", where, f"the conversation goes on without a call of `{name}` in this reply")


def _enrich(message: Message, reply: Message) -> None:
    message.src = reply.src
    message.id = reply.id
    message.model = reply.model
    message.stop = reply.stop
    message.usage = reply.usage
    message.reasoning = message.reasoning or reply.reasoning
    message.at_ms = reply.at_ms


def _mark_not_run(refused: Message, messages: list[Message]) -> None:
    """Mark the results of a reply that the provider refused: the client made them up, and no call ran."""
    ids = {call.id for call in refused.tool_calls}
    for message in messages:
        if message.tool_result is not None and message.tool_result.call_id in ids:
            message.tool_result.ran = False


def _note(transcript: Transcript, told: Told) -> None:
    """Note what is no message: the tools that were offered, an error instead of a reply, what could not be read."""
    where = told.exchange.index
    if told.tools:
        transcript.events.append(SideEvent("tools", {"names": told.tools}, src=where))
    transcript.events += told.events
    for text in told.exchange.torn:
        warn(transcript, "lost_call", where, text)
    for code, text in told.faults:
        warn(transcript, code, where, text)
    if told.error is None:
        return
    data: dict[str, object] = {
        "code": str(told.error.get("code") or told.error.get("type") or ""),
        "message": str(told.error.get("message") or "")[:500],
        "status": told.exchange.status or 0,
    }
    failed = told.error.get("failed_generation")
    if isinstance(failed, str) and failed:
        data["failed_generation"] = failed[:2000]
    transcript.events.append(SideEvent("api_error", data, src=where))
