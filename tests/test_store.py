"""The session store, and the writer of its logs."""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from logs import HEADER, SESSION, log_lines

from rulebook.errors import UsageError
from rulebook.evidence.audit_log import LogReading, read_log
from rulebook.evidence.record import EVERYTHING
from rulebook.services.files import MachineFiles
from rulebook.services.log_writer import Entry, LogWriter, write_log
from rulebook.services.store import (
    find_session,
    is_session_id,
    list_sessions,
    new_session_id,
    project_key,
    session_path,
    store_folder,
)

START = {"agent_kind": "main", "model_alias": "m", "parent_session": ""}
END = {"reason": "finished", "detail": ""}
TIME = 1796047200000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def read(path: str | Path) -> LogReading:
    return read_log(str(path), MachineFiles(), EVERYTHING)


def put(project: str, session: str) -> str:
    path = session_path(project, session)
    with LogWriter(path, session) as log:
        log.append("session.start", START, TIME)
    return path


def test_the_store_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    assert store_folder() == str(home)
    monkeypatch.delenv("RULEBOOK_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert store_folder() == "/state/rulebook"
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", "/home/ann")
    assert store_folder() == "/home/ann/.local/state/rulebook"


def test_a_project_key_is_its_plain_name_and_a_part_of_its_paths_hash() -> None:
    digest = hashlib.sha256(b"/src/my project.v2").hexdigest()[:8]
    assert project_key("/src/my project.v2") == f"my_project_v2-{digest}"
    assert project_key("/src/x/../my project.v2/") == project_key("/src/my project.v2")


def test_ids_hold_their_time_and_sort_by_it() -> None:
    early, late = new_session_id(TIME, bytes(range(16))), new_session_id(TIME + 1, bytes(16))
    assert early == "01M8PC2QR00123456789ABCDEF"
    assert early < late
    assert all(map(is_session_id, (early, late, SESSION, new_session_id(TIME, b"\xff" * 16))))
    assert not any(map(is_session_id, ("", SESSION[:-1], SESSION + "0", SESSION.lower(), "01M8XKQ4T6ZJ5W3N9B2C7D1E0I")))


def test_looking_creates_nothing(home: Path) -> None:
    assert list_sessions() == []
    with pytest.raises(UsageError, match="the store .* is empty"):
        find_session(SESSION)
    assert not home.exists()


def test_a_session_is_found_in_whatever_project(tmp_path: Path) -> None:
    ids = [new_session_id(TIME + n, bytes(16)) for n in range(3)]
    paths = [put(f"/src/p{n % 2}", session) for n, session in enumerate(ids)]
    assert [find_session(session) for session in ids] == paths
    stored = list_sessions()
    assert [(s.id, s.path, s.started_ms) for s in stored] == list(
        zip(ids, paths, (TIME, TIME + 1, TIME + 2), strict=True)
    )
    assert {s.project for s in stored} == {project_key("/src/p0"), project_key("/src/p1")}
    other = tmp_path / "log.jsonl"
    other.touch()
    assert find_session(str(other)) == str(other)


def test_what_else_lies_in_the_store_is_no_session(home: Path) -> None:
    path = Path(put("/src/p", SESSION))
    for name in (f"{SESSION}.jsonl.seal", "project", f"{SESSION.lower()}.jsonl", f"{SESSION}.work"):
        (path.parent / name).touch()
    (home / "sessions/a-file").touch()
    assert [s.id for s in list_sessions()] == [SESSION]


def test_an_unknown_session_is_refused_with_the_nearest() -> None:
    put("/src/p", SESSION)
    with pytest.raises(UsageError, match=f"Did you mean `{SESSION}`"):
        find_session(SESSION[:-1] + "0")
    with pytest.raises(UsageError, match="session list"):
        find_session("zzz")
    with pytest.raises(UsageError, match="There is no file `no/such.jsonl`"):
        find_session("no/such.jsonl")


def test_a_written_log_is_what_the_format_says(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/log.jsonl"
    with LogWriter(str(path), SESSION) as log:
        ids = [log.append("session.start", START, TIME), log.append("session.end", END, TIME + 1000)]
    wanted = log_lines([{"session.start": START}, {"session.end": END}], start_ms=TIME)
    assert path.read_bytes() == b"\n".join(wanted) + b"\n"
    assert ids == [16, 17 + len(wanted[1])]
    assert path.stat().st_mode & 0o777 == 0o644 & ~_umask()
    assert list(json.loads(wanted[1])) == ["id", "session", "time_ms", "event", "version", "prev"]
    assert read(path).verdict == "intact"


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    title = "naïve \u2028 \x00 🎉 \ud800 \n"
    with LogWriter(str(tmp_path / "log.jsonl"), SESSION) as log:
        log.append("session.title", {"title": title}, TIME)
    found = read(tmp_path / "log.jsonl")
    assert (found.verdict, found.events) == ("intact", 1)
    assert found.record.events[0].data["title"] == title.replace("\ud800", "\ufffd")
    assert "naïve".encode() in (tmp_path / "log.jsonl").read_bytes()


def test_a_number_that_is_not_finite_is_never_written(tmp_path: Path) -> None:
    with LogWriter(str(tmp_path / "log.jsonl"), SESSION) as log:
        with pytest.raises(ValueError, match="JSON compliant"):
            log.append("usage", {"cost": float("nan")}, TIME)
        log.append("session.end", END, TIME)
    assert read(tmp_path / "log.jsonl").verdict == "intact"


def test_a_log_is_continued_where_it_ends(tmp_path: Path) -> None:
    path = str(tmp_path / "log.jsonl")
    for _ in range(3):
        with LogWriter(path, SESSION) as log:
            log.append("session.title", {"title": "x" * 100_000}, TIME)
    assert (read(path).verdict, read(path).events) == ("intact", 3)


def test_the_last_line_is_read_again_for_every_event(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with LogWriter(str(path), SESSION) as log:
        log.append("session.start", START, TIME)
        old = log_lines([{"session.end": END}], chained=False)[1]
        with path.open("ab") as other:
            other.write(old + b"\n")
        log.append("session.end", END, TIME)
    found = read(path)
    assert (found.verdict, found.events, found.chained) == ("partly_chained", 3, 2)


@pytest.mark.parametrize("fragment", [b'{"id":0,', b"x" * 200_000])
def test_a_torn_end_is_cut_off_before_anything_is_appended(tmp_path: Path, fragment: bytes) -> None:
    path = tmp_path / "log.jsonl"
    with LogWriter(str(path), SESSION) as log:
        log.append("session.start", START, TIME)
    whole = path.read_bytes()
    path.write_bytes(whole + fragment)
    assert read(path).verdict == "torn"
    with LogWriter(str(path), SESSION) as log:
        assert log.append("session.end", END, TIME) == len(whole)
    assert path.read_bytes().startswith(whole)
    assert (read(path).verdict, read(path).events) == ("intact", 2)


@pytest.mark.parametrize("content", [b'{"chock_log":1', b'{"chock_log":2}\n', b"hello\n"])
def test_another_file_is_never_appended_to(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not an audit log"):
        LogWriter(str(path), SESSION)
    assert path.read_bytes() == content


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "log.jsonl")
    program = f"from rulebook.services.log_writer import LogWriter; LogWriter({path!r}, {SESSION!r})"
    with LogWriter(path, SESSION) as log:
        with pytest.raises(UsageError, match="is being written by another program"):
            LogWriter(path, SESSION)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert "is being written by another program" in done.stderr
        log.append("session.start", START, TIME)
    with LogWriter(path, SESSION) as log:
        log.append("session.end", END, TIME)
    log.close()
    assert read(path).verdict == "intact"


def test_reading_needs_no_lock(tmp_path: Path) -> None:
    with LogWriter(str(tmp_path / "log.jsonl"), SESSION) as log:
        log.append("session.start", START, TIME)
        assert read(tmp_path / "log.jsonl").events == 1


def test_the_lock_goes_with_the_process(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    program = (
        "import os, sys; from rulebook.services.log_writer import LogWriter; "
        f"log = LogWriter({str(path)!r}, {SESSION!r}); log.append('session.start', {START!r}, 1); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    with path.open("rb") as log:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert read(path).events == 1


def test_a_whole_log_appears_at_once_and_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write_log(str(path), SESSION, [Entry("session.end", END, TIME)])
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        write_log(str(path), SESSION, [])
    with pytest.raises(ValueError, match="JSON"):
        write_log(str(tmp_path / "other.jsonl"), SESSION, [Entry("usage", {"cost": float("inf")}, TIME)])
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["log.jsonl"]
    assert before.startswith(HEADER + b"\n")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
