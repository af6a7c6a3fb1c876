"""A transcript as plain JSON data, for people and programs to look at.

Source: session formats, "The neutral transcript": its field names; what is unknown is left out.
"""

from msgspec.structs import asdict

from rulebook.evidence.transcript import (
    Cost,
    End,
    Message,
    SideEvent,
    Source,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)


def transcript_json(transcript: Transcript) -> dict[str, object]:
    """The whole transcript as JSON-ready data; times are Unix milliseconds."""
    place = "line" if transcript.source.places == "lines" else "index"
    return _known(
        source=_source(transcript.source),
        session_id=transcript.session_id,
        parent_session=transcript.parent_session,
        agent_name=transcript.agent_name,
        models=list(transcript.models),
        messages=[_message(message, place) for message in transcript.messages],
        threads=[_thread(thread, place) for thread in transcript.threads],
        events=[_event(event, place) for event in transcript.events],
        usage=None if transcript.usage is None else _usage(transcript.usage),
        cost=_cost(transcript.cost),
        end=_end(transcript.end),
        outcome=dict(transcript.outcome) or None,
        warnings=[
            _known(code=warning.code, where=_place(warning.where, place), text=warning.text)
            for warning in transcript.warnings
        ],
    )


def _message(message: Message, place: str) -> dict[str, object]:
    return _known(
        i=message.index,
        id=message.id,
        role=message.role,
        text=message.text,
        tool_calls=[_call(call) for call in message.tool_calls] or None,
        tool_result=None if message.tool_result is None else _result(message.tool_result),
        reasoning=message.reasoning,
        at=message.at_ms,
        model=message.model,
        stop=message.stop,
        usage=None if message.usage is None else _usage(message.usage),
        injected=message.injected,
        hidden=message.hidden,
        copied=message.copied or None,
        src=_place(message.src, place),
    )


def _call(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id,
        "name": call.name,
        "args": call.args,
        "args_raw": call.args_raw,
        **_known(args_error=call.args_error),
    }


def _result(result: ToolResult) -> dict[str, object]:
    return {
        "call_id": result.call_id,
        "text": result.text,
        "is_error": result.is_error,
        **_known(name=result.name, exit_code=result.exit_code, truncated=result.truncated, seconds=result.seconds),
        **_known(answers=result.answers),
    }


def _usage(usage: Usage) -> dict[str, object]:
    return _known(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        reasoning=usage.reasoning,
        total=usage.total,
        requests=usage.requests,
        source=usage.source,
    )


def _thread(thread: Thread, place: str) -> dict[str, object]:
    messages = [_message(message, place) for message in thread.messages]
    return _known(id=thread.id, parent_call_id=thread.parent_call_id, name=thread.name, messages=messages)


def _event(event: SideEvent, place: str) -> dict[str, object]:
    return _known(kind=event.kind, at=event.at_ms, data=dict(event.data), src=_place(event.src, place))


def _cost(cost: Cost) -> dict[str, object]:
    return {**_known(value=cost.value, currency=cost.currency), "known": cost.known}


def _end(end: End) -> dict[str, object]:
    return _known(reason=end.reason, detail=end.detail or None, raw=end.raw)


def _source(source: Source) -> dict[str, object]:
    return {name: value for name, value in asdict(source).items() if value is not None and name != "places"}


def _place(where: int | None, place: str) -> dict[str, int] | None:
    return None if where is None else {place: where}


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
