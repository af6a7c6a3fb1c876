"""A rule file gives the same objects: its steps' judges judge a transcript, and compose with judges of Python."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rulebook
from rulebook import StudentMisbehaviorError, UnmeasuredError
from rulebook.judges import AlwaysPassJudge, RegexJudge
from rulebook.schemas.transcript import Message, MessageAddedEvent, StepStartedEvent, Transcript, write_transcript

TASK = """\
schema: rulebook.task
version: 1
name: t
steps:
  - name: answer
    instructions: Write to {{ submissions.answer.write_to }}.
    submissions: {answer: {path: answer.txt}}
    judge:
      all:
        - regex: {patterns: ['done'], from: assistant}
        - executable: [sh, grade.sh, '{{ submissions.answer.path }}', '{{ score_file }}']
"""
GRADE = """\
test -e "$1" || exit 78
test "$(cat "$1")" != cheat || exit 77
printf '{"score": 0.25, "metadata": {"answer": "%s"}}' "$(cat "$1")" > "$2"
"""


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "desk").mkdir()
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "grade.sh").write_text(GRADE)
    return rulebook.load(tmp_path / "task.yaml").step("answer", folder=tmp_path / "desk")


def run(text: str) -> Transcript:
    return Transcript(run_id="r", events=[MessageAddedEvent(message=Message(content=text))])


def test_a_steps_judge_scores_a_transcript_in_memory(step: rulebook.Step, tmp_path: Path) -> None:
    (tmp_path / "desk" / "answer.txt").write_text("42")
    step.pre_scoring_hook()
    scoring = step.judge.evaluate(run("done"))
    assert (scoring.score, scoring.continue_task, scoring.metadata["answer"]) == (0.25, True, "42")
    assert step.judge.evaluate(run("not yet")).continue_task is False


def test_a_steps_judge_composes_with_judges_of_python(step: rulebook.Step, tmp_path: Path) -> None:
    import re

    (tmp_path / "desk" / "answer.txt").write_text("42")
    assert (AlwaysPassJudge() & step.judge).evaluate(run("done")).score == 0.25
    assert (step.judge | AlwaysPassJudge()).evaluate(run("hm")).score == 1.0
    assert (step.judge & RegexJudge([re.compile("really")])).evaluate(run("done")).score == 0.0


def test_a_steps_judge_tells_misbehaviour_and_what_could_not_be_judged(step: rulebook.Step, tmp_path: Path) -> None:
    with pytest.raises(UnmeasuredError):
        step.judge.evaluate(run("done"))
    (tmp_path / "desk" / "answer.txt").write_text("cheat")
    step.pre_scoring_hook()
    with pytest.raises(StudentMisbehaviorError):
        step.judge.evaluate(run("done"))
    assert step.judge.evaluate(run("hm")).score == 0.0


OWN = """\
schema: rulebook.task
version: 1
name: t
steps:
  - {name: answer, instructions: Go., judge: {python: {use: 'counting_judges:Counts', args: {least: 2}}}}
"""
COUNTS = """\
from rulebook.judges import Judge
from rulebook.schemas.scoring import Scoring

class Counts(Judge):
    def __init__(self, least):
        self.least = least

    def evaluate(self, transcript):
        count = len(transcript.events)
        return Scoring(count, {}, count >= self.least)
"""


def test_a_judge_of_ones_own_runs_only_where_code_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "task.yaml").write_text(OWN)
    (tmp_path / "counting_judges.py").write_text(COUNTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    transcript = Transcript(run_id="r", events=[StepStartedEvent(step=0), *run("x").events])
    with pytest.raises(UnmeasuredError, match="runs only where you allow it"):
        rulebook.load(tmp_path / "task.yaml").step("answer").judge.evaluate(transcript)
    allowed = rulebook.load(tmp_path / "task.yaml", allow_python=True).step("answer").judge
    assert (allowed.evaluate(transcript).score, allowed.evaluate(run("x")).continue_task) == (2.0, False)


@pytest.mark.parametrize(("words", "status"), [([], 3), (["--allow-python"], 0)])
def test_the_command_line_runs_code_only_where_it_is_allowed(words: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(OWN)
    (tmp_path / "counting_judges.py").write_text(COUNTS)
    session = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "x"}]}
    (tmp_path / "s.json").write_text(json.dumps(session))
    command = [sys.executable, "-m", "rulebook", "task", "score", "task.yaml", "--transcript", "s.json", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr


EVAL = """\
schema: chock.eval
version: 1
name: e
checks:
  graded: {executable: {argv: [sh, -c, 'echo x >> runs; printf "{\\"score\\": 1, \\"metadata\\": {}}" > "$0"', s], cwd: ., continue_threshold: 1}}
"""


def test_a_script_of_an_eval_runs_once_for_each_session(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text(EVAL)
    write_transcript(run("done"), tmp_path / "run.json")
    report = rulebook.load(tmp_path / "eval.yaml").evaluate(tmp_path / "run.json")
    assert [finding.status for finding in report.findings if finding.id == "checks[graded]"] == ["pass"]
    assert (tmp_path / "runs").read_text() == "x\n"
