"""A task file in a harness's own loop: `rulebook.load("task.yaml").step("x")`."""

import json
from pathlib import Path

import pytest

import rulebook
from rulebook.errors import MisbehaviorError, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Measurement

TASK = """schema: rulebook.task
version: 1
name: two sums
system_prompt: You can count to {{ params.total }}.
params: {use_hints: {type: boolean, default: false}, total: {type: integer, default: 42}}
cases: [{name: small, total: 3}, {name: large, total: 300}]
steps:
  - name: add
    instructions: |
      Write {{ params.total }} to {{ submissions.answer.write_to }}.
    hints: ['It is {{ params.total }}.', Look.]
    submissions: {answer: {path: out/answer.txt, max_bytes: 100 B}}
    judge: {exact_match: {from: {submission: answer}, expected: '{{ params.total }}'}}
  - name: tell
    instructions: Say it.
    when: steps.add.score > 0
    judge: {all: [{contains: '{{ params.total }}'}, {expr: steps.add.passed}]}
"""


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> rulebook.TaskRules:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "student" / "out").mkdir(parents=True)
    session = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "It is 3."}]}
    (tmp_path / "s.json").write_text(json.dumps(session), encoding="utf-8")
    loaded = rulebook.load(tmp_path / "task.yaml")
    assert isinstance(loaded, rulebook.TaskRules)
    return loaded


def test_what_a_task_says_of_itself(task: rulebook.TaskRules) -> None:
    assert (task.name, task.step_names, task.case_names) == ("two sums", ("add", "tell"), ("small", "large"))
    assert task.system_prompt(case="large") == "You can count to 300."


def test_a_step_tells_the_student_where_to_write(task: rulebook.TaskRules, tmp_path: Path) -> None:
    step = task.step("add", case="small", folder=tmp_path / "student")
    path = tmp_path / "student" / "out" / "answer.txt"
    assert step.instructions == f"Write 3 to {path}.\n"
    assert step.submission_paths == (path,)
    assert step.params == {"use_hints": False, "total": 3}


def test_hints_stand_below_the_instructions_when_they_are_asked_for(task: rulebook.TaskRules, tmp_path: Path) -> None:
    step = task.step("add", case="small", params={"use_hints": True}, folder=tmp_path)
    assert step.instructions == f"Write 3 to {tmp_path}/out/answer.txt.\n\nIt is 3.\n\nLook.\n"


def test_a_callers_parameter_wins_over_the_cases(task: rulebook.TaskRules) -> None:
    assert task.step("add", case="small", params={"total": 7}).params["total"] == 7


def test_a_run_of_two_steps(task: rulebook.TaskRules, tmp_path: Path) -> None:
    student = tmp_path / "student"
    first = task.step("add", case="small", folder=student)
    (student / "out" / "answer.txt").write_text("3\n")
    first.pre_scoring_hook()
    (student / "out" / "answer.txt").write_text("4\n")  # what is written later is not judged
    added = first.judged(str(tmp_path / "s.json"))
    assert (added.status, added.score) == ("passed", 1.0)
    copy = first.saved_submissions["answer"]
    assert copy.read_text() == "3\n"
    assert (tmp_path / "home" / "submissions") in copy.parents
    told = task.step("tell", case="small", folder=student, before=[added]).judged(tmp_path / "s.json")
    assert told.status == "passed"


def test_the_step_before_decides_whether_one_is_skipped(task: rulebook.TaskRules, tmp_path: Path) -> None:
    added = task.step("add", case="small", folder=tmp_path / "student").judged(tmp_path / "s.json")
    assert (added.status, added.score) == ("failed", 0.0)
    assert isinstance(added.outcome, Measurement)
    assert added.outcome.student_fault
    assert task.step("tell", case="small", before=[added]).judged(tmp_path / "s.json").status == "skipped"


def test_submissions_that_nobody_took_are_taken_when_the_step_is_judged(task: rulebook.TaskRules, tmp_path: Path) -> None:
    (tmp_path / "student" / "out" / "answer.txt").write_text("3")
    assert task.step("add", case="small", folder=tmp_path / "student").judged(Evidence()).status == "passed"


def test_misbehaviour_while_it_is_collected(task: rulebook.TaskRules, tmp_path: Path) -> None:
    (tmp_path / "student" / "out" / "answer.txt").write_text("3" * 101)
    step = task.step("add", case="small", folder=tmp_path / "student")
    with pytest.raises(MisbehaviorError):
        step.pre_scoring_hook()
    judged = step.judged(tmp_path / "s.json")
    assert (judged.status, judged.score, judged.passed) == ("misbehavior", 0.0, False)


def test_what_a_caller_gets_wrong(task: rulebook.TaskRules, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no step `ad` in this task. Did you mean `add`"):
        task.step("ad", case="small")
    with pytest.raises(UsageError, match="no case `smal` in this task. Did you mean `small`"):
        task.step("add", case="smal")
    with pytest.raises(UsageError, match="no parameter `totl`"):
        task.step("add", case="small", params={"totl": 1})
    with pytest.raises(UsageError, match="call `pre_scoring_hook`"):
        _ = task.step("add", case="small").saved_submissions
    (tmp_path / "pack.yaml").write_text("schema: rulebook.pack\nversion: 1\nname: p\nchecks: {a: {regex: x}}\n")
    with pytest.raises(UsageError, match="`load` takes a `chock.eval`, a `rulebook.task` or a `rulebook.evaluation`"):
        rulebook.load(tmp_path / "pack.yaml")
    (tmp_path / "empty.jsonl").write_text('{"chock_log":1}\n')
    with pytest.raises(UsageError, match="cannot be judged: it holds no event"):
        task.step("tell", case="small").judged(tmp_path / "empty.jsonl")


def test_recorded_work_is_scored_from_python_too(task: rulebook.TaskRules, tmp_path: Path) -> None:
    (tmp_path / "student" / "out" / "answer.txt").write_text("3")
    report = task.score(tmp_path / "s.json", tmp_path / "student", case="small")
    assert (report.total.score, report.total.passed) == (report.score, report.passed) == (1.0, True)
    assert report.as_dict()["schema"] == "rulebook.task-report"
    assert str(report).startswith("two sums  case small")
    assert [step.status for step in report.steps] == ["passed", "passed"]
