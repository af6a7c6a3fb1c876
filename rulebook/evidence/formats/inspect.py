"""Inspect evaluation logs, `.json` and `.eval`: one session for each sample and epoch.

Source: inspect_ai, `log/_log.py`, `log/_condense.py` and `log/_recorders/eval.py`.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.inspect_events import read_events
from rulebook.evidence.formats.inspect_sample import Attachments, take_messages
from rulebook.evidence.formats.inspect_totals import end_of, outcome_of, take_usage
from rulebook.evidence.session_files.archive import Archive
from rulebook.evidence.session_files.names import distinct
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import decoded, mapping, sequence, word
from rulebook.evidence.transcript import Transcript

_MEMBER = re.compile(r"samples/(.+)_epoch_(\d{1,9})\.json", re.DOTALL)
_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE_BYTES = 256 * 1024 * 1024
_HEADER_BYTES = 64 * 1024 * 1024
_NEWEST = 3

Root = Mapping[str, object]


def _fits(sample: Sample) -> Fit:
    if sample.kind == "archive":
        names = sample.text.split("\n")
        return 2 if any(name in _HEADERS or name.startswith(("_journal/", "samples/")) for name in names) else 0
    return 2 if {"version", "status", "eval"} <= sample.keys.keys() else 0


class _Log(Struct):
    """A log that is open for all its sessions: its header, and what each is read from, by name."""

    header: Root
    samples: dict[str, Root] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)
    archive: Archive | None = None

    @property
    def names(self) -> list[str]:
        """The sessions, in the log's order."""
        return list(self.members or self.samples)


def _parts(file: SessionFile) -> Sequence[str]:
    log = file.once(_opened)
    names = log.names
    if not names:
        status = (word(log.header.get("status")) or "started")[:40]
        raise UnknownFormat(
            f"`{file.path}` is {FORMAT.title} without samples (its status is `{status}`): "
            "no session stands in it, and nothing can be said of one"
        )
    return names


def _opened(file: SessionFile) -> _Log:
    if file.sample.kind == "archive":
        archive = Archive(file.whole(), file.path)
        found = [(match, name) for name in archive.names if (match := _MEMBER.fullmatch(name)) is not None]
        names = distinct(f"{match[1]}-{match[2]}" for match, _ in found)
        header = next((name for name in _HEADERS if name in archive.names), None)
        read = {} if header is None else _json(file, archive.read(header, _HEADER_BYTES), header)
        return _Log(read, members=dict(zip(names, (name for _, name in found), strict=True)), archive=archive)
    root = mapping(file.json(FORMAT.title))
    samples = [sample for sample in map(mapping, sequence(root.get("samples"))) if sample]
    names = distinct(f"{sample.get('id', '')}-{sample.get('epoch', 1)}" for sample in samples)
    return _Log(root, dict(zip(names, samples, strict=True)))


def _json(file: SessionFile, data: bytes, name: str) -> Root:
    try:
        return mapping(decoded(data))
    except ValueError as error:
        why = f"its member `{name[:200]}` is not valid JSON ({error})"
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: {why}") from error


def _sample(file: SessionFile, log: _Log) -> Root:
    """The sample that is asked for, or the first one."""
    name = file.part if file.part is not None else next(iter(log.names), "")
    if log.archive is not None and name in log.members:
        member = log.members[name]
        return _json(file, log.archive.read(member, _SAMPLE_BYTES), member)
    return log.samples.get(name, {})


def _read(file: SessionFile) -> Transcript:
    log = file.once(_opened)
    header, sample = log.header, _sample(file, log)
    if not isinstance(sample.get("messages"), list):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: the sample has no `messages`")
    transcript = file.transcript("inspect")
    _take_head(transcript, header, sample, file)
    attachments = Attachments(sample, transcript)
    take_messages(transcript, sequence(sample.get("messages")), attachments)
    happened = read_events(transcript, sample, attachments)
    finish(transcript)
    happened.link(transcript)
    warn_of_lost_calls(transcript)
    if not transcript.messages:
        warn(transcript, "no_messages", None, "the sample has no messages: it failed before it began")
    transcript.end = end_of(sample, header)
    transcript.outcome = outcome_of(sample)
    take_usage(transcript, sample, header, happened, alone=len(log.names) == 1)
    return transcript


def _take_head(transcript: Transcript, header: Root, sample: Root, file: SessionFile) -> None:
    source, task = transcript.source, mapping(header.get("eval"))
    version = header.get("version")
    source.sha256, source.producer = file.sha256, "Inspect"
    source.format_version = str(version) if isinstance(version, int) else None
    source.producer_version = word(mapping(task.get("packages")).get("inspect_ai"))
    if isinstance(version, int) and version > _NEWEST:
        warn(transcript, "unknown_version", None, f"the log is of version {version}; {_NEWEST} is the newest known")
    model = word(task.get("model"))
    transcript.models = [model] if model else []
    transcript.agent_name = word(task.get("solver")) or word(task.get("task"))
    evaluation = word(task.get("eval_id")) or word(task.get("run_id")) or "inspect"
    transcript.session_id = word(sample.get("uuid")) or f"{evaluation}-{file.part}"


FORMAT = Format(
    name="inspect",
    title="an Inspect log",
    expects="a JSON object with `version`, `status` and `eval`, or a ZIP archive with `header.json` and `samples/`",
    kinds=frozenset(("object", "archive")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
