"""Ending everything that a user runs, so that nothing of a student's is alive while its work is judged.

Source: scoring, "Student resources"; the guarantees of the reference's `kill_processes`.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

from rulebook.errors import EvidenceError, Missing, UnreapableCohortError
from rulebook.services.custody_permission import permit

_WALKS = 10
_HELPER_LIMIT_S = 5.0
_GONE = (FileNotFoundError, ProcessLookupError)

_HELPER = """
import os, signal, sys
uid = int(sys.argv[1])
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(uid, uid, uid)
with open("/proc/self/status") as status:
    powers = [line.split()[1].strip("0") for line in status if line.startswith("CapEff")]
if uid <= 0 or os.getresuid() != (uid, uid, uid) or powers != [""]:
    sys.exit(3)
for _ in range(100):
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        break
os.write(1, b"done")
"""
"""Run as the student, it kills all that the student may kill, at one stroke that no fork escapes.

It stops where it has not become the student wholly: root, or a process with root's powers, would kill everybody.
"""


def kill_processes(
    uid: int, *, pass_interval: float = 0.05, deadline: float = 30.0, outside_container: bool = False
) -> None:
    """Kill every process of `uid` and see that none is left; `deadline` and `pass_interval` are seconds.

    Raises UnreapableCohortError when some are left after the deadline; Missing where nothing can be run as `uid`;
    NotAllowedHere where we are not root, where `uid` cannot be the student's, and outside a container, unless
    `outside_container` and the variable RULEBOOK_OUTSIDE_CONTAINER both ask for it.
    """
    permit(uid, outside_container=outside_container)
    until = time.monotonic() + deadline
    while True:
        struck = _struck(uid)
        for _ in range(_WALKS):
            if not _swept(uid):
                break
        time.sleep(pass_interval)
        left = living(uid)
        if struck and not left:
            return
        if time.monotonic() >= until:
            raise _failure(uid, left, deadline)


def _failure(uid: int, left: list[int], deadline: float) -> EvidenceError:
    if not left:
        return Missing("harness", f"nothing could be run as user {uid} in {deadline:g} s to end its processes")
    return UnreapableCohortError(f"processes of user {uid} were still alive after {deadline:g} s: {_some(left)}")


def living(uid: int) -> list[int]:
    """The processes whose real user is `uid`, without those that have ended and only wait to be asked how."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and _lives(int(name), uid):
            found.append(int(name))
    return found


def _struck(uid: int) -> bool:
    """Let a helper kill in the student's name; whether it said that it did."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        helper = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", _HELPER, str(uid)],
            {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writing, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
    except OSError:
        os.close(reading)
        return False
    finally:
        os.close(writing)
    try:
        ready = select.poll()
        ready.register(reading, select.POLLIN)
        return bool(ready.poll(_HELPER_LIMIT_S * 1000)) and os.read(reading, 4) == b"done"
    finally:
        os.close(reading)
        with suppress(ChildProcessError, ProcessLookupError):  # the student may have stopped it
            os.kill(helper, signal.SIGKILL)
            os.waitpid(helper, 0)


def _swept(uid: int) -> bool:
    """Kill as root whoever is left; whether anybody was."""
    found = living(uid)
    for process in found:
        with suppress(OSError):
            handle = os.pidfd_open(process)
            try:
                if _lives(process, uid):  # the number may have become somebody else's before it was held
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)
    return bool(found)


def _lives(process: int, uid: int) -> bool:
    status = _status(f"/proc/{process}/status")
    if status is None or status[1] != uid or uid == 0:  # a second lock: root's processes are everybody's
        return False
    return status[0] not in "ZX" or _threads_live(process)


def _threads_live(process: int) -> bool:
    """Whether a thread goes on though the first one has ended, which makes the whole process look dead."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except _GONE:
        return False
    states = (_status(f"/proc/{process}/task/{thread}/status") for thread in threads)
    return any(state is not None and state[0] not in "ZX" for state in states)


def _status(path: str) -> tuple[str, int] | None:
    """State letter and real user; None when the process is gone."""
    try:
        with open(path, "rb") as stream:
            lines = stream.read().splitlines()
    except _GONE:
        return None
    state = next(line for line in lines if line.startswith(b"State:")).split()[1].decode()
    return state, int(next(line for line in lines if line.startswith(b"Uid:")).split()[1])


def _some(processes: list[int]) -> str:
    shown = ", ".join(map(str, processes[:10]))
    return shown + (f" and {len(processes) - 10} more" if len(processes) > 10 else "")
