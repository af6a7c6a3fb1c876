"""What is left when this process is told to end, or is killed, while it works: no program and no folder."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rulebook.services.undisturbed import undisturbed

PROGRAM = """
import signal, sys
from rulebook.ports import Command
from rulebook.services.processes import MachineProcesses
from rulebook.services.workspaces import MachineWorkspaces

def end(number, frame):
    raise SystemExit(128 + number)

for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, end)
words, often = sys.argv[2:], sys.argv[1] == "often"
print("ready", flush=True)
while True:
    with MachineWorkspaces().copy_of(".") as folder:
        MachineProcesses().run(Command(words, folder, 60, {}, inherit=("PATH",)))
    if not often:
        break
"""


def started(tmp_path: Path, mark: Path, *words: str) -> "subprocess.Popen[bytes]":
    """This process's like, at work in `tmp_path/work`; its program holds `mark` open for as long as it lives."""
    for name in ("work", "tmp"):
        (tmp_path / name).mkdir(exist_ok=True)
    os.mkfifo(mark)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path / "work",
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
    )


def held(reading: int) -> bool:
    """Wait until the pipe's last writer is gone (false) or the time is up (true)."""
    deadline = time.monotonic() + 10
    while select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not os.read(reading, 100):
            return False
    return True


def ends_by(tmp_path: Path, number: int, script: str) -> int:
    """Its exit status after it was sent a signal while its program ran and held the pipe open.

    The program prints more than a pipe takes: when it is past that, it is being listened to.
    """
    mark = tmp_path / "mark"
    talk = "head -c 200000 /dev/zero"
    process = started(tmp_path, mark, "once", "sh", "-c", f"exec 9>{mark}; {talk}; echo up >&9; {script}")
    with process, open(mark, "rb", buffering=0) as reading:
        assert reading.read(3) == b"up\n"
        process.send_signal(number)
        status = process.wait(20)
        assert not held(reading.fileno())
    return status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_told_to_end_it_leaves_nothing(tmp_path: Path, number: int) -> None:
    status = ends_by(tmp_path, number, "mkdir -p a/b; chmod 0 a; trap '' TERM; setsid sleep 100 & sleep 100")
    assert status == (-number if number == signal.SIGINT else 128 + number)
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize("script", ["exec sleep 100", "trap '' TERM HUP; sleep 100 & sleep 100"])
def test_killed_it_leaves_no_program(tmp_path: Path, script: str) -> None:
    assert ends_by(tmp_path, signal.SIGKILL, script) == -signal.SIGKILL


def test_told_to_end_at_any_moment(tmp_path: Path) -> None:
    moments = random.Random(7)
    (tmp_path / "work").mkdir()
    for name in "abc":
        (tmp_path / "work" / name).write_text(name)
    for count in range(12):
        mark = tmp_path / f"mark{count}"
        with started(tmp_path, mark, "often", "sh", "-c", f"exec 9<>{mark}; sleep 0.005") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            select.select([], [], [], moments.uniform(0.0, 0.03))
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 128 + signal.SIGTERM
        with pytest.raises(OSError, match="No such device"):  # nobody reads it
            os.open(mark, os.O_WRONLY | os.O_NONBLOCK)
        assert os.listdir(tmp_path / "tmp") == []


def test_a_handler_waits_until_the_work_is_done() -> None:
    ran: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: ran.append("handler"))
    try:
        with undisturbed(), undisturbed():
            signal.raise_signal(signal.SIGTERM)
            ran.append("work")
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ran == ["work", "handler", "handler"]
