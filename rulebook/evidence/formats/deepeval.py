"""deepeval test runs: one session for each test case, out of its trace where it has one.

Source: deepeval, the test run that it writes as JSON.
"""

from collections.abc import Mapping, Sequence

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.deepeval_trace import take_trace
from rulebook.evidence.formats.otel_parts import messages_of, result_text
from rulebook.evidence.session_files.pairing import finish, warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import amount, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, ToolCall, ToolResult, Transcript

_CASES = ("testCases", "conversationalTestCases")
_SIGNS = frozenset(("metricsData", "trace", "actualOutput", "turns", "success"))


def _fits(sample: Sample) -> Fit:
    run = _run(sample.keys)
    first = [mapping(case) for key in _CASES for case in sequence(run.get(key))[:1]]
    return 2 if any("name" in case and _SIGNS & set(case) for case in first) else 0


def _run(root: Mapping[str, object]) -> Mapping[str, object]:
    """The test run itself, which is also kept inside of another object."""
    return mapping(root["testRunData"]) if "testRunData" in root else root


def _cases(file: SessionFile) -> dict[str, Mapping[str, object]]:
    run = _run(mapping(file.json(FORMAT.title)))
    found: dict[str, Mapping[str, object]] = {}
    for case in (mapping(case) for key in _CASES for case in sequence(run.get(key))):
        given = (word(case.get("name")) or f"case-{len(found) + 1}").replace("#", "_")
        name, nth = given, 1
        while name in found:
            nth += 1
            name = f"{given}~{nth}"
        found[name] = case
    if not found:
        raise UnknownFormat(f"`{file.path}` is {FORMAT.title} without a test case")
    return found


def _parts(file: SessionFile) -> Sequence[str]:
    return list(_cases(file))


def _read(file: SessionFile) -> Transcript:
    cases = _cases(file)
    case = cases[file.part or next(iter(cases))]
    transcript = file.transcript("deepeval")
    transcript.source.sha256, transcript.source.producer = file.sha256, "deepeval"
    trace = mapping(case.get("trace"))
    if isinstance(case.get("input"), str):
        transcript.messages.append(Message(0, "user", str(case["input"])))
    if trace:
        transcript.session_id = word(trace.get("uuid"))
        take_trace(transcript, trace)
    elif "turns" in case:
        _take_turns(transcript, sequence(case["turns"]))
    else:
        _take_answer(transcript, case)
    finish(transcript)
    transcript.outcome = _outcome(case)
    return transcript


def _take_turns(transcript: Transcript, turns: list[object]) -> None:
    damaged: list[str] = []
    for index, given in enumerate(turns):
        turn = mapping(given)
        fresh = messages_of(turn, index, damaged)
        called = turn.get("toolsCalled")
        if turn.get("role") == "assistant" and called is None:
            warn(transcript, "lost_call", index, "a turn does not say which tools were called")
        transcript.messages += fresh
        if fresh:
            transcript.messages += _called(fresh[-1], called, index, damaged)
    for what in damaged:
        warn(transcript, "unread_exchange", None, f"a turn holds {what}")


def _take_answer(transcript: Transcript, case: Mapping[str, object]) -> None:
    """A case without a trace: what was asked and answered, and the tools that it names."""
    answer = Message(0, "assistant", result_text(case.get("actualOutput")))
    damaged: list[str] = []
    called = case.get("toolsCalled")
    if called is None:
        warn(transcript, "lost_call", None, "the test case has no trace and does not say which tools were called")
    transcript.messages += [answer, *_called(answer, called, None, damaged)]
    for what in damaged:
        warn(transcript, "lost_call", None, f"the test case holds {what}")


def _called(answer: Message, given: object, src: int | None, damaged: list[str]) -> list[Message]:
    """Give a reply the tools that it called, and return what they answered."""
    if given is not None and not isinstance(given, list):
        damaged.append("`toolsCalled` that is no list")
    results: list[Message] = []
    for nth, tool in enumerate(map(mapping, sequence(given))):
        call_id = f"tool_{'' if src is None else f'{src}_'}{nth}"
        arguments = mapping(tool.get("inputParameters"))
        call = ToolCall(call_id, word(tool.get("name")) or "", arguments, written(dict(arguments)))
        answer.tool_calls = (*answer.tool_calls, call)
        if "output" in tool:
            text = result_text(tool["output"])
            results.append(Message(0, "tool", text, tool_result=ToolResult(call_id, text), src=src))
    return results


def _outcome(case: Mapping[str, object]) -> dict[str, object]:
    """What its metrics said: whether the case passed, and the score of each."""
    metrics = [mapping(metric) for metric in sequence(case.get("metricsData"))]
    scores = {str(m.get("name")): amount(m.get("score")) for m in metrics if amount(m.get("score")) is not None}
    passed = case.get("success")
    return {**({"success": passed} if isinstance(passed, bool) else {}), **({"scores": scores} if scores else {})}


FORMAT = Format(
    name="deepeval",
    title="a deepeval test run",
    expects="a JSON object with `testCases`, each with `metricsData` and mostly a `trace`",
    kinds=frozenset(("object",)),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
    parts=_parts,
)
