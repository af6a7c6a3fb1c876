"""Harbor trajectories (ATIF v1.0 to v1.8), with the files beside them that belong to the same run.

Source: Harbor, `harbor/models/trajectories`.
"""

import re
from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.atif_files import Family
from rulebook.evidence.formats.atif_steps import Reference, Step, step_of
from rulebook.evidence.formats.atif_totals import spend
from rulebook.evidence.formats.harbor_result import take_result
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import Message, SideEvent, Thread, Transcript

_VERSION = re.compile(r"ATIF-v1\.[0-9]{1,3}")
_MOST_THREADS = 1000


def _fits(sample: Sample) -> Fit:
    return 2 if str(sample.keys.get("schema_version", "")).startswith("ATIF") else 0


def _read(file: SessionFile) -> Transcript:
    root = mapping(file.json(FORMAT.title))
    version = word(root.get("schema_version"))
    if version is None or not _VERSION.fullmatch(version):
        raise UnknownFormat(
            f"`{file.path}` cannot be read as {FORMAT.title}: its `schema_version` is none of ATIF-v1.0 to ATIF-v1.8"
        )
    if not sequence(root.get("steps")):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no `steps`")
    transcript = file.transcript("atif")
    _take_head(transcript, root, version)
    transcript.source.sha256 = file.sha256
    family = Family(file, transcript)
    segments = family.chain(root)
    for nth, segment in enumerate(segments):
        _take_steps(transcript, segment, transcript.messages, None, here=nth == 0, family=family)
    starters = _take_subagents(transcript, family)
    finish(transcript)
    warn_of_lost_calls(transcript)
    for thread, started in starters:
        thread.parent_call_id = _call_of(started)
    spend(transcript, segments)
    take_result(file, transcript)
    return transcript


def _take_head(transcript: Transcript, root: Mapping[str, object], version: str) -> None:
    agent, source = mapping(root.get("agent")), transcript.source
    source.format_version = version
    source.producer, source.producer_version = word(agent.get("name")), word(agent.get("version"))
    transcript.agent_name = source.producer
    transcript.session_id = word(root.get("session_id")) or word(root.get("trajectory_id"))
    model = word(agent.get("model_name"))
    transcript.models = [model] if model else []
    tools = [mapping(mapping(tool).get("function")).get("name") for tool in sequence(agent.get("tool_definitions"))]
    known = [name for name in tools if isinstance(name, str)]
    if known:
        transcript.events.append(SideEvent("tools", {"names": known}))


def _take_steps(
    transcript: Transcript,
    root: Mapping[str, object],
    messages: list[Message],
    thread: str | None,
    *,
    here: bool,
    family: Family,
) -> None:
    """Append the messages of a trajectory's steps; `here`: they stand in the file itself, where `src` can point."""
    agent = mapping(root.get("agent"))
    faults: dict[tuple[str, str], list[int | None]] = {}
    for index, value in enumerate(sequence(root.get("steps"))):
        step: Step = step_of(mapping(value), agent, index, src=index if here else None)
        for fault in step.faults:
            faults.setdefault(fault, []).append(step.src)
        messages.extend(step.messages)
        family.waiting.extend((reference, root) for reference in step.references)
    for (code, text), places in faults.items():
        told = f"the sub-agent `{thread}`: {text}" if thread else text
        warn(transcript, code, places[0], told if len(places) == 1 else f"{told} ({len(places)} times)")


def _take_subagents(transcript: Transcript, family: Family) -> list[tuple[Thread, Message | None]]:
    """A thread for each sub-agent whose trajectory is held or lies beside the file, and the result that names it."""
    found: list[tuple[Thread, Message | None]] = []
    while (following := family.next_subagent()) is not None:
        reference, root = following
        if len(found) == _MOST_THREADS:
            text = f"more than {_MOST_THREADS} sub-agents: the rest was not read"
            warn(transcript, "subagent_missing", None, text)
            break
        thread = Thread(_thread_id(reference, found), [], name=_name(reference, root))
        for segment in family.chain(root):
            _take_steps(transcript, segment, thread.messages, thread.id, here=False, family=family)
        transcript.threads.append(thread)
        found.append((thread, reference.message))
    return found


def _thread_id(reference: Reference, found: list[tuple[Thread, Message | None]]) -> str:
    taken = {thread.id for thread, _ in found}
    given = reference.trajectory_id or reference.session_id or reference.path or "sub-agent"
    name, nth = given, 1
    while name in taken:
        nth += 1
        name = f"{given}~{nth}"
    return name


def _name(reference: Reference, root: Mapping[str, object]) -> str | None:
    return reference.summary or word(mapping(root.get("agent")).get("name"))


def _call_of(message: Message | None) -> str | None:
    result = None if message is None else message.tool_result
    if result is None:
        return None
    return result.call_id or next(iter(result.answers or ()), None)


FORMAT = Format(
    name="atif",
    title="a Harbor (ATIF) trajectory",
    expects="a JSON object with `schema_version: ATIF-v1.…` and `steps`",
    kinds=frozenset(("object",)),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
)
