"""Claude Code: session JSONL, and stream-json as lines or saved as one JSON list.

Source: the session files of versions 1.0 to 2.1.
"""

import re
from collections.abc import Mapping
from pathlib import PurePath

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.claude_blocks import usage_of
from rulebook.evidence.formats.claude_end import end_of
from rulebook.evidence.formats.claude_records import Reading
from rulebook.evidence.formats.claude_threads import link
from rulebook.evidence.session_files.keeping import Keeping
from rulebook.evidence.session_files.pairing import all_messages, finish, summed, warn, warn_of_lost_calls
from rulebook.evidence.session_files.records import UNREADABLE
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, decoded, mapping, sequence, word
from rulebook.evidence.transcript import Cost, Message, Transcript, Usage

_AGENT_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
_SUBAGENT_TOOLS = frozenset(("Task", "Agent"))
_OWN_TYPES = frozenset(("user", "assistant", "system", "summary", "file-history-snapshot", "permission-mode", "mode"))


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if any("payload" in record for record in records):
        return 0
    if any(_is_own(record) for record in records):
        return 2
    return 1 if any(_is_message(record) for record in records) else 0


def _is_own(record: Mapping[str, object]) -> bool:
    named = "sessionId" in record or "session_id" in record
    return (
        named
        and word(record.get("type")) in _OWN_TYPES
        and ("uuid" in record or "subtype" in record or _is_message(record))
    )


def _is_message(record: Mapping[str, object]) -> bool:
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict)


def _read(file: SessionFile) -> Transcript:
    one_list = file.sample.kind == "list"
    transcript = file.transcript("claude_code", lines=not one_list)
    reading = Reading(transcript, Keeping(file.wants))
    if one_list:
        for index, value in enumerate(sequence(file.json(FORMAT.title))):
            reading.take(index, value)
    else:
        _take_lines(file, reading)
    transcript.source.sha256 = file.sha256
    if not reading.understood:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no `user` or `assistant` record")
    _take_subagents(file, reading)
    reading.finish()
    reading.threads.split_branches()
    transcript.messages = reading.threads.main.messages
    transcript.threads = reading.threads.finished()
    _mark_denied(reading)
    warn_of_lost_calls(transcript)
    finish(transcript)
    link(transcript.messages, transcript.threads, reading.agents)
    _warn_of_unseen_agents(transcript, reading.agents)
    transcript.end = end_of(transcript.messages, reading.closing)
    transcript.usage = _usage(reading)
    transcript.cost = _cost(reading)
    reading.keeping.tell(transcript)
    return transcript


def _take_lines(file: SessionFile, reading: Reading) -> None:
    with file.lines() as lines:
        for number, line in lines:
            if line.isspace():
                continue
            try:
                value = decoded(line)
            except ValueError as error:
                torn = not line.endswith(b"\n")
                text = "the last line is cut off" if torn else f"a line is not valid JSON ({error})"
                warn(reading.transcript, "truncated" if torn else "bad_line", number, text)
                warn(reading.transcript, "lost_record", number, UNREADABLE)
                continue
            reading.take(number, value)


def _take_subagents(file: SessionFile, reading: Reading) -> None:
    """Read the files of the sub-agents that the session names, where they lie beside it."""
    path = PurePath(file.path)
    done: set[str] = set()
    while waiting := [agent for agent, _ in reading.agents if agent not in done]:
        agent = waiting[0]
        done.add(agent)
        if agent in reading.threads.others:
            continue
        places = (f"{path.stem}/subagents/agent-{agent}.jsonl", f"agent-{agent}.jsonl")
        found = next((place for place in places if _AGENT_ID.fullmatch(agent) and _is_file(file, place)), None)
        if found is None:
            warn(
                reading.transcript,
                "subagent_missing",
                None,
                f"the sub-agent `{agent}` has no file beside the session",
            )
            continue
        with file.lines_beside(str(path.parent / found)) as lines:
            for line in lines:
                try:
                    reading.take(None, decoded(line), agent)
                except ValueError:
                    text = f"a line of `{found}` is not valid JSON"
                    warn(reading.transcript, "bad_line", None, text)
                    warn(reading.transcript, "lost_record", None, f"{text}: it may hold a call or a reply")


def _is_file(file: SessionFile, place: str) -> bool:
    facts = file.files.within(str(PurePath(file.path).parent), place)
    return facts is not None and facts.kind == "file"


def _mark_denied(reading: Reading) -> None:
    """The calls that a stream's closing record lists as denied did not run."""
    told = [mapping(denial) for result in reading.results for denial in sequence(result.get("permission_denials"))]
    denied = {word(denial.get("tool_use_id")) for denial in told}
    for message in all_messages(reading.transcript):
        result = message.tool_result
        if result is not None and result.call_id is not None and result.call_id in denied:
            result.ran = False


def _warn_of_unseen_agents(transcript: Transcript, agents: list[tuple[str, Message]]) -> None:
    """Say that a sub-agent was started whose conversation is nowhere, though no result names it."""
    seen = {thread.parent_call_id for thread in transcript.threads}
    seen.update(m.tool_result.call_id for _, m in agents if m.tool_result is not None)
    results = [m.tool_result for m in transcript.messages if m.tool_result is not None]
    failed = {result.call_id for result in results if result.is_error}
    for message in transcript.messages:
        for call in message.tool_calls:
            if call.name in _SUBAGENT_TOOLS and call.id not in seen | failed:
                text = f"the sub-agent that the call `{call.id}` started is not in the file"
                warn(transcript, "subagent_missing", message.src, text)


def _usage(reading: Reading) -> Usage | None:
    """What the closing record of a stream reports, else the sum over API replies, each counted once."""
    transcript = reading.transcript
    if len(reading.results) == 1 and (reported := usage_of(reading.results[0])) is not None:
        _compare(transcript, reported, summed(reading.spent.values()))
        reported.source, reported.requests = "reported", len(reading.spent) or None
        return reported
    usage = summed(reading.spent.values())
    replies = [m for m in all_messages(transcript) if m.role == "assistant" and not m.injected]
    if usage is None:
        return None
    silent = [reply for reply in replies if reply.usage is None]
    if silent:
        warn(
            transcript,
            "usage_partial",
            silent[0].src,
            f"{len(silent)} of {len(replies)} replies state no usage",
        )
    if usage.total == 0:
        warn(transcript, "usage_zero", None, f"{len(replies)} replies with a usage of 0")
        return Usage(requests=usage.requests)
    return usage


def _compare(transcript: Transcript, reported: Usage, spent: Usage | None) -> None:
    """Say that a closing record reports less than its session's replies do together."""
    pairs = () if spent is None else ((reported.input, spent.input), (reported.output, spent.output))
    if any(told is not None and own is not None and told < own for told, own in pairs):
        text = "the closing record reports fewer tokens than the replies do"
        warn(transcript, "usage_differs", None, text)


def _cost(reading: Reading) -> Cost:
    """The closing record's cost.

    Several closing records may each hold their own or a running one, so none counts.
    """
    if len(reading.results) != 1:
        return Cost()
    value = amount(reading.results[0].get("total_cost_usd"))
    return Cost() if value is None else Cost(value, "USD")


FORMAT = Format(
    name="claude_code",
    title="a Claude Code session",
    expects="lines of JSON, or one JSON list, of `type: user` and `type: assistant` records with a `message`",
    kinds=frozenset(("lines", "list", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
)
