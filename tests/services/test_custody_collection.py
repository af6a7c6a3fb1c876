"""Collecting a step's submissions, and the artifacts that are kept of them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from students import OTHER, STUDENT, cleared, give, needs_root, open_folder, running, started

from rulebook.errors import MisbehaviorError, Missing, UsageError
from rulebook.services.custody_artifacts import ARTIFACT_DIR, save_artifact
from rulebook.services.custody_collection import collect_submission
from rulebook.services.custody_permission import OUTSIDE_CONTAINER
from rulebook.services.student import STUDENT_UID, student_data_dir, student_uid


@dataclass
class Run:
    run_id: str
    transcript_file: Path | None
    save_artifacts: bool = True


@pytest.fixture(autouse=True)
def asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(OUTSIDE_CONTAINER, str(STUDENT))
    monkeypatch.setenv(STUDENT_UID, str(STUDENT))
    with cleared():
        yield


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run("run-1", tmp_path / "logs" / "transcript.jsonl")


@pytest.fixture
def desk() -> Iterator[Path]:
    """The student's folder, which the student can reach."""
    with open_folder() as place:
        (place / "desk").mkdir()
        yield give(place / "desk")


def collect(run: Run, desk: Path, *names: str, **terms: object) -> tuple[Path, ...]:
    paths = tuple(desk / name for name in names)
    return collect_submission(run, paths, terms, include=[desk], outside_container=True)


def written(path: Path, text: str = "42", uid: int = STUDENT) -> Path:
    path.write_text(text)
    return give(path, uid)


@needs_root
def test_copies_come_in_the_order_of_the_paths_and_nothing_else_stays(run: Run, desk: Path) -> None:
    for name in ("b.txt", "a.txt", "scratch"):
        written(desk / name, name)
    script = f"echo up; while :; do echo evil > {desk}/b.txt; sleep 0.01; done"
    with started("sh", "-c", f"setsid sh -c '{script}' & sleep 1000"):
        copies = collect(run, desk, "b.txt", "a.txt", "never.txt")
        assert running(STUDENT) == []
    assert [copy.name for copy in copies] == ["b.txt", "a.txt", "never.txt"]
    assert copies[0].read_text() in ("b.txt", "evil\n", "")
    assert copies[1].read_text() == "a.txt"
    assert not copies[2].exists()
    assert not desk.exists()
    kept = run.transcript_file.parent / "run-1_artifacts"  # type: ignore[union-attr]
    assert sorted(path.name for path in kept.iterdir()) == ["a.txt", "b.txt"]
    assert (kept / "a.txt").read_text() == "a.txt"


@needs_root
def test_the_students_own_second_names_are_gone_before_the_copy(run: Run, desk: Path) -> None:
    written(desk / "cache")
    os.link(desk / "cache", desk / "answer.txt")
    assert collect(run, desk, "answer.txt")[0].read_text() == "42"


@needs_root
def test_a_second_name_of_anothers_file_is_misbehaviour(run: Run, desk: Path) -> None:
    written(desk.parent / "key", uid=0)
    os.link(desk.parent / "key", desk / "answer.txt")
    with pytest.raises(MisbehaviorError, match="hard link"):
        collect(run, desk, "answer.txt")
    assert (desk.parent / "key").read_text() == "42"


@needs_root
def test_a_file_that_was_moved_there_is_misbehaviour_unless_said_otherwise(run: Run, desk: Path) -> None:
    written(desk / "answer.txt", uid=OTHER)
    with pytest.raises(MisbehaviorError, match=f"belongs to user {OTHER}, not to {STUDENT}"):
        collect(run, desk, "answer.txt")
    assert collect(run, desk, "answer.txt", owner=None)[0].read_text() == "42"


@needs_root
def test_a_link_in_the_way_is_still_there_to_be_named(run: Run, desk: Path) -> None:
    give(desk / "real") if (desk / "real").mkdir() is None else None
    (desk / "out").symlink_to("real")
    give(desk / "out")
    with pytest.raises(MisbehaviorError, match=f"{desk}/out is a symlink"):
        collect(run, desk, "out/answer.txt")


@needs_root
def test_the_limits_hold_for_all_submissions_together(run: Run, desk: Path) -> None:
    for name in "ab":
        written(desk / name, "x" * 10)
    with pytest.raises(MisbehaviorError, match="total size exceeds 19 bytes"):
        collect(run, desk, "a", "b", max_total_bytes=19)
    with pytest.raises(MisbehaviorError, match=r"a is too large \(10 > 9 bytes\)"):
        collect(run, desk, "a", max_file_bytes=9)


def test_a_student_in_a_sandbox_that_is_gone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STUDENT_UID, "none")
    (tmp_path / "answer.txt").write_text("42")
    assert collect_submission(run, [tmp_path / "answer.txt"])[0].read_text() == "42"
    assert (tmp_path / "answer.txt").exists()


@pytest.mark.parametrize("said", [None, "", "student", "-1", "²"])
def test_nothing_is_killed_for_a_student_that_nobody_named(
    run: Run, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STUDENT_UID) if said is None else monkeypatch.setenv(STUDENT_UID, said)
    with pytest.raises(UsageError, match="set RULEBOOK_STUDENT_UID"):
        collect_submission(run, [])


def test_where_the_student_works(monkeypatch: pytest.MonkeyPatch) -> None:
    assert student_uid() == STUDENT
    assert student_data_dir() == "/home/student"
    monkeypatch.setenv("RULEBOOK_STUDENT_DATA_DIR", "/data/x")
    assert student_data_dir() == "/data/x"


# artifacts


def test_artifacts_never_lie_over_one_another(run: Run, tmp_path: Path) -> None:
    kept = []
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "answer.tar.gz").write_text(str(number))
        kept.append(save_artifact(run, tmp_path / str(number) / "answer.tar.gz"))
    assert [path.name for path in kept if path] == ["answer.tar.gz", "answer-2.tar.gz", "answer-3.tar.gz"]
    assert [path.read_text() for path in kept if path] == ["0", "1", "2"]
    named = save_artifact(run, tmp_path / "0" / "answer.tar.gz", "step/answer")
    assert named is not None
    assert named.name == "step_answer"


def test_folders_are_kept_whole_and_not_merged(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tree/deeper").mkdir(parents=True)
    (tmp_path / "tree/deeper/file").write_text("1")
    (tmp_path / "tree/link").symlink_to("/etc/passwd")
    first, second = save_artifact(run, tmp_path / "tree"), save_artifact(run, tmp_path / "tree")
    assert first is not None
    assert second is not None
    assert (first.name, second.name) == ("tree", "tree-2")
    assert (second / "deeper/file").read_text() == "1"
    assert os.readlink(second / "link") == "/etc/passwd"


def test_a_run_of_the_same_id_has_a_folder_of_its_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "logs/run-1_artifacts").mkdir(parents=True)
    (tmp_path / "logs/run-1_artifacts/file").write_text("earlier")
    (tmp_path / "file").write_text("now")
    first, second = save_artifact(run, tmp_path / "file"), save_artifact(run, tmp_path / "file")
    assert first is not None
    assert second is not None
    assert first.parent == second.parent == tmp_path / "logs/run-1_artifacts_2"
    assert (tmp_path / "logs/run-1_artifacts/file").read_text() == "earlier"


def test_where_artifacts_lie(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv(ARTIFACT_DIR, str(tmp_path / "elsewhere"))
    kept = save_artifact(Run("../odd id", run.transcript_file), tmp_path / "file")
    assert kept == tmp_path / "elsewhere/.._odd_id_artifacts/file"


def test_nothing_is_kept_of_what_is_not_there_or_not_wanted(run: Run, tmp_path: Path) -> None:
    assert save_artifact(run, tmp_path / "gone") is None
    assert save_artifact(run, tmp_path / "gone/deeper") is None
    (tmp_path / "file").write_text("x")
    run.save_artifacts = False
    assert save_artifact(run, tmp_path / "file") is None


def test_a_link_is_not_an_artifact(run: Run, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(MisbehaviorError, match="is a symlink"):
        save_artifact(run, tmp_path / "link")


def test_a_place_that_cannot_be_written_is_our_trouble(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Missing, match="artifacts cannot be kept"):
        save_artifact(Run("r", tmp_path / "file" / "transcript.jsonl"), tmp_path / "file")
