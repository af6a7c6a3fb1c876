"""A student of a test: a user that exists nowhere else, not even in a test run beside this one."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

STUDENT = 10_000_000 + os.getpid()
OTHER = 20_000_000 + os.getpid()

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for a second user")


def started(*argv: str, uid: int = STUDENT, most_processes: int | None = None) -> "subprocess.Popen[bytes]":
    """A program that runs as the student and has said so; its first line of output is read away."""
    limit = [] if most_processes is None else ["prlimit", f"--nproc={most_processes}"]
    process = subprocess.Popen(
        [*limit, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def running(uid: int) -> list[int]:
    """What a user runs, found in another way than the code under test does."""
    found = subprocess.run(["ps", "-U", str(uid), "-o", "pid=,stat="], capture_output=True, text=True, check=False)
    return [int(pid) for pid, state in map(str.split, found.stdout.splitlines()) if not state.startswith("Z")]


@contextmanager
def cleared(uids: Sequence[int] = (STUDENT, OTHER)) -> Iterator[None]:
    """Whatever a test leaves of its two users is gone afterwards."""
    try:
        yield
    finally:
        for uid in uids:
            while left := running(uid):
                for process in left:
                    with suppress(OSError):
                        os.kill(process, 9)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, which those that pytest makes are not."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        yield Path(place)


def give(path: Path, uid: int = STUDENT) -> Path:
    """Give a file or folder away, no link followed."""
    os.chown(path, uid, uid, follow_symlinks=False)
    return path
