"""SWE-agent trajectories (`.traj`): the thought-and-action parsers and the function-calling ones.

Source: SWE-agent, `sweagent/types.py` and `sweagent/agent/agents.py`.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.chat_messages import calls_of, text_of
from rulebook.evidence.session_files.pairing import finish, warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, count, joined, mapping, sequence, word
from rulebook.evidence.transcript import (
    Cost,
    End,
    EndReason,
    Message,
    SideEvent,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

_ENDS: dict[str, EndReason] = {
    "submitted": "finished",
    "exit_cost": "budget_reached",
    "exit_total_execution_time": "time_limit",
    "exit_command_timeout": "time_limit",
    "exit_context": "context_limit",
    "exit_command": "canceled_by_user",
    "exit_format": "format_error",
    "exit_forfeit": "forfeit",
    "exit_api": "errored",
    "exit_error": "errored",
    "exit_environment_error": "errored",
}


def _fits(sample: Sample) -> Fit:
    keys = sample.keys
    history = [mapping(item) for item in sequence(keys.get("history"))]
    if "trajectory" in keys and ("environment" in keys or "info" in keys):
        return 2
    if any("role" in item and {"agent", "action", "thought"} & item.keys() for item in history):
        return 2
    return 1 if history and "info" in keys else 0


def _read(file: SessionFile) -> Transcript:
    root = mapping(file.json(FORMAT.title))
    history, steps = (
        sequence(root.get("history")),
        [mapping(step) for step in sequence(root.get("trajectory"))],
    )
    if not history and not steps:
        raise UnknownFormat(
            f"`{file.path}` cannot be read as {FORMAT.title}: it has neither `history` nor `trajectory` items"
        )
    transcript = file.transcript("swe_agent")
    transcript.source.sha256, transcript.source.producer = file.sha256, "SWE-agent"
    info = mapping(root.get("info"))
    if history:
        _take_history(transcript, history)
        _take_times(transcript, steps)
    else:
        _take_steps(transcript, steps)
    finish(transcript)
    transcript.end = _end(info)
    transcript.usage, transcript.cost = _spent(transcript, mapping(info.get("model_stats")))
    patch = word(info.get("submission"))
    transcript.outcome = {"patch": patch} if patch else {}
    return transcript


def _take_history(transcript: Transcript, history: list[object]) -> None:
    messages = transcript.messages
    for index, value in enumerate(history):
        item = mapping(value)
        transcript.agent_name = transcript.agent_name or word(item.get("agent"))
        if item.get("is_demo") is True:
            transcript.events.append(SideEvent("demonstration", {"role": str(item.get("role"))}, src=index))
        elif item.get("role") != "assistant" and item.get("tool_calls"):
            warn(transcript, "lost_record", index, "calls in an item that is not the assistant's")
        elif item.get("role") == "assistant":
            messages.append(_assistant(item, index))
        elif item.get("role") in ("user", "tool"):
            messages.append(_answer(item, index, messages))
        elif item.get("role") == "system":
            messages.append(Message(0, "system", text_of(item.get("content")), src=index))
        else:
            warn(transcript, "unknown_record", index, "a history item without a known role")
            warn(transcript, "lost_record", index, "an item without a known role may be a call or a reply")


def _assistant(item: Mapping[str, object], index: int) -> Message:
    calls = calls_of(item)
    action = item.get("action")
    if not calls and isinstance(action, str) and action.strip():
        calls = [_command(index, action)]
    thoughts = [word(mapping(block).get("thinking")) for block in sequence(item.get("thinking_blocks"))]
    reasoning = joined([thought for thought in thoughts if thought]) or None
    return Message(
        0, "assistant", text_of(item.get("content")), reasoning=reasoning, tool_calls=tuple(calls), src=index
    )


def _command(index: int, action: str) -> ToolCall:
    """The call behind the action of a parser without tool calls."""
    return ToolCall(f"step{index}", "bash", {"command": action}, action)


def _answer(item: Mapping[str, object], index: int, before: list[Message]) -> Message:
    """A user or tool item: after a call it is the result, after a reply without one a complaint."""
    text = text_of(item.get("content"))
    previous = before[-1] if before else None
    after_reply = previous is not None and previous.role == "assistant"
    if item.get("role") == "user" and not (after_reply and previous is not None and previous.tool_calls):
        return Message(0, "user", text, src=index, injected=after_reply)
    ids = [call_id for call_id in sequence(item.get("tool_call_ids")) if isinstance(call_id, str)]
    return Message(0, "tool", text, tool_result=ToolResult(ids[0] if ids else None, text), src=index)


def _take_times(transcript: Transcript, steps: list[Mapping[str, object]]) -> None:
    """Give each result its step's running time, where the steps and the replies surely match one to one."""
    replies = [index for index, message in enumerate(transcript.messages) if message.role == "assistant"]
    if len(replies) != len(steps):
        return
    for index, step in zip(replies, steps, strict=True):
        following = transcript.messages[index + 1 : index + 2]
        for message in following:
            if message.tool_result is not None:
                message.tool_result.seconds = amount(step.get("execution_time"))


def _take_steps(transcript: Transcript, steps: list[Mapping[str, object]]) -> None:
    """The messages of a trajectory that was stored without its history: the prompts are not in it."""
    warn(transcript, "no_history", None, "the file has no `history`: its prompts are not known")
    for index, step in enumerate(steps):
        action = step.get("action")
        calls = (_command(index, action),) if isinstance(action, str) and action.strip() else ()
        text = word(step.get("response")) or word(step.get("thought")) or ""
        transcript.messages.append(Message(0, "assistant", text, tool_calls=calls, src=index))
        if calls and isinstance(step.get("observation"), str):
            result = ToolResult(calls[0].id, str(step["observation"]), seconds=amount(step.get("execution_time")))
            transcript.messages.append(Message(0, "tool", result.text, tool_result=result, src=index))


def _end(info: Mapping[str, object]) -> End:
    """A run that failed and whose patch was rescued says `submitted (exit_cost)`: it did not finish."""
    raw = info.get("exit_status")
    if not isinstance(raw, str) or not raw:
        return End("unknown", "the trajectory states no exit status")
    if raw.startswith("submitted (") and raw.endswith(")"):
        return End("errored", raw, raw)
    return End(_ENDS.get(raw, "unknown"), raw, raw)


def _spent(transcript: Transcript, stats: Mapping[str, object]) -> tuple[Usage | None, Cost]:
    """Zeros with real work are a replay or an unpriced model, and so unknown."""
    if not stats:
        return None, Cost()
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    requests, price = count(stats.get("api_calls")) or None, amount(stats.get("instance_cost")) or None
    if not sent and any(message.role == "assistant" for message in transcript.messages):
        warn(transcript, "usage_zero", None, "the statistics count no tokens, and the run has replies")
        sent = received = None
    known = not (sent is None and received is None and requests is None)
    usage = Usage(sent, received, requests=requests, source="reported") if known else None
    return usage, Cost(price, "USD") if price is not None else Cost()


FORMAT = Format(
    name="swe_agent",
    title="a SWE-agent trajectory",
    expects="a JSON object with `history` and `info`, or `trajectory` and `environment`",
    kinds=frozenset(("object",)),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "events")),
    fits=_fits,
    read=_read,
)
