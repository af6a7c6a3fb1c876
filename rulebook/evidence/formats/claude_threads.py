"""Which lines of a Claude Code session belong to the main conversation, and which to another."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.session_files.values import word
from rulebook.evidence.transcript import Message, Thread


class Conversation(Struct):
    """One thread while it is read.

    `uuids` names the record that each message came from, `replies` the assistant message of each API reply,
    which grows line by line.
    """

    messages: list[Message] = field(default_factory=list)
    uuids: list[str | None] = field(default_factory=list)
    replies: dict[str, Message] = field(default_factory=dict)

    def add(self, message: Message, uuid: str | None) -> None:
        """Append a message."""
        self.messages.append(message)
        self.uuids.append(uuid)


class Threads(Struct):
    """Every thread of the session, and the tree of all records by their `uuid` and `parentUuid`."""

    main: Conversation = field(default_factory=Conversation)
    others: dict[str, Conversation] = field(default_factory=dict)
    _parents: dict[str, str | None] = field(default_factory=dict)
    _repeated: set[str] = field(default_factory=set)
    _thread_of: dict[str, str] = field(default_factory=dict)
    _latest: str | None = None

    def place(self, record: Mapping[str, object], where: int | None, agent: str | None) -> str | None:
        """Note where a record stands and say which thread it belongs to: None is the main one.

        `agent` is the sub-agent whose own file the record was read from.
        """
        uuid, parent = word(record.get("uuid")), word(record.get("parentUuid"))
        if parent is not None and parent == self._latest:
            parent = self._latest  # one text for both: of a million records that is a hundred megabytes
        if uuid is not None:
            self._latest = uuid
            if uuid in self._parents:
                self._repeated.add(uuid)
            self._parents[uuid] = parent
        thread = agent or word(record.get("parent_tool_use_id"))
        if thread is None and record.get("isSidechain") is True:
            thread = word(record.get("agentId")) or self._thread_of.get(parent or "") or uuid or f"sidechain-{where}"
        if uuid is not None and thread is not None:
            self._thread_of[uuid] = thread
        return thread

    def conversation(self, thread: str | None) -> Conversation:
        """The conversation of a thread, made when it is first asked for."""
        return self.main if thread is None else self.others.setdefault(thread, Conversation())

    def split_branches(self) -> None:
        """Move what a person took back by editing an earlier prompt out of the main thread.

        Two prompts that answer the same record: only the last one's branch was gone on with. Tool results
        share a parent without any branch, so only prompts count; and a file that uses a `uuid` twice has no
        tree to trust.
        """
        children: dict[str, list[str]] = defaultdict(list)
        for uuid, parent in self._parents.items():
            if parent is not None:
                children[parent].append(uuid)
        for prompts in self._rival_prompts().values():
            for prompt in prompts[:-1]:
                branch = _descendants(prompt, children)
                if branch.isdisjoint(prompts[prompts.index(prompt) + 1 :]):
                    self._move(prompt, branch)

    def finished(self) -> list[Thread]:
        """The other threads that hold messages, in order of appearance."""
        return [Thread(name, talk.messages) for name, talk in self.others.items() if talk.messages]

    def _rival_prompts(self) -> dict[str, list[str]]:
        uses = Counter(self.main.uuids)
        rivals: dict[str, list[str]] = defaultdict(list)
        for message, uuid in zip(self.main.messages, self.main.uuids, strict=True):
            if uuid is None or message.role != "user" or message.injected or uses[uuid] > 1 or uuid in self._repeated:
                continue
            parent = self._parents.get(uuid)
            if parent in self._parents and parent not in self._repeated and parent is not None:
                rivals[parent].append(uuid)
        return rivals

    def _move(self, prompt: str, branch: set[str]) -> None:
        taken = Conversation()
        kept = Conversation()
        for message, uuid in zip(self.main.messages, self.main.uuids, strict=True):
            (taken if uuid in branch else kept).add(message, uuid)
        self.others[prompt] = taken
        self.main.messages, self.main.uuids = kept.messages, kept.uuids


def link(main: list[Message], threads: list[Thread], agents: list[tuple[str, Message]]) -> None:
    """Say of each sub-agent which call started it.

    By the agent's id in the call's result, by the call's own id, or by the prompt that it was given.
    """
    by_agent = {agent: result.tool_result.call_id for agent, result in agents if result.tool_result is not None}
    calls = {call.id: call for message in main for call in message.tool_calls}
    for thread in threads:
        thread.parent_call_id = by_agent.get(thread.id) or (thread.id if thread.id in calls else None)
    claimed = {thread.parent_call_id for thread in threads}
    by_prompt: dict[str, deque[str]] = defaultdict(deque)
    for call in calls.values():
        prompt = word((call.args or {}).get("prompt"))
        if prompt is not None and call.id not in claimed:
            by_prompt[prompt].append(call.id)
    for thread in threads:
        first = thread.messages[0]
        if thread.parent_call_id is None and first.role == "user" and by_prompt.get(first.text):
            thread.parent_call_id = by_prompt[first.text].popleft()
        args = calls[thread.parent_call_id].args if thread.parent_call_id in calls else None
        thread.name = word((args or {}).get("subagent_type")) or word((args or {}).get("description"))


def _descendants(root: str, children: Mapping[str, list[str]]) -> set[str]:
    found = {root}
    waiting = [root]
    while waiting:
        fresh = [child for child in children.get(waiting.pop(), []) if child not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return found
