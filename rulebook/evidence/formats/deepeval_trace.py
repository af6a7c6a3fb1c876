"""The trace of a deepeval test case: its spans in the order of time, as replies, calls and sub-agents."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import call_of, calls_of, text_of
from rulebook.evidence.formats.otel_parts import result_text
from rulebook.evidence.session_files.pairing import summed, warn
from rulebook.evidence.session_files.values import amount, brief, count, iso_ms, mapping, word, written
from rulebook.evidence.transcript import Cost, End, Message, SideEvent, Thread, ToolCall, ToolResult, Transcript, Usage

_LISTS = ("baseSpans", "agentSpans", "llmSpans", "retrieverSpans", "toolSpans")
_LONG = frozenset(("input", "output", "metricsData", "description"))

Given = Mapping[str, object]


class _Trace(Struct):
    """The trace while it is read: its spans by id, the tools that agents had, and what was spent."""

    transcript: Transcript
    spans: dict[str, Given] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    threads: dict[str, Thread] = field(default_factory=dict)
    waiting: list[ToolCall] = field(default_factory=list)
    spent: list[Usage | None] = field(default_factory=list)
    prices: list[float | None] = field(default_factory=list)


def take_trace(transcript: Transcript, given: Given) -> None:
    """Fill the transcript from a trace. A kind of span that the trace should list and does not may hide calls."""
    trace = _Trace(transcript)
    spans = _spans(trace, given)
    for span in spans:
        trace.spans.setdefault(word(span.get("uuid")) or "", span)
        named = span.get("availableTools")
        trace.tools |= {name for name in named if isinstance(name, str)} if isinstance(named, list) else set()
    if trace.tools:
        transcript.events.append(SideEvent("tools", {"names": sorted(trace.tools)}))
    for index, span in enumerate(sorted(spans, key=lambda span: iso_ms(span.get("startTime")) or 0)):
        _take(trace, index, span)
    transcript.threads = [thread for thread in trace.threads.values() if thread.messages]
    transcript.end = _end(given, spans)
    transcript.agent_name = word(given.get("name"))
    _spend(trace)


def _spans(trace: _Trace, given: Given) -> list[Given]:
    found: list[Given] = []
    for key in _LISTS:
        listed = given.get(key)
        if not isinstance(listed, list) or any(not isinstance(span, dict) for span in listed):
            warn(trace.transcript, "lost_call", None, f"`{key}` of the trace is missing, or holds what is no span")
        found += [mapping(span) for span in listed if isinstance(span, dict)] if isinstance(listed, list) else []
    others = [key for key in given if key.endswith("Spans") and key not in _LISTS and given[key]]
    if others:
        warn(trace.transcript, "lost_call", None, f"the trace holds spans of a kind that is not known: `{others[0]}`")
    return found


def _take(trace: _Trace, index: int, span: Given) -> None:
    kind = span.get("type")
    messages = _messages(trace, span)
    started = iso_ms(span.get("startTime"))
    if kind == "llm":
        _take_reply(trace, index, span, messages)
    elif kind in ("tool", "retriever"):
        _take_call(trace, index, span, messages)
    else:
        if kind not in ("base", "agent"):
            warn(trace.transcript, "lost_call", index, "a span is of a type that is not known")
        trace.transcript.events.append(SideEvent("span", {"kind": str(kind), **brief(span, _LONG)}, started, index))


def _messages(trace: _Trace, span: Given) -> list[Message]:
    """The conversation that a span belongs to: that of the nearest agent above it which itself has an agent above."""
    above, seen = span, set[str]()
    agents: list[Given] = []
    while (parent := word(above.get("parentUuid"))) and parent in trace.spans and parent not in seen:
        seen.add(parent)
        above = trace.spans[parent]
        agents += [above] if above.get("type") == "agent" else []
    if len(agents) < 2:
        return trace.transcript.messages
    own = word(agents[0].get("uuid")) or ""
    return trace.threads.setdefault(own, Thread(own, [], name=word(agents[0].get("name")))).messages


def _take_reply(trace: _Trace, index: int, span: Given, messages: list[Message]) -> None:
    started, ended = iso_ms(span.get("startTime")), iso_ms(span.get("endTime"))
    given, output = span.get("input"), span.get("output")
    prompt = given if isinstance(given, str) else written(given)
    trace.transcript.events.append(SideEvent("prompt", {"text": prompt[:500]}, started, index))
    usage = _usage(span)
    if output is None and span.get("status") == "ERRORED":
        data = {"message": (word(span.get("error")) or "")[:500]}
        trace.transcript.events.append(SideEvent("api_error", data, ended, index))
    else:
        said = mapping(output)
        text = text_of(said.get("content")) if said else result_text(output)
        calls = tuple(calls_of(said))
        reply = Message(0, "assistant", text, at_ms=ended, model=word(span.get("model")), src=index)
        reply.tool_calls, reply.usage = calls, usage
        trace.waiting += calls
        messages.append(reply)
    if usage is not None or output is not None:
        trace.spent.append(usage)
        trace.prices.append(_price(span))


def _take_call(trace: _Trace, index: int, span: Given, messages: list[Message]) -> None:
    """A tool that ran: for a call that a reply asked for, else for the program."""
    name = word(span.get("name")) or ""
    call = next((call for call in trace.waiting if call.name == name), None)
    started, ended = iso_ms(span.get("startTime")), iso_ms(span.get("endTime"))
    if call is None:
        call = call_of(word(span.get("uuid")) or f"span_{index}", {"name": name, "arguments": span.get("input")})
        messages.append(Message(0, "assistant", tool_calls=(call,), injected=True, at_ms=started, src=index))
    else:
        trace.waiting.remove(call)
    failed = {"ERRORED": True, "SUCCESS": False}.get(str(span.get("status")))
    text = word(span.get("error")) or result_text(span.get("output"))
    seconds = None if started is None or ended is None or ended < started else (ended - started) / 1000
    result = ToolResult(call.id or None, text, name, failed, seconds=seconds)
    messages.append(Message(0, "tool", text, tool_result=result, at_ms=ended, src=index))


def _usage(span: Given) -> Usage | None:
    given, output = count(span.get("inputTokenCount")), count(span.get("outputTokenCount"))
    return None if given is None and output is None else Usage(given, output)


def _price(span: Given) -> float | None:
    parts = [
        (amount(span.get(f"costPer{side}Token")), amount(span.get(f"{side.lower()}TokenCount")))
        for side in ("Input", "Output")
    ]
    known = [price * tokens for price, tokens in parts if price is not None and tokens is not None]
    return sum(known) if len(known) == len(parts) else None


def _spend(trace: _Trace) -> None:
    transcript = trace.transcript
    told = [usage for usage in trace.spent if usage is not None]
    transcript.usage = summed(told)
    if told and len(told) < len(trace.spent):
        text = f"{len(trace.spent) - len(told)} of {len(trace.spent)} model calls state no usage"
        warn(transcript, "usage_partial", None, text)
    prices = [price for price in trace.prices if price is not None]
    if prices and len(prices) == len(trace.prices):
        transcript.cost = Cost(sum(prices), "USD")


def _end(given: Given, spans: list[Given]) -> End:
    raw = word(given.get("status"))
    if raw == "ERRORED":
        errors = [word(span.get("error")) for span in spans]
        return End("errored", next((error for error in errors if error), "")[:500], raw)
    return End("finished" if raw == "SUCCESS" else "unknown", "", raw)
