"""The line that says how far a run of an evaluation is: on a terminal, and nowhere else."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import rulebook

ROOT = Path(rulebook.__file__).parent.parent
FILE = """\
schema: rulebook.evaluation
version: 1
name: held
dataset: rows.jsonl
task: {{argv: ['{python}', task.py], concurrency: {concurrency}}}
scorers:
  - exact_match: {{name: same}}
"""
TASK = """\
import json, sys
n = json.load(sys.stdin)["n"]
if n >= 4:
    open(f"held{n}").read()  # until the test opens it for writing, and lets it go
print(n)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_file(tmp_path, 3)
    (tmp_path / "task.py").write_text(TASK, encoding="utf-8")
    lines = [json.dumps({"n": n, "expected": str(n)}) for n in range(8)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for n in range(4, 8):
        os.mkfifo(tmp_path / f"held{n}")
    return tmp_path


def write_file(place: Path, concurrency: int) -> None:
    text = FILE.format(python=sys.executable, concurrency=concurrency)
    (place / "held.yaml").write_text(text, encoding="utf-8")


@contextmanager
def on_a_terminal(place: Path, *options: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The run with a terminal for its messages; what it writes there can be read from the descriptor."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(argv_of(*options), cwd=place, env=env_of(place), stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        with process:
            try:
                yield process, ours
            finally:
                process.kill()  # of no effect on one that has ended
    finally:
        os.close(ours)


def argv_of(*options: str) -> list[str]:
    return [sys.executable, "-m", "rulebook", "evaluation", "run", "held.yaml", *options]


def env_of(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "RULEBOOK_HOME": str(place / "home"), "TERM": "xterm"}


def read_until(descriptor: int, pattern: str, text: str = "") -> str:
    """What the terminal shows, up to the pattern. Fails where the run ends before."""
    while not re.search(pattern, text):
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            data = b""
        assert data, f"no {pattern!r} in {text!r}"
        text += data.decode()
    return text


def read_to_the_end(descriptor: int) -> str:
    text = ""
    while True:
        try:
            data = os.read(descriptor, 4096)
        except OSError:  # the terminal has no other side any more
            return text
        if not data:
            return text
        text += data.decode()


def shown_at_last(text: str) -> str:
    """What stands in the last line of a terminal after all this."""
    return re.split(r"\r\x1b\[K", text.replace("\r\n", "\n").split("\n")[-1])[-1]


def let_go(place: Path) -> None:
    """Let every row that waits go on."""
    for n in range(4, 8):
        with open(place / f"held{n}", "w", encoding="utf-8"):
            pass


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_terminal_is_told_how_many_rows_are_done_and_the_line_is_taken_away(concurrency: int, place: Path) -> None:
    write_file(place, concurrency)
    with on_a_terminal(place) as (process, terminal):
        text = read_until(terminal, r"0 of 8 rows")
        let_go(place)
        text += read_to_the_end(terminal)
    assert process.returncode == 0
    assert shown_at_last(text) == ""


def test_the_line_says_how_long_the_others_take_and_goes_on_from_where_a_run_was_stopped(place: Path) -> None:
    with on_a_terminal(place) as (process, terminal):
        text = read_until(terminal, r"4 of 8 rows, \d+ s to go")
        process.send_signal(signal.SIGINT)
        text += read_to_the_end(terminal)
    assert process.returncode == 130
    assert "4 rows are done. Go on with: rulebook evaluation run held.yaml --resume" in text
    with on_a_terminal(place, "--resume") as (process, terminal):
        text = read_until(terminal, r"rows")
        assert re.search(r"\r\x1b\[K4 of 8 rows$", text)
        let_go(place)
        text += read_to_the_end(terminal)
    assert (process.returncode, shown_at_last(text)) == (0, "")


def test_where_there_is_no_terminal_only_the_run_is_named(place: Path) -> None:
    with subprocess.Popen(
        argv_of(), cwd=place, env=env_of(place), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        let_go(place)
        _, err = process.communicate()
    assert process.returncode == 0
    assert re.fullmatch(rb"This is run [0-9A-Z]{26}\. .*\n", err)
