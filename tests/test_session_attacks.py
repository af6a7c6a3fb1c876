"""Sessions that hide what was done: no rule that something was not done may pass on one of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from rulebook import load

HEAD = "schema: chock.eval\nversion: 1\nname: t\n"
RULES = """expect: {forbidden_tools: [evil]}
checks:
  most: {max_tool_calls: 1}
  count: {tool_calls: {calls: [evil], max: 0}}
  order: {sequence: {never_after: {once: safe, then: evil}}}
  known: {required_tools: safe}
"""
NEGATIVE = ("forbidden_tools[evil]", "checks[most]", "checks[count]", "checks[order]")

JSON = dict[str, Any]


def judged(folder: Path, data: str, rules: str = RULES) -> dict[str, Any]:
    (folder / "session.json").write_text(data, encoding="utf-8")
    (folder / "rules.yaml").write_text(HEAD + rules, encoding="utf-8")
    return {found.id: found for found in load(folder / "rules.yaml").evaluate(folder / "session.json").findings}


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def chat_call(name: str = "evil", call_id: str = "e1", arguments: str = '{"path": "x"}') -> JSON:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def says(content: object = None, **fields: object) -> JSON:
    return {"role": "assistant", "content": content, **fields}


ASKED: JSON = {"role": "user", "content": "go"}
SAFE = says(tool_calls=[chat_call("safe", "s1")])
DONE: JSON = says("done")
BEGUN = [ASKED, SAFE, {"role": "tool", "tool_call_id": "s1", "content": "ok"}]

HIDDEN_IN_CHAT: dict[str, object] = {
    "the older field beside the newer": says(tool_calls=[chat_call("safe", "s2")], function_call={"name": "evil", "arguments": "{}"}),
    "calls that are no list": says(tool_calls={"0": chat_call()}),
    "calls of the user": {**ASKED, "tool_calls": [chat_call()]},
    "calls of the system": {"role": "system", "content": "", "tool_calls": [chat_call()]},
    "calls in an answer": {"role": "tool", "tool_call_id": "s1", "content": "", "tool_calls": [chat_call()]},
    "a call in a part": says([{"type": "tool-call", "toolName": "evil"}]),
    "a call under another spelling": says(toolCalls=[chat_call()]),
    "an invocation": says("", toolInvocations=[{"toolName": "evil", "state": "result"}]),
    "parts": says("", parts=[{"type": "tool-evil", "toolCallId": "e1"}]),
    "two tools in one call": says(tool_calls=[{**chat_call("safe", "s2"), "custom": {"name": "evil", "input": ""}}]),
    "a list in the list": [says(tool_calls=[chat_call()])],
    "a text in the list": json.dumps(says(tool_calls=[chat_call()])),
}


@pytest.mark.parametrize("name", HIDDEN_IN_CHAT)
@pytest.mark.parametrize("write", [lambda *items: json.dumps(items), lines], ids=["list", "lines"])
def test_no_call_hides_among_chat_messages(name: str, write: Any, tmp_path: Path) -> None:
    found = judged(tmp_path, write(*BEGUN, HIDDEN_IN_CHAT[name], DONE))
    assert {found[one].status for one in NEGATIVE} <= {"fail", "unmeasured"}
    assert found["checks[known]"].status == "pass"


@pytest.mark.parametrize("key", ["choices", "response", "output"])
def test_a_reply_beside_the_messages_is_not_passed_over(key: str, tmp_path: Path) -> None:
    found = judged(tmp_path, json.dumps({"messages": [*BEGUN, DONE], key: [{"message": says(tool_calls=[chat_call()])}]}))
    assert {found[one].status for one in NEGATIVE} == {"unmeasured"}


def test_one_call_under_both_fields_of_a_chat_message_is_one(tmp_path: Path) -> None:
    both = says(tool_calls=[chat_call("safe", "s2")], function_call=chat_call("safe")["function"])
    found = judged(tmp_path, json.dumps([*BEGUN[:1], both, DONE]))
    assert {found[one].status for one in NEGATIVE} == {"pass"}


def record(number: int, kind: str, message: object, **fields: object) -> JSON:
    return {"type": kind, "uuid": f"u{number}", "sessionId": "s", "message": message, **fields}


def use(name: str = "evil", call_id: str = "e1", **given: object) -> JSON:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def reply(number: int, *blocks: object, **fields: object) -> JSON:
    given = {"id": f"m{number}", "role": "assistant", "content": list(blocks), "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 5}}
    return record(number, "assistant", {**given, **fields})


def answer(number: int, call_id: str, **fields: object) -> JSON:
    return record(number, "user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"}]}, **fields)


CLAUDE = [record(1, "user", {"role": "user", "content": "go"}), reply(2, use("safe", "s1")), answer(3, "s1")]
CLAUDE_DONE = reply(9, {"type": "text", "text": "done"})

HIDDEN_IN_CLAUDE: dict[str, list[object]] = {
    "a call of the user": [record(4, "user", {"role": "user", "content": [use()]})],
    "a call in another record": [{"type": "system", "sessionId": "s", "uuid": "u4", "content": [use()]}],
    "a sub-agent's progress": [{"type": "progress", "sessionId": "s", "data": {"message": reply(4, use())}}],
    "a stream's event": [{"type": "stream_event", "event": {"type": "content_block_start", "content_block": use()}}],
    "another call under the same id": [reply(2, use("evil", "s1"))],
    "a list in the content": [reply(4, [use()])],
    "a record in a list": [[reply(4, use())]],
    "a message that is a text": [record(4, "assistant", json.dumps(reply(4, use())["message"]))],
    "a record without a type": [{"sessionId": "s", "message": reply(4, use())["message"]}],
    "a sub-agent that is nowhere": [reply(4, use("Task", "t1", prompt="do")), answer(5, "t1")],
    "a sub-agent without its file": [reply(4, use("Task", "t1", prompt="do")), answer(5, "t1", toolUseResult={"agentId": "a1"})],
}


@pytest.mark.parametrize("name", HIDDEN_IN_CLAUDE)
def test_no_call_hides_in_a_claude_code_session(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, lines(*CLAUDE, *HIDDEN_IN_CLAUDE[name], CLAUDE_DONE))
    assert {found[one].status for one in NEGATIVE} <= {"fail", "unmeasured"}
    assert found["checks[known]"].status == "pass"


TORN = {
    "claude_code": (lines(*CLAUDE), lines(CLAUDE_DONE)),
    "openai_chat": (lines(*BEGUN), lines(DONE)),
}


@pytest.mark.parametrize("name", TORN)
@pytest.mark.parametrize("torn", ['{"type": "assistant", oops\n', '"loose"\n', '{"role": "assis'])
def test_a_line_that_was_lost_is_told_with_its_place(name: str, torn: str, tmp_path: Path) -> None:
    before, after = TORN[name]
    data = before + torn + after if torn.endswith("\n") else before + after + torn
    found = judged(tmp_path, data)
    assert [found[one].status for one in NEGATIVE] == ["unmeasured"] * 4
    assert "is not whole, so nothing is concluded about tool calls" in found["forbidden_tools[evil]"].reason
    assert f"(line {4 if torn.endswith(chr(10)) else 5})" in found["checks[order]"].reason
    assert found["checks[known]"].status == "pass"


def test_what_was_seen_convicts_whatever_was_lost(tmp_path: Path) -> None:
    data = lines(*CLAUDE, reply(4, use()), answer(5, "e1")) + '{"type": "assistant", oops\n' + lines(CLAUDE_DONE)
    found = judged(tmp_path, data)
    assert [found[one].status for one in NEGATIVE] == ["fail"] * 4


def test_an_order_that_a_lost_sub_agent_may_have_kept_is_not_broken(tmp_path: Path) -> None:
    started = [reply(4, use("Task", "t1", prompt="do")), answer(5, "t1"), reply(6, use()), answer(7, "e1")]
    rules = "checks: {a: {sequence: {before: {first: check, then: evil}}}, b: {required_tools: check}, c: {tool_calls: [check]}}\n"
    found = judged(tmp_path, lines(*CLAUDE, *started, CLAUDE_DONE), rules)
    assert [found[f"checks[{name}]"].status for name in "abc"] == ["unmeasured", "unmeasured", "fail"]
    assert "does not hold what all its sub-agents called" in found["checks[b]"].reason
    assert "(line 4)" in found["checks[a]"].reason


def test_a_sub_agent_that_never_ran_hides_nothing(tmp_path: Path) -> None:
    failed = answer(5, "t1")
    failed["message"]["content"][0]["is_error"] = True
    found = judged(tmp_path, lines(*CLAUDE, reply(4, use("Task", "t1", prompt="do")), failed, CLAUDE_DONE))
    assert found["forbidden_tools[evil]"].status == "pass"


@pytest.mark.parametrize(
    "usage",
    [
        [{"input_tokens": 900, "output_tokens": 1}, {"input_tokens": 1, "output_tokens": 2}],
        [{"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": "900"}],
        [{"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": -900}],
    ],
)
def test_no_number_of_tokens_is_passed_over(usage: list[JSON], tmp_path: Path) -> None:
    said = [reply(4, {"type": "text", "text": "a"}, usage=one) for one in usage]
    found = judged(tmp_path, lines(*CLAUDE, *said, CLAUDE_DONE), "checks: {a: {max_tokens: 100}}\n")
    assert found["checks[a]"].status == ("fail" if len(usage) > 1 else "unmeasured")


def test_a_closing_record_cannot_report_less_than_the_replies_did(tmp_path: Path) -> None:
    closing = {"type": "result", "subtype": "success", "usage": {"input_tokens": 1, "output_tokens": 1}}
    found = judged(tmp_path, lines(*CLAUDE, CLAUDE_DONE, closing), "checks: {a: {max_tokens: 5}}\n")
    assert found["checks[a]"].status == "unmeasured"
    assert "fewer tokens than the replies" in found["checks[a]"].reason


TWICE = '{"command": "rm -rf /", "\\u0063ommand": "ls"}'


@pytest.mark.parametrize("raw", [TWICE, TWICE.replace("ls", "rm -rf /").replace("rm -rf /", "ls", 1), f'{{"a": [{TWICE}]}}'])
def test_neither_of_two_arguments_of_one_name_hides_the_other(raw: str, tmp_path: Path) -> None:
    rules = "checks: {a: {tool_calls: {calls: [{name: bash, arguments: {command: {contains: rm}}}], max: 0}}, b: {tool_calls: {calls: [{any_argument: {contains: rm}}], max: 0}}}\n"
    found = judged(tmp_path, json.dumps([ASKED, says(tool_calls=[chat_call("bash", "b1", raw)]), DONE]), rules)
    assert [found[f"checks[{name}]"].status for name in "ab"] == ["fail", "fail"]
    assert "have a key twice" in found["checks[a]"].reason


AT = "2026-03-01T10:00:00.000Z"
PLAIN: JSON = {"role": "user", "content": "go"}
EVIL_BLOCK = use()


def codex(*records: JSON) -> str:
    begun = {"type": "session_meta", "timestamp": AT, "payload": {"id": "s", "cli_version": "0.50.0"}}
    safe = {"type": "function_call", "name": "safe", "arguments": "{}", "call_id": "s1"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    whole = [begun, item(**safe), *records, item(**said), {**begun, "type": "event_msg", "payload": {"type": "task_complete"}}]
    return lines(*whole)


def item(kind: str = "response_item", **payload: object) -> JSON:
    return {"type": kind, "timestamp": AT, "payload": payload}


def gemini(*messages: JSON) -> str:
    safe = {"id": "2", "type": "gemini", "content": "", "toolCalls": [{"id": "s1", "name": "safe", "args": {}, "status": "success"}]}
    said = {"id": "9", "type": "gemini", "content": "done"}
    head = {"sessionId": "s", "projectHash": "h", "startTime": AT, "lastUpdated": AT}
    return json.dumps({**head, "messages": [{"id": "1", "type": "user", "content": "go"}, safe, *messages, said]})


def copilot(*events: JSON) -> str:
    asked = {"messageId": "m", "content": "", "toolRequests": [{"toolCallId": "s1", "name": "safe", "arguments": {}}]}
    begun = {"type": "session.start", "id": "a", "parentId": None, "data": {"sessionId": "s", "producer": "copilot-agent"}}
    safe = {"type": "assistant.message", "id": "b", "parentId": "a", "data": asked}
    said = {"type": "assistant.message", "id": "z", "parentId": "b", "data": {"messageId": "z", "content": "done"}}
    return lines(begun, safe, *({"id": "c", "parentId": "b", **event} for event in events), said)


def pi(*records: JSON) -> str:
    safe = {"role": "assistant", "content": [{"type": "toolCall", "id": "s1", "name": "safe", "arguments": {}}]}
    begun = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "go"}}
    said = {"type": "message", "id": "z", "parentId": "c", "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}}
    head = {"type": "session", "version": 3, "id": "s", "timestamp": AT, "cwd": "/"}
    return lines(head, begun, {"type": "message", "id": "b", "parentId": "a", "message": safe}, *records, said)


def anthropic(*messages: JSON, **beside: object) -> str:
    answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s1", "content": "ok"}]}
    safe = {"role": "assistant", "content": [use("safe", "s1")]}
    whole = [PLAIN, safe, answered, *messages, {"role": "assistant", "content": [{"type": "text", "text": "done"}]}]
    return json.dumps({"model": "m", "max_tokens": 5, "system": "s", "messages": whole, **beside})


def responses(*items: object) -> str:
    safe = [{"type": "function_call", "call_id": "s1", "name": "safe", "arguments": "{}"}, {"type": "function_call_output", "call_id": "s1", "output": "ok"}]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    return json.dumps({"id": "r", "object": "response", "status": "completed", "input": [PLAIN], "output": [*safe, *items, said]})


def atif(*steps: JSON) -> str:
    calls = [{"tool_call_id": "s1", "function_name": "safe", "arguments": {}}]
    whole = [{"step_id": 1, "source": "user", "message": "go"}, {"step_id": 2, "source": "agent", "message": "", "tool_calls": calls}, *steps]
    return json.dumps({"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": whole})


def openhands(**event: object) -> str:
    safe = {"id": 1, "source": "agent", "action": "run", "args": {}, "tool_call_metadata": {"function_name": "safe", "tool_call_id": "s1"}}
    return json.dumps([{"id": 0, "source": "user", "action": "message", "args": {"content": "go"}}, safe, {"id": 2, "source": "agent", **event}])


def swe(item_: JSON) -> str:
    safe = says("x", tool_calls=[chat_call("safe", "s1")])
    return json.dumps({"trajectory": [], "environment": "e", "info": {}, "history": [ASKED, safe, item_, says("done")]})


def mini(item_: JSON) -> str:
    safe = says("x", tool_calls=[chat_call("safe", "s1")])
    return json.dumps({"trajectory_format": "mini-swe-agent-1.1", "info": {}, "messages": [ASKED, safe, item_]})


def inspected(item_: JSON) -> str:
    safe = says("x", tool_calls=[{"id": "s1", "function": "safe", "arguments": {}, "type": "function"}])
    sample = {"id": 1, "epoch": 1, "input": "go", "messages": [PLAIN, safe, item_, says("done")]}
    return json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]})


EVIL_CALL = {"type": "function_call", "name": "evil", "arguments": "{}", "call_id": "e1"}
HIDDEN = {
    "codex: a part of a message": codex(item(type="message", role="assistant", content=[EVIL_BLOCK])),
    "codex: a field of a message": codex(item(type="message", role="assistant", content=[], tool_calls=[chat_call()])),
    "codex: a command that began": codex(item("event_msg", type="exec_command_begin", call_id="e1", command=["evil"])),
    "codex: a tool that began": codex(item("event_msg", type="mcp_tool_call_begin", call_id="e1", invocation={"tool": "evil"})),
    "codex: an end without an id": codex(item("event_msg", type="exec_command_end", command=["evil"])),
    "codex: a call as an event": codex(item("event_msg", **EVIL_CALL)),
    "codex: a call as a head": codex(item("session_meta", **EVIL_CALL)),
    "codex: a call in a summary": codex(item("compacted", message="s", replacement_history=[EVIL_CALL])),
    "gemini: a part": gemini({"id": "3", "type": "gemini", "content": [{"functionCall": {"name": "evil", "args": {}}}]}),
    "gemini: another type": gemini({"id": "3", "type": "tool_group", "tools": [{"name": "evil"}]}),
    "copilot: another event": copilot({"type": "assistant.tool", "data": {"name": "evil", "toolCallId": "e1"}}),
    "copilot: another tool under the id": copilot({"type": "tool.execution_start", "data": {"toolCallId": "s1", "toolName": "evil"}}),
    "copilot: a sub-agent that nobody called": copilot({"type": "subagent.started", "data": {"toolCallId": "e1", "agentName": "x"}}),
    "pi: a call of the user": pi({"type": "message", "id": "c", "parentId": "b", "message": {"role": "user", "content": [{"type": "toolCall", "name": "evil"}]}}),
    "pi: a message of an extension": pi({"type": "custom_message", "id": "c", "parentId": "b", "content": [{"type": "toolCall", "name": "evil"}]}),
    "anthropic: a list in the content": anthropic({"role": "assistant", "content": [[EVIL_BLOCK]]}),
    "anthropic: a reply beside": anthropic(response={"content": [EVIL_BLOCK]}),
    "anthropic: content beside": anthropic(content=[EVIL_BLOCK]),
    "responses: a part": responses({"type": "message", "role": "assistant", "content": [EVIL_BLOCK]}),
    "responses: a text": responses(json.dumps(EVIL_CALL)),
    "atif: a part": atif({"step_id": 3, "source": "agent", "message": [EVIL_BLOCK]}),
    "openhands: a message of a call": openhands(action="message", args={"content": "x"}, tool_call_metadata={"function_name": "evil", "tool_call_id": "e1"}),
    "swe_agent: a role": swe({"role": "robot", "tool_calls": [chat_call()]}),
    "swe_agent: a call of the user": swe({**ASKED, "tool_calls": [chat_call()]}),
    "mini_swe_agent: a role": mini({"role": "robot", "content": "```bash\nevil\n```"}),
    "mini_swe_agent: beside the actions": mini(says("x", tool_calls=[chat_call()], extra={"actions": [{"command": "ls"}]})),
    "inspect: calls that are no list": inspected(says("", tool_calls={"id": "e1", "function": "evil", "arguments": {}})),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_no_call_hides_in_a_session_of_another_format(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, HIDDEN[name])
    assert found["forbidden_tools[evil]"].status in ("fail", "unmeasured")
    assert found["checks[order]"].status in ("fail", "unmeasured")
    assert found["checks[known]"].status == "pass"


BARE = {
    "codex": codex(),
    "gemini": gemini(),
    "copilot": copilot(),
    "pi": pi({"type": "message", "id": "c", "parentId": "b", "message": {"role": "user", "content": "and?"}}),
    "anthropic": anthropic(),
    "responses": responses(),
    "atif": atif(),
    "openhands": openhands(action="message", args={"content": "done"}),
    "swe_agent": swe(ASKED),
    "mini_swe_agent": mini(ASKED),
    "inspect": inspected(PLAIN),
}


@pytest.mark.parametrize("name", BARE)
def test_nothing_is_held_against_a_session_that_hides_nothing(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, BARE[name])
    assert {found[one].status for one in (*NEGATIVE, "checks[known]")} == {"pass"}


def test_another_programs_session_proves_nothing_by_the_names_of_our_tools(tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text(json.dumps([ASKED, says(tool_calls=[chat_call("bash")]), DONE]), encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(HEAD + "expect: {forbidden_tools: [run_command]}\n", encoding="utf-8")
    report = load(tmp_path / "rules.yaml").evaluate(tmp_path / "session.json")
    assert [found.vacuous for found in report.findings if found.id == "forbidden_tools[run_command]"] == [True]
    assert "policy" not in report.reward_components
