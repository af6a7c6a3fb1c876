"""Scoring reference: "Saving submissions", as a step's author meets it."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from reference_text import example, write_package
from students import STUDENT, cleared, give, needs_root, open_folder, running, started

import rulebook
from rulebook import EvaluationRunConfig, StudentMisbehaviorError, UsageError
from rulebook.judges import Judge
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript
from rulebook.services import custody_collection
from rulebook.services.custody_permission import OUTSIDE_CONTAINER

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


def test_a_submission_that_is_a_fifo_scores_0_and_blocks_nobody(desk: Path, tmp_path: Path) -> None:
    os.mkfifo(desk / "server.rs")
    scoring = my_step(tmp_path).score(Transcript(run_id="run-1"))
    assert scoring == Scoring(0.0, {"misbehavior": f"{desk}/server.rs is not a regular file"}, False)


class Handed(rulebook.Step):
    """A step of a student with a user of its own, whose judge reads the saved copy."""

    saved: tuple[Path, ...] = ()
    place: Path
    terms: Mapping[str, object] | None = None

    @property
    def submission_paths(self) -> tuple[Path, ...]:
        return (self.place / "answer.txt",)

    @property
    def instructions(self) -> str:
        return f"Write 42 to {self.submission_paths[0]}."

    def pre_scoring_hook(self) -> None:
        paths, include = self.submission_paths, [self.place]
        self.saved = rulebook.collect_submission(
            self.config, paths, save_submission_kwargs=self.terms, include=include, outside_container=True
        )

    @property
    def judge(self) -> Judge:
        return Reads(self.saved[0])


class Reads(Judge):
    def __init__(self, copy: Path):
        self.copy = copy

    def evaluate(self, transcript: Transcript) -> Scoring:
        right = self.copy.read_text() == "42"
        return Scoring(float(right), {}, right)


@pytest.fixture
def handed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Handed]:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RULEBOOK_STUDENT_UID", str(STUDENT))
    monkeypatch.setenv(OUTSIDE_CONTAINER, str(STUDENT))
    with cleared(), open_folder() as place:
        (place / "desk").mkdir()
        step = Handed(EvaluationRunConfig("run-1", transcript_file=str(tmp_path / "run" / "transcript.jsonl")))
        step.place = give(place / "desk")
        yield step


@needs_root
def test_a_student_that_still_runs_cannot_interfere_with_the_grading(handed: Handed) -> None:
    answer = handed.submission_paths[0]
    answer.write_text("41")
    give(answer)
    with started("sh", "-c", f"echo up; trap '' TERM; while sleep 0.01; do [ -e {answer} ] || echo 42 > {answer}; done"):
        scoring = handed.score(Transcript(run_id="run-1"))
        assert running(STUDENT) == []
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert not answer.exists()


@needs_root
def test_the_judge_uses_the_copy_and_never_the_path_the_student_wrote_to(handed: Handed) -> None:
    answer = handed.submission_paths[0]
    answer.write_text("42")
    give(answer)
    handed.pre_scoring_hook()
    answer.parent.mkdir()
    answer.write_text("41")
    assert handed.judge.evaluate(Transcript(run_id="run-1")).score == 1.0
    assert str(handed.saved[0]).startswith(os.environ["RULEBOOK_HOME"])


@needs_root
def test_the_limits_are_passed_through_collect_submission(handed: Handed) -> None:
    answer = handed.submission_paths[0]
    answer.write_text("42")
    give(answer)
    handed.terms = {"max_file_bytes": 1}
    scoring = handed.score(Transcript(run_id="run-1"))
    assert scoring == Scoring(0.0, {"misbehavior": f"{answer} is too large (2 > 1 bytes)"}, False)


@needs_root
def test_it_takes_its_steps_in_order(handed: Handed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function really runs; what there is on the disk when it begins tells that those before it have ended."""
    answer, scratch, seen = handed.submission_paths[0], handed.place / "scratch", []
    for path in (answer, scratch):
        path.write_text("42")
        give(path)
    for name in ("kill_processes", "delete_files", "save_submission", "save_artifact"):
        real = getattr(custody_collection, name)

        def noted(*words: object, name: str = name, real: Callable[..., object] = real, **options: object) -> object:
            seen.append((name, bool(running(STUDENT)), scratch.exists(), answer.exists()))
            return real(*words, **options)

        monkeypatch.setattr(custody_collection, name, noted)
    with started("sh", "-c", "echo up; sleep 1000"):
        handed.pre_scoring_hook()
    assert seen == [
        ("kill_processes", True, True, True),
        ("delete_files", False, True, True),
        ("save_submission", False, False, True),
        ("delete_files", False, False, True),
        ("save_artifact", False, False, False),
    ]
    assert handed.saved[0].read_text() == "42"


@needs_root
def test_the_functions_can_be_called_in_another_order(handed: Handed) -> None:
    answer = handed.submission_paths[0]
    answer.write_text("42")
    give(answer)
    with started("sh", "-c", "echo up; sleep 1000"):
        copy = rulebook.save_submission(answer) / answer.name
        rulebook.save_artifact(handed.config, copy)
        assert running(STUDENT) != []
        rulebook.kill_processes(STUDENT, outside_container=True)
        assert running(STUDENT) == []
    assert rulebook.delete_files(STUDENT, [handed.place], outside_container=True) == 2
    assert copy.read_text() == "42"


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
