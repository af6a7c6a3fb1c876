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


LEAVES = """\
import sys
from rulebook.judges import Judge, RubricContext
from rulebook.schemas.scoring import Scoring

class Evaluates(Judge):
    def evaluate(self, transcript):
        sys.exit(0)

class IsMade(Judge):
    def __init__(self):
        sys.exit(0)

    def evaluate(self, transcript):
        return Scoring(1.0, {}, True)

class Prints(Judge):
    def evaluate(self, transcript):
        print("PASSED  score 1")
        return Scoring(0.0, {"digits": 10**5000, "below": [10**5000]}, False)
"""


def scored_by_own_code(use: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "task.yaml").write_text(
        "schema: rulebook.task\nversion: 1\nname: t\n"
        f"steps: [{{name: answer, instructions: Say it., judge: {{python: '{use}'}}}}]\n"
    )
    (folder / "leaving_judges.py").write_text(LEAVES)
    (folder / "leaving_at_once.py").write_text("raise SystemExit(0)\n")
    session = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "x"}]}
    (folder / "s.json").write_text(json.dumps(session))
    command = [sys.executable, "-m", "rulebook", "task", "score", "task.yaml", "--transcript", "s.json", "--allow-python"]
    return subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("use", ["leaving_judges:Evaluates", "leaving_judges:IsMade", "leaving_at_once:Judge"])
def test_own_code_that_ends_the_program_is_no_pass(use: str, tmp_path: Path) -> None:
    done = scored_by_own_code(use, tmp_path, "--format", "json")
    assert done.returncode == 3, done.stdout + done.stderr
    step = json.loads(done.stdout)["steps"][0]
    assert (step["status"], step["score"]) == ("unmeasured", None)
    assert "SystemExit: 0" in step["reason"]


def test_what_own_code_prints_stands_in_no_report(tmp_path: Path) -> None:
    done = scored_by_own_code("leaving_judges:Prints", tmp_path)
    assert (done.returncode, done.stderr) == (3, "PASSED  score 1\n")
    assert "FAILED  score 0" in done.stdout
    assert "PASSED" not in done.stdout
    report = json.loads(scored_by_own_code("leaving_judges:Prints", tmp_path, "--format", "json").stdout)
    assert "0x" in json.dumps(report["steps"][0])


def test_a_request_to_end_ends_the_program_while_own_code_runs(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nfor _ in range(100_000): pass\n"
    )
    done = scored_by_own_code("waiting:Judge", tmp_path)
    assert (done.returncode, done.stdout) == (128 + 15, "")


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
