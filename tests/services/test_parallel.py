"""Work spread over processes: in order, bounded, and one that dies takes no other with it."""

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rulebook.services import process_pool
from rulebook.services.parallel import cores, in_order


def lost(piece: int) -> str:
    return f"{piece} lost"


def named(piece: int) -> str:
    return f"{piece} in {os.getpid()}"


def test_results_come_in_order_from_other_processes() -> None:
    found = list(in_order(named, range(40), 2, lost))
    assert [int(text.split()[0]) for text in found] == list(range(40))
    assert str(os.getpid()) not in {text.split()[-1] for text in found}


def test_one_worker_is_this_process() -> None:
    assert list(in_order(named, [7], 1, lost)) == [f"7 in {os.getpid()}"]


def test_what_the_work_holds_need_not_be_picklable() -> None:
    assert list(in_order(lambda piece: piece * 2, [1, 2], 2, lambda piece: 0)) == [2, 4]


def test_a_process_that_is_killed_costs_its_own_piece_alone() -> None:
    def deadly(piece: int) -> str:
        if piece == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return str(piece)

    assert list(in_order(deadly, range(30), 2, lost)) == [str(n) if n != 5 else "5 lost" for n in range(30)]


def test_a_piece_whose_process_died_once_is_tried_again(tmp_path: Path) -> None:
    def deadly_once(piece: int) -> str:
        if piece == 3 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return str(piece)

    assert list(in_order(deadly_once, range(8), 2, lost)) == [str(n) for n in range(8)]


def test_pieces_are_fetched_as_they_are_worked_on() -> None:
    fetched: list[int] = []

    def pieces() -> Iterator[int]:
        for n in range(1000):
            fetched.append(n)
            yield n

    results = in_order(str, pieces(), 2, lost)
    assert next(results) == "0"
    assert len(fetched) < 20
    results.close()


def test_nothing_is_left_running_when_the_reader_stops(tmp_path: Path) -> None:
    def held(piece: int) -> str:
        (tmp_path / str(os.getpid())).touch()
        if piece:
            signal.pause()
        return "first"

    results = in_order(held, range(8), 2, lost)
    assert next(results) == "first"
    results.close()
    for pid in (int(path.name) for path in tmp_path.iterdir()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_second_interrupt_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def clinging(piece: int) -> str:
        if not piece:
            return "first"
        try:
            (tmp_path / str(os.getpid())).touch()  # from here on it may be ended
            signal.pause()
        finally:
            os.kill(os.getppid(), signal.SIGINT)  # while it waits for this process to clear up
            while True:
                signal.pause()

    monkeypatch.setattr(process_pool, "_TO_CLEAR_UP_S", 1.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        results = in_order(clinging, range(2), 2, lost)
        assert next(results) == "first"
        await_files(tmp_path, 1)
        with pytest.raises(KeyboardInterrupt):
            results.close()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not [pid for pid in pids(tmp_path) if stands(pid)]


def test_nothing_is_left_running_when_the_first_process_is_killed(tmp_path: Path) -> None:
    def held(_: int) -> str:
        (tmp_path / str(os.getpid())).touch()
        signal.pause()
        return ""

    first = os.fork()
    if not first:
        list(in_order(held, range(20), 2, lost))
    await_files(tmp_path, 2)
    watched = [os.pidfd_open(pid) for pid in pids(tmp_path)]
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    try:
        for descriptor in watched:
            assert select.select([descriptor], [], [], 20)[0], "a process outlives the one that it works for"
    finally:
        for pid in filter(stands, pids(tmp_path)):
            os.kill(pid, signal.SIGKILL)


def await_files(folder: Path, count: int) -> None:
    """Wait until so many processes have left their number."""
    deadline = time.monotonic() + 20
    while len(pids(folder)) < count:
        assert time.monotonic() < deadline
        os.sched_yield()


def pids(folder: Path) -> list[int]:
    """The processes that left their number."""
    return [int(path.name) for path in folder.iterdir()]


def stands(pid: int) -> bool:
    """Whether a process is there."""
    return Path(f"/proc/{pid}").exists()


def test_there_is_a_processor() -> None:
    assert cores() >= 1
