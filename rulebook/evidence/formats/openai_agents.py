"""OpenAI Agents SDK: the snapshot of a run (RunState), which the SDK writes when a run is interrupted or stored.

Source: OpenAI Agents SDK for Python, `run_state.py`.
"""

from collections.abc import Mapping

from rulebook.evidence.formats.response_calls import is_call
from rulebook.evidence.formats.response_items import Items
from rulebook.evidence.formats.responses_exchange import items_of_input, usage_of
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import count, mapping, sequence, word
from rulebook.evidence.transcript import End, SideEvent, Transcript, Usage

_OWN_KEYS = frozenset(("generated_items", "original_input"))


def _fits(sample: Sample) -> Fit:
    keys = sample.keys
    if "$schemaVersion" in keys and ("current_turn" in keys or "current_agent" in keys):
        return 2
    return 2 if keys.keys() >= _OWN_KEYS else 0


def _read(file: SessionFile) -> Transcript:
    root = mapping(file.json(FORMAT.title))
    transcript = file.transcript("openai_agents")
    source = transcript.source
    source.sha256, source.producer = file.sha256, "OpenAI Agents SDK"
    source.format_version = word(root.get("$schemaVersion"))
    _take_items(transcript, root)
    _warn_of_elsewhere(transcript, root)
    _note_approvals(transcript, root)
    finish(transcript)
    warn_of_lost_calls(transcript)
    transcript.session_id = word(root.get("conversation_id"))
    transcript.usage = _usage(transcript, root)
    waits = mapping(root.get("current_step")).get("type") == "next_step_interruption"
    transcript.end = End(
        "unknown", "the run waits for an approval" if waits else "a snapshot does not say how a run ended"
    )
    return transcript


def _take_items(transcript: Transcript, root: Mapping[str, object]) -> None:
    """The input and then the items of the run. A filter of a handoff shortens one of the two lists of items."""
    items = Items()
    given = items_of_input(root.get("original_input"))
    for where, value in enumerate(given):
        items.take(value, where)
    run = max((sequence(root.get(name)) for name in ("generated_items", "session_items")), key=len)
    known: set[str] = set()
    for where, value in enumerate(run, len(given)):
        item = mapping(value)
        raw = mapping(item.get("raw_item"))
        agent = word(mapping(item.get("agent")).get("name")) or word(mapping(item.get("source_agent")).get("name"))
        transcript.agent_name = transcript.agent_name or agent
        if item.get("type") == "tool_approval_item" and _call_id(raw) in known:
            continue
        known.add(_call_id(raw))
        if raw:
            items.take(raw, where)
        else:
            items.faults.append(("lost_call", where, "an item of the run without its `raw_item`"))
    transcript.messages, transcript.events = items.whole(), items.events
    transcript.agent_name = transcript.agent_name or word(mapping(root.get("current_agent")).get("name"))
    for code, place, text in items.faults:
        warn(transcript, code, place, text)


def _warn_of_elsewhere(transcript: Transcript, root: Mapping[str, object]) -> None:
    """Warn of what the snapshot names and its items do not hold: calls in replies, a conversation at the provider."""
    responses = [mapping(response) for response in sequence(root.get("model_responses"))]
    replies = [mapping(item) for response in responses for item in sequence(response.get("output"))]
    waiting = sequence(mapping(mapping(root.get("current_step")).get("data")).get("interruptions"))
    items = [*sequence(root.get("generated_items")), *sequence(root.get("session_items")), *waiting]
    replies += [mapping(mapping(item).get("raw_item")) for item in items]
    shown = {call.id for message in transcript.messages for call in message.tool_calls}
    lost = {_call_id(item): item for item in replies if is_call(str(item.get("type"))) and _call_id(item) not in shown}
    for item in lost.values():
        name = word(item.get("name")) or str(item.get("type"))
        warn(
            transcript,
            "lost_call",
            None,
            f"a call of `{name[:100]}` is in the snapshot and not among the items of its run",
        )
    own = {word(response.get("response_id")) for response in responses}
    before = word(root.get("previous_response_id"))
    if word(root.get("conversation_id")) is not None or (before is not None and before not in own):
        warn(transcript, "unread_exchange", None, "the run goes on with a conversation that is not in the file")


def _note_approvals(transcript: Transcript, root: Mapping[str, object]) -> None:
    """Mark the results of calls that a person did not approve: the SDK made them up, and no tool ran."""
    approvals = mapping(mapping(root.get("context")).get("approvals"))
    names = {call.id: call.name for message in transcript.messages for call in message.tool_calls}
    answers = {name: mapping(record).get("rejected") for name, record in approvals.items()}
    for message in transcript.messages:
        result = message.tool_result
        if result is None or result.call_id is None:
            continue
        rejected = answers.get(names.get(result.call_id, ""))
        if rejected is True or result.call_id in sequence(rejected):
            result.ran = False
    for value in sequence(mapping(mapping(root.get("current_step")).get("data")).get("interruptions")):
        raw = mapping(mapping(value).get("raw_item"))
        name = word(mapping(value).get("tool_name")) or word(raw.get("name")) or ""
        transcript.events.append(SideEvent("approval_request", {"id": _call_id(raw), "name": name}))


def _usage(transcript: Transcript, root: Mapping[str, object]) -> Usage | None:
    """The run's own total. Zeros with real work are a snapshot that never counted, and so unknown."""
    given = mapping(mapping(root.get("context")).get("usage"))
    usage = usage_of(given)
    if usage is None:
        return None
    usage.source, usage.requests = "reported", count(given.get("requests"))
    if not usage.total and any(m.role in ("assistant", "tool") for m in transcript.messages):
        warn(transcript, "usage_zero", None, "the snapshot counts no tokens, and the run has items")
        return None
    return usage


def _call_id(raw: Mapping[str, object]) -> str:
    return word(raw.get("call_id")) or word(raw.get("id")) or ""


FORMAT = Format(
    name="openai_agents",
    title="a run of the OpenAI Agents SDK",
    expects="a JSON object with `$schemaVersion`, `original_input` and `generated_items`",
    kinds=frozenset(("object",)),
    carries=frozenset(("messages", "tool_calls", "results", "usage", "events")),
    fits=_fits,
    read=_read,
)
