"""The items of OpenAI's Responses API, put together to messages: what one reply says and calls is one message.

Source: OpenAI API reference, Responses; the items of the Agents SDK are the same.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import message_of, refusal_of
from rulebook.evidence.formats.response_calls import call_in, embedded_result, is_call, result_in
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.values import joined, mapping, sequence, word
from rulebook.evidence.transcript import Message, SideEvent, ToolCall, ToolResult

_ROLES = frozenset(("system", "developer", "user", "assistant"))
_MIGHT_CALL = ("call_id", "arguments", "action", "name", "input")
_COMPACTIONS = ("compaction", "compaction_summary", "context_compaction")


class Items(Struct):
    """Messages while they are put together.

    `faults` holds warnings with their code and place, `stored` the items that a reference may name by their id. The
    results of tools that the provider ran itself wait until the reply that called them is whole.
    """

    stored: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    events: list[SideEvent] = field(default_factory=list)
    faults: list[tuple[str, int | None, str]] = field(default_factory=list)
    refusal: str | None = None
    _reply: Message | None = None
    _texts: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _results: list[Message] = field(default_factory=list)
    _asked_for: set[str] = field(default_factory=set)

    def take(self, value: object, where: int | None) -> None:
        """Take one item that stands at `where`."""
        item = mapping(value)
        kind = word(item.get("type"))
        if kind == "item_reference" or (kind is None and "id" in item and "role" not in item):
            item = self.stored.get(str(item.get("id")), {})
            kind = word(item.get("type")) or "item_reference"
        if kind == "message" or (kind is None and word(item.get("role")) in _ROLES):
            self._message(item, where)
        elif kind == "reasoning":
            self._open(where)
            self._thoughts += _thoughts(item)
        elif kind is not None and is_call(kind):
            self._call(kind, item, where)
        elif kind == "mcp_approval_response":
            self._approval(item, where)
        elif kind is not None and kind.endswith("_output"):
            self._result(kind, item, where)
        else:
            self._other(kind, item, where)

    def whole(self) -> list[Message]:
        """All messages, the last reply closed."""
        self._close()
        return self.messages

    def _open(self, where: int | None) -> None:
        if self._reply is None:
            self._reply = Message(0, "assistant", src=where)
            self.messages.append(self._reply)

    def _close(self) -> None:
        if self._reply is not None:
            self._reply.text = joined(self._texts)
            self._reply.reasoning = joined(self._thoughts) or None
            self._reply.tool_calls = tuple(self._calls)
        self.messages += self._results
        self._reply, self._texts, self._thoughts, self._calls, self._results = None, [], [], [], []

    def _message(self, item: Mapping[str, object], where: int | None) -> None:
        message = message_of(item, where)
        if message is None or message.role == "tool" or "tool_calls" in item or shows_call(item.get("content")):
            self.faults.append(("lost_call", where, "a message that is none of the Responses API"))
            return
        self.refusal = refusal_of(item) if message.role == "assistant" else None
        if message.role != "assistant":
            self._close()
            self.messages.append(message)
            return
        self._open(where)
        if message.text:
            self._texts.append(message.text)

    def _call(self, kind: str, item: Mapping[str, object], where: int | None) -> None:
        approved = word(item.get("approval_request_id"))
        result = embedded_result(kind, item)
        if approved is None or approved not in self._asked_for:
            call = call_in(kind, item)
            self._open(where)
            self._calls.append(call)
            approved = call.id
            if kind == "mcp_approval_request":
                self._asked_for.add(call.id)
        elif result is not None:
            self._close()
        if result is not None:
            result.call_id = approved
            self._results.append(Message(0, "tool", result.text, tool_result=result, src=where))

    def _approval(self, item: Mapping[str, object], where: int | None) -> None:
        """A person's answer to an approval request: no is the call's result, yes is told by the call itself."""
        self._close()
        request, reason = word(item.get("approval_request_id")), word(item.get("reason")) or ""
        self.events.append(
            SideEvent("approval", {"id": request or "", "approved": item.get("approve") is True}, src=where)
        )
        if item.get("approve") is False:
            refused = ToolResult(request, reason, ran=False)
            self.messages.append(Message(0, "tool", reason, tool_result=refused, src=where))

    def _result(self, kind: str, item: Mapping[str, object], where: int | None) -> None:
        result = result_in(kind, item)
        message = Message(0, "tool", result.text, tool_result=result, src=where)
        if kind in ("program_output", "tool_search_output"):
            self._results.append(message)
            return
        self._close()
        self.messages.append(message)

    def _other(self, kind: str | None, item: Mapping[str, object], where: int | None) -> None:
        if kind == "mcp_list_tools":
            names = [mapping(tool).get("name") for tool in sequence(item.get("tools"))]
            known = [name for name in names if isinstance(name, str)]
            self.events.append(SideEvent("tools", {"names": known}, src=where))
        elif kind in _COMPACTIONS:
            self.events.append(SideEvent("compaction", {}, src=where))
            self.faults.append(("unread_exchange", where, "what came before a compaction is not in the file"))
        elif kind == "item_reference":
            self.faults.append(
                ("unread_exchange", where, "an item that stands elsewhere is named, and not in the file")
            )
        else:
            lost = not item or any(name in item for name in _MIGHT_CALL)
            what = f"an item of the unknown type `{kind}`" if kind else "an item without a type"
            self.faults.append(("lost_call" if lost else "unknown_record", where, what))


def taken(values: list[object], src: int | None, stored: Mapping[str, Mapping[str, object]]) -> Items:
    """Items that all stand at one place, such as those of one recorded reply."""
    items = Items(stored=stored)
    for value in values:
        items.take(value, src)
    items.whole()
    return items


def _thoughts(item: Mapping[str, object]) -> list[str]:
    """The summary of a model's reasoning, or the reasoning itself; what is encrypted is left out."""
    parts = [*sequence(item.get("summary")), *sequence(item.get("content"))]
    return [text for text in (word(mapping(part).get("text")) for part in parts) if text is not None]
