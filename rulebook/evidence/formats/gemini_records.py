"""The records of a Gemini CLI session, put together: a record may write a message anew, patch or rewind the chat."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.gemini_messages import call_key, messages_of, text_of
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import brief, iso_ms, mapping, sequence, word, written
from rulebook.evidence.transcript import End, Message, SideEvent, Thread, Transcript

_SPOKEN = ("user", "gemini")
_TOLD = ("info", "error", "warning")
_MORE = frozenset(("tools", "calls", "parts"))
_OF_REPLIES = frozenset(("toolCalls", "thoughts", "tokens", "model"))


class Entry(Struct):
    """One message as its latest record tells it; `where` is the place of its first one."""

    where: int
    record: Mapping[str, object]


class Reading(Struct):
    """What has been read so far.

    `entries` is the chat by id, in order; `rewound` holds what was taken back, with the line that did it.
    """

    transcript: Transcript
    entries: dict[str, Entry] = field(default_factory=dict)
    rewound: list[tuple[int, list[Entry]]] = field(default_factory=list)
    understood: bool = False
    _called: set[str] = field(default_factory=set)
    _said: set[str] = field(default_factory=set)

    def take(self, where: int, record: Mapping[str, object]) -> None:
        """Take the record that stands at line `where`."""
        if "$rewindTo" in record:
            self._rewind(where, word(record.get("$rewindTo")))
        elif isinstance(record.get("$set"), dict):
            self._patch(where, mapping(record["$set"]))
        elif word(record.get("id")) is not None:
            self.add(where, record, str(record["id"]))
        elif "sessionId" in record and "type" not in record:
            self.take_header(record)
            self._note("session", where, record)
            self._replace(where, record)
        else:
            warn(self.transcript, "lost_record", where, "a record without an `id` may be a call or a reply")

    def take_header(self, record: Mapping[str, object]) -> None:
        """Take what the first record, or the object around all messages, says of the session."""
        transcript = self.transcript
        transcript.session_id = word(record.get("sessionId")) or transcript.session_id
        transcript.agent_name = word(record.get("kind")) or transcript.agent_name

    def add(self, where: int, record: Mapping[str, object], key: str) -> None:
        """Add a message, or write it anew. The calls that a newer record leaves out were made all the same."""
        self.understood = self.understood or word(record.get("type")) in _SPOKEN
        self._called.update(call_key(call) for call in sequence(record.get("toolCalls")))
        self._said.add(_words(record))
        known = self.entries.get(key)
        if known is None:
            self.entries[key] = Entry(where, record)
            return
        known.record = _merged(known.record, record)
        self._note("message_update", where, record)

    def build(self) -> None:
        """Fill the transcript: the chat, and what was taken back as threads of their own."""
        for entry in self.entries.values():
            self._tell(entry, self.transcript.messages)
        for where, entries in self.rewound:
            thread = Thread(f"rewound-{where}", [], name="rewound")
            for entry in entries:
                self._tell(entry, thread.messages)
            if thread.messages:
                self.transcript.threads.append(thread)

    def replies(self) -> list[Mapping[str, object]]:
        """Every reply's record, also of those that were taken back."""
        entries = [*self.entries.values(), *(entry for _, entries in self.rewound for entry in entries)]
        return [entry.record for entry in entries if entry.record.get("type") == "gemini"]

    def end(self) -> End:
        """An error that nothing followed; a chat does not say how it ended otherwise."""
        last = next(reversed(self.entries.values()), None)
        if last is not None and last.record.get("type") == "error":
            return End("errored", text_of(last.record.get("content"))[:500], "error")
        return End("unknown", "a chat does not say how it ended")

    def _tell(self, entry: Entry, messages: list[Message]) -> None:
        """One entry as messages or as an event; what may have held a call, and cannot be read, as a warning."""
        record, kind = entry.record, word(entry.record.get("type"))
        calls = sequence(record.get("toolCalls"))
        if kind in _SPOKEN:
            messages += messages_of(record, entry.where)
            if shows_call(record.get("content")):
                warn(self.transcript, "lost_call", entry.where, "a part of a message that is a call")
        elif kind is not None and not _OF_REPLIES & set(record) and (kind in _TOLD or not _MORE & set(record)):
            data = {**record, "text": text_of(record.get("content"))}
            self._note("api_error" if kind == "error" else kind, entry.where, data)
        else:
            warn(self.transcript, "lost_record", entry.where, f"a message of the type `{kind}` may be a reply")
        if kind == "user" and calls:
            warn(self.transcript, "lost_call", entry.where, "a user's message with calls of tools")
        unread = record.get("toolCalls", []) != calls
        if unread or any(word(mapping(call).get("name")) is None for call in calls):
            warn(self.transcript, "lost_call", entry.where, "a call that does not name its tool")
        if any("agentId" in mapping(call) for call in calls):
            text = "a sub-agent was started, whose session is a file of its own"
            warn(self.transcript, "subagent_missing", entry.where, text)

    def _rewind(self, where: int, target: str | None) -> None:
        """Everything from the message of that id on is taken back; an id that is unknown takes back all."""
        last = target if target in self.entries else None
        if last is None:
            text = f"the chat was taken back to the message `{target}`, which is not in the file"
            warn(self.transcript, "split_conversation", where, text)
        taken: list[Entry] = []
        while self.entries:
            key, entry = self.entries.popitem()
            taken.append(entry)
            if key == last:
                break
        self.rewound.append((where, taken[::-1]))
        self._note("rewind", where, {"to": target})

    def _patch(self, where: int, patch: Mapping[str, object]) -> None:
        self.take_header(patch)
        self._replace(where, patch)
        self._note("metadata", where, patch)

    def _replace(self, where: int, patch: Mapping[str, object]) -> None:
        """A new history for the model: what it leaves out still happened, what is new in it is added."""
        given = [mapping(message) for message in sequence(patch.get("messages"))]
        kept = len({message_id for message in given if (message_id := word(message.get("id"))) in self.entries})
        if given and kept < len(self.entries):
            self._note("history_replaced", where, {"messages": len(given)})
        for nth, message in enumerate(given):
            if not self._is_copy(message):
                self.add(where, message, word(message.get("id")) or f"{where}:{nth}")

    def _is_copy(self, message: Mapping[str, object]) -> bool:
        """Whether a message that bears a new id says what is there already: the same calls, or the same words."""
        if word(message.get("id")) in self.entries:
            return False
        calls = {call_key(call) for call in sequence(message.get("toolCalls"))}
        return calls <= self._called if calls else _words(message) in self._said

    def _note(self, kind: str, where: int, data: Mapping[str, object]) -> None:
        told = brief(data, frozenset(("content",)))
        self.transcript.events.append(SideEvent(kind, told, iso_ms(data.get("timestamp")), where))


def _words(record: Mapping[str, object]) -> str:
    return written([record.get("type"), record.get("timestamp"), record.get("content")])


def _merged(older: Mapping[str, object], newer: Mapping[str, object]) -> Mapping[str, object]:
    calls = sequence(newer.get("toolCalls"))
    known = {call_key(call) for call in calls}
    dropped = [call for call in sequence(older.get("toolCalls")) if call_key(call) not in known]
    return {**newer, "toolCalls": [*dropped, *calls]} if dropped else newer
