"""OpenTelemetry spans out of a file: OTLP JSON, and the flat spans that exporters print, each as one neutral span.

Source: OTLP JSON encoding; the span printers of the JavaScript and Python SDKs; Phoenix's span export.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct, field

from rulebook.errors import UnknownFormat
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import amount, decoded, iso_ms, mapping, sequence, word
from rulebook.evidence.transcript import Irregularity

_REQUESTS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_DIGITS = frozenset("0123456789")

Status = Literal["unset", "ok", "error"]


class SpanEvent(Struct):
    """Something that a span notes at one moment."""

    name: str
    attributes: Mapping[str, object]


class Span(Struct):
    """One span. Its `attributes` hold a nested mapping both as it is and by dotted names.

    `src` is its line, or its place among the file's spans; `trouble` what its status or its exception says.
    """

    trace: str
    id: str
    parent: str | None
    name: str
    attributes: Mapping[str, object]
    events: list[SpanEvent] = field(default_factory=list)
    start_ms: int | None = None
    end_ms: int | None = None
    status: Status = "unset"
    trouble: str = ""
    scope: str | None = None
    service: str | None = None
    src: int | None = None


class Spans(Struct):
    """All spans of a file, in its order, and what in it is no span."""

    found: list[Span] = field(default_factory=list)
    troubles: list[Irregularity] = field(default_factory=list)
    by_line: bool = False


def read_spans(file: SessionFile, title: str) -> Spans:
    """Every span of the file. Raises OSError, and UnknownFormat when it is neither JSON nor lines of it."""
    if file.sample.kind == "lines":
        spans = Spans(by_line=True)
        with file.lines() as lines:
            for number, line in lines:
                _take_line(spans, number, line)
        return spans
    data = file.whole()
    try:
        return _of_value(decoded(data))
    except ValueError as error:
        # the first line alone may be longer than what formats are told apart by
        first = data.split(b"\n", 1)[0]
        if len(first) == len(data):
            raise UnknownFormat(f"`{file.path}` cannot be read as {title}: it is not valid JSON ({error})") from error
    spans = Spans(by_line=True)
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        _take_line(spans, number, line)
    if not spans.found:
        raise UnknownFormat(f"`{file.path}` cannot be read as {title}: it is not valid JSON")
    return spans


def is_request(record: Mapping[str, object]) -> bool:
    """Whether it is an OTLP export of spans, by its one key."""
    if "batches" in record:
        return any(set(_SCOPES) & set(mapping(batch)) for batch in sequence(record["batches"]))
    return any(key in record for key in _REQUESTS)


def is_span(record: Mapping[str, object]) -> bool:
    """Whether it looks like a flat span."""
    ids = _ids(record)
    named = "name" in record and ("attributes" in record or "startTimeUnixNano" in record or "kind" in record)
    return named and bool(ids[0] and ids[1])


def _take_line(spans: Spans, number: int, line: bytes) -> None:
    if line.isspace():
        return
    try:
        value = decoded(line)
    except ValueError as error:
        torn = not line.endswith(b"\n")
        text = "the last line is cut off" if torn else f"a line is not valid JSON ({error})"
        spans.troubles.append(Irregularity("truncated" if torn else "bad_line", number, text))
        return
    _take(spans, number, mapping(value))


def _of_value(root: object) -> Spans:
    spans = Spans()
    top = mapping(root)
    wrapped = sequence(top.get("spans")) if "spans" in top and not is_span(top) else None
    records = sequence(root) if isinstance(root, list) else wrapped if wrapped is not None else [root]
    for index, record in enumerate(records):
        _take(spans, index, mapping(record))
    if len(records) == 1 and is_request(mapping(records[0])):
        for index, span in enumerate(spans.found):
            span.src = index
    return spans


def _take(spans: Spans, where: int, record: Mapping[str, object]) -> None:
    before = len(spans.found)
    if is_request(record):
        spans.found += _of_request(record, where)
    elif is_span(record):
        spans.found.append(_span(record, where, None, word(mapping(record.get("resource")).get("service.name"))))
    if len(spans.found) == before:
        spans.troubles.append(Irregularity("unknown_record", where, "a record that holds no span"))


def _of_request(record: Mapping[str, object], where: int) -> Iterator[Span]:
    for key in _REQUESTS:
        for resource in map(mapping, sequence(record.get(key))):
            about = attributes_of(mapping(resource.get("resource")).get("attributes"))
            for scoped in (mapping(part) for name in _SCOPES for part in sequence(resource.get(name))):
                scope = mapping(scoped.get("scope")) or mapping(scoped.get("instrumentationLibrary"))
                for span in map(mapping, sequence(scoped.get("spans"))):
                    yield _span(span, where, word(scope.get("name")), word(about.get("service.name")))


def _span(record: Mapping[str, object], where: int, scope: str | None, service: str | None) -> Span:
    trace, own = _ids(record)
    events = [
        SpanEvent(word(event.get("name")) or "", attributes_of(event.get("attributes")))
        for event in map(mapping, sequence(record.get("events")))
    ]
    parent = record.get("parentSpanId", record.get("parent_id", record.get("parentId", record.get("parent_span_id"))))
    above = parent if parent else mapping(record.get("parentSpanContext")).get("spanId")
    about = mapping(record.get("instrumentationScope")) or mapping(record.get("instrumentationLibrary"))
    status, trouble = _status(record, events)
    start, end = _times(record)
    return Span(
        trace, own, _id(above), word(record.get("name")) or "", attributes_of(record.get("attributes")), events,
        start, end, status, trouble, scope or word(about.get("name")), service, where,
    )  # fmt: skip


def _ids(record: Mapping[str, object]) -> tuple[str, str]:
    context = mapping(record.get("spanContext")) or mapping(record.get("context"))
    trace = (
        record.get("traceId") or record.get("trace_id") or context.get("traceId") or context.get("trace_id")
        or record.get("context.trace_id")
    )  # fmt: skip
    own = (
        record.get("spanId") or record.get("span_id") or context.get("spanId") or context.get("span_id")
        or record.get("context.span_id") or record.get("id")
    )  # fmt: skip
    return _id(trace) or "", _id(own) or ""


def _id(value: object) -> str | None:
    text = word(value)
    return text.removeprefix("0x") or None if text else None


def _status(record: Mapping[str, object], events: list[SpanEvent]) -> tuple[Status, str]:
    given = mapping(record.get("status"))
    code = str(given.get("code", given.get("status_code", record.get("status_code", "")))).upper()
    said = given.get("message") or given.get("description") or record.get("status_message")
    raised = next((event.attributes for event in events if event.name == "exception"), {})
    thrown = ": ".join(str(raised[key]) for key in ("exception.type", "exception.message") if raised.get(key))
    failed = code in ("2", "ERROR", "STATUS_CODE_ERROR") or bool(raised)
    status: Status = "error" if failed else "ok" if code in ("1", "OK", "STATUS_CODE_OK") else "unset"
    return status, (word(said) or thrown)[:500]


def _times(record: Mapping[str, object]) -> tuple[int | None, int | None]:
    start = _moment(record.get("startTimeUnixNano", record.get("startTime", record.get("start_time"))))
    end = _moment(record.get("endTimeUnixNano", record.get("endTime", record.get("end_time"))))
    if start is None:
        start = _moment(record.get("timestamp"))  # microseconds, as the JavaScript console exporter prints them
        lasted = amount(record.get("duration"))
        end = start + round(lasted / 1000) if start is not None and isinstance(lasted, float) else end
    return start, end


def _moment(value: object) -> int | None:
    """Unix milliseconds of a text with a zone, of seconds and nanoseconds, or of one number in any usual unit."""
    if isinstance(value, list):
        seconds, nanos = (amount(part) for part in (value if len(value) == 2 else (None, None)))
        return None if seconds is None or nanos is None else round(seconds * 1000 + nanos / 1e6)
    if isinstance(value, str) and not (value and _DIGITS.issuperset(value)):
        return iso_ms(value)
    number = amount(int(value)) if isinstance(value, str) and len(value) < 20 else amount(value)
    if number is None or number == 0:
        return None
    for scale, least in ((1e-6, 1e17), (1e-3, 1e14), (1, 1e11), (1000, 0)):
        if number >= least:
            return round(number * scale)
    return None


def attributes_of(given: object) -> dict[str, object]:
    """Attributes by name: OTLP's list of keys with typed values, or a mapping, whose nested ones are also dotted."""
    if isinstance(given, list):
        pairs = [mapping(pair) for pair in given]
        return {key: any_value(pair.get("value")) for pair in pairs if (key := word(pair.get("key"))) is not None}
    found: dict[str, object] = {}
    waiting = [("", mapping(given))]
    while waiting:
        prefix, level = waiting.pop()
        for key, value in level.items():
            found[prefix + key] = value
            if isinstance(value, dict):
                waiting.append((f"{prefix}{key}.", value))
    return found


def any_value(given: object) -> object:
    """The plain value in one of OTLP's typed ones; whole numbers are text there."""
    value = mapping(given)
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in value:
            return value[key]
    if "intValue" in value:
        number = value["intValue"]
        text = number.removeprefix("-") if isinstance(number, str) else ""
        return int(str(number)) if text and len(text) < 20 and _DIGITS.issuperset(text) else number
    if "arrayValue" in value:
        return [any_value(item) for item in sequence(mapping(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        pairs = [mapping(pair) for pair in sequence(mapping(value["kvlistValue"]).get("values"))]
        return {str(pair.get("key")): any_value(pair.get("value")) for pair in pairs}
    return None
