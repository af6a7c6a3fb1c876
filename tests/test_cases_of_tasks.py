"""Inputs that broke other tools, as a task's judges and custody meet them: a task file, and what a student left."""

import subprocess
from pathlib import Path

import pytest

from rulebook.api.linting import lint_file
from rulebook.api.loading import load
from rulebook.report.task_scores import StepJudged
from rulebook.schemas.transcript import Transcript, write_transcript


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))


def step_judged(folder: Path, text: str) -> StepJudged:
    """The step of a task file, over an empty run; the student's folder is `desk`."""
    (folder / "task.yaml").write_text(text, encoding="utf-8")
    (folder / "run.json").unlink(missing_ok=True)
    write_transcript(Transcript(run_id="r"), folder / "run.json")
    task = load(folder / "task.yaml")
    return task.step("a", folder=folder / "desk").judged(folder / "run.json")  # type: ignore[union-attr]


HEAD = "schema: rulebook.task\nversion: 1\nname: t\nsteps:\n"
SUBMITS = HEAD + """\
  - name: a
    instructions: Go.
    submissions: {report: {path: out/report.txt}}
    judge: {executable: [sh, -c, 'test -e $0 && printf "{\\"score\\": 1, \\"metadata\\": {}}" > $1', '{{ submissions.report.path }}', s.json]}
"""


def made(desk: Path, *lines: str) -> None:
    """The student's folder, as commands of a shell leave it."""
    desk.mkdir()
    subprocess.run(["sh", "-ec", "\n".join(lines)], cwd=desk, check=True)


@pytest.mark.parametrize(
    ("lines", "component", "what"),
    [
        (("mkdir out", "ln -s /etc/shadow out/report.txt"), "out/report.txt", "is a symlink"),
        (("ln -s /root out",), "out", "is a symlink"),
        (("mkdir out", "echo 1 > ../key", "ln ../key out/report.txt"), "out/report.txt", "is a hard link"),
        (("touch out",), "out", "is not a directory"),
        ((":",), "out", "does not exist"),
        (("mkdir -p out/report.txt", "ln -s /etc/shadow out/report.txt/a"), "a", "is a symlink"),
        (("mkdir out", "truncate -s 1T out/report.txt"), "out/report.txt", "is too large"),
        (("mkdir out", "mkfifo out/report.txt"), "out/report.txt", "is not a regular file"),
    ],
)
def test_o10_what_is_no_plain_work_is_misbehaviour_and_its_place_is_named(
    lines: tuple[str, ...], component: str, what: str, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    made(desk, *lines)
    judged = step_judged(tmp_path, SUBMITS)
    assert (judged.status, judged.score, judged.passed) == ("misbehavior", 0.0, False)
    place = component if component == "a" else f"{desk}/{component}"
    assert judged.outcome.reason.startswith(f"{place} {what}")  # type: ignore[union-attr]


def test_o10_a_file_that_was_never_written_is_no_misbehaviour(tmp_path: Path) -> None:
    made(tmp_path / "desk", "mkdir out")
    judged = step_judged(tmp_path, SUBMITS)
    assert (judged.status, judged.score) == ("failed", 0.0)
    (tmp_path / "desk" / "out" / "report.txt").write_text("x")
    assert step_judged(tmp_path, SUBMITS).status == "passed"


SCORES = "{executable: {argv: [sh, -c, 'printf \"{\\\"score\\\": %s, \\\"metadata\\\": {}}\" > $0', s.json]%s}}"


@pytest.mark.parametrize(
    ("score", "beside", "goes_on"),
    [
        ("0", ", continue_threshold: 0", True),
        ("-0.5", ", continue_threshold: 0", False),
        ("0", "", True),
        ("-0.5", "", True),
    ],
)
def test_o2_a_pass_mark_of_0_is_one_and_none_is_minus_1(score: str, beside: str, goes_on: bool, tmp_path: Path) -> None:
    judge = SCORES % (score, beside)
    judged = step_judged(tmp_path, HEAD + f"  - {{name: a, instructions: Go., judge: {judge}}}\n")
    assert (judged.score, judged.passed) == (float(score), goes_on)


def test_o3_not_over_a_script_whose_pass_mark_nobody_wrote_is_an_error(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    for beside, codes in (("", ["RB610"]), (", continue_threshold: 0.5", [])):
        rules.write_text(f"schema: chock.eval\nversion: 1\nname: x\nchecks: {{a: {{not: {SCORES % (1, beside)}}}}}\n", encoding="utf-8")
        assert [d.code for d in lint_file(str(rules)).diagnostics if d.severity == "error"] == codes


def test_o8_a_score_file_that_the_student_left_is_not_read(tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    made(desk, """echo '{"score": 1, "metadata": {}}' | tee score_output.txt > ../score_output.txt""")
    judge = "{executable: {argv: [sh, -c, 'test -e score_output.txt', score_output.txt], cwd: desk}}"
    judged = step_judged(tmp_path, HEAD + f"  - {{name: a, instructions: Go., judge: {judge}}}\n")
    assert (judged.score, judged.passed) == (0.0, False)
    assert "wrote no score file" in judged.outcome.reason  # type: ignore[union-attr]
