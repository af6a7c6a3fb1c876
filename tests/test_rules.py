"""Combinators, common keys, packs and conditions through whole rule files: what each comes to, finding by finding."""

from pathlib import Path

import pytest
from logs import write_log
from test_cases import HEAD, checked, finding, session_of

from rulebook.api.linting import lint_file
from rulebook.api.loading import load

PASS, FAIL = "{contains: done}", "{contains: missing}"
UNSURE = "{file: {path: a.txt, exists: true}}"
SKIP = "{contains: done, when: turns > 99}"
SPOILED = "{contains: {from: {tool: nobody}, expected: x}}"
MISBEHAVES = "{misbehavior: {if: {contains: done}, reason: it cheated}}"

CASES: list[tuple[str, str, str, float | None]] = [
    # what is asked, the rule, the finding's status and score
    ("all passes", f"all: [{PASS}, {PASS}]", "pass", 1),
    ("a failure wins over unmeasured", f"all: [{UNSURE}, {FAIL}]", "fail", 0),
    ("all with an unmeasured part", f"all: [{PASS}, {UNSURE}]", "unmeasured", None),
    ("all of skipped parts", f"all: [{SKIP}, {SKIP}]", "skipped", None),
    ("all passes over skipped parts", f"all: [{SKIP}, {PASS}]", "pass", 1),
    ("a pass wins over unmeasured", f"any: [{UNSURE}, {PASS}]", "pass", 1),
    ("any with an unmeasured part", f"any: [{FAIL}, {UNSURE}]", "unmeasured", None),
    ("all with a mean", f"all: {{of: [{PASS}, {FAIL}], score: mean}}", "fail", 0.5),
    ("any with a mean", f"any: {{of: [{PASS}, {FAIL}], score: mean}}", "pass", 0.5),
    ("not of unmeasured", f"not: {UNSURE}", "unmeasured", None),
    ("not of skipped", f"not: {SKIP}", "skipped", None),
    ("not of what the student spoiled", f"not: {SPOILED}", "fail", 0),
    ("none passes", f"none: [{FAIL}, {FAIL}]", "pass", 1),
    ("none with a pass beside unmeasured", f"none: [{UNSURE}, {PASS}]", "fail", 0),
    ("none with unmeasured", f"none: [{FAIL}, {UNSURE}]", "unmeasured", None),
    ("none of what the student spoiled", f"none: [{SPOILED}]", "fail", 0),
    ("at least two, reached", f"at_least: {{count: 2, of: [{PASS}, {PASS}, {UNSURE}]}}", "pass", 1),
    ("at least two, out of reach", f"at_least: {{count: 2, of: [{FAIL}, {FAIL}, {UNSURE}]}}", "fail", 0),
    ("at least two, in doubt", f"at_least: {{count: 2, of: [{PASS}, {FAIL}, {UNSURE}]}}", "unmeasured", None),
    ("at least two, too few left", f"at_least: {{count: 2, of: [{PASS}, {SKIP}]}}", "unmeasured", None),
    ("at least one, half", f"at_least: {{count: 2, of: [{PASS}, {FAIL}]}}", "fail", 0.5),
    ("weighted", f"weighted: [{{contains: done, weight: 3}}, {FAIL}], threshold: 0.75", "pass", 0.75),
    ("a part of weight 0 counts nothing", f"weighted: [{PASS}, {{contains: missing, weight: 0}}], threshold: 1", "pass", 1),
    ("an unmeasured part of weight 0", "weighted: [{contains: done}, {file: {path: a.txt}, weight: 0}], threshold: 1", "pass", 1),
    ("an unmeasured part", f"weighted: [{PASS}, {UNSURE}], threshold: 0.1", "unmeasured", None),
    ("enough of the weight measured", f"weighted: {{of: [{{contains: done, weight: 4}}, {UNSURE}], min_measured: 0.8}}, threshold: 1", "pass", 1),
    ("too little of it measured", f"weighted: {{of: [{{contains: done, weight: 3}}, {UNSURE}], min_measured: 0.8}}, threshold: 1", "unmeasured", None),
    ("a required part that fails", f"weighted: [{{contains: missing, required: true}}, {PASS}], threshold: 0.1", "fail", 0),
    ("a required part of weight 0 unmeasured", f"weighted: [{{file: {{path: a}}, required: true, weight: 0}}, {PASS}], threshold: 0.1", "unmeasured", None),
    ("a sum with a penalty", "sum: [{contains: done, weight: 1}, {contains: done, weight: -0.5}], threshold: 0.5", "pass", 0.5),
    ("a sum whose penalty was spoiled", f"sum: [{PASS}, {{contains: {{from: {{tool: nobody}}, expected: x}}, weight: -1}}], threshold: 0.5", "fail", 0),
    ("a sum in a range", "sum: {of: [{contains: done, weight: 4}], range: [0, 8]}, threshold: 4", "pass", 0.5),
    ("sums are exact", "sum: [{contains: done, weight: 0.1}, {contains: done, weight: 0.2}], threshold: 0.3", "pass", 0.3),
    ("min", f"min: [{PASS}, {FAIL}], threshold: 0.5", "fail", 0),
    ("max", f"max: [{PASS}, {FAIL}], threshold: 0.5", "pass", 1),
    ("product", f"product: [{PASS}, {PASS}], threshold: 1", "pass", 1),
    ("mean of skipped and passed", f"mean: [{SKIP}, {PASS}], threshold: 1", "pass", 1),
    ("invert", f"invert: {FAIL}, threshold: 1", "pass", 1),
    ("invert of what the student spoiled", f"invert: {SPOILED}, threshold: 0.5", "fail", 0),
    ("formula", f"formula: {{let: {{a: {PASS}, b: {FAIL}}}, score: '0.7 * a + 0.3 * b'}}, threshold: 0.7", "pass", 0.7),
    ("formula over passes", f"formula: {{let: {{a: {PASS}, b: {FAIL}}}, score: '1 if a.passed and not b.passed else 0'}}, threshold: 1", "pass", 1),
    ("formula that reads a skipped part", f"formula: {{let: {{a: {SKIP}}}, score: a}}, threshold: 1", "unmeasured", None),
    ("formula that does not read an unmeasured part", f"formula: {{let: {{a: {PASS}, b: {UNSURE}}}, score: a}}, threshold: 1", "pass", 1),
    ("formula that divides by zero", f"formula: {{let: {{a: {PASS}, b: {FAIL}}}, score: a / b}}, threshold: 1", "unmeasured", None),
    ("formula over what the student spoiled", f"formula: {{let: {{a: {SPOILED}}}, score: 1 - a}}, threshold: 0.5", "fail", 0),
    ("first branch that holds", f"first: [{{when: turns > 99, then: {FAIL}}}, {{then: {PASS}}}]", "pass", 1),
    ("no branch holds", f"first: [{{when: turns > 99, then: {PASS}}}]", "skipped", None),
    ("a branch that cannot be told", f"first: [{{when: cost > 1, then: {PASS}}}, {{then: {PASS}}}]", "unmeasured", None),
    ("a condition that cannot be told", "contains: done, when: cost > 1", "unmeasured", None),
    ("misbehaviour", MISBEHAVES[1:-1], "misbehavior", 0),
    ("no misbehaviour", "misbehavior: {if: {contains: missing}, reason: x}", "skipped", None),
    ("misbehaviour that cannot be told", f"misbehavior: {{if: {UNSURE}, reason: x}}", "unmeasured", None),
    ("misbehaviour under any", f"any: [{MISBEHAVES}, {PASS}]", "misbehavior", 0),
    ("misbehaviour under not", f"not: {MISBEHAVES}", "misbehavior", 0),
    ("misbehaviour of weight 0", f"weighted: [{PASS}, {{misbehavior: {{if: {PASS}, reason: x}}, weight: 0}}], threshold: 1", "misbehavior", 0),
    ("misbehaviour behind the decision is not looked at", f"all: [{FAIL}, {MISBEHAVES}]", "fail", 0),
    ("misbehaviour where nothing stops", f"all: {{of: [{FAIL}, {MISBEHAVES}], stop: never}}", "misbehavior", 0),
    ("a rule over a rule", "all: [{rule: named}, {rule: named}]", "pass", 1),
    ("keys beside a rule replace its own", "rule: named, when: turns > 99", "skipped", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rule", "status", "score"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_comes_to(name: str, rule: str, status: str, score: float | None, tmp_path: Path) -> None:
    rules = f"checks:\n  named: {PASS}\n  a: {{{rule}}}\n"
    found = finding(checked(tmp_path, rules, session_of("all done")), "checks[a]")
    assert found.status == status
    assert found.score == (None if score is None else pytest.approx(score))


def test_the_parts_of_the_judge_are_no_findings_of_their_own(tmp_path: Path) -> None:
    rules = f"checks:\n  a: {PASS}\n  b: {{contains: missing, report: true, weight: 0}}\n  c: {PASS}\njudge: a or not b\n"
    report = checked(tmp_path, rules, session_of("all done"))
    assert [(f.id, f.status) for f in report.findings] == [
        ("session.ended", "pass"), ("checks[b]", "fail"), ("checks[c]", "pass"), ("judge", "pass"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("a and not b", "pass"), ("a & ~b", "pass"), ("b or (a and c)", "pass"), ("2 of them", "pass"), ("3 of them", "fail"),
        ("all of a*", "pass"), ("any of b*", "fail"), ("not (a and b)", "pass"), ("all of p.*", "pass"), ("p.x and a", "pass"),
    ],
)  # fmt: skip
def test_a_condition_comes_to(condition: str, status: str, tmp_path: Path) -> None:
    pack = "schema: rulebook.pack\nversion: 1\nname: long_name\nneeds: {params: [most]}\nchecks: {x: {expr: turns <= params.most}}\n"
    (tmp_path / "pack.yaml").write_text(pack, encoding="utf-8")
    rules = f"use: {{p: pack.yaml}}\nparams: {{most: {{type: integer, default: 5}}}}\nchecks:\n  a: {PASS}\n  b: {FAIL}\n  c: {PASS}\njudge: {condition!r}\n"
    report = checked(tmp_path, rules, session_of("all done"))
    assert finding(report, "judge").status == status
    assert all(d.severity != "error" for d in lint_file(str(tmp_path / "rules.yaml")).diagnostics)


def test_a_failed_judge_says_which_rule_failed_and_why(tmp_path: Path) -> None:
    rules = f"checks:\n  a: {PASS}\n  tested: {{contains: tests, why: Nobody ran them.}}\njudge: a and tested\n"
    found = finding(checked(tmp_path, rules, session_of("all done")), "judge")
    assert found.reason.startswith("`tested` did not pass (Nobody ran them.)")


@pytest.mark.parametrize(("given", "passed"), [({}, False), ({"most": 3}, True), ({"most": "3"}, True)])
def test_parameters_have_defaults_and_values(given: dict, passed: bool, tmp_path: Path) -> None:
    rules = "params: {most: {type: integer, default: 1}}\nchecks: {a: {expr: turns <= params.most}}\n"
    assert finding(checked(tmp_path, rules, session_of("one", "two", "three"), params=given), "checks[a]").passed is passed


def test_a_rule_that_runs_out_of_its_time(tmp_path: Path) -> None:
    slow = "regex: {patterns: ['(?:a?){25}a{25}$'], from: assistant}"
    text = "a" * 24 + "b"
    rules = f"checks:\n  a: {{{slow}, timeout: 0.2s}}\n  b: {{{slow}, timeout: 0.2s, on_timeout: unmeasured}}\n  c: {{not: {{{slow}}}, timeout: 0.2s}}\n"
    (tmp_path / "rules.yaml").write_text(HEAD + rules, encoding="utf-8")
    if not lint_file(str(tmp_path / "rules.yaml")).valid:
        pytest.fail("the slow pattern is refused, so this test proves nothing")
    report = checked(tmp_path, rules, session_of(text))
    assert [finding(report, f"checks[{name}]").status for name in "abc"] == ["fail", "unmeasured", "fail"]


def test_one_set_of_rules_judges_many_sessions(tmp_path: Path) -> None:
    checked(tmp_path, f"checks: {{a: {PASS}}}\n", session_of("done"))
    rules = load(tmp_path / "rules.yaml")
    write_log(tmp_path / "other.jsonl", session_of("not yet"))
    assert [rules.evaluate(tmp_path / name).passed for name in ("log.jsonl", "other.jsonl", "log.jsonl")] == [True, False, True]
