"""OpenTelemetry spans of generative AI: GenAI conventions, Vercel AI SDK, OpenInference; OTLP JSON or flat spans.

A file holds one session for each conversation id, or for each trace where none is stated.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import otel_genai, otel_openinference, otel_vercel
from rulebook.evidence.formats.otel_spans import Span, Spans, is_request, is_span, read_spans
from rulebook.evidence.formats.span_conversation import fill
from rulebook.evidence.formats.span_steps import Kind, Step, Told
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import Transcript

_DIALECTS: tuple[ModuleType, ...] = (otel_vercel, otel_openinference, otel_genai)
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id")
_AGENTS = ("gen_ai.agent.name", "agent.name", "ai.telemetry.functionId", "traceloop.entity.name")


def _fits(sample: Sample) -> Fit:
    records: list[Mapping[str, object]] = [sample.keys] if sample.keys else sample.entries
    if sample.keys and "spans" in sample.keys:
        records = [*records, *map(mapping, sequence(sample.keys["spans"]))]
    return 2 if any(is_request(record) or is_span(record) for record in records) else 0


def _parts(file: SessionFile) -> Sequence[str]:
    spans, sessions = file.once(_grouped)
    names = list(sessions)
    if not names:
        raise UnknownFormat(f"`{file.path}` holds {len(spans.found)} spans, and none of them is a model call")
    return names


def _read(file: SessionFile) -> Transcript:
    spans, sessions = file.once(_grouped)
    own = sessions[file.part or next(iter(sessions))]
    transcript = file.transcript("otel", lines=spans.by_line)
    transcript.source.sha256 = file.sha256
    transcript.source.producer = next((span.scope for span in own if span.scope), None)
    transcript.session_id = file.part
    transcript.warnings += spans.troubles
    fill(transcript, _steps(transcript, own))
    transcript.agent_name = transcript.agent_name or next((span.service for span in own if span.service), None)
    _note_strays(transcript, spans, sessions)
    return transcript


def _note_strays(transcript: Transcript, spans: Spans, sessions: Mapping[str, list[Span]]) -> None:
    """The spans that belong to no session: each where the file is one session, else how many there are."""
    known = {id(span) for own in sessions.values() for span in own}
    strays = [span for span in spans.found if id(span) not in known]
    if len(sessions) == 1:
        for span in strays:
            warn(transcript, "stray_span", span.src, f"the span `{span.name[:60]}` belongs to no session of the file")
    elif strays:
        warn(transcript, "stray_span", None, f"{len(strays)} spans belong to no session of the file")


def _grouped(file: SessionFile) -> tuple[Spans, dict[str, list[Span]]]:
    spans = read_spans(file, FORMAT.title)
    return spans, _sessions(spans)


def _sessions(spans: Spans) -> dict[str, list[Span]]:
    """The spans of each session by its name: those of groups in which a model was asked."""
    groups: dict[str, list[Span]] = {}
    for span, name in zip(spans.found, _names(spans.found), strict=True):
        groups.setdefault(name, []).append(span)
    asked = {name: own for name, own in groups.items() if any(_asks(span) for span in own)}
    inner = [span for own in asked.values() for span in own if _kind(span)[0] == "model"]
    return {name: own for name, own in asked.items() if not _is_told_elsewhere(own, inner)}


def _asks(span: Span) -> bool:
    kind, dialect = _kind(span)
    if kind == "agent" and dialect is not None and dialect is not otel_openinference:
        told: Told = dialect.told(span)
        return bool(told.asked or told.replies or told.damaged)
    return kind == "model"


def _is_told_elsewhere(own: Sequence[Span], inner: Sequence[Span]) -> bool:
    """Whether these are calls of the Vercel SDK whose `doGenerate` spans lost their trace and stand in another."""
    outer = [span for span in own if _kind(span) == ("agent", otel_vercel)]
    if len(outer) != len(own):
        return False
    return all(any(_holds(span, call) for call in inner) for span in outer)


def _holds(outer: Span, call: Span) -> bool:
    about, told = outer.attributes, call.attributes
    if not str(told.get("ai.operationId")).startswith(f"{about.get('ai.operationId')}.do"):
        return False
    times = (outer.start_ms, call.start_ms, call.end_ms, outer.end_ms)
    known = [time for time in times if time is not None]
    functions = about.get("ai.telemetry.functionId"), told.get("ai.telemetry.functionId")
    return len(known) == len(times) and known == sorted(known) and functions[0] == functions[1]


def _names(spans: Sequence[Span]) -> list[str]:
    """The session that each span belongs to: its own conversation id, that of a span above it, of its trace; else the
    trace itself."""
    own = {(span.trace, span.id): span for span in reversed(spans)}
    stated: dict[str, set[str]] = {}
    for span in spans:
        given = _conversation(span)
        if given is not None:
            stated.setdefault(span.trace, set()).add(given)
    names: list[str] = []
    for span in spans:
        told = stated.get(span.trace, set())
        name = next(iter(told)) if len(told) == 1 else _inherited(span, own) if told else None
        names.append((name or span.trace or "no-trace").replace("#", "_"))
    return names


def _inherited(span: Span, own: Mapping[tuple[str, str], Span]) -> str | None:
    above: Span | None = span
    seen: set[str] = set()
    while above is not None and above.id not in seen:
        given = _conversation(above)
        if given is not None:
            return given
        seen.add(above.id)
        above = own.get((above.trace, above.parent)) if above.parent else None
    return None


def _conversation(span: Span) -> str | None:
    return next((given for key in _CONVERSATIONS if (given := word(span.attributes.get(key))) is not None), None)


def _steps(transcript: Transcript, spans: Sequence[Span]) -> list[Step]:
    steps: list[Step] = []
    seen: dict[str, Span] = {}
    for span in spans:
        if span.id in seen and _same(seen[span.id], span):
            warn(transcript, "repeated_record", span.src, f"the span `{span.id[:40]}` stands in the file twice")
            continue
        seen.setdefault(span.id, span)
        steps.append(_step(span))
    missing = {span.parent for span in spans if span.parent and span.parent not in seen}
    if missing:
        text = f"{len(missing)} spans that others stand under are not in the file"
        warn(transcript, "span_missing", None, text)
    return steps


def _same(one: Span, other: Span) -> bool:
    return one.trace == other.trace and one.attributes == other.attributes and one.events == other.events


def _step(span: Span) -> Step:
    kind, dialect = _kind(span)
    step = Step(
        span.id,
        span.parent,
        span.name,
        kind,
        span.start_ms,
        span.end_ms,
        failed=span.status == "error",
        done=span.status == "ok",
        trouble=span.trouble,
        agent=next((name for key in _AGENTS if (name := word(span.attributes.get(key))) is not None), None),
        whole=dialect is otel_vercel,
        src=span.src,
    )
    if dialect is None:
        return step
    if kind == "model":
        step.told = _told(span, dialect)
    elif kind == "agent" and _asks(span):
        step.told = dialect.told(span)
    elif kind == "tool":
        step.ran = dialect.ran(span)
    return step


def _told(span: Span, dialect: ModuleType) -> Told:
    """What a model call says, and what it leaves out in other words that it is written in too."""
    told: Told = dialect.told(span)
    for other in _DIALECTS:
        if other is dialect or told.damaged:
            continue
        more: Told = other.told(span)
        told.asked = more.asked if told.asked is None else told.asked
        told.replies = more.replies if told.replies is None else told.replies
        told.damaged += more.damaged
        told.usage, told.stop = told.usage or more.usage, told.stop or more.stop
        told.model, told.reply_id = told.model or more.model, told.reply_id or more.reply_id
        told.tools, told.cost = told.tools or more.tools, more.cost if told.cost is None else told.cost
    return told


def _kind(span: Span) -> tuple[Kind, ModuleType | None]:
    for dialect in _DIALECTS:
        kind: Kind | None = dialect.kind(span)
        if kind is not None:
            return kind, dialect
    return "other", None


FORMAT = Format(
    name="otel",
    title="a trace of OpenTelemetry spans",
    expects="OTLP JSON (`resourceSpans`), or spans with an id, a trace id and `attributes`, as a list or one a line",
    kinds=frozenset(("object", "list", "lines")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
