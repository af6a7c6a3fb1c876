"""Copilot CLI, pi and Hermes: the scrubbed sessions of third parties, and our own in detail."""

import json
from pathlib import Path

import pytest
from sessions_read import OWN, check_invariants, real_sessions, roles_of
from sessions_read import read as read_path

from rulebook.evidence.formats import detect
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of


def own(name: str) -> Transcript:
    return read_path(OWN / name)


def changed(tmp_path: Path, name: str, old: str, new: str) -> Transcript:
    """One of our own sessions with one thing in it changed."""
    text = (OWN / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "session"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read_path(path)


@pytest.mark.needs_shared
def test_counts_of_the_real_files() -> None:
    """Worked out by reading the three files; their manifest counts none of them."""
    folder = real_sessions() / "other_cli"
    files = {"copilot_small.jsonl": "1/2/4/3", "hermes_large.json": "1/1/2/1", "pi_small.jsonl": "0/2/2/0"}
    assert {path.name for path in folder.iterdir()} == set(files)
    assert {name: roles_of(read_path(folder / name).messages) for name in files} == files
    for name in files:
        check_invariants(read_path(folder / name), folder / name)


@pytest.mark.needs_shared
def test_a_copilot_session_that_went_on_after_its_shutdown() -> None:
    transcript = read_path(real_sessions() / "other_cli/copilot_small.jsonl")
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.usage.output) == (105, 15)
    assert not {"usage", "end"} & record_of(transcript).carries


@pytest.mark.needs_shared
def test_the_real_pi_and_hermes_sessions_end_as_their_last_reply_says() -> None:
    pi = read_path(real_sessions() / "other_cli/pi_small.jsonl")
    hermes = read_path(real_sessions() / "other_cli/hermes_large.json")
    assert (pi.end.reason, hermes.end.reason) == ("finished", "finished")
    assert pi.usage is not None
    assert (pi.usage.total, pi.cost.known) == (38, False)
    assert record_of(hermes).known_tools == {"shell"}


def test_copilot_calls_of_messages_and_of_tools_that_ran_unasked() -> None:
    transcript = own("copilot_cli/events.jsonl")
    record = record_of(transcript)
    assert [(call.name, call.arguments) for call in record.calls] == [
        ("view", {"path": "beds"}),
        ("shell", {"command": "rm -r beds"}),
        ("task", {"prompt": "weed"}),
        ("note", {"text": "done"}),
    ]
    assert record.calls[0].duration_s == 0.04
    assert transcript.messages[3].reasoning == "Look first."
    assert transcript.source.producer_version == "1.0.77"


def test_a_copilot_sub_agent_is_a_child_also_without_a_message(tmp_path: Path) -> None:
    record = record_of(own("copilot_cli/events.jsonl"))
    assert [(child.task, child.outcome, child.turns) for child in record.children.values()] == [
        ("weeder", "finished", 1)
    ]
    assert record.delegated == {"pull": 1}
    silent = changed(
        tmp_path,
        "copilot_cli/resumed.jsonl",
        '"type":"abort","data":{',
        '"type":"subagent.started","data":{"toolCallId":"k1",',
    )
    assert list(record_of(silent).children) == ["k1"]


def test_only_what_a_decision_denied_did_not_run(tmp_path: Path) -> None:
    approved = changed(tmp_path, "copilot_cli/events.jsonl", "denied-interactively-by-user", "approved")
    assert [call.status for call in record_of(approved).calls] == ["ok", "error", "ok", "ok"]


def test_copilot_tokens_by_kind_leave_the_cache_out_of_the_input() -> None:
    usage = own("copilot_cli/resumed.jsonl").usage
    assert usage is not None
    assert (usage.input, usage.cache_read) == (40, 10)


def test_a_routine_shutdown_is_an_end_only_after_a_whole_reply(tmp_path: Path) -> None:
    unanswered = changed(tmp_path, "copilot_cli/events.jsonl", '"toolCallId":"k4","success":true', '"success":true')
    assert unanswered.end.reason == "finished"
    text = (OWN / "copilot_cli/events.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "cut.jsonl"
    path.write_text("".join([*text[:6], text[-1]]), encoding="utf-8")
    end = read_path(path).end
    assert (end.reason, end.raw) == ("unknown", "session.shutdown:routine")


def test_a_shutdown_with_an_error_is_one(tmp_path: Path) -> None:
    failed = changed(
        tmp_path, "copilot_cli/events.jsonl", '"shutdownType":"routine"', '"shutdownType":"error","errorReason":"crash"'
    )
    assert (failed.end.reason, failed.end.detail) == ("errored", "crash")


@pytest.mark.parametrize("name", ["copilot_cli/unread.jsonl", "pi/unread.jsonl", "hermes/unread.json"])
def test_what_may_not_have_been_read_leaves_its_facts_open(name: str) -> None:
    assert not {"messages", "tool_calls", "results", "usage"} & record_of(own(name)).carries


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("copilot_cli/events.jsonl", '"type":"assistant.message","data":{"content":"Looking."', '"type":"assistant.massage","data":{"content":"x"'),
        ("copilot_cli/events.jsonl", '"name":"view"', '"nome":"view"'),
        ("pi/session.jsonl", '"type":"toolCall","id":"q1"', '"type":"toolCoil","id":"q1"'),
        ("pi/session.jsonl", '"name":"read"', '"nome":"read"'),
        ("pi/session.jsonl", '"id":"n4","parentId":"n3"', '"id":"n4","parentId":"x3"'),
        ("hermes/session.json", '"role": "assistant",\n   "content": "Looking."', '"role": "assistent",\n   "content": "Looking."'),
        ("hermes/session.json", '"name": "shell",\n      "arg', '"nome": "shell",\n      "arg'),
    ],
)  # fmt: skip
def test_a_call_that_is_broken_never_disappears(name: str, old: str, new: str, tmp_path: Path) -> None:
    assert "tool_calls" not in record_of(changed(tmp_path, name, old, new)).carries


def test_pi_goes_on_with_the_branch_of_its_last_record() -> None:
    transcript = own("pi/session.jsonl")
    assert [m.text for m in transcript.messages if m.role == "user"] == ["Plant.", "Water it.", "It rains."]
    assert [m.text for m in transcript.threads[0].messages if m.role == "user"] == ["Burn it."]
    record = record_of(transcript)
    assert record.delegated == {"bash": 1}
    assert (record.spend.amount, record.spend.known) == (1.0, True)
    assert (transcript.session_id, transcript.parent_session) == ("leaf-1", "leaf-0")
    assert transcript.messages[1].reasoning == "Look first."


def test_pi_tokens_spent_beside_the_conversation_count(tmp_path: Path) -> None:
    tokens = json.dumps({"input": 1000, "output": 1, "cost": {"total": 2.0}})
    transcript = changed(tmp_path, "pi/session.jsonl", '"summary":"a garden"', f'"summary":"a garden","usage":{tokens}')
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.cost.value) == (1102, 3.0)


def test_pi_without_every_price_has_no_cost(tmp_path: Path) -> None:
    assert not changed(tmp_path, "pi/session.jsonl", '"cost":{"total":0.5}', '"cost":{"total":0}').cost.known


def test_pi_parents_in_a_circle_end(tmp_path: Path) -> None:
    transcript = changed(tmp_path, "pi/session.jsonl", '"id":"n2","parentId":"n1"', '"id":"n2","parentId":"n12"')
    assert len(transcript.messages) == 7


def test_heads_are_recognised() -> None:
    for name in ("copilot_cli/events.jsonl", "pi/session.jsonl", "hermes/session.json"):
        data = (OWN / name).read_bytes()
        assert detect(data).name == detect(data[:220]).name == name.partition("/")[0]


def of_lines(tmp_path: Path, *records: dict[str, object]) -> Transcript:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return read_path(path)


def copilot(*events: tuple[str, dict[str, object]]) -> list[dict[str, object]]:
    begun = ("session.start", {"sessionId": "s", "selectedModel": "garden"})
    return [{"type": kind, "id": str(nth), "data": data} for nth, (kind, data) in enumerate((begun, *events))]


def pi(*messages: dict[str, object]) -> list[dict[str, object]]:
    told: list[dict[str, object]] = [{"type": "message", "message": message} for message in messages]
    return [{"type": "session", "id": "s", "timestamp": "x", "cwd": "/"}, *told]


def test_copilot_threads_leave_the_end_alone(tmp_path: Path) -> None:
    crash = ("session.error", {"message": "gone"})
    asked = ("user.message", {"content": "Dig."})
    assert of_lines(tmp_path, *copilot(asked, crash)).end.reason == "errored"
    assert of_lines(tmp_path, *copilot(asked, crash, asked)).end.reason == "unknown"
    assert of_lines(tmp_path, *copilot(asked, crash, ("session.resume", {}))).end.reason == "unknown"
    beside = ("user.message", {"content": "Weed.", "parentToolCallId": "k"})
    assert of_lines(tmp_path, *copilot(asked, crash, beside)).end.reason == "errored"
    system = ("system.message", {"content": "Be kind."})
    assert of_lines(tmp_path, *copilot(asked, crash, system)).end.reason == "errored"


def test_copilot_models_go_with_the_session(tmp_path: Path) -> None:
    said = ("assistant.message", {"content": "Dug."})
    changed_to = ("session.model_change", {"newModel": "field"})
    assert of_lines(tmp_path, *copilot(said, changed_to, said)).models == ["garden", "field"]


@pytest.mark.parametrize(
    "broken",
    [
        ("tool.execution_start", {"toolCallId": "k", "arguments": {}}),
        ("tool.execution_complete", {"toolCallId": "k", "success": True}),
        ("assistant.message", {}),
        ("assistant.message", {"content": "", "toolRequests": {"name": "rm"}}),
        ("assistant.note", {"toolRequests": []}),
    ],
)
def test_copilot_events_that_are_broken_are_told(broken: tuple[str, dict[str, object]], tmp_path: Path) -> None:
    assert "tool_calls" in record_of(of_lines(tmp_path, *copilot(("assistant.message", {"content": ""})))).carries
    assert "tool_calls" not in record_of(of_lines(tmp_path, *copilot(broken))).carries


def test_copilot_shutdowns_without_every_count(tmp_path: Path) -> None:
    def usage(**data: object) -> object:
        return of_lines(tmp_path, *copilot(("session.shutdown", data))).usage

    assert usage(modelMetrics={"a": {"usage": {"inputTokens": 1}}}).total is None  # type: ignore[attr-defined]
    assert usage(tokenDetails={"input": {"tokenCount": 1}}) is None
    assert usage(modelMetrics={"a": {"requests": 2}}) is None
    later = [
        ("session.shutdown", {"tokenDetails": {k: {"tokenCount": n} for k in ("input", "output")}}) for n in (9, 3)
    ]
    kept = of_lines(tmp_path, *copilot(*later)).usage
    assert kept is not None
    assert kept.total == 18


def test_pi_usage_of_nothing_and_of_parts(tmp_path: Path) -> None:
    said: dict[str, object] = {"role": "assistant", "content": [{"type": "text", "text": "Dug."}], "stopReason": "stop"}
    whole = {**said, "usage": {"input": 5, "output": 1, "cacheRead": 2, "totalTokens": 8}}
    assert "usage" in record_of(of_lines(tmp_path, *pi(whole))).carries
    for tokens in ({"input": 0, "output": 0}, {"input": 5}, {"output": 5}, {"input": 5, "output": 1, "totalTokens": 8}):
        transcript = of_lines(tmp_path, *pi(whole, {**said, "usage": tokens}))
        carried = "usage" in record_of(transcript).carries
        assert carried == (tokens == {"input": 0, "output": 0})
    nothing = of_lines(tmp_path, *pi({**said, "usage": {"input": 0, "output": 0}}))
    assert [warning.code for warning in nothing.warnings] == ["usage_zero"]


def test_pi_records_that_are_broken_are_told(tmp_path: Path) -> None:
    asked: dict[str, object] = {"role": "user", "content": "Dig."}
    good = pi(asked)
    assert "messages" in record_of(of_lines(tmp_path, *good)).carries
    broken: list[dict[str, object]] = [
        {"type": "massage", "message": {"role": "assistant"}},
        {"message": {"role": "assistant"}},
        {"type": "message", "message": {"role": "oracle"}},
        {"type": "message", "message": "text"},
    ]
    for record in broken:
        assert "messages" not in record_of(of_lines(tmp_path, *good, record)).carries


def test_pi_conversations_begin_with_a_user_or_the_first_record(tmp_path: Path) -> None:
    def entry(entry_id: str, parent: str | None, role: str) -> dict[str, object]:
        return {"type": "message", "id": entry_id, "parentId": parent, "message": {"role": role, "content": "x"}}

    whole = [*pi(), entry("a", None, "user"), entry("b", "a", "assistant")]
    assert "messages" in record_of(of_lines(tmp_path, *whole, entry("c", None, "user"))).carries
    assert "messages" not in record_of(of_lines(tmp_path, *whole, entry("c", None, "assistant"))).carries


def test_pi_times_are_those_of_the_records(tmp_path: Path) -> None:
    record = {**pi({"role": "user", "content": "Dig.", "timestamp": 7})[1], "timestamp": "2026-03-01T10:00:00Z"}
    transcript = of_lines(tmp_path, pi()[0], record, pi({"role": "user", "content": "Dig.", "timestamp": 9})[1])
    assert [message.at_ms for message in transcript.messages] == [1772359200000, 9]
    assert transcript.source.places == "lines"


def test_what_hermes_says_is_not_enough_for_any_object(tmp_path: Path) -> None:
    for keys in ({"session_id": 1, "platform": 1}, {"session_id": 1, "session_start": 1}):
        head = json.dumps({**keys, "messages": [{"role": "user", "content": "Dig."}]})
        assert detect(head.encode()).name == "openai_chat"
