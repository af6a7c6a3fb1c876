"""Typing expressions: what the cases of `tests/linting/` do not show, such as the text as it should be written."""

import pytest

from rulebook.codes import CODES
from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.formula import Wanted, read_formula
from rulebook.languages.types import (
    ANYTHING,
    NUMBER,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Scope,
    Type,
    optional,
)

COUNT = Scalar("number", least=0)
USAGE_EVENT = RecordOf("an event `usage`", {"name": TEXT, "data": RecordOf("its data", {"cost": NUMBER})})
EVENT = RecordOf("an event", {"name": TEXT, "data": RecordOf("its data", {})}, narrow={"name": {"usage": USAGE_EVENT}})
NAMES: dict[str, Type] = {
    "turns": COUNT,
    "cost": optional(COUNT),
    "end_reason": Scalar("text", choices=("finished", "died")),
    "id": TEXT,
    "dirty": YES_NO,
    "usage": optional(RecordOf("`usage`", {"input_tokens": COUNT})),
    "events": ListOf(EVENT),
    "hosts": ListOf(TEXT),
    "row": RecordOf("the row", {"output": TEXT}, open=True),
    "arguments": MapOf(ANYTHING),
    "part": RecordOf("`part`", {"score": NUMBER, "passed": YES_NO}, value=NUMBER),
    "tool_calls": ListOf(RecordOf("a tool call", {"name": TEXT, "turn": COUNT, "duration_s": optional(COUNT)})),
}
SCOPE = Scope("the session", NAMES)


def faults_of(text: str, wanted: Wanted = "yes or no") -> tuple[Fault, ...]:
    try:
        return read_formula(text, wanted).faults(SCOPE)
    except LanguageError as error:
        return error.faults


@pytest.mark.parametrize(
    "text",
    [
        "known(cost) and cost < 1",
        "cost < 1 and known(cost)",
        "dirty and (known(cost) and turns > 1) and cost < 1",
        "not known(cost) or cost < 1",
        "not (not known(cost) or dirty) and cost < 1",
        "cost < 1 if known(cost) else dirty",
        "dirty if not known(cost) else cost < 1",
        "default(cost, 0) < 1",
        "known(usage) and usage.input_tokens > 3",
        "known(usage.input_tokens) and usage.input_tokens > 3",
        "any(events, \"name == 'usage' and data.cost > 1\")",
        "any(events, \"data.cost > 1 and 'usage' == name\")",
        "any(hosts, \"item == 'a'\") and 'b' in hosts",
        "arguments.path == 'a' and row.other > 3 and row['a b'] == 'c'",
        "part > 0.5 and part.passed and part.score < 1",
        "end_reason in ['finished', 'died'] and lower(end_reason) == 'x'",
        "abs(turns - 3) > 1 and max(turns, 3) > 4 and turns / 2 < 3",
        "json(id).a == 3 and json(id).b > 'x'",
        "count(tool_calls, 'known(duration_s) and duration_s > 1') > 3",
        "matches('a+b', id) and glob('*.py', id) and near(turns, 3, 1)",
    ],
)
def test_clean(text: str) -> None:
    assert faults_of(text) == ()


@pytest.mark.parametrize(
    ("text", "found", "mended"),
    [
        ("cst < 1", "cst", "cost < 1"),
        ("'é' == idd", "idd", "'é' == id"),
        ("any(tool_calls, \"'\\u00e9' == nme\")", "nme", "any(tool_calls, \"'\\u00e9' == name\")"),
        ("any(tool_calls, 'nme == \\'é\\'')", "nme", "any(tool_calls, 'name == \\'é\\'')"),
        ("any(tool_calls, name == 'a')", "name == 'a'", "any(tool_calls, \"name == 'a'\")"),
        ("any(events, 'any(hosts, \"itm == 1\")')", "hosts", None),
        ("any(tool_calls, 'turn = 3')", "=", "any(tool_calls, 'turn == 3')"),
        (
            "any(tool_calls, 'name.contains(\"a\")')",
            'name.contains("a")',
            "any(tool_calls, 'contains(name, \"a\")')",
        ),
        ("end_reason == 'finishd'", "'finishd'", "end_reason == 'finished'"),
        ("end_reason != 'finishd'", "'finishd'", "end_reason != 'finished'"),
        ("turns-turns == 1 and tool-calls == 1", "tool-calls", "turns-turns == 1 and tool_calls == 1"),
        ("cost == null", "cost == null", "not known(cost)"),
        ("a<>b", "<>", "a!=b"),
        ("dirty&&dirty", "&&", "dirty and dirty"),
        ("turns > 3 ? dirty : true", "turns > 3 ? dirty : true", "dirty if turns > 3 else true"),
        ("path('$.usage.input_tokns') == 3", ".input_tokns", "path('$.usage.input_tokens') == 3"),
        ("matches('[a', id)", "[", None),
        ("cost == 0.3 or dirty", "cost == 0.3", "known(cost) and near(cost, 0.3) or dirty"),
        ("not cost < 1", "cost", "not (known(cost) and cost < 1)"),
        ("id is not null", "id is not null", "known(id)"),
        ("id is empty", "id is empty", "len(id) == 0"),
        ("dirty is true", "dirty is true", "dirty == true"),
        ("id in 'ab'", "'ab'", "id in ['ab']"),
        ("id.length > 3", "length", None),
        ("dirty == True AND turns >= 1", "AND", "dirty == True and turns >= 1"),
    ],
)
def test_the_first_fault_and_how_it_is_mended(text: str, found: str, mended: str | None) -> None:
    first = faults_of(text)[0]
    assert text[first.start : first.end] == found
    assert first.mended == mended
    assert CODES[first.code].message.format(**first.words)


def test_hyphens_are_told_from_subtractions() -> None:
    assert [fault.code for fault in faults_of("turns-cost == 1 and tool-calls == 1")] == ["RB410", "RB404"]


@pytest.mark.parametrize(
    ("text", "wanted", "code"),
    [
        ("turns", "number", None),
        ("part", "number", None),
        ("row.other", "number", None),
        ("1 if dirty else 0", "number", None),
        ("dirty", "number", "RB408"),
        ("cost", "number", "RB410"),
        ("id", "anything", None),
        ("hosts", "anything", "RB408"),
        ("arguments.x", "yes or no", None),
        ("row", "anything", "RB408"),
        ("max(turns)", "number", "RB406"),
        ("max(turns, id)", "number", "RB406"),
        ("sum(hosts)", "number", "RB406"),
        ("sum(tool_calls, 'turn') + mean(tool_calls, 'turn')", "number", None),
        ("len(turns)", "number", "RB406"),
        ("contains(hosts, 3)", "yes or no", "RB407"),
        ("3 in id", "yes or no", "RB407"),
        ("id in turns", "yes or no", "RB407"),
        ("hosts == hosts", "yes or no", "RB407"),
        ("-id == 3", "yes or no", "RB407"),
        ("turns + 1 > 0", "yes or no", "RB409"),
        ("turns < -1", "yes or no", "RB409"),
        ("-turns > 0", "yes or no", "RB409"),
        ("turns * 2 >= 0", "yes or no", "RB409"),
        ("0 <= turns < 5", "yes or no", None),
        ("abs(turns - 5) >= 0", "yes or no", "RB409"),
        ("max(turns, 3) >= 3", "yes or no", "RB409"),
        ("min(turns, 3) >= 3", "yes or no", None),
        ("default(cost, 1) >= 0", "yes or no", "RB409"),
        ("cost >= 0", "yes or no", "RB410"),
        ("'a' == 'b'", "yes or no", "RB409"),
        ("matches('a*', id)", "yes or no", "RB421"),
        ("path('$.hosts[*]') == 'a'", "yes or no", "RB407"),
    ],
)
def test_one_code(text: str, wanted: Wanted, code: str | None) -> None:
    assert {fault.code for fault in faults_of(text, wanted)} == ({code} if code else set())


@pytest.mark.parametrize(
    "text",
    [
        "cost < 1",
        "dirty or cost < 1",
        "any(tool_calls, 'duration_s > 1')",
        "cost == 0.3",
        "turns <= 3 and cost != 0.25",
    ],
)
def test_what_a_message_advises_is_clean(text: str) -> None:
    for fault in faults_of(text):
        assert fault.mended is not None
        assert faults_of(fault.mended) == ()


def test_several_faults_in_one_go_and_in_order() -> None:
    faults = faults_of("cst < 1 and idd == 'a' and turns")
    assert [fault.code for fault in faults] == ["RB403", "RB403", "RB408"]
    faults = faults_of("frob(1) and id[0] == 'a' and lambda: 1")
    assert [fault.code for fault in faults] == ["RB411"]
    faults = faults_of("frob(1) and id[0] == 'a' and (lambda: 1) == 2")
    assert [fault.code for fault in faults] == ["RB405", "RB411", "RB411"]


def test_a_quoted_expression_is_told_what_it_can_read() -> None:
    (fault,) = faults_of("any(tool_calls, 'hosts == 3')")
    assert "fields of one item" in fault.help
