"""Scoring recorded work: the life of a step, and the one score that the steps make."""

import json
from pathlib import Path
from typing import Any

import pytest

from rulebook.errors import AuditGapError, MisbehaviorError, RuleFileError, UsageError
from rulebook.evidence.run_events import event_from
from rulebook.languages.formula import read_formula
from rulebook.outcome import Measurement, Misbehavior, Skipped, Unmeasured, binary
from rulebook.report.task_report import exit_status, render_task, task_report
from rulebook.report.task_scores import StepJudged, TaskJudged, task_score
from rulebook.services.collecting import budget_of
from rulebook.services.custody_terms import MAX_ENTRIES, MAX_TOTAL_BYTES
from rulebook.services.ports import machine_ports
from rulebook.services.transcript_log import TranscriptLog
from rulebook.session.task_scoring import Recorded, load_task, score_task
from rulebook.spec.steps import StepSpec, SubmissionSpec

PORTS = machine_ports()
HEAD = "schema: rulebook.task\nversion: 1\nname: x\n"
ANSWER = "submissions: {answer: {path: answer.txt%s}}, judge: {exact_match: {from: {submission: answer}, expected: '42'}}"
ONE = "steps: [{name: one, instructions: go, " + ANSWER + "}]\n"


def scored(folder: Path, text: str, said: str = "All done.", files: dict[str, str] | None = None, **options: Any) -> TaskJudged:
    (folder / "task.yaml").write_text(HEAD + text, encoding="utf-8")
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": said}]
    (folder / "session.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    for name, content in (files or {}).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content, encoding="utf-8")
    recorded = Recorded(str(folder / "session.json"), options.pop("submissions", str(work)))
    return score_task(load_task(str(folder / "task.yaml"), PORTS), recorded, PORTS, **options)


def outcomes(judged: TaskJudged) -> list[str]:
    return [step.status for step in judged.steps]


def test_a_right_answer_passes(tmp_path: Path) -> None:
    judged = scored(tmp_path, ONE % "", files={"answer.txt": "42\n"})
    assert (judged.total.score, judged.total.passed, exit_status(judged)) == (1.0, True, 0)


def test_a_wrong_answer_fails(tmp_path: Path) -> None:
    judged = scored(tmp_path, ONE % "", files={"answer.txt": "41\n"})
    assert (judged.total.score, judged.total.passed, exit_status(judged)) == (0.0, False, 3)


def test_what_is_judged_is_a_copy_that_is_gone_afterwards(tmp_path: Path) -> None:
    path = "judge: {exact_match: {from: {text: '{{ submissions.answer.path }}'}, expected: x}}"
    text = "steps: [{name: one, instructions: go, submissions: {answer: {path: answer.txt}}, " + path + "}]\n"
    outcome = scored(tmp_path, text, files={"answer.txt": "42"}).steps[0].outcome
    assert isinstance(outcome, Measurement)
    assert str(outcome.actual).endswith("/answer/answer.txt")
    assert not Path(str(outcome.actual)).exists()
    assert (tmp_path / "work" / "answer.txt").read_text() == "42"


@pytest.mark.parametrize(
    ("missing", "status", "score"),
    [("", "failed", 0.0), (", missing: judge", "failed", 0.0), (", missing: zero", "failed", 0.0), (", missing: misbehavior", "misbehavior", 0.0)],
)
def test_what_was_never_written(missing: str, status: str, score: float, tmp_path: Path) -> None:
    judged = scored(tmp_path, ONE % missing)
    assert (judged.steps[0].status, judged.total.score) == (status, score)


def test_missing_zero_leaves_the_judge_unread_and_judge_reads_it(tmp_path: Path) -> None:
    judge = "judge: {expr: not submissions.answer.exists}"
    text = "steps: [{name: one, instructions: go, submissions: {answer: {path: a%s}}, " + judge + "}]\n"
    assert outcomes(scored(tmp_path, text % "")) == ["passed"]
    zero = scored(tmp_path, text % ", missing: zero")
    assert zero.steps[0].trace is None
    assert isinstance(zero.steps[0].outcome, Measurement)
    assert zero.steps[0].outcome.student_fault


SCRIPT = """steps:
  - name: one
    instructions: go
    submissions: {answer: {path: answer.txt}}
    judge:
      executable:
        argv:
          - sh
          - -ec
          - 'grep -qx 42 "$0" && score=1 || score=0.25; test -e "$0"; echo "{\\"score\\": $score, \\"metadata\\": {}}" > "$1"'
          - '{{ submissions.answer.path }}'
          - '{{ score_file }}'
"""


def test_a_script_judges_the_copy_and_one_that_finds_nothing_there_scores_0(tmp_path: Path) -> None:
    right = scored(tmp_path, SCRIPT, files={"answer.txt": "42\n"})
    assert (outcomes(right), right.total.score) == (["passed"], 1.0)
    wrong = scored(tmp_path, SCRIPT, files={"answer.txt": "41\n"})
    assert (outcomes(wrong), wrong.total.score) == (["passed"], 0.25)  # every score of -1 or more goes on
    (tmp_path / "work" / "answer.txt").unlink()
    missing = scored(tmp_path, SCRIPT)
    assert (outcomes(missing), missing.total.score) == (["failed"], 0.0)


def test_misbehaviour_wins_over_zero(tmp_path: Path) -> None:
    text = """steps:
  - name: one
    instructions: go
    submissions: {a: {path: a, missing: zero}, b: {path: b, missing: misbehavior}}
    judge: {expr: submissions.a.exists and submissions.b.exists}
"""
    assert outcomes(scored(tmp_path, text)) == ["misbehavior"]


@pytest.mark.parametrize("limit", ["max_bytes: 1 B", "missing: judge"])
def test_more_than_may_be_handed_in_is_misbehaviour(limit: str, tmp_path: Path) -> None:
    judged = scored(tmp_path, ONE % f", {limit}", files={"answer.txt": "42"})
    assert outcomes(judged) == (["misbehavior"] if "1 B" in limit else ["passed"])


def test_entries_and_depth_of_a_folder_are_limited(tmp_path: Path) -> None:
    text = "steps: [{name: one, instructions: go, submissions: {site: {path: site%s}}, judge: {expr: submissions.site.kind == 'folder'}}]\n"
    files = {"site/a/b.html": "x", "site/c.html": "y"}
    assert outcomes(scored(tmp_path, text % "", files=files)) == ["passed"]
    assert outcomes(scored(tmp_path, text % ", max_entries: 3")) == ["passed"]
    assert outcomes(scored(tmp_path, text % ", max_entries: 2")) == ["misbehavior"]
    assert outcomes(scored(tmp_path, text % ", max_depth: 1")) == ["misbehavior"]


def test_all_files_of_a_folder_count_together(tmp_path: Path) -> None:
    text = "steps: [{name: one, instructions: go, submissions: {site: {path: site, max_bytes: %s}}, judge: {expr: submissions.site.exists}}]\n"
    files = {"site/a": "12", "site/b": "34"}
    assert outcomes(scored(tmp_path, text % "4 B", files=files)) == ["passed"]
    assert outcomes(scored(tmp_path, text % "3 B")) == ["misbehavior"]


def test_what_a_step_allows_one_by_one_it_allows_together() -> None:
    large = SubmissionSpec("a", "a", max_bytes=2 * MAX_TOTAL_BYTES, max_entries=2 * MAX_ENTRIES)
    budget = budget_of(StepSpec("one", (), None, (), (large,), (), None))
    budget.take(size_bytes=2 * MAX_TOTAL_BYTES, entries=2 * MAX_ENTRIES)
    with pytest.raises(MisbehaviorError):
        budget.take(size_bytes=1)
    with pytest.raises(MisbehaviorError):
        budget_of(StepSpec("one", (), None, (), (), (), None)).take(entries=MAX_ENTRIES + 1)


def test_a_link_to_the_answer_key_is_misbehaviour(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("42")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "answer.txt").symlink_to(tmp_path / "key")
    judged = scored(tmp_path, ONE % "")
    assert outcomes(judged) == ["misbehavior"]
    (step,) = task_report(judged)["steps"]
    assert "symlink" in step["metadata"]["misbehavior"]


TWO = """steps:
  - {name: one, instructions: go, judge: {regex: %s}}
  - {name: two, instructions: go, judge: {regex: %s}}
"""


def test_the_next_step_begins_only_when_one_has_passed(tmp_path: Path) -> None:
    assert outcomes(scored(tmp_path, TWO % ("done", "nope"))) == ["passed", "failed"]
    assert outcomes(scored(tmp_path, TWO % ("nope", "done"))) == ["failed", "not reached"]


def test_score_last_is_that_of_the_last_step_that_was_scored(tmp_path: Path) -> None:
    assert scored(tmp_path, TWO % ("done", "nope")).total.score == 0.0
    assert scored(tmp_path, TWO % ("done", "done")).total.score == 1.0
    assert scored(tmp_path, TWO % ("nope", "done")).total.score == 0.0


def test_one_step_alone_is_judged_whatever_came_before_it(tmp_path: Path) -> None:
    judged = scored(tmp_path, TWO % ("nope", "done"), only="two")
    assert [(step.name, step.status) for step in judged.steps] == [("two", "passed")]
    assert judged.total.passed
    assert "Only the step `two` was judged" in render_task(judged)


def test_a_step_that_is_skipped_counts_nowhere_and_stops_nothing(tmp_path: Path) -> None:
    text = """steps:
  - {name: one, instructions: go, judge: {regex: nope}, when: turns > 99}
  - {name: two, instructions: go, judge: {regex: done}}
score: mean
"""
    judged = scored(tmp_path, text)
    assert outcomes(judged) == ["skipped", "passed"]
    assert (judged.total.score, judged.total.passed) == (1.0, True)


def test_nothing_is_collected_for_a_step_that_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "answer.txt").symlink_to("/etc/passwd")
    text = "steps: [{name: one, instructions: go, when: turns > 99, " + ANSWER % "" + "}, {name: b, instructions: go, judge: {regex: done}}]\n"
    assert outcomes(scored(tmp_path, text)) == ["skipped", "passed"]


@pytest.mark.parametrize("step", ["judge: {regex: done}, when: cost > 1", "judge: {expr: cost > 1}", "judge: {regex: done, when: turns > 99}"])
def test_a_step_that_cannot_be_told_leaves_no_score(step: str, tmp_path: Path) -> None:
    text = "steps:\n  - {name: one, instructions: go, judge: {regex: done}}\n  - {name: two, instructions: go, " + step + "}\n"
    judged = scored(tmp_path, text + "score: mean\n")
    assert outcomes(judged) == ["passed", "unmeasured"]
    assert (judged.total.score, judged.total.passed, judged.total.partial_score) == (None, None, 0.5)
    assert "the step `two` could not be measured" in judged.total.why
    assert exit_status(judged) == 3


def test_a_judge_reads_what_the_steps_before_it_came_to(tmp_path: Path) -> None:
    text = """steps:
  - {name: one, instructions: go, judge: {regex: done}}
  - {name: two, instructions: go, judge: {expr: steps.one.score == 1 and steps.one.passed}, when: steps.one.score > 0.5}
"""
    assert outcomes(scored(tmp_path, text)) == ["passed", "passed"]


def run_of(*steps: str) -> list[dict[str, Any]]:
    """The events of a run in which this was said in its steps, one after the other."""
    events: list[dict[str, Any]] = [{"type": "task_started", "run_id": "r", "task_id": "t"}]
    for number, said in enumerate(steps):
        events.append({"type": "step_started", "step": number})
        events += [{"type": "message_added", "message": {"role": "user", "content": "Go."}}]
        events += [{"type": "message_added", "message": {"role": "assistant", "content": said}}]
        events.append({"type": "step_completed", "step": number})
    return [*events, {"type": "task_completed", "status": "passed", "score": 1.0}]


def test_a_step_sees_the_session_so_far_and_those_before_it(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(HEAD + TWO % ("late", "early"), encoding="utf-8")
    program = load_task(str(tmp_path / "task.yaml"), PORTS)
    session = tmp_path / "run.json"

    def found(*said: str) -> list[str]:
        session.write_text(json.dumps({"run_id": "r", "events": run_of(*said)}), encoding="utf-8")
        return outcomes(score_task(program, Recorded(str(session)), PORTS))

    assert found("early", "late") == ["failed", "not reached"]
    assert found("early, late", "nothing") == ["passed", "passed"]
    assert outcomes(score_task(program, Recorded(str(session)), PORTS, only="two")) == ["passed"]


def test_a_transcript_that_was_appended_to_as_the_run_went(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(HEAD + TWO % ("early", "late"), encoding="utf-8")
    program, path = load_task(str(tmp_path / "task.yaml"), PORTS), tmp_path / "run.jsonl"
    with TranscriptLog(path, "r") as log:
        for event in run_of("early", "late")[:-1]:
            log.append(event_from(event))
    judged = score_task(program, Recorded(str(path)), PORTS)
    assert (outcomes(judged), judged.session) == (["passed", "passed"], "r")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "mess')  # killed while it wrote: what the last step said is not known for sure
    assert outcomes(score_task(program, Recorded(str(path)), PORTS)) == ["passed", "unmeasured"]


def test_parameters_of_a_case_and_of_the_caller(tmp_path: Path) -> None:
    text = """params: {word: {type: string, default: nope}, n: {type: integer, default: 1}}
cases: [{name: a, word: done}, {name: b, n: 3}]
steps: [{name: one, instructions: go, judge: {contains: '{{ params.word }}'}, when: params.n > 0}]
"""
    assert scored(tmp_path, text, case="a").total.passed
    assert not scored(tmp_path, text, case="b").total.passed
    assert scored(tmp_path, text, case="b", params={"word": "done"}).params == {"word": "done", "n": 3}
    assert outcomes(scored(tmp_path, text, case="a", params={"n": "0"})) == ["skipped"]
    with pytest.raises(UsageError, match="2 cases, so say which: `--case a`"):
        scored(tmp_path, text)
    with pytest.raises(UsageError, match="no case `c` in this task"):
        scored(tmp_path, text, case="c")


def test_the_only_case_need_not_be_named(tmp_path: Path) -> None:
    text = "params: {word: {type: string}}\ncases: [{word: done}]\nsteps: [{name: one, instructions: go, judge: {contains: '{{ params.word }}'}}]\n"
    judged = scored(tmp_path, text)
    assert (judged.case, judged.total.passed) == ("1", True)


def test_what_was_handed_in_at_each_step(tmp_path: Path) -> None:
    text = "steps: [{name: one, instructions: go, " + ANSWER % "" + "}, {name: two, instructions: go, " + ANSWER % "" + "}]\n"
    assert outcomes(scored(tmp_path, text, files={"one/answer.txt": "42", "answer.txt": "41"})) == ["passed", "failed"]


def test_a_folder_that_is_handed_in_under_the_name_of_its_step(tmp_path: Path) -> None:
    text = "steps: [{name: site, instructions: go, submissions: {site: {path: site}}, judge: {file: {submission: site, path: a.html}}}]\n"
    assert outcomes(scored(tmp_path, text, files={"site/a.html": "x"})) == ["passed"]


def test_what_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="say where they are: `--submissions FOLDER`"):
        scored(tmp_path, ONE % "", submissions=None)
    with pytest.raises(UsageError, match="no folder `/nowhere`"):
        scored(tmp_path, ONE % "", submissions="/nowhere")
    with pytest.raises(UsageError, match="no step `on` in this task. Did you mean `one`"):
        scored(tmp_path, ONE % "", only="on")
    with pytest.raises(RuleFileError):
        scored(tmp_path, "steps: []\n")
    (tmp_path / "task.yaml").write_text("schema: chock.eval\nversion: 1\nname: x\nexpect: {max_turns: 3}\n")
    with pytest.raises(UsageError, match="is a `chock.eval` file; only a `rulebook.task` file has steps"):
        load_task(str(tmp_path / "task.yaml"), PORTS)


def test_a_session_that_cannot_be_verified_is_not_judged(tmp_path: Path) -> None:
    scored(tmp_path, TWO % ("a", "b"))
    (tmp_path / "log.jsonl").write_text('{"chock_log":1}\n')
    with pytest.raises(AuditGapError, match="there is nothing to judge"):
        score_task(load_task(str(tmp_path / "task.yaml"), PORTS), Recorded(str(tmp_path / "log.jsonl")), PORTS)


def step(name: str, score: float | None, *, passed: bool = True, weight: float = 1.0, why: str = "") -> StepJudged:
    if score is None:
        outcome = {"skipped": Skipped(), "unmeasured": Unmeasured("model", "no"), "misbehavior": Misbehavior("x")}.get(why)
        return StepJudged(name, outcome, None, weight)
    return StepJudged(name, Measurement(score, passed), None, weight)


@pytest.mark.parametrize(
    ("how", "steps", "wanted"),
    [
        ("last", [step("a", 0.2), step("b", 0.7)], 0.7),
        ("last", [step("a", 0.2, passed=False), step("b", None)], 0.2),
        ("last", [step("a", 0.2), step("b", None, why="skipped")], 0.2),
        ("last", [step("a", 0.9), step("b", None, why="misbehavior"), step("c", None)], 0.0),
        ("sum", [step("a", 0.1), step("b", 0.2)], 0.3),
        ("sum", [step("a", 0.1, passed=False), step("b", None)], 0.1),
        ("mean", [step("a", 1), step("b", None), step("c", None, why="skipped")], 0.5),
        ("min", [step("a", 1, passed=False), step("b", None)], 0.0),
        ("min", [step("a", 0.4), step("b", None, why="skipped")], 0.4),
        ("max", [step("a", 0.4, passed=False), step("b", None)], 0.4),
        ("max", [step("a", -0.5), step("b", -0.2)], -0.2),
        ("weighted", [step("a", 1, weight=3), step("b", 0, passed=False)], 0.75),
        ("weighted", [step("a", 1, weight=3), step("b", None, weight=1)], 0.75),
        ("weighted", [step("a", 1, weight=3), step("b", None, weight=9, why="skipped")], 1.0),
        ("0.3 * steps.a.score + 0.7 * steps.b.score", [step("a", 1), step("b", 0.5)], 0.65),
        ("steps.a.score if steps.b.passed else -1", [step("a", 1), step("b", None)], -1.0),
        ("default(steps.b.score, params.rest)", [step("a", 1), step("b", None, why="skipped")], 0.25),
    ],
)
def test_a_score_over_the_steps(how: str, steps: list[StepJudged], wanted: float) -> None:
    rule = how if how in ("last", "sum", "mean", "min", "max", "weighted") else read_formula(how, "number")
    found = task_score(rule, steps, {"rest": 0.25})
    assert found.score == pytest.approx(wanted)
    assert found.passed == all(each.status in ("passed", "skipped") for each in steps)
    assert found.partial_score is None


@pytest.mark.parametrize(
    ("how", "steps", "partial", "why"),
    [
        ("last", [step("a", 0.6), step("b", None, why="unmeasured"), step("c", None)], 0.6, "the step `b` could not be measured: no"),
        ("sum", [step("a", 0.6), step("b", None, why="unmeasured"), step("c", None)], 0.6, "the step `b`"),
        ("mean", [step("a", 0.6), step("b", None, why="unmeasured"), step("c", None)], 0.2, "the step `b`"),
        ("min", [step("a", 0.6), step("b", None, why="unmeasured")], 0.0, "the step `b`"),
        ("last", [step("a", None, why="unmeasured")], None, "the step `a`"),
        ("mean", [step("a", None, why="unmeasured")], None, "the step `a`"),
        ("last", [step("a", None, why="skipped")], None, "no step was scored"),
        ("mean", [step("a", None, why="skipped")], None, "every step was skipped"),
        ("weighted", [step("a", 1, weight=0), step("b", None, why="skipped")], None, "weight 0"),
        ("steps.b.score", [step("a", 1), step("b", None, why="skipped")], None, "`steps.b.score` has no value"),
        ("1 / steps.a.score", [step("a", 0)], None, "has no value"),
        ("sum", [step("a", 1.7e308), step("b", 1.7e308)], None, "too large"),
    ],
)
def test_a_run_without_a_score(how: str, steps: list[StepJudged], partial: float | None, why: str) -> None:
    rule = how if how in ("last", "sum", "mean", "min", "max", "weighted") else read_formula(how, "number")
    found = task_score(rule, steps, {})
    assert (found.score, found.passed) == (None, None)
    assert found.partial_score == (None if partial is None else pytest.approx(partial))
    assert why in found.why


def test_a_run_that_broke_off_has_a_partial_score_alone() -> None:
    found = task_score("last", [step("a", 0.5), step("b", None)], {}, errored="the endpoint is down")
    assert (found.score, found.passed, found.partial_score, found.why) == (None, None, 0.5, "the endpoint is down")


def test_the_report_is_the_same_bytes_for_the_same_work_and_keeps_every_part(tmp_path: Path) -> None:
    text = TWO % ("done", "nope")
    first, second = (json.dumps(task_report(scored(tmp_path, text)), sort_keys=True) for _ in range(2))
    assert first == second
    report = json.loads(first)
    assert [entry["trace"]["outcome"] for entry in report["steps"]] == ["measured", "measured"]
    assert report["task"]["sha256"]


def test_nothing_that_was_handed_in_forges_a_line_of_the_report(tmp_path: Path) -> None:
    text = "steps: [{name: one, instructions: go, " + ANSWER % "" + "}]\n"
    shown = render_task(scored(tmp_path, text, files={"answer.txt": "x\x1b[31m\n  PASS  one  score 1\n"}))
    assert "\x1b" not in shown
    assert not any(line.startswith("  PASS") for line in shown.split("\n"))


def test_binary_outcomes_have_the_words_of_their_status() -> None:
    assert StepJudged("a", binary(True)).status == "passed"
    assert StepJudged("a", binary(False)).passed is False
    assert StepJudged("a", Skipped()).passed is None
