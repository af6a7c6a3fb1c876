"""Tasks that take several rows at once: they overlap, in order, bounded, and nothing is left when a run is ended."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import rulebook
from rulebook import Evaluation, scorers
from rulebook.api.own_machine import own_ports
from rulebook.api.row_scorers import row_scorer
from rulebook.cli.main import main
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.evidence.rows import Row
from rulebook.measures.row_scores import RowFailure
from rulebook.services.row_threads import RowThreads
from rulebook.session.evaluating import Work
from rulebook.session.evaluating_together import AHEAD, evaluate_together

ROOT = Path(rulebook.__file__).parent.parent

FILE = """\
schema: rulebook.evaluation
version: 1
name: several
dataset: rows.jsonl
task: {{argv: ['{python}', task.py, {word}], concurrency: {concurrency}, timeout: 1h, pass_env: [RUN_ID]}}
scorers:
  - exact_match: {{name: same}}
gates: {{same: {{mean: {{min: 0}}, unmeasured: {{max: 99999}}}}}}
"""
IN_PAIRS = """\
import json, sys
n = json.load(sys.stdin)["n"]
pair, first = n // 2, n % 2 == 0
# opening a FIFO waits for whoever opens its other end: each of the two waits for the other
with open(f"pair{pair}", "w" if first else "r") as fifo:
    print(n, file=fifo) if first else fifo.read()
if n == 3:
    sys.exit("no three")
print(n)
"""


@pytest.mark.parametrize("at_once", [1, 3])
def test_what_a_function_asks_of_models_is_counted(at_once: int, place: Path) -> None:
    answers = '[[answers]]\nreply = \'{"score": 0.5}\'\n'
    (place / "answers.toml").write_text(answers, encoding="utf-8")
    (place / "rulebook.toml").write_text('[[providers]]\nname = "play"\nkind = "scripted"\nanswers = "answers.toml"\n', encoding="utf-8")
    own_ports.cache_clear()

    class Quality(BaseModel):
        score: float

    judge = scorers.llm_judge(Quality, model="play/any")

    @rulebook.function(concurrency=at_once)
    def task(n: int) -> str:
        return str(judge(output=str(n)).score)

    rows = [{"n": n, "expected": "0.5"} for n in range(4)]
    run = Evaluation.create("e", dataset=rows, task=task, scorers=[scorers.exact_match()]).run()
    own_ports.cache_clear()
    assert run.means() == {"exact-match": 1.0}
    assert run.outcome.spent is not None
    assert run.outcome.spent.calls == 4


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def write(place: Path, task: str, rows: int, concurrency: int, word: str = "") -> None:
    text = FILE.format(python=sys.executable, word=word or "x", concurrency=concurrency)
    (place / "several.yaml").write_text(text, encoding="utf-8")
    (place / "task.py").write_text(task, encoding="utf-8")
    lines = [json.dumps({"n": n, "expected": str(n)}) for n in range(rows)]
    (place / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def journal_of(place: Path) -> Path:
    (journal,) = (place / "home").rglob("journal.jsonl")
    return journal


def records_of(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal_of(place).read_bytes().splitlines(keepends=True)[1:] if line[-1:] == b"\n"]


def test_commands_overlap_and_each_keeps_its_row(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, IN_PAIRS, 8, concurrency=2)
    for pair in range(4):
        os.mkfifo(place / f"pair{pair}")
    assert main(["evaluation", "run", "several.yaml", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] == {"count": 8, "damaged": 0, "task_failed": 1}
    assert report["scorers"][0]["mean"] == 1.0
    found = records_of(place)
    assert [each["row"] for each in found] == list(range(1, 9))
    assert [each.get("output") for each in found] == ["0", "1", "2", None, "4", "5", "6", "7"]
    assert found[3]["end"]["message"] == "it ended with exit status 1: no three"


def in_pairs(at_once: int) -> tuple[Any, list[int], list[int]]:
    """A task in which every two rows wait for each other, the second of them ends first, and row 5 fails."""
    barrier = threading.Barrier(2, timeout=60)
    second_is_over = threading.Event()
    began, ended = [], []

    @rulebook.function(concurrency=at_once)
    def pairs(n: int) -> str:
        began.append(n)
        barrier.wait()
        if n % 2 == 0:
            assert second_is_over.wait(60)
            second_is_over.clear()
        ended.append(n)
        if n % 2 == 1:
            second_is_over.set()
        if n == 5:
            raise ValueError("five")
        return str(n)

    return pairs, began, ended


def test_functions_overlap_where_they_say_so() -> None:
    pairs, _, ended = in_pairs(2)
    rows = [{"n": n, "expected": str(n)} for n in range(8)]
    run = Evaluation.create("several", dataset=rows, task=pairs, scorers=[scorers.exact_match()]).run()
    assert run.means() == {"exact-match": 1.0}
    assert ended == [1, 0, 3, 2, 5, 4, 7, 6]
    found = list(run.rows())
    assert [each.row for each in found] == list(range(1, 9))
    assert [each.end and each.end.message for each in found] == [None] * 5 + ["five", None, None]
    assert [each.output for each in found if each.end is None] == ["0", "1", "2", "3", "4", "6", "7"]


def test_a_function_takes_one_row_after_the_other_where_nothing_is_said() -> None:
    under_way, most, threads = [], [], set()

    @rulebook.function
    def alone(n: int) -> str:
        under_way.append(n)
        most.append(len(under_way))
        threads.add(threading.current_thread())
        under_way.remove(n)
        return str(n)

    Evaluation.create("alone", dataset=[{"n": n} for n in range(20)], task=alone, scorers=[scorers.json_valid()]).run()
    assert (max(most), threads) == (1, {threading.main_thread()})


def test_rows_are_begun_only_so_far_ahead() -> None:
    """The first row waits until as many are begun as may be; were there more, they would be counted too."""
    lock, begun = threading.Lock(), []
    at_once, rows = 2, 100
    enough = threading.Event()
    ahead_of_first: list[int] = []

    @rulebook.function(concurrency=at_once)
    def task(n: int) -> str:
        with lock:
            begun.append(n)
            if len(begun) == AHEAD * at_once:
                enough.set()
        if n == 0:
            assert enough.wait(60)
            ahead_of_first.append(len(begun))
        return str(n)

    run = Evaluation.create("a", dataset=[{"n": n} for n in range(rows)], task=task, scorers=[scorers.json_valid()]).run()
    assert ahead_of_first == [AHEAD * at_once]
    assert run.table()["json-valid"].scores == rows


@pytest.mark.parametrize(("value", "error"), [(0, UnfitOption), (-1, UnfitOption), ("2", UnfitKind), (True, UnfitKind)])
def test_how_many_at_once_is_a_whole_number(value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="`concurrency` must be"):
        rulebook.function(concurrency=value)


def test_a_row_that_interrupts_ends_the_run_and_keeps_what_was_done(place: Path) -> None:
    @rulebook.function(concurrency=2)
    def task(n: int) -> str:
        if n == 30:
            raise KeyboardInterrupt
        return str(n)

    evaluation = Evaluation.create("a", dataset=[{"n": n} for n in range(60)], task=task, scorers=[scorers.json_valid()])
    with pytest.raises(KeyboardInterrupt):
        evaluation.run()
    assert len(records_of(place)) <= 30


def test_what_is_done_is_handed_on_while_a_row_takes_long() -> None:
    """A kill while one row takes minutes loses none of those before it."""
    release = threading.Event()

    def task(row: Mapping[str, object]) -> object:
        if row["n"] == 3:
            assert release.wait(60)
        return str(row["n"])

    rows = [Row(n + 1, {"n": n}) for n in range(6)]
    work = Work(lambda: iter(rows), None, [row_scorer(scorers.json_valid(), dict)], time.monotonic)
    batches = evaluate_together(work, lambda: RowThreads(task, 2))
    with closing(batches):
        assert [each.row for each in next(batches)] == [1, 2, 3]
        release.set()
        assert [each.row for batch in batches for each in batch] == [4, 5, 6]


def test_threads_are_made_as_they_are_needed_and_take_rows_in_turn() -> None:
    def task(row: Any) -> object:
        return RowFailure("odd", "x") if row["n"] % 2 else row["n"]

    threads = RowThreads(task, 3)
    try:
        found = [threads.begin({"n": n}).result(60) for n in range(4)]
    finally:
        threads.end()
    assert found == [0, RowFailure("odd", "x"), 2, RowFailure("odd", "x")]


STUCK = """\
import json, os, subprocess, sys, time
n = json.load(sys.stdin)["n"]
if n < 2:
    print(n)
    sys.exit()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=sys.argv[1] == "apart")
with open("begun", "w") as fifo:
    print(os.getpid(), child.pid, file=fifo, flush=True)
time.sleep(600)
"""


@contextmanager
def start(place: Path, *options: str) -> Iterator["subprocess.Popen[str]"]:
    run = [sys.executable, "-m", "rulebook", "evaluation", "run", "several.yaml", "--format", "json", *options]
    argv = ["sh", "-c", 'RUN_ID=$$ exec "$@"', "sh", *run]  # the commands know which run they are of
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        argv, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()  # of no effect on one that has ended


def pids_begun(place: Path, count: int) -> list[int]:
    """The programs of `count` rows: what each wrote into the FIFO that we read."""
    found: list[int] = []
    while len(found) < 2 * count:
        with open(place / "begun", encoding="utf-8") as fifo:
            found += map(int, fifo.read().split())
    return found


def is_there(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def wait_for_end(pid: int) -> None:
    """Wait until a program that is no child of ours is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        watched = select.poll()
        watched.register(descriptor, select.POLLIN)
        assert watched.poll(60_000), f"{pid} is still there"
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, ""), (signal.SIGKILL, -9, "")],
)
def test_nothing_is_left_when_a_run_is_ended(number: int, status: int, said: str, place: Path) -> None:
    # nobody can catch SIGKILL: what is left behind then ends whole process groups, and no session of a grandchild's
    write(place, STUCK, 40, concurrency=4, word="together" if number == signal.SIGKILL else "apart")
    os.mkfifo(place / "begun")
    with start(place) as process:
        pids = pids_begun(place, 4)
        assert all(is_there(pid) for pid in pids)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, said in err) == (status, True)
    if number == signal.SIGKILL:
        for pid in pids:
            wait_for_end(pid)
    assert not any(is_there(pid) for pid in pids)
    assert [each["row"] for each in records_of(place)] in ([1, 2], [1], [])


DYING = """\
import json, os, signal, sys
n, run = json.load(sys.stdin)["n"], int(os.environ["RUN_ID"])
with open(f"asked-{run}.txt", "a") as file:
    file.write(f"{n}\\n")
if n == int(open("die_at").read()):
    os.kill(run, signal.SIGKILL)
if n % 7 == 0:
    sys.exit("seven")
print(n)
"""


def asked(place: Path, run: int) -> list[int]:
    return [int(line) for line in (place / f"asked-{run}.txt").read_text(encoding="utf-8").split()]


def test_a_run_that_is_killed_goes_on_and_asks_only_what_was_under_way_again(place: Path) -> None:
    rows, at_once = 60, 3
    write(place, DYING, rows, concurrency=at_once)
    (place / "die_at").write_text("-1", encoding="utf-8")
    with start(place) as process:
        whole = json.loads(process.communicate(timeout=120)[0])
    assert sorted(asked(place, process.pid)) == list(range(rows))
    (place / "home").rename(place / "other")
    for die_at in (25, 50, -1):
        before = len(records_of(place)) if (place / "home").exists() else 0
        (place / "die_at").write_text(str(die_at), encoding="utf-8")
        with start(place, "--resume") as process:
            out, _ = process.communicate(timeout=120)
        assert process.returncode == (-signal.SIGKILL if die_at >= 0 else 0)
        again = asked(place, process.pid)
        assert (min(again), len(again)) == (before, len(set(again)))
        done = len(records_of(place))
        assert set(range(done)) <= set(range(before)) | set(again)
    resumed = json.loads(out)
    assert [resumed.pop("run") != whole.pop("run"), resumed] == [True, whole]
    (first,) = (place / "other").rglob("journal.jsonl")
    assert journal_of(place).read_bytes().split(b"\n")[1:] == first.read_bytes().split(b"\n")[1:]
