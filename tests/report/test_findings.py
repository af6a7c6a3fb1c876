"""Findings from traces, and the JSON report."""

import json
import math

import pytest
from judged_case import judged_of

import rulebook
from rulebook.expression.nodes import AllOf, Common, Not, Numeric
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Measurement, Misbehavior, Seen, Skipped, Unmeasured, binary
from rulebook.report.eval_report import eval_report, trace_json
from rulebook.report.findings import finding_from, finding_of
from rulebook.report.plain_json import canonical, plain

GROUP = AllOf(Common("all", "x.yaml", ("judge",), name="both"), ())


def made(outcome, **options):
    return finding_from("checks[x]", "model", 1.0, outcome, **options)


def test_a_measurement_keeps_its_sides_and_its_place():
    seen = (Seen(offset=412, message=3, call=1), Seen(path="src/a.py", line=7), Seen(note="nowhere"), Seen())
    found = made(binary(False, "why not", expected="a", actual="b", seen=seen, metadata={"stdout": "x\n last \n\n"}))
    assert (found.status, found.passed, found.score, found.expected, found.actual) == (
        "fail",
        False,
        0.0,
        "a",
        "b",
    )
    assert found.at == (
        {"log": 412, "message": 3, "call": 1},
        {"path": "src/a.py", "line": 7},
        {"note": "nowhere"},
    )
    assert found.printed == "last"


def test_misbehaviour_scores_0_and_does_not_pass():
    found = made(Misbehavior("a link"))
    assert (found.status, found.passed, found.score, found.reason) == ("misbehavior", False, 0.0, "a link")


def test_unmeasured_keeps_the_category_of_its_check_and_has_no_numbers():
    found = made(Unmeasured("harness", "no log"))
    assert (found.category, found.status, found.passed, found.score) == ("model", "unmeasured", None, None)


def test_skipped_counts_nowhere_but_a_skipped_judge_has_judged_nothing():
    assert made(Skipped()).status == "skipped"
    assert finding_from("judge", "model", 1.0, Skipped()).status == "unmeasured"


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_unmeasured(score):
    assert made(Measurement(score, True)).status == "unmeasured"


@pytest.mark.parametrize(
    ("score", "range", "share", "noted"),
    [
        (3, (0, 4), 0.75, False),
        (-1, (-1, 1), 0.0, False),
        (5, (0, 4), 1.0, True),
        (-0.5, None, 0.0, True),
        (1.4, None, 1.0, True),
    ],
)  # fmt: skip
def test_a_range_is_scaled_and_what_lies_outside_is_clamped_and_noted(score, range, share, noted):
    found = made(Measurement(score, True), range=range)
    assert found.score == share
    assert ("counts as" in found.reason) is noted


def test_a_vacuous_failure_is_a_failure():
    assert made(Measurement(0.0, False, vacuous=True)).vacuous is False
    assert made(Measurement(1.0, True, vacuous=True)).vacuous is True


def test_the_range_of_a_sum_comes_from_its_node():
    node = Numeric(Common("sum", "x.yaml", ()), "sum", (), range=(0.0, 10.0))
    assert finding_of("judge", "model", 1.0, Trace(node, Measurement(5.0, True))).score == 0.5


def test_a_rule_that_was_not_reached_is_no_finding():
    with pytest.raises(ValueError, match="was not evaluated"):
        finding_of("judge", "model", 1.0, Trace(GROUP, None))


def test_a_trace_keeps_every_part():
    parts = (
        Trace(GROUP, Unmeasured("harness", "no log")),
        Trace(GROUP, Misbehavior("a link")),
        Trace(GROUP, Skipped("its `when` did not hold")),
        Trace(GROUP, None),
    )
    shown = trace_json(Trace(Not(Common("not", "x.yaml", ()), GROUP), binary(True), parts))
    assert (shown["kind"], shown["outcome"], shown["score"]) == ("not", "measured", 1.0)
    assert [part["outcome"] for part in shown["parts"]] == [
        "unmeasured",
        "misbehavior",
        "skipped",
        "not reached",
    ]
    assert [part["score"] for part in shown["parts"]] == [None, 0.0, None, None]
    assert shown["parts"][0]["name"] == "both"


def test_the_report_has_the_fields_of_its_format_and_no_other():
    report = eval_report(judged_of({"findings": [{"id": "x", "category": "model", "status": "pass"}]}))
    assert set(report) == {
        "schema", "version", "producer", "name", "spec", "session", "source", "base_commit", "repository",
        "config_sha256", "sandbox_sha256", "sandbox_driver", "provenance", "audit", "measured", "passed",
        "score", "reward", "floor", "reward_components", "reward_weights", "findings", "trace",
    }  # fmt: skip
    assert (report["schema"], report["version"]) == ("chock.eval-report", 1)
    assert report["producer"] == {"name": "rulebook", "version": rulebook.__version__}
    assert set(report["findings"][0]) == {
        "id", "category", "status", "passed", "score", "expected", "actual", "reason", "vacuous", "at", "no_place", "read",
    }  # fmt: skip
    assert set(report["audit"]) == {"verdict", "events", "sha256", "head"}
    assert report["reward_weights"]["test"] == 1.0


def test_the_same_evidence_gives_the_same_bytes():
    case = {"findings": [{"id": "x", "category": "model", "status": "fail", "actual": {"b": 1, "a": {3, 1, 2}}}]}
    first, second = canonical(eval_report(judged_of(case))), canonical(eval_report(judged_of(case)))
    assert first == second
    assert list(json.loads(first)) == sorted(json.loads(first))
    assert first.endswith("}\n")


def test_any_evidence_can_be_written():
    deep = []
    for _ in range(5000):
        deep = [deep]
    odd = {"nan": math.nan, "lone": "\ud800", 3: b"\xff", "deep": deep, "object": Seen()}
    written = canonical({"actual": odd})
    read = json.loads(written.encode("utf-8"), parse_constant=lambda word: pytest.fail(word))
    assert read["actual"]["nan"] == "nan"
    assert read["actual"]["lone"] == "\\ud800"
    assert read["actual"]["3"] == "\\xff"


def test_plain_leaves_what_json_can_hold():
    assert plain({"a": [1, 2.5, None, True, "x"]}) == {"a": [1, 2.5, None, True, "x"]}
