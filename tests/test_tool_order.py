"""Checks over calls and their order: sub-agents, what is not known of an order, cost, and laws against plain definitions."""

import sys
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulebook.checks.max_tool_calls import MaxToolCalls
from rulebook.checks.required_tools import RequiredTools
from rulebook.checks.sequence import Sequence
from rulebook.checks.tool_calls import ToolCalls
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Call, EndRecord, Record
from rulebook.evidence.trajectory import matched
from rulebook.evidence.transcript import End, Message, SideEvent, Source, Thread, ToolCall, ToolResult, Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.interpreter.evaluate import measured
from rulebook.outcome import Measurement, Outcome, Unmeasured
from rulebook.services.ports import machine_ports

PORTS = machine_ports()


def asks(index: int, *calls: tuple[str, str, dict]) -> Message:
    return Message(index, "assistant", tool_calls=tuple(ToolCall(id, name, args, "{}") for id, name, args in calls))


def answers(index: int, call_id: str) -> Message:
    return Message(index, "tool", tool_result=ToolResult(call_id, "done", is_error=False))


def session(*threads: Thread, events: tuple[SideEvent, ...] = (), last: str = "fetch_url") -> Record:
    """A session that reads, starts a sub-agent by the call `t`, and then calls `last`."""
    messages = [
        asks(0, ("r", "read_file", {"path": "a"})),
        answers(1, "r"),
        asks(2, ("t", "spawn_agent", {})),
        answers(3, "t"),
        asks(4, ("f", last, {})),
        answers(5, "f"),
    ]
    source = Source("claude_code", "x.jsonl", "0" * 64)
    transcript = Transcript(source, messages=messages, threads=list(threads), events=list(events), end=End("finished"))
    return record_of(transcript)


def came(check: Sequence | ToolCalls | RequiredTools | MaxToolCalls, record: Record) -> Outcome:
    return measured(check, check.owner(), Evidence(record=record), PORTS)


def passed(check: Sequence | ToolCalls | RequiredTools | MaxToolCalls, record: Record) -> bool:
    outcome = came(check, record)
    assert isinstance(outcome, Measurement), outcome
    return outcome.passed


def child(*names: str, parent: str | None = "t", id: str = "s1") -> Thread:
    calls = [(f"{id}-{number}", name, {"path": "k.env"}) for number, name in enumerate(names)]
    return Thread(id, [asks(0, *calls)], parent_call_id=parent)


def order(kind: str, **steps: object) -> Sequence:
    return Sequence.model_validate({kind: steps})


def test_a_call_of_a_sub_agent_is_forbidden_too_and_its_thread_is_named() -> None:
    rule = ToolCalls.model_validate({"max": 0, "calls": [{"name": "curl", "arguments": {"path": {"glob": "*.env"}}}]})
    outcome = came(rule, session(child("grep", "curl")))
    assert isinstance(outcome, Measurement)
    assert not outcome.passed
    assert [(s.call_id, s.note) for s in outcome.seen] == [("s1-1", "in the thread of the sub-agent `s1`")]
    assert "in the sub-agent `s1`, id `s1-1`" in outcome.reason
    assert passed(rule, session(child("grep")))


def test_calls_of_sub_agents_count_for_budgets_and_for_what_is_required() -> None:
    record = session(child("grep", "curl"))
    assert passed(RequiredTools(names=("curl", "read_file")), record)
    assert not passed(RequiredTools(names=("wget",)), record)
    assert passed(MaxToolCalls(calls=5), record)
    assert not passed(MaxToolCalls(calls=4), record)


def test_a_trajectory_is_the_sessions_own() -> None:
    own = ["read_file", "spawn_agent", "fetch_url"]
    assert passed(ToolCalls.model_validate({"order": "exact", "calls": own}), session(child("curl")))
    assert not passed(ToolCalls.model_validate({"calls": ["read_file", "curl"]}), session(child("curl")))


def test_a_sub_agents_calls_stand_behind_the_call_that_started_it() -> None:
    leak = order("never_after", once={"any_argument": {"glob": "*.env"}}, then="fetch_url")
    assert not passed(leak, session(child("cat")))
    assert passed(leak, session(child("cat"), last="grep"))
    assert passed(order("before", first="read_file", then="cat"), session(child("cat")))
    assert not passed(order("before", first="fetch_url", then="cat"), session(child("cat")))
    nested = child("cat", parent="s1-0", id="s2")
    assert not passed(leak, session(child("spawn_agent"), nested))
    assert not passed(order("never_after", once="cat", then="curl"), session(child("spawn_agent", "curl"), nested))


def test_a_thread_that_nothing_started_stands_in_no_known_order() -> None:
    leak = order("never_after", once="cat", then="fetch_url")
    outcome = came(leak, session(child("cat", parent=None)))
    assert isinstance(outcome, Unmeasured)
    assert outcome.category == "harness"
    assert "does not say when a sub-agent made its calls" in outcome.reason
    assert passed(leak, session(child("cat", parent=None), last="grep"))
    assert not passed(leak, session(child("cat", "fetch_url", parent=None), last="grep"))
    two = session(child("cat", parent=None), child("fetch_url", parent=None, id="s2"), last="grep")
    assert isinstance(came(leak, two), Unmeasured)


def test_events_of_a_foreign_session_stand_among_its_calls_as_far_as_it_tells() -> None:
    assert not passed(order("never_after", once={"event": "session.start"}, then="fetch_url"), session())
    assert passed(order("never_after", once={"event": "session.end"}, then="fetch_url"), session())
    told = order("never_after", once={"event": "tool.result", "data": {"call_id": "t"}}, then="fetch_url")
    assert not passed(told, session())
    assert passed(order("never_after", once={"event": "tool.result", "data": {"call_id": "f"}}, then="fetch_url"), session())
    squeezed = session(events=(SideEvent("compaction", {"summary": "x"}),))
    squeezed.possible_events = None
    outcome = came(order("never_after", once={"event": "compaction"}, then="fetch_url"), squeezed)
    assert isinstance(outcome, Unmeasured)
    assert "does not say when a `compaction` event happened" in outcome.reason
    assert passed(order("never_after", once={"event": "compaction"}, then="curl"), squeezed)


def test_a_message_of_a_sub_agent_stands_in_no_known_order() -> None:
    said = order("never_after", once={"event": "message", "data": {"thread": "s1"}}, then="fetch_url")
    assert isinstance(came(said, session(child("cat"))), Unmeasured)


def flat(names: list[str], **arguments: object) -> Record:
    calls = [Call(n, f"c{n}", name, dict(arguments), "{}", "", "ok", message=n) for n, name in enumerate(names)]
    counts = {name: names.count(name) for name in set(names)}
    ends = [EndRecord(End("finished"))]
    return Record(calls=calls, tool_counts=counts, call_count=len(calls), turns=1, ends=ends)


@pytest.mark.parametrize("match", ["partial", "exact"])
def test_arguments_however_deep_are_compared(match: str) -> None:
    deep: object = "bottom"
    for _ in range(100_000):
        deep = [deep]
    record = flat(["a", "b"], x=deep)
    within = {"max": 0, "args_match": match, "calls": [{"any_argument": "bottom"}]}
    assert not passed(ToolCalls.model_validate(within), record)
    assert passed(ToolCalls.model_validate({**within, "calls": [{"arguments": {"x": {"equals": [[1]]}}}]}), record)
    flow = order("never_after", once={"tool": "a", "as": "r"}, then={"tool": "b", "arguments": {"x": {"from": "r.arguments.x"}}})
    assert passed(flow, record)


RULES = {
    "order": ToolCalls.model_validate({"calls": ["a", "b", "c"]}),
    "any order": ToolCalls.model_validate({"order": "any_order", "calls": ["a"] * 100 + ["c"] * 100}),
    "forbidden": ToolCalls.model_validate({"max": 0, "calls": [{"any_argument": {"matches": r"git (show|log) --all"}}]}),
    "never after": order("never_after", once="a", then="d"),
    "data flow": order("before", first={"tool": "a", "as": "r"}, then={"tool": "b", "arguments": {"n": {"from": "r.arguments.n"}}}),
    "follows": order("follows", each="a", by="b", within=3),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_cost_grows_with_the_calls_and_no_faster(rule: Sequence | ToolCalls) -> None:
    def steps(size: int) -> int:
        """How many functions are called to measure so many pairs of calls."""
        record = flat(["a", "b"] * size)
        for call in record.calls:
            call.arguments = {"n": call.index // 2, "command": "ls -l"}
        evidence, counted = Evidence(record=record), [0]

        def count(_: object, what: str, __: object) -> None:
            counted[0] += what == "call"

        sys.setprofile(count)
        try:
            outcome = measured(rule, rule.owner(), evidence, PORTS)
        finally:
            sys.setprofile(None)
        assert isinstance(outcome, Measurement)
        return counted[0]

    steps(10)
    assert steps(1_600) < 8.5 * steps(200)


def test_more_pairs_than_can_be_compared_are_the_sessions_own_doing() -> None:
    rule = order("never_after", once={"tool": "a", "as": "r"}, then={"tool": "b", "any_argument": {"contains": {"from": "r.arguments.n"}}})
    record = flat(["a", "b"] * 800)
    for call in record.calls:
        call.arguments = {"n": f"<{call.index}>"}
    outcome = came(rule, record)
    assert isinstance(outcome, Measurement)
    assert (outcome.student_fault, outcome.cause, outcome.passed) == (True, "excess", False)


fits = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=4)


@given(table=fits, order=st.sampled_from(["in_order", "exact", "any_order"]), extra=st.booleans(), calls=st.integers(0, 4))
def test_a_match_is_found_where_there_is_one(table: list[list[bool]], order: str, extra: bool, calls: int) -> None:
    wanted = len(table)
    extra = extra and order != "exact"
    rows = [row for row in permutations(range(calls), wanted) if all(table[one][call] for one, call in enumerate(row))]
    rows = [row for row in rows if order == "any_order" or list(row) == sorted(row)]
    found = matched(order, wanted, calls, lambda one, call: table[one][call], allow_extra=extra)  # type: ignore[arg-type]
    assert found.whole == bool(rows and (extra or calls == wanted))
    assert len({call for _, call in found.pairs}) == len(found.pairs)
    assert all(table[one][call] for one, call in found.pairs)


calls_made = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1)), max_size=7)


@given(made=calls_made, flow=st.booleans(), fast=st.booleans(), within=st.integers(1, 3), together=st.booleans())
@settings(max_examples=200)
def test_orders_agree_with_their_definitions(
    made: list[tuple[str, int]], flow: bool, fast: bool, within: int, together: bool
) -> None:
    record = flat([name for name, _ in made])
    for call, (_, value) in zip(record.calls, made, strict=True):
        call.arguments = {"n": value}
    taken = {"n": {"from": "r.arguments.n"}} if fast else {"n": {"equals": {"from": "r.arguments.n"}, "any": True}}
    a: dict[str, object] = {"tool": "a", "as": "r"} if flow else {"tool": "a"}
    b: dict[str, object] = {"tool": "b", "arguments": taken} if flow else {"tool": "b"}
    places = [(n, name, value) for n, (name, value) in enumerate(made)]
    pairs = [(i, j) for i, x, v in places for j, y, w in places if x == "a" and y == "b" and (not flow or v == w)]
    before = all(any(j == at and i < j for i, j in pairs) for at, name, _ in places if name == "b")
    assert passed(order("before", first=a, then=b), record) == before
    assert passed(order("never_after", once=a, then=b, together=together), record) == (not any(i < j for i, j in pairs))
    soon = all(any(i == at and i < j <= i + within for i, j in pairs) for at, name, _ in places if name == "a")
    assert passed(order("follows", each=a, by=b, within=within), record) == soon
    late = all(any(i == at and i < j for i, j in pairs) for at, name, _ in places if name == "a")
    assert passed(order("follows", each=a, by=b), record) == late


def test_only_what_a_rule_asks_for_is_kept() -> None:
    assert not ToolCalls.model_validate({"calls": ["a"]}).wants().events
    assert not order("before", first="a", then="b").wants().events
    assert order("before", first="a", then={"event": "usage"}).wants().events == {"usage", "tool.call"}
    assert not order("before", first="a", then="b").wants().messages
