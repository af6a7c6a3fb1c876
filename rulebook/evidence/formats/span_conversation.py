"""The steps of one trace or conversation as a neutral transcript."""

from collections import defaultdict, deque
from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import call_of
from rulebook.evidence.formats.span_chains import Chain, chains_of, likeness
from rulebook.evidence.formats.span_steps import Ran, Step
from rulebook.evidence.formats.span_tree import Around, settle_nested, surroundings
from rulebook.evidence.session_files.pairing import finish, summed, warn, warn_of_lost_calls
from rulebook.evidence.transcript import (
    Cost,
    End,
    EndReason,
    Message,
    SideEvent,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
)

_ENDS: dict[str, EndReason] = {
    "stop": "finished",
    "end_turn": "finished",
    "stop_sequence": "finished",
    "completed": "finished",
    "length": "truncated_output",
    "max_tokens": "truncated_output",
    "max_output_tokens": "truncated_output",
    "content_filter": "refused_by_model",
    "content-filter": "refused_by_model",
    "refusal": "refused_by_model",
    "safety": "refused_by_model",
    "model_context_window_exceeded": "context_limit",
    "error": "errored",
}


class Lane(Struct):
    """The conversations that were held inside one tool, or outside of any: the main one first."""

    tool: Step | None
    chains: list[Chain]
    added: dict[int, list[Message]] = field(default_factory=dict)


def fill(transcript: Transcript, steps: list[Step]) -> None:
    """Put the steps, in the file's order, into the transcript: messages, threads, events, usage, cost and end."""
    around = surroundings(steps)
    settle_nested(steps, around)
    models = sorted((s for s in steps if s.kind == "model"), key=lambda s: s.start_ms or 0)
    if not models:
        models = [step for step in steps if step.kind == "agent" and step.told is not None]
        for step in models:
            warn(transcript, "lost_call", step.src, f"`{step.name}` is told as a whole, without its model calls")
    lanes = _lanes(transcript, steps, models, around)
    main = lanes[None]
    _note_hidden(transcript, steps, lanes)
    _place_tools(lanes, steps, around)
    for lane in lanes.values():
        for chain in lane.chains:
            chain.messages = _with_added(chain.messages, lane.added)
    transcript.messages = main.chains[0].messages if main.chains else []
    _threads(transcript, lanes, around, {step.id: step.agent for step in steps})
    _note_unseen(transcript, lanes)
    for step in steps:
        if step.kind != "model" and step not in models:
            data = {"name": step.name[:200], "kind": step.kind}
            transcript.events.append(SideEvent("span", data, step.start_ms, step.src))
    agents = [step.agent for step in steps if step.agent]
    transcript.agent_name = agents[0] if agents else None
    warn_of_lost_calls(transcript)
    finish(transcript)
    _spend(transcript, models)
    transcript.end = _end(steps, main, around)


def _lanes(
    transcript: Transcript, steps: list[Step], models: list[Step], around: Mapping[str, Around]
) -> dict[str | None, Lane]:
    by_id = {step.id: step for step in reversed(steps)}
    grouped: dict[str | None, list[Step]] = defaultdict(list)
    for step in models:
        grouped[around[step.id].tool].append(step)
    if None not in grouped and grouped:
        first = next(iter(grouped))
        grouped = {None: grouped.pop(first), **grouped}

    def note(code: str, step: Step, text: str) -> None:
        warn(transcript, code, step.src, text)

    lanes: dict[str | None, Lane] = {}
    for tool, own in grouped.items():
        chains = chains_of(own, transcript.events, note)
        for chain in chains:
            _name_calls(chain.messages)
        chains.sort(key=lambda chain: _rank(chain, around))
        lanes[tool] = Lane(by_id.get(tool) if tool else None, chains)
    lanes.setdefault(None, Lane(None, []))
    return lanes


def _rank(chain: Chain, around: Mapping[str, Around]) -> tuple[bool, int, int]:
    """The main conversation comes first: one with calls, of the outermost agent, the longest."""
    return not chain.calls, around[chain.steps[0].id].depth, -len(chain.messages)


def _name_calls(messages: list[Message]) -> None:
    """Give calls that have no id one, and results without a call the oldest that waits."""
    waiting: dict[str, None] = {}
    for index, message in enumerate(messages):
        for nth, call in enumerate(message.tool_calls):
            call.id = call.id or f"call_{index}_{nth}"
            waiting[call.id] = None
        if message.tool_result is not None:
            result = message.tool_result
            result.call_id = result.call_id or next(iter(waiting), None)
            waiting.pop(result.call_id or "", None)


def _note_hidden(transcript: Transcript, steps: list[Step], lanes: Mapping[str | None, Lane]) -> None:
    """A span around or inside a model call tells of the same calls; one that tells of others hides them."""
    known = {likeness(call) for lane in lanes.values() for chain in lane.chains for call in chain.calls}
    for step in steps:
        replies = (step.told.replies if step.told is not None and step.kind != "model" else None) or ()
        hidden = [call for reply in replies for call in reply.tool_calls if likeness(call) not in known]
        if hidden:
            warn(transcript, "lost_call", step.src, f"`{step.name}` tells of a call of `{hidden[0].name}` by no reply")


def _place_tools(lanes: Mapping[str | None, Lane], steps: list[Step], around: Mapping[str, Around]) -> None:
    """Give every tool that ran its call; one that no reply asked for is called by the harness."""
    all_calls = [(lane, m, call) for lane in lanes.values() for chain in lane.chains for m in chain.messages
                 for call in m.tool_calls]  # fmt: skip
    by_id: dict[str, tuple[Lane, Message, ToolCall]] = {}
    by_name: dict[str, deque[tuple[Lane, Message, ToolCall]]] = defaultdict(deque)
    for place in all_calls:
        by_id.setdefault(place[2].id, place)
        by_name[place[2].name].append(place)
    results = {m.tool_result.call_id: m for lane in lanes.values() for chain in lane.chains for m in chain.messages
               if m.tool_result is not None and m.tool_result.call_id}  # fmt: skip
    claimed: set[int] = set()
    for step in sorted((s for s in steps if s.kind == "tool"), key=lambda s: s.start_ms or 0):
        ran = step.ran or Ran(step.name)
        found = by_id.get(ran.call_id) if ran.call_id else None
        while found is None and not ran.call_id and by_name[ran.name]:
            candidate = by_name[ran.name].popleft()
            found = None if id(candidate[2]) in claimed else candidate
        if found is None:
            lane = lanes.get(around[step.id].tool) or lanes[None]
            found = (lane, *_called(lane if lane.chains else lanes[None], step, ran))
        lane, message, call = found
        repeated = id(call) in claimed
        claimed.add(id(call))
        answer = results.get(call.id)
        if answer is not None and answer.tool_result is not None:
            result = answer.tool_result
            result.seconds = step.seconds if result.seconds is None else result.seconds
            result.is_error = ran.failed if result.is_error is None else result.is_error
        elif not repeated:
            result = ToolResult(call.id, ran.result or "", ran.name, ran.failed, seconds=step.seconds)
            result.ran = False if ran.refused else None
            added = Message(0, "tool", result.text, tool_result=result, src=step.src)
            lane.added.setdefault(id(message), []).append(added)
            results[call.id] = added


def _called(lane: Lane, step: Step, ran: Ran) -> tuple[Message, ToolCall]:
    """A call that no captured reply shows: of the silent reply before it, else the harness's own."""
    call = call_of(ran.call_id or step.id, {"name": ran.name, "arguments": ran.arguments})
    if ran.arguments is None:
        call.args_error = "the arguments were not captured"
    chain = lane.chains[0] if lane.chains else None
    before = [
        message
        for message in (chain.messages if chain else ())
        if message.role == "assistant" and (message.at_ms or 0) <= (step.start_ms or 0)
    ]
    last = before[-1] if before else None
    if chain is not None and last is not None and any(last is silent for silent in chain.silent):
        last.tool_calls = (*last.tool_calls, call)
        return last, call
    own = Message(0, "assistant", tool_calls=(call,), injected=True, at_ms=step.start_ms, src=step.src)
    anchor = last if last is not None else chain.messages[0] if chain and chain.messages else None
    lane.added.setdefault(id(anchor), []).append(own)
    return own, call


def _with_added(messages: list[Message], added: Mapping[int, list[Message]]) -> list[Message]:
    found: list[Message] = []
    for message in messages:
        found.append(message)
        for extra in added.get(id(message), ()):
            found.append(extra)
            found += added.get(id(extra), ())
    return found


def _threads(
    transcript: Transcript,
    lanes: Mapping[str | None, Lane],
    around: Mapping[str, Around],
    agents: Mapping[str, str | None],
) -> None:
    main = lanes[None].chains[0] if lanes[None].chains else Chain()
    known = {likeness(call) for call in main.calls}
    own_agent = around[main.steps[0].id].agent if main.steps else None
    for lane in lanes.values():
        for chain in lane.chains:
            if chain is main:
                continue
            first = chain.steps[0]
            thread = Thread(
                f"span-{first.id}", chain.messages, name=first.agent or agents.get(around[first.id].agent or "")
            )
            if lane.tool is not None and lane.tool.ran is not None:
                thread.parent_call_id = lane.tool.ran.call_id or lane.tool.id
                thread.name = thread.name or lane.tool.ran.name
            transcript.threads.append(thread)
            apart = lane.tool is not None or around[first.id].agent != own_agent
            if not apart and any(likeness(call) not in known for call in chain.calls):
                text = f"tools were called in `{thread.id}`, which is not the main conversation"
                warn(transcript, "split_conversation", first.src, text)


def _note_unseen(transcript: Transcript, lanes: Mapping[str | None, Lane]) -> None:
    chains = [chain for lane in lanes.values() for chain in lane.chains]
    silent = sum(len(chain.silent) for chain in chains)
    unasked = sum(chain.unasked for chain in chains)
    total = sum(len(chain.steps) for chain in chains)
    if silent or unasked:
        what = f"{silent} of {total} replies" if silent else f"the prompts of {unasked} of {total} model calls"
        warn(transcript, "content_not_captured", None, f"{what} were recorded without their content")


def _spend(transcript: Transcript, models: list[Step]) -> None:
    answered = [step for step in models if not step.failed or (step.told and step.told.usage)]
    told = [step.told.usage for step in answered if step.told is not None and step.told.usage is not None]
    transcript.usage = summed(told)
    if transcript.usage is not None and len(told) < len(answered):
        text = f"{len(answered) - len(told)} of {len(answered)} model calls state no usage"
        warn(transcript, "usage_partial", None, text)
    costs = [step.told.cost for step in answered if step.told is not None and step.told.cost is not None]
    if costs and len(costs) == len(answered):
        transcript.cost = Cost(sum(costs), "USD")


def _end(steps: list[Step], main: Lane, around: Mapping[str, Around]) -> End:
    chain = main.chains[0] if main.chains else Chain()
    last = chain.steps[-1] if chain.steps else None
    stop = last.told.stop if last is not None and last.told is not None else None
    broken = next((s for s in steps if s.failed and s.kind == "agent" and around[s.id].depth == 0), None)
    if last is not None and last.failed:
        broken = last
    if broken is not None:
        return End("errored", broken.trouble, stop)
    if chain.messages and (chain.messages[-1].role == "tool" or chain.messages[-1].tool_calls):
        return End("unknown", "the last reply calls a tool", stop)
    if stop is None:
        if any(step.done and step.kind == "agent" and around[step.id].depth == 0 for step in steps):
            return End("finished", "the agent's span is marked as done well", "OK")
        return End("unknown", "the last model call states no finish reason")
    return End(_ENDS.get(stop.lower(), "unknown"), "", stop)
