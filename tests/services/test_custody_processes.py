"""Ending a student's processes: every way to stay alive, and everybody else unharmed."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from students import OTHER, STUDENT, cleared, needs_root, running, started

from rulebook.errors import MisbehaviorError, Missing, NotAllowedHere, UnreapableCohortError
from rulebook.services.custody_grounds import Ground
from rulebook.services.custody_permission import OUTSIDE_CONTAINER, in_container, permit_outside, permit_user
from rulebook.services.custody_processes import kill_processes, living
from rulebook.services.custody_reclaim import delete_files
from rulebook.services.custody_sweep import Patience, Sweep

PYTHON = "/usr/bin/python3"
"""The one that another user may run."""


@pytest.fixture(autouse=True)
def asked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(OUTSIDE_CONTAINER, str(STUDENT))
    with cleared():
        yield


def end(**more: float) -> None:
    kill_processes(STUDENT, outside_container=True, **more)  # type: ignore[arg-type]


@needs_root
@pytest.mark.parametrize(
    "script",
    [
        "sleep 1000",
        "trap '' TERM INT HUP; sleep 1000; sleep 1000",
        "setsid nohup sleep 1000 & sleep 1000",
        "(setsid sh -c '(sleep 1000 & sleep 1000) & exit 0' &) ; sleep 1000",
        "sleep 1000 & kill -STOP $!; kill -STOP $$",
    ],
)
def test_nothing_of_the_student_outlives_it(script: str) -> None:
    process = started("sh", "-c", f"echo up; {script}")
    assert running(STUDENT)
    end()
    assert running(STUDENT) == []
    assert process.wait(5) == -9
    process.stdout.close()  # type: ignore[union-attr]


@needs_root
def test_a_fork_bomb() -> None:
    bomb = "echo up; f() { f & f & sleep 1000; }; f"
    with started("sh", "-c", bomb, most_processes=60) as process:
        end()
        assert running(STUDENT) == []
        process.wait(5)


CHAIN = """
import os
os.write(1, b"up\\n")
while True:
    try:
        if os.fork():
            os._exit(0)
    except BlockingIOError:
        pass
"""


@needs_root
def test_a_chain_of_processes_that_fork_and_die() -> None:
    with started(PYTHON, "-c", CHAIN, most_processes=60) as process:
        process.wait(5)
        assert process.stdout is not None
        held = select.poll()
        held.register(process.stdout, select.POLLHUP)
        assert held.poll(0) == []  # somebody of the chain lives, though whoever looks for it comes too late
        end()
        assert held.poll(0) != []
        assert running(STUDENT) == []


@needs_root
def test_a_process_whose_first_thread_has_ended_is_no_zombie() -> None:
    script = (
        "import ctypes, os, threading, time\n"
        "ready = threading.Event()\n"
        "def go_on():\n    ready.wait(); time.sleep(0.05); os.write(1, b'up\\n'); time.sleep(1000)\n"
        "threading.Thread(target=go_on).start()\n"
        "ready.set()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with started(PYTHON, "-c", script) as process:
        assert living(STUDENT) == [process.pid]
        end()
        assert living(STUDENT) == []
        process.wait(5)


@needs_root
def test_a_process_in_a_namespace_of_its_own() -> None:
    inner = ["setpriv", f"--reuid={STUDENT}", "--clear-groups", "sh", "-c", "echo up; sleep 1000 & sleep 1000"]
    with subprocess.Popen(["unshare", "--pid", "--fork", *inner], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        end()
        assert running(STUDENT) == []
        process.wait(5)


@needs_root
def test_everybody_else_lives_on() -> None:
    with (
        started("sh", "-c", "echo up; sleep 1000", uid=OTHER) as other,
        subprocess.Popen(["sleep", "1000"]) as ours,
        started("sh", "-c", "echo up; sleep 1000"),
    ):
        end()
        assert running(STUDENT) == []
        assert other.poll() is None
        assert ours.poll() is None
        ours.kill()
        other.kill()


@needs_root
def test_zombies_are_nobody() -> None:
    process = started("sh", "-c", "echo up; exit 0")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    end(deadline=5.0)
    process.wait(5)
    process.stdout.close()  # type: ignore[union-attr]


@needs_root
def test_what_cannot_be_ended_in_time_is_misbehaviour() -> None:
    again = f"echo up; while :; do setpriv --reuid={STUDENT} --clear-groups sleep 1000; done"
    with subprocess.Popen(["sh", "-c", again], stdout=subprocess.PIPE) as ours:
        try:
            assert ours.stdout is not None
            assert ours.stdout.readline() == b"up\n"
            with pytest.raises(UnreapableCohortError, match=f"user {STUDENT} were still alive after 0.2 s: \\d+") as said:
                end(deadline=0.2)
            assert isinstance(said.value, MisbehaviorError)
        finally:
            ours.kill()


@needs_root
def test_where_nothing_can_be_run_as_the_student_it_is_not_its_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/gone/python")
    with pytest.raises(Missing, match="nothing could be run as user"):
        end(deadline=0.1)


@needs_root
def test_no_descriptor_and_no_child_is_left() -> None:
    before = os.listdir("/proc/self/fd"), children()
    end()
    assert (os.listdir("/proc/self/fd"), children()) == before


def children() -> str:
    with open(f"/proc/self/task/{os.getpid()}/children") as stream:
        return stream.read()


# who may not be killed


@needs_root
@pytest.mark.parametrize("uid", [0, -1, -5, 2**32 - 1, 2**32, True, "54321", 1.5, None])
def test_no_number_that_could_mean_somebody_else(uid: object) -> None:
    """Asked of the guard alone: a deed whose guard is broken would end this machine."""
    with pytest.raises(RuntimeError, match="cannot be the student's user") as caught:
        permit_user(uid)  # type: ignore[arg-type]
    assert isinstance(caught.value, NotAllowedHere)


@needs_root
def test_nobody_looks_for_the_processes_of_root() -> None:
    assert living(0) == []


@needs_root
def test_nobody_who_runs_this_very_program() -> None:
    said = subprocess.run(
        ["setpriv", f"--ruid={STUDENT}", "--clear-groups", sys.executable, "-c", REFUSED, str(STUDENT)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "runs this very program" in said.stdout


REFUSED = """
import sys
from rulebook.errors import NotAllowedHere
from rulebook.services.custody_grounds import Ground
from rulebook.services.custody_permission import permit_user
try:
    permit_user(int(sys.argv[1]))
except NotAllowedHere as error:
    print(error)
"""


@needs_root
@pytest.mark.parametrize(
    "deed",
    [
        lambda place: kill_processes(STUDENT, outside_container=True),
        lambda place: delete_files(STUDENT, [place], outside_container=True),
        lambda place: Sweep(STUDENT, Ground(), Patience(1)),
    ],
)
def test_only_root_may(deed: Callable[[Path], object], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(OTHER, OTHER, OTHER)
            deed(tmp_path)
        except NotAllowedHere as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading) as stream:
        assert stream.read().startswith("Only root can end the processes")


def test_outside_a_container_it_must_be_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    permit_outside(STUDENT, asked=True)
    with pytest.raises(NotAllowedHere, match="This is no container"):
        permit_outside(STUDENT, asked=False)
    with pytest.raises(NotAllowedHere):
        permit_outside(OTHER, asked=True)
    monkeypatch.delenv(OUTSIDE_CONTAINER)
    with pytest.raises(NotAllowedHere):
        permit_outside(STUDENT, asked=True)


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv", "proc/1/environ", None])
def test_the_marks_of_a_container(tmp_path: "os.PathLike[str]", mark: str | None) -> None:
    root = os.fspath(tmp_path)
    for folder in ("run", "proc/1"):
        os.makedirs(os.path.join(root, folder))
    if mark is not None:
        with open(os.path.join(root, mark), "wb") as stream:
            stream.write(b"A=1\0container=podman\0")
    assert in_container(root) is (mark is not None)
