"""One step of an ATIF trajectory: what was said and called in it, and what was observed."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import text_of
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.values import count, iso_ms, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult, Usage

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "agent": "assistant"}
_UNPARSED = "Previous response had parsing errors:\nERROR"
"""How terminus answers a reply that it could not parse, and of which it therefore ran nothing."""


class Reference(Struct):
    """What an observation says of a sub-agent; `message` is the result that names it, None where nothing does."""

    message: Message | None
    trajectory_id: str | None = None
    path: str | None = None
    session_id: str | None = None
    summary: str | None = None


class Step(Struct):
    """The messages of a step, its sub-agents, and what could not be read: codes with words."""

    src: int | None
    messages: list[Message] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)


def step_of(given: Mapping[str, object], agent: Mapping[str, object], index: int, src: int | None) -> Step:
    """Read one step; `index` counts the steps of its file from 0."""
    step = Step(src)
    role = _ROLES.get(str(given.get("source")))
    if role is None:
        step.faults.append(("unknown_record", "a step without a known source"))
        step.faults.append(("lost_call", "a step that cannot be read may hold calls"))
        return step
    calls = _calls(given, index, step)
    spoken = Message(
        0,
        role,
        text_of(given.get("message")),
        reasoning=word(given.get("reasoning_content")),
        tool_calls=tuple(calls),
        at_ms=iso_ms(given.get("timestamp")),
        copied=given.get("is_copied_context") is True,
        src=src,
    )
    if role == "assistant":
        spoken.model = word(given.get("model_name")) or word(agent.get("model_name"))
        spoken.usage = _usage(given)
    step.messages.append(spoken)
    _take_results(step, given, spoken, from_terminus=str(agent.get("name")).startswith("terminus"))
    return step


def _calls(given: Mapping[str, object], index: int, step: Step) -> list[ToolCall]:
    told = given.get("tool_calls")
    if told is not None and not isinstance(told, list):
        step.faults.append(("lost_call", "tool calls that are no list"))
    if shows_call(given.get("message")):
        step.faults.append(("lost_call", "a message with a part that may be a call"))
    calls: list[ToolCall] = []
    for nth, value in enumerate(sequence(told)):
        call = mapping(value)
        name = word(call.get("function_name"))
        if name is None:
            step.faults.append(("lost_call", "a tool call without a `function_name`"))
            continue
        args = call.get("arguments")
        given_id = word(call.get("tool_call_id")) or f"step{index}_{nth}"
        if isinstance(args, dict):
            calls.append(ToolCall(given_id, name, args, written(args)))
        else:
            raw = args if isinstance(args, str) else "" if args is None else written(args)
            calls.append(ToolCall(given_id, name, None, raw, "the arguments are not a JSON object"))
    return calls


def _usage(given: Mapping[str, object]) -> Usage | None:
    """What the step's model calls used. `prompt_tokens` includes what came from the cache."""
    metrics = mapping(given.get("metrics"))
    prompt, completion = count(metrics.get("prompt_tokens")), count(metrics.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    calls = count(given.get("llm_call_count"))
    return Usage(prompt, completion, count(metrics.get("cached_tokens")), requests=1 if calls is None else calls)


def _take_results(step: Step, given: Mapping[str, object], spoken: Message, *, from_terminus: bool) -> None:
    observation = given.get("observation")
    results = mapping(observation).get("results")
    if (observation is not None and not isinstance(observation, dict)) or not isinstance(results, list | None):
        step.faults.append(("lost_call", "an observation that cannot be read"))
    told = [mapping(result) for result in sequence(results)]
    for result in told:
        text = text_of(result.get("content"))
        answer = ToolResult(word(result.get("source_call_id")), text)
        message = Message(0, "tool", text, tool_result=answer, copied=spoken.copied, src=spoken.src)
        step.messages.append(message)
        step.references.extend(_reference(mapping(ref), message) for ref in _references(result))
    answers = [message.tool_result for message in step.messages[1:] if message.tool_result is not None]
    spare = _assign([call.id for call in spoken.tool_calls], answers)
    ran = [answer for answer in spare if not (from_terminus and answer.text.startswith(_UNPARSED))]
    if ran and spoken.role == "assistant":
        step.faults.append(("lost_call", "the agent did something that its step does not tell as a tool call"))


def _assign(calls: list[str], answers: list[ToolResult]) -> list[ToolResult]:
    """Give the results that name no call theirs: by position where the numbers agree, else all calls share one.

    What is returned are the results that no call is left for.
    """
    named = {answer.call_id for answer in answers if answer.call_id is not None}
    waiting = [call for call in calls if call not in named]
    unnamed = [answer for answer in answers if answer.call_id is None]
    if len(waiting) == len(unnamed):
        for call, answer in zip(waiting, unnamed, strict=True):
            answer.call_id = call
        return []
    for nth, answer in enumerate(unnamed):
        answer.answers = waiting if nth == 0 else []
    return unnamed[len(waiting) :]


def _references(result: Mapping[str, object]) -> list[object]:
    given = result.get("subagent_trajectory_ref")
    return [given] if isinstance(given, dict) else sequence(given)


def _reference(given: Mapping[str, object], message: Message) -> Reference:
    return Reference(
        message,
        word(given.get("trajectory_id")),
        word(given.get("trajectory_path")),
        word(given.get("session_id")),
        word(mapping(given.get("extra")).get("summary")),
    )
