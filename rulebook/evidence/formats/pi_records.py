"""The records of a pi session: a tree, of which the branch of the last record is the conversation."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.pi_messages import message_of, unread_parts
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import brief, iso_ms, mapping, word
from rulebook.evidence.transcript import End, EndReason, Message, SideEvent, Thread, Transcript

_STOPS: dict[str, EndReason] = {
    "stop": "finished",
    "length": "truncated_output",
    "error": "errored",
    "aborted": "canceled_by_user",
}


class Entry(Struct):
    """One message with its place in the tree: the record before it, and the last message on the way to it."""

    record_id: str
    message: Message
    given: Mapping[str, object]


class Reading(Struct):
    """What has been read so far.

    `parents` maps every record to the one before it, `starts` holds those with which a conversation can start;
    `beside` holds what spent tokens and is no reply.
    """

    transcript: Transcript
    entries: list[Entry] = field(default_factory=list)
    parents: dict[str, str | None] = field(default_factory=dict)
    starts: set[str] = field(default_factory=set)
    beside: list[Mapping[str, object]] = field(default_factory=list)
    last: str | None = None

    def take(self, where: int, record: Mapping[str, object]) -> None:
        """Take the record that stands at line `where`."""
        kind, at_ms = word(record.get("type")), iso_ms(record.get("timestamp"))
        if kind == "session":
            transcript = self.transcript
            transcript.session_id = transcript.session_id or word(record.get("id"))
            parent = word(record.get("parentSession")) or word(record.get("branchedFrom"))
            transcript.parent_session = transcript.parent_session or parent
            transcript.source.format_version = str(record.get("version", 1))[:20]
            self._note("session", where, at_ms, record)
            return
        record_id = self._place(where, record)
        if kind == "message":
            self._message(where, record_id, mapping(record.get("message")), at_ms)
        elif kind == "custom_message":
            self._message(where, record_id, {"role": "custom", **record, "timestamp": None}, at_ms)
        elif kind is not None and "message" not in record:
            self.beside += [record] if "usage" in record else []
            self._note(kind, where, at_ms, record)
        else:
            warn(self.transcript, "lost_record", where, f"a record of the type `{kind}` may be a call or a reply")

    def build(self) -> None:
        """Fill the transcript: the last record's branch, and every message that is not on it as a thread."""
        branch = self._branch()
        beside: list[Message] = []
        for entry in self.entries:
            (self.transcript.messages if entry.record_id in branch else beside).append(entry.message)
        if beside:
            self.transcript.threads = [Thread("left", beside, name="left branches")]

    def replies(self) -> list[Mapping[str, object]]:
        """Every reply as it was given."""
        return [entry.given for entry in self.entries if entry.message.role == "assistant"]

    def end(self) -> End:
        """What the last message of the conversation states."""
        spoken = [message for message in self.transcript.messages if not message.injected]
        if not spoken or spoken[-1].role != "assistant":
            return End("unknown", "the last message is not the assistant's")
        last = spoken[-1]
        given = next(entry.given for entry in self.entries if entry.message is last)
        return End(_STOPS.get(last.stop or "", "unknown"), (word(given.get("errorMessage")) or "")[:500], last.stop)

    def _place(self, where: int, record: Mapping[str, object]) -> str:
        """Note where a record stands in the tree; version 1 has no tree, and every record follows the one before."""
        record_id = word(record.get("id")) or f"line {where}"
        if record_id in self.parents:
            record_id = f"line {where}"
        told = word(record.get("parentId"))
        if self.last is None or mapping(record.get("message")).get("role") == "user":
            self.starts.add(record_id)
        self.parents[record_id] = told if "parentId" in record else self.last
        self.last = record_id
        return record_id

    def _branch(self) -> set[str]:
        found: set[str] = set()
        at = self.last
        first = None
        while at in self.parents and at not in found:
            found.add(at)
            first, at = at, self.parents[at]
        if at is not None or first not in self.starts:
            text = f"the conversation does not begin at its beginning, but after the record `{at}`"
            warn(self.transcript, "split_conversation", None, text)
        return found

    def _message(self, where: int, record_id: str, given: Mapping[str, object], at_ms: int | None) -> None:
        message = message_of(given, where)
        if message is not None:
            message.at_ms = message.at_ms if at_ms is None else at_ms
            self.entries.append(Entry(record_id, message, given))
            self.beside += [given] if "usage" in given and message.role != "assistant" else []
            if unread_parts(given) if message.role == "assistant" else shows_call(given.get("content")):
                warn(self.transcript, "lost_call", where, "a message with a part that may be a call")
        elif given.get("role") == "bashExecution":
            self._note("bash_execution", where, at_ms, given)
        else:
            text = f"a message of the role `{given.get('role')}` may be a call or a reply"
            warn(self.transcript, "lost_record", where, text)

    def _note(self, kind: str, where: int, at_ms: int | None, data: Mapping[str, object]) -> None:
        told = brief(data, frozenset(("type", "timestamp")))
        self.transcript.events.append(SideEvent(kind, told, at_ms, where))
