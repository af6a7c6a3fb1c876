"""mini-swe-agent trajectories (`.traj.json`): the bare list of 1.x, and the object of 1.x and 2.x.

Source: mini-swe-agent, `agents/default.py` and `models/litellm_model.py`.
"""

import re
from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.chat_messages import calls_of, has_role, reasoning_of, text_of, usage_of
from rulebook.evidence.session_files.pairing import finish, summed, warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, count, mapping, seconds_ms, sequence, word
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

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n```", re.DOTALL)
_OWN_FENCE = "```mswea_bash_command"
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_ENDS: dict[str, EndReason] = {
    "Submitted": "finished",
    "TimeExceeded": "time_limit",
    "ContextWindowExceeded": "context_limit",
    "RepeatedFormatError": "format_error",
    "UserInterruption": "canceled_by_user",
    "KeyboardInterrupt": "canceled_by_user",
}


def _fits(sample: Sample) -> Fit:
    keys = sample.keys
    if str(keys.get("trajectory_format", "")).startswith("mini-swe-agent"):
        return 2
    if "mini_version" in mapping(keys.get("info")):
        return 2
    messages = [mapping(item) for item in sequence(keys.get("messages"))] if keys else sample.entries
    if sample.kind == "lines" or not messages or not all(has_role(m) or m.get("role") == "exit" for m in messages):
        return 0
    if any("tool_calls" in message or message.get("role") == "tool" for message in messages):
        return 0
    spoken = [text_of(m.get("content")) for m in messages if m.get("role") == "assistant"]
    told = [text_of(m.get("content")) for m in messages if m.get("role") == "user"]
    if any(_OWN_FENCE in text for text in spoken) or any(_RETURN_CODE.match(text) for text in told):
        return 2
    return 1 if any(_FENCE.search(text) for text in spoken) else 0


def _read(file: SessionFile) -> Transcript:
    root = file.json(FORMAT.title)
    items = root if isinstance(root, list) else sequence(mapping(root).get("messages"))
    if not any(has_role(item) for item in items):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no messages with a `role`")
    transcript = file.transcript("mini_swe_agent")
    info = mapping(mapping(root).get("info"))
    source = transcript.source
    source.sha256, source.producer = file.sha256, "mini-swe-agent"
    source.producer_version = word(info.get("mini_version"))
    source.format_version = word(mapping(root).get("trajectory_format"))
    leaving: Mapping[str, object] = {}
    for index, value in enumerate(items):
        item = mapping(value)
        if item.get("role") == "exit":
            leaving = mapping(item.get("extra"))
            transcript.events.append(SideEvent("exit", {"status": str(leaving.get("exit_status", ""))}, src=index))
        elif not _take(transcript.messages, item, index):
            warn(transcript, "unknown_record", index, "an item without a known role")
            warn(transcript, "lost_record", index, "an item without a known role may be a call or a reply")
        elif _ran_unseen(transcript.messages[-1], item):
            warn(transcript, "lost_call", index, "a return code that answers no command that can be read")
    finish(transcript)
    transcript.usage, transcript.cost = _spent(transcript, items, info)
    transcript.end = _end(info, leaving, transcript)
    patch = word(info.get("submission")) or word(leaving.get("submission"))
    transcript.outcome = {"patch": patch} if patch else {}
    return transcript


def _take(messages: list[Message], item: Mapping[str, object], index: int) -> bool:
    """Append the message of one item; False when its role is not known."""
    role, text, extra = item.get("role"), text_of(item.get("content")), mapping(item.get("extra"))
    at_ms = seconds_ms(extra.get("timestamp"))
    if role == "assistant":
        calls = tuple(_calls(item, extra, text, index))
        model = word(mapping(extra.get("response")).get("model"))
        usage = usage_of(mapping(extra.get("response")).get("usage"))
        thought = reasoning_of(item)
        message = Message(0, "assistant", text, None, thought, calls, at_ms=at_ms, model=model, usage=usage, src=index)
    elif role in ("user", "tool"):
        message = _answer(item, extra, text, index, messages)
        message.at_ms = at_ms
    elif role == "system":
        message = Message(0, "system", text, at_ms=at_ms, src=index)
    else:
        return False
    messages.append(message)
    return True


def _calls(item: Mapping[str, object], extra: Mapping[str, object], text: str, index: int) -> list[ToolCall]:
    """The calls that were run: those that the agent noted, else the one fenced command (it refuses two)."""
    actions = [mapping(action) for action in sequence(extra.get("actions"))]
    commands = [(word(a.get("tool_call_id")), str(a.get("command", a.get("action", "")))) for a in actions]
    if not commands and (own := calls_of(item)):
        return own
    if not commands and "actions" not in extra:
        fenced = [match.strip() for match in _FENCE.findall(text)]
        commands = [(None, fenced[0])] if len(fenced) == 1 else []
    return [
        ToolCall(call_id or f"step{index}_{nth}", "bash", {"command": command}, command)
        for nth, (call_id, command) in enumerate(commands)
    ] + [call for call in calls_of(item) if call.name != "bash"]


def _answer(
    item: Mapping[str, object], extra: Mapping[str, object], text: str, index: int, before: list[Message]
) -> Message:
    """A user or tool item: the result of a call that waits for one, else what a person or the agent said."""
    waiting = _waiting(before)
    interrupted = word(extra.get("interrupt_type")) is not None
    if item.get("role") == "user" and (interrupted or not waiting):
        return Message(
            0,
            "user",
            text,
            injected=interrupted or bool(before and before[-1].role == "assistant"),
            src=index,
        )
    stated = _RETURN_CODE.match(text)
    code = extra.get("returncode")
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else int(stated[1]) if stated else None
    call_id = word(item.get("tool_call_id")) or (waiting[0] if waiting else None)
    return Message(0, "tool", text, tool_result=ToolResult(call_id, text, exit_code=exit_code), src=index)


def _ran_unseen(message: Message, item: Mapping[str, object]) -> bool:
    """Whether a command was run that the reader did not find in the reply before."""
    told = _RETURN_CODE.match(message.text) or "returncode" in mapping(item.get("extra"))
    return bool(told) and message.role == "user" and message.injected


def _waiting(before: list[Message]) -> list[str]:
    """The ids of the last reply's calls that have no result yet."""
    answered = 0
    for message in reversed(before):
        if message.role == "assistant":
            return [call.id for call in message.tool_calls][answered:]
        answered += message.role == "tool"
    return []


def _spent(transcript: Transcript, items: list[object], info: Mapping[str, object]) -> tuple[Usage | None, Cost]:
    stats = mapping(info.get("model_stats"))
    replies = [message for message in transcript.messages if message.role == "assistant"]
    told = [message.usage for message in replies if message.usage is not None]
    usage = summed(told)
    if usage is not None and len(told) < len(replies):
        warn(
            transcript,
            "usage_partial",
            None,
            f"{len(replies) - len(told)} of {len(replies)} replies state no usage",
        )
    requests = count(stats.get("api_calls"))
    if usage is None and requests:
        usage = Usage(requests=requests, source="reported")
    prices = [
        amount(mapping(mapping(item).get("extra")).get("cost"))
        for item in items
        if mapping(item).get("role") == "assistant"
    ]
    price = amount(stats.get("instance_cost"))
    # The agent writes 0 for a reply that it has no price for.
    return usage, Cost(price, "USD") if price and 0 not in prices else Cost()


def _end(info: Mapping[str, object], leaving: Mapping[str, object], transcript: Transcript) -> End:
    raw = word(info.get("exit_status")) or word(leaving.get("exit_status"))
    if raw is None:
        return End("unknown", "the trajectory states no exit status")
    if raw == "LimitsExceeded":
        return End(_limit(info, transcript.cost), raw, raw)
    return End(_ENDS.get(raw, "errored"), raw, raw)


def _limit(info: Mapping[str, object], cost: Cost) -> EndReason:
    """Which limit was met: the status is one for both, so the settings must tell."""
    agent = mapping(mapping(info.get("config")).get("agent"))
    steps, money = count(agent.get("step_limit")), amount(agent.get("cost_limit"))
    made = count(mapping(info.get("model_stats")).get("api_calls")) or 0
    if steps and made >= steps:
        return "turn_limit"
    if money and cost.value is not None and cost.value >= money:
        return "budget_reached"
    return "unknown"


FORMAT = Format(
    name="mini_swe_agent",
    title="a mini-swe-agent trajectory",
    expects="an object with `trajectory_format: mini-swe-agent-…`, or messages with fenced commands",
    kinds=frozenset(("object", "list")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events")),
    fits=_fits,
    read=_read,
)
