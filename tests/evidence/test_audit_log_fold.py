"""What the events of an audit log say of a session."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import SESSION, START_MS, log_lines, offsets, write_log
from msgspec.structs import replace

from rulebook.evidence.audit_log import read_log
from rulebook.evidence.log_network import host_of_action, host_of_fetch
from rulebook.evidence.record import EVERYTHING, Record, Wants
from rulebook.evidence.transcript import Usage
from rulebook.outcome import Seen
from rulebook.services.files import MachineFiles

Events = list[dict[str, object]]


def start(parent: str = "") -> dict[str, object]:
    return {"session.start": {"agent_kind": "main", "model_alias": "big", "parent_session": parent}}


def end(reason: str = "finished") -> dict[str, object]:
    return {"session.end": {"reason": reason, "detail": "why"}}


def says(role: str, *parts: object, **more: object) -> dict[str, object]:
    content = [part if isinstance(part, dict) else {"text": part} for part in parts]
    return {"message": {"role": role, "content": content, **more}}


def uses(call: str, tool: str = "bash", arguments: object = None) -> dict[str, object]:
    return {"tool_use": {"call_id": call, "tool": tool, "arguments": json.dumps(arguments or {})}}


def call(call: str, tool: str = "bash", arguments: object = None) -> dict[str, object]:
    return {"tool.call": {"call_id": call, "tool": tool, "arguments": json.dumps(arguments or {})}}


def result(call: str, output: str = "done", *, is_error: bool = False) -> dict[str, object]:
    return {"tool.result": {"call_id": call, "output": output, "is_error": is_error, "truncated": False}}


def request(action: str, call: str = "", reason: str = "because") -> dict[str, object]:
    texts = {"action": action, "summary": "", "detail": "", "reason": reason, "agent_kind": "main"}
    return {"approval.request": {**texts, "spawn_chain": [], "timeout_at_ms": 0, "tool_call_id": call}}


def response(decision: str, request_id: int = 0, **more: object) -> dict[str, object]:
    return {"approval.response": {"request_id": request_id, "decision": decision, "responder": "policy", **more}}


def fold(folder: Path, events: Events, wants: Wants = EVERYTHING, session_id: str | None = None) -> Record:
    reading = read_log(str(write_log(folder / "log.jsonl", events)), MachineFiles(), wants, session_id=session_id)
    assert reading.verdict == "intact"
    return reading.record


def at_of(events: Events, number: int) -> int:
    return offsets(log_lines(events))[number + 1]


def test_turns_are_assistant_messages_and_not_usage_events(tmp_path: Path) -> None:
    usage: dict[str, object] = {"usage": {}}
    events = [
        start(),
        usage,
        usage,
        says("assistant", ""),
        says("user", "go on"),
        usage,
        says("assistant", "ok"),
        end(),
    ]
    record = fold(tmp_path, events)
    assert (record.turns, record.event_counts["usage"], record.started) == (2, 3, True)
    assert record.usage == Usage(0, 0, 0, 0, requests=3)
    assert record.spend.unpriced == 3
    assert not record.spend.known


def test_the_last_end_counts_and_late_events_do_not_lengthen_the_session(tmp_path: Path) -> None:
    events = [start(), end("errored"), end("finished"), {"session.title": {"title": "t"}, "_time_ms": START_MS + 10**9}]
    record = fold(tmp_path, events)
    assert [e.end.reason for e in record.ends] == ["errored", "finished"]
    assert record.end is not None
    assert (record.end.end.reason, record.end.end.detail) == ("finished", "why")
    assert record.end.seen == Seen(offset=at_of(events, 2))
    assert (record.first_ms, record.last_ms) == (START_MS, START_MS + 2000)


def test_without_an_end_the_last_event_is_the_last_moment(tmp_path: Path) -> None:
    record = fold(tmp_path, [start(), says("assistant", "hm")])
    assert record.end is None
    assert record.last_ms == START_MS + 1000


def test_messages(tmp_path: Path) -> None:
    events = [
        start(),
        says("system", "be brief"),
        says("user", "one", "two"),
        says("assistant", {"reasoning": {"text": "think", "signature": "s"}}, "I look", uses("c1", "grep", {"p": "x"}),
             model_alias="big"),
        says("tool", {"tool_result": {"call_id": "c1", "output": "found", "is_error": False}},
             {"tool_result": {"call_id": "c2", "output": "bad", "is_error": True}}),
        says("developer", "unheard of"),
        says("assistant", {"image": {"call_id": "", "media_type": "image/png", "data": ""}}),
    ]  # fmt: skip
    record = fold(tmp_path, events)
    assert [m.index for m in record.messages] == list(range(7))
    assert [m.role for m in record.messages] == ["system", "user", "assistant", "tool", "tool", "system", "assistant"]
    assert [m.text for m in record.messages[:3]] == ["be brief", "one\n\ntwo", "I look"]
    assistant = record.messages[2]
    assert (assistant.reasoning, assistant.model, assistant.at_ms) == ("think", "big", START_MS + 3000)
    assert (assistant.tool_calls[0].name, assistant.tool_calls[0].args) == ("grep", {"p": "x"})
    answers = [m.tool_result for m in record.messages if m.tool_result is not None]
    assert [(r.call_id, r.text, r.is_error) for r in answers] == [("c1", "found", False), ("c2", "bad", True)]
    assert record.turns == 2
    assert record.models == ["big"]


def test_calls_are_joined_with_their_results(tmp_path: Path) -> None:
    events = [
        start(),
        says("user", "go"),
        says("assistant", "a", uses("c1"), uses("c2")),
        call("c1", arguments={"command": "ls"}),
        result("c1", "files"),
        call("c2", "grep"),
        result("c2", "no", is_error=True),
        says("assistant", "b"),
        call("c3"),
        {"tool.call": {"call_id": "c4", "tool": "bash", "arguments": "[1"}},
        result("unheard-of"),
        end(),
    ]
    record = fold(tmp_path, events)
    told = [(c.index, c.id, c.name, c.status, c.result, c.turn, c.message) for c in record.calls]
    assert told == [
        (0, "c1", "bash", "ok", "files", 1, 1),
        (1, "c2", "grep", "error", "no", 1, 1),
        (2, "c3", "bash", "unfinished", None, 2, 2),
        (3, "c4", "bash", "unfinished", None, 2, 2),
    ]
    assert record.calls[0].arguments == {"command": "ls"}
    assert (record.calls[3].arguments, record.calls[3].arguments_raw) == (None, "[1")
    assert record.calls[0].duration_s == 1.0
    assert record.calls[0].offset == at_of(events, 3)
    assert (record.call_count, record.tool_counts) == (4, {"bash": 3, "grep": 1})
    assert record.first_call["grep"] == Seen(offset=at_of(events, 5), message=1, call=1, call_id="c2")


def test_a_call_id_used_again_belongs_to_the_later_call(tmp_path: Path) -> None:
    record = fold(tmp_path, [call("c"), call("c"), result("c", "second"), call("c"), result("c", "third")])
    assert [(c.status, c.result) for c in record.calls] == [
        ("unfinished", None), ("ok", "second"), ("ok", "third")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("decisions", "status", "refusals"),
    [
        (["allowed_by_policy"], "ok", 0),
        (["approved_by_user"], "ok", 0),
        (["approved_by_user_for_session"], "ok", 0),
        (["approved_by_review"], "ok", 0),
        (["denied_by_policy"], "refused", 1),
        (["refused_by_user"], "refused", 1),
        (["refused_by_review"], "refused", 1),
        (["review_unavailable"], "refused", 1),
        (["expired"], "refused", 1),
        (["expired", "approved_by_user"], "ok", 1),
        (["approved_by_the_moon"], "refused", 1),
        ([""], "refused", 1),
    ],
)
def test_only_known_decisions_permit(tmp_path: Path, decisions: list[str], status: str, refusals: int) -> None:
    decided = [response(word, action="tool.bash", tool_call_id="c") for word in decisions]
    record = fold(tmp_path, [start(), call("c"), *decided, result("c")])
    assert record.calls[0].status == status
    assert len(record.refusals) == refusals
    assert [a.decision for a in record.approvals] == decisions
    assert {a.tool for a in record.approvals} == {"bash"}


def test_a_refused_call_without_a_result_is_refused(tmp_path: Path) -> None:
    record = fold(tmp_path, [call("c"), response("expired", action="tool.bash", tool_call_id="c")])
    assert record.calls[0].status == "refused"


def test_a_response_takes_what_it_lacks_from_its_request(tmp_path: Path) -> None:
    events: Events = [start(), call("c"), request("tool.bash", "c", "it wants to")]
    events += [response("refused_by_user", at_of(events, 2)), result("c")]
    record = fold(tmp_path, events)
    approval = record.refusals[0]
    assert (approval.action, approval.tool, approval.reason) == ("tool.bash", "bash", "it wants to")
    assert approval.seen == Seen(offset=at_of(events, 3))
    assert record.calls[0].status == "refused"


def test_a_response_to_an_unknown_request_still_counts(tmp_path: Path) -> None:
    record = fold(tmp_path, [start(), response("refused_by_user", 12345)])
    assert [a.action for a in record.refusals] == [""]


def test_a_budget_that_was_not_raised_is_no_refusal(tmp_path: Path) -> None:
    events: Events = [start(), request("budget.raise")]
    events += [response("expired", at_of(events, 1)), end("budget_reached")]
    record = fold(tmp_path, events)
    assert record.refusals == []
    assert [a.action for a in record.approvals] == ["budget.raise"]


def test_usage_is_summed_with_the_cache(tmp_path: Path) -> None:
    cost = {"known": {"value": 0.25, "currency": "USD"}}
    events: Events = [
        {"usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 40, "cost": cost}},
        {"usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 7, "cost": {"free": True}}},
        {"usage": {"cost": {"known": {"value": 1, "currency": "USD"}}}},
    ]
    record = fold(tmp_path, events)
    assert record.usage == Usage(112, 47, 90, 7, requests=3)
    spend = record.spend
    assert (spend.amount, spend.currency, spend.priced, spend.free, spend.unpriced) == (1.25, "USD", 2, 1, 0)
    assert spend.known


@pytest.mark.parametrize(
    "cost",
    [
        None, {}, [], "free", 0, {"unknown": True}, {"free": False}, {"free": 1}, {"known": 0.5}, {"known": {}},
        {"known": {"value": "1", "currency": "USD"}}, {"known": {"value": 1.0}},
        {"known": {"value": True, "currency": "USD"}},
        {"known": {"value": -1.0, "currency": "USD"}}, {"known": {"value": 1.0, "currency": ""}}, {"rebate": True},
        {"known": {}, "free": True},
    ],
)  # fmt: skip
def test_a_cost_that_is_not_known_is_unknown_and_not_zero(tmp_path: Path, cost: object) -> None:
    spend = fold(tmp_path, [{"usage": {"cost": cost}}]).spend
    assert (spend.amount, spend.priced, spend.free, spend.unpriced, spend.known) == (0.0, 0, 0, 1, False)


def test_two_currencies_are_never_added(tmp_path: Path) -> None:
    costs = [{"known": {"value": 1.0, "currency": c}} for c in ("USD", "EUR", "USD")]
    spend = fold(tmp_path, [{"usage": {"cost": cost}} for cost in costs]).spend
    assert (spend.amount, spend.currency, spend.mixed, spend.known) == (2.0, "USD", True, False)


def test_no_usage_event_is_no_usage(tmp_path: Path) -> None:
    record = fold(tmp_path, [start()])
    assert record.usage is None
    assert not record.spend.known


@pytest.mark.parametrize(
    "names", [("config_hash", "sandbox_hash", "sandbox_driver"), ("config_sha256", "sandbox_sha256", "driver")]
)
def test_configurations(tmp_path: Path, names: tuple[str, str, str]) -> None:
    said = dict(zip(names, ("aa", "bb", "native"), strict=True))
    more = {"provider": "local", "model": "m-1", "seed": 7, "tools": ["bash", "grep"]}
    events: Events = [{"session.config": {**said, **more}}, {"session.config": {"config_hash": None}}]
    record = fold(tmp_path, events)
    first, second = record.configs
    assert (first.config_sha256, first.sandbox_sha256, first.sandbox_driver) == ("aa", "bb", "native")
    assert (second.config_sha256, second.sandbox_sha256, second.offset) == (None, None, at_of(events, 1))
    assert (record.provider, record.models, record.seed) == ("local", ["m-1"], 7)
    assert record.known_tools == {"bash", "grep"}


def test_subagents(tmp_path: Path) -> None:
    def complete(child: str, outcome: str) -> dict[str, object]:
        named = {"child_session": child, "child_agent_kind": "helper"}
        return {"agent.complete": {**named, "outcome": outcome, "result": "", "scratchpad_path": ""}}

    spawns = [{"session.spawn": {"child_session": c, "child_agent_kind": "helper", "reason": f"do {c}"}} for c in "abc"]
    events = [
        *spawns,
        complete("a", "died"),
        end(),
        complete("a", "finished"),
        complete("b", "budget"),
        complete("z", "x"),
    ]
    children = fold(tmp_path, events).children
    assert {name: (child.task, child.outcome) for name, child in children.items()} == {
        "a": ("do a", "finished"), "b": ("do b", "budget"), "c": ("do c", None),
    }  # fmt: skip


def test_workspaces(tmp_path: Path) -> None:
    opened = {"kind": "worktree", "attempt": "x", "path": "/w", "base_commit": "a" * 40}
    record = fold(tmp_path, [{"workspace.open": opened}])
    assert [(w.path, w.base_commit, w.attempt) for w in record.workspaces] == [("/w", "a" * 40, "x")]


@pytest.mark.parametrize(
    ("action", "host"),
    [
        ("net.connect.com.anthropic.api.443", "api.anthropic.com"),
        ("net.connect.1.0.0.127.80", "127.0.0.1"),
        ("net.connect.localhost.80", "localhost"),
        ("net.connect.443", None),
        ("net.fetch.com.Example", "Example.com"),
        ("net.fetch.", None),
        ("tool.fetch_url", None),
        ("nix.net.com.example", None),
    ],
)
def test_hosts_of_actions(action: str, host: str | None) -> None:
    assert host_of_action(action) == host


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://Example.com:8443/x", "example.com"), ("http://u:p@a.b/", "a.b"), ("http://[::1]/", "::1"),
     ("http://[bad/", None), ("no address", None), (5, None)],
)  # fmt: skip
def test_hosts_of_fetches(url: object, host: str | None) -> None:
    assert host_of_fetch(json.dumps({"url": url})) == host


def test_arguments_that_are_no_object_name_no_host() -> None:
    assert [host_of_fetch(raw) for raw in ("", "[", "[1]", '"http://a.b"', "{}")] == [None] * 5


def test_hosts_come_from_summaries_approvals_and_fetches(tmp_path: Path) -> None:
    events: Events = [
        start(),
        call("c1", "fetch_url", {"url": "https://Fetched.example./page"}),
        result("c1"),
        call("c2", "fetch_url", {"url": "https://refused.example/"}),
        response("denied_by_policy", action="net.fetch.example.refused", tool_call_id="c2"),
        result("c2", is_error=True),
        call("c3"),
        request("net.connect.example.asked.443", "c3"),
    ]
    events += [
        response("approved_by_user", at_of(events, 7)),
        response("approved_by_user", action="net.connect.example.asked.443", tool_call_id="c3"),
        result("c3"),
        {"network.summary": {"granted": 3, "refused": 1, "hosts_complete": True, "hosts": [
            {"host": "LISTED.example", "port": 443, "granted": 2, "refused": 0},
            {"host": "tried.example", "port": 443, "granted": 0, "refused": 1},
        ]}},
        end(),
    ]  # fmt: skip
    network = fold(tmp_path, events).network
    assert {host: granted for host, (_, granted) in network.hosts.items()} == {
        "fetched.example": True, "refused.example": False, "asked.example": True, "listed.example": True,
        "tried.example": False,
    }  # fmt: skip
    assert network.hosts["asked.example"][0] == Seen(offset=at_of(events, 7))
    assert (network.summaries, network.granted, network.refused, network.hosts_complete) == (1, 3, 1, True)
    assert [approval.action for approval in network.permitted] == ["net.connect.example.asked.443"]


def test_a_program_that_was_kept_from_the_network_did_run(tmp_path: Path) -> None:
    refused = response("denied_by_policy", action="net.connect.example.443", tool_call_id="c")
    record = fold(tmp_path, [call("c"), refused, result("c")])
    assert record.calls[0].status == "ok"
    assert len(record.refusals) == 1


SUMMARY_COMPLETE = {"granted": 1, "refused": 0, "hosts_complete": True, "hosts": [{"host": "a.b", "granted": 1}]}


@pytest.mark.parametrize(
    ("summaries", "complete"),
    [
        ([], False),
        ([{"granted": 0, "refused": 0}], True),
        ([{}], True),
        ([{"granted": 2, "refused": 0}], False),
        ([{"granted": 0, "refused": 2}], False),
        ([{"granted": 2, "hosts_complete": True}], False),
        ([SUMMARY_COMPLETE], True),
        ([{**SUMMARY_COMPLETE, "hosts_complete": "yes"}], False),
        ([SUMMARY_COMPLETE, SUMMARY_COMPLETE], True),
        ([SUMMARY_COMPLETE, {"granted": 2}], False),
        ([{"granted": 2}, SUMMARY_COMPLETE], False),
        ([SUMMARY_COMPLETE, None], False),
    ],
)
def test_the_list_of_hosts_is_complete_when_every_run_says_so(
    tmp_path: Path, summaries: list[dict[str, object] | None], complete: bool
) -> None:
    events: Events = []
    for summary in summaries:  # None is a run that crashed before it could write one
        events += [{"session.config": {}}, *([] if summary is None else [{"network.summary": summary}])]
    assert fold(tmp_path, events).network.hosts_complete is complete


def test_a_line_of_another_session_is_a_stranger(tmp_path: Path) -> None:
    other = "01M8XKQ4T6ZJ5W3N9B2C7D1E0Z"
    events: Events = [start(), {**end(), "_session": other}, {**end(), "_session": "third"}]
    assert fold(tmp_path, events).stranger == (other, at_of(events, 1))
    assert fold(tmp_path, events[:1]).stranger is None
    assert fold(tmp_path, events[:1], session_id=other).stranger == (SESSION, 16)


def test_unknown_kinds_and_fields_are_kept_and_counted(tmp_path: Path) -> None:
    events: Events = [{"future.kind": {"a": 1}}, {"session.title": {"title": "t", "new": [1]}}, {"future.kind": {}}]
    record = fold(tmp_path, events)
    assert record.event_counts == {"future.kind": 2, "session.title": 1}
    assert record.first_event == {"future.kind": 16, "session.title": at_of(events, 1)}
    assert [(e.seq, e.name, e.data, e.offset) for e in record.events[:2]] == [
        (0, "future.kind", {"a": 1}, 16), (1, "session.title", {"title": "t", "new": [1]}, at_of(events, 1)),
    ]  # fmt: skip


def test_only_the_events_that_are_wanted_are_kept(tmp_path: Path) -> None:
    events: Events = [start(), says("assistant", "a"), call("c"), result("c"), end()]
    record = fold(tmp_path, events, Wants(events=frozenset(("tool.call",))))
    assert [(e.seq, e.name) for e in record.events] == [(2, "tool.call")]
    assert record.total_events == 5


parts = st.sampled_from(["text", {"reasoning": {"text": "r"}}, uses("c"), {"future": 1},
                         {"tool_result": {"call_id": "c", "output": "o", "is_error": False}}])  # fmt: skip
events = st.lists(
    st.one_of(
        st.builds(says, st.sampled_from(["user", "assistant", "tool", "x"]), parts, parts),
        st.builds(says, st.sampled_from(["user", "assistant", "tool"]), parts),
        st.builds(call, st.sampled_from("abc"), st.sampled_from(["bash", "fetch_url"]), st.just({"url": "http://a.b"})),
        st.builds(lambda c, e: result(c, is_error=e), st.sampled_from("abc"), st.booleans()),
        st.builds(
            lambda d, a, c: response(d, action=a, tool_call_id=c),
            st.sampled_from(["allowed_by_policy", "expired", "approved_by_user"]),
            st.sampled_from(["tool.bash", "net.fetch.b.a", "net.connect.b.a.1", "budget.raise"]),
            st.sampled_from("abc"),
        ),
        st.just(end()),
        st.just({"usage": {"input_tokens": 3, "cost": {"free": True}}}),
    ),
    max_size=30,
)


@given(events=events)
def test_what_is_kept_changes_no_count(tmp_path_factory: pytest.TempPathFactory, events: Events) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = fold(folder, events)
    lean = fold(folder, events, Wants())
    assert lean.messages == lean.calls == lean.approvals == lean.events == []  # type: ignore[comparison-overlap]
    blank: dict[str, Any] = {"messages": [], "calls": [], "approvals": [], "events": [], "refusals": [], "wants": None}
    assert replace(whole, **blank) == replace(lean, **blank)
    assert [r.decision for r in whole.refusals] == [r.decision for r in lean.refusals]
    assert [m.index for m in whole.messages] == list(range(len(whole.messages)))
    assert sum(m.role == "assistant" for m in whole.messages) == whole.turns
    assert whole.call_count == len(whole.calls)
    assert all(c.message is None or whole.messages[c.message].role == "assistant" for c in whole.calls)


OPTIONAL = {
    "message": ("model_alias", "injected", "hidden", "thread"),
    "usage": ("input_tokens", "cost", "cache_read_input_tokens"),
    "approval.response": ("action", "tool_call_id", "review_note"),
    "session.config": ("config_hash", "sandbox_hash", "sandbox_driver", "model", "provider", "seed", "tools"),
    "network.summary": ("granted", "refused", "hosts", "hosts_complete"),
    "session.end": ("raw",),
    "session.imported": ("transcript", "outcome", "warnings"),
    "unheard.of": ("x",),
}
REQUIRED: dict[str, dict[str, object]] = {
    "message": {"role": "assistant", "content": [{"text": "a"}]},
    "approval.response": {"request_id": 0, "decision": "expired", "responder": "p"},
    "session.end": {"reason": "finished", "detail": ""},
    "session.imported": {"from": "x", "source_path": "", "content_hash": "", "imported_ms": 1},
}
odd = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["host", "granted", "known", "value", "currency", "free"]), inner, max_size=3),
    ),
    max_leaves=4,
)


@given(data=st.data(), kind=st.sampled_from(sorted(OPTIONAL)))
def test_optional_fields_of_any_type_never_make_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str
) -> None:
    extra = data.draw(st.dictionaries(st.sampled_from(OPTIONAL[kind]), odd))
    path = write_log(
        tmp_path_factory.getbasetemp() / "odd.jsonl", [call("c"), {kind: {**REQUIRED.get(kind, {}), **extra}}, end()]
    )
    for wants in (EVERYTHING, Wants()):
        reading = read_log(str(path), MachineFiles(), wants)
        assert reading.verdict in ("intact", "imported", "undecodable")
        texts = [*reading.record.models, *(m.model for m in reading.record.messages if m.model is not None)]
        texts += [text for a in reading.record.approvals for text in (a.action, a.tool, a.reason)]
        assert all(isinstance(text, str) for text in texts)


def test_an_optional_field_of_the_wrong_type_is_undecodable(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", [response("expired", action=5)])
    reading = read_log(str(path), MachineFiles())
    assert reading.verdict == "undecodable"
    assert "`approval.response`: a field that may be left out" in reading.reason
