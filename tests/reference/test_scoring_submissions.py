"""Scoring reference: "Saving submissions", as a step's author meets it."""

from pathlib import Path

import pytest
from reference_text import example, write_package

import rulebook
from rulebook import EvaluationRunConfig, StudentMisbehaviorError, UsageError
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript

SCRIPT = (
    "import json, sys\n"
    "work = open(sys.argv[1]).read()\n"
    "json.dump({'score': float('fn main' in work), 'metadata': {'path': sys.argv[1]}}, open(sys.argv[2], 'w'))\n"
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the student works; it works in a sandbox of its own, which is gone by now."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.setenv("RULEBOOK_STUDENT_DATA_DIR", str(folder))
    monkeypatch.setenv("RULEBOOK_STUDENT_UID", "none")
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    write_package(tmp_path, "my_task", SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def my_step(tmp_path: Path) -> rulebook.Step:
    names: dict[str, object] = {}
    source = example("import sys", "        )", 3)
    exec(source, names)
    config = EvaluationRunConfig("run-1", transcript_file=str(tmp_path / "run" / "transcript.jsonl"))
    step: rulebook.Step = names["MyStep"](config)  # type: ignore[operator]
    return step


def test_the_example_runs_with_only_its_import_lines_changed(desk: Path, tmp_path: Path) -> None:
    (desk / "server.rs").write_text("fn main() {}")
    step = my_step(tmp_path)
    assert step.instructions == f"Write the server to {desk / 'server.rs'}."
    assert step.submission_paths == (desk / "server.rs",)
    scoring = step.score(Transcript(run_id="run-1"))
    saved = str(scoring.metadata["path"])
    assert (scoring.score, scoring.continue_task) == (1.0, True)
    assert saved.startswith(str(tmp_path / "home" / "submissions"))
    assert (tmp_path / "run" / "run-1_artifacts" / "server.rs").read_text() == "fn main() {}"


def test_a_script_that_does_not_check_for_a_missing_file_scores_0(desk: Path, tmp_path: Path) -> None:
    scoring = my_step(tmp_path).score(Transcript(run_id="run-1"))
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "FileNotFoundError" in str(scoring.metadata["stderr"])


def test_a_submission_that_is_a_symlink_scores_0_as_misbehaviour(desk: Path, tmp_path: Path) -> None:
    (desk / "server.rs").symlink_to("/etc/shadow")
    scoring = my_step(tmp_path).score(Transcript(run_id="run-1"))
    assert scoring == Scoring(0.0, {"misbehavior": f"{desk}/server.rs is a symlink"}, False)


def test_the_judge_cannot_be_read_before_the_hook_has_run(desk: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="pre_scoring_hook has not run"):
        _ = my_step(tmp_path).judge


def test_the_functions_of_custody_are_imported_from_the_package() -> None:
    for name in ("save_submission", "collect_submission", "kill_processes", "delete_files", "save_artifact"):
        assert callable(getattr(rulebook, name))
    assert issubclass(rulebook.ReclaimError, StudentMisbehaviorError)
    assert issubclass(rulebook.UnreapableCohortError, StudentMisbehaviorError)


def test_who_the_student_is_is_read_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_STUDENT_UID", "1234")
    monkeypatch.delenv("RULEBOOK_STUDENT_DATA_DIR", raising=False)
    assert rulebook.STUDENT_UID == 1234
    assert str(rulebook.STUDENT_DATA_DIR) == "/home/student"
    monkeypatch.delenv("RULEBOOK_STUDENT_UID")
    with pytest.raises(UsageError, match="RULEBOOK_STUDENT_UID"):
        _ = rulebook.STUDENT_UID
