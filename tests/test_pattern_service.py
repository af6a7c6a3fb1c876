"""Pattern search with a limit: real catastrophic patterns, real signals, real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from rulebook.errors import Missing
from rulebook.languages.pattern import Pattern
from rulebook.ports import Patterns
from rulebook.services.patterns import PatternSearch

ENDLESS = Pattern("(a+)+$")
TEXT = "a" * 60 + "!"
LIMIT_S = 0.3
SOON_S = 20.0
"""A generous bound: without a limit the search would take longer than a day."""


@pytest.fixture
def patterns() -> Iterator[PatternSearch]:
    _others.clear()
    _others.update(children())
    service = PatternSearch()
    yield service
    service.close()
    assert children() == set()


_others: set[str] = set()
"""The processes that other tests left to their own services."""


def children() -> set[str]:
    """The processes that a test here has started and that still run."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    return {pid for pid, parent, name in rows if parent == str(os.getpid()) and name != "ps"} - _others


def in_thread(work: Callable[[], object]) -> object:
    """What `work` returns, or raises, in another thread."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(SOON_S)
    assert not thread.is_alive()
    return results[0]


def test_it_is_the_port(patterns: PatternSearch) -> None:
    port: Patterns = patterns
    assert port.search(Pattern("b+"), "abbc", 1.0) == (1, 3)
    assert port.search(Pattern("x"), "abbc", 1.0) is None


def test_flags_count(patterns: PatternSearch) -> None:
    assert patterns.search(Pattern("B.C$", "ims"), "ab\nc\nd", 1.0) == (1, 4)
    assert in_thread(lambda: patterns.search(Pattern("(B+)+.C$", "ims"), "ab\nc\nd", 5.0)) == (1, 4)


def test_an_endless_search_ends_in_the_main_thread(patterns: PatternSearch) -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="more than 0.3 s"):
        patterns.search(ENDLESS, TEXT, LIMIT_S)
    assert time.monotonic() - began < SOON_S
    assert patterns.search(Pattern("(a+)+!"), TEXT, LIMIT_S) == (0, 61)


def test_the_alarm_is_put_back(patterns: PatternSearch) -> None:
    rang: list[int] = []
    previous = signal.signal(signal.SIGALRM, lambda number, _: rang.append(number))
    try:
        with pytest.raises(TimeoutError):
            patterns.search(ENDLESS, TEXT, 0.05)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        signal.raise_signal(signal.SIGALRM)
        assert rang == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_a_timer_in_use_is_left_alone(patterns: PatternSearch) -> None:
    previous = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 3600)
    try:
        with pytest.raises(TimeoutError):
            patterns.search(ENDLESS, TEXT, LIMIT_S)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 3000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_an_endless_search_ends_in_another_thread(patterns: PatternSearch) -> None:
    began = time.monotonic()
    assert isinstance(in_thread(lambda: patterns.search(ENDLESS, TEXT, LIMIT_S)), TimeoutError)
    assert time.monotonic() - began < SOON_S
    assert children() == set()


def test_after_a_time_out_the_next_search_works(patterns: PatternSearch) -> None:
    watched = Pattern("(a+)+!")
    in_thread(lambda: patterns.search(ENDLESS, TEXT, LIMIT_S))
    assert in_thread(lambda: patterns.search(watched, TEXT, SOON_S)) == (0, 61)
    assert len(children()) == 1
    assert in_thread(lambda: patterns.search(watched, "none", SOON_S)) is None
    assert len(children()) == 1


def test_a_worker_that_died_is_our_failure(patterns: PatternSearch) -> None:
    watched = Pattern("(a+)+!")
    in_thread(lambda: patterns.search(watched, TEXT, SOON_S))
    os.kill(int(children().pop()), signal.SIGKILL)
    error = in_thread(lambda: patterns.search(watched, TEXT, SOON_S))
    assert isinstance(error, Missing)
    assert error.category == "harness"
    assert in_thread(lambda: patterns.search(watched, TEXT, SOON_S)) == (0, 61)


def test_many_threads_at_once(patterns: PatternSearch) -> None:
    results: list[object] = []
    watched = Pattern("(a+)+!")
    work = [threading.Thread(target=lambda: results.append(patterns.search(watched, TEXT, SOON_S))) for _ in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(SOON_S)
    assert results == [(0, 61)] * 8
    assert len(children()) <= 4


@pytest.mark.parametrize("text", ["é" * 50_000 + "aa!", "\ud800aa!", "\U0001f600aa!", "\0\naa!"])
def test_positions_count_characters(patterns: PatternSearch, text: str) -> None:
    watched, end = Pattern("(a+)+!"), len(text)
    assert in_thread(lambda: patterns.search(watched, text, SOON_S)) == (end - 3, end)
    assert patterns.search(watched, text, SOON_S) == (end - 3, end)


def test_a_long_text_and_a_slow_pattern(patterns: PatternSearch) -> None:
    text = " " * 100_000 + "x"
    with pytest.raises(TimeoutError):
        patterns.search(Pattern(r"\s+$"), text, LIMIT_S)
    assert isinstance(in_thread(lambda: patterns.search(Pattern(r"\s+$"), text, LIMIT_S)), TimeoutError)


@pytest.mark.parametrize("limit_s", [0.0, -1.0])
def test_no_time_left(patterns: PatternSearch, limit_s: float) -> None:
    with pytest.raises(TimeoutError):
        patterns.search(Pattern("a"), "a", limit_s)


def test_re2_searches_with_its_own_meaning(patterns: PatternSearch) -> None:
    pytest.importorskip("re2")
    assert patterns.search(Pattern(r"\p{L}+X", "i", "re2"), "1 ééx", 1.0) == (2, 5)
    assert patterns.search(Pattern(r"(a+)+$", "", "re2"), TEXT, 1.0) is None
    assert patterns.search(Pattern("^b.d$", "ms", "re2"), "a\nb\nd\n", 1.0) == (2, 5)
    assert patterns.search(Pattern("a", "", "re2"), "\ud800a", 1.0) == (1, 2)


def test_re2_that_refuses_a_pattern_is_our_failure(patterns: PatternSearch) -> None:
    pytest.importorskip("re2")
    with pytest.raises(Missing, match="refuses") as error:
        patterns.search(Pattern(r"\p{Nothing}", "", "re2"), "a", 1.0)
    assert error.value.category == "harness"


def test_re2_that_is_not_installed_is_our_failure_and_never_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(Missing, match=r"rulebook\[re2\]") as error:
        PatternSearch().search(Pattern("unlikely to be remembered", "", "re2"), "a", 1.0)
    assert error.value.category == "harness"


def test_workers_end_with_the_program() -> None:
    program = (
        "import threading\n"
        "from rulebook.languages.pattern import Pattern\n"
        "from rulebook.services.patterns import PatternSearch\n"
        "service = PatternSearch()\n"
        "work = threading.Thread(target=lambda: service.search(Pattern('(a+)+!'), 'a!', 20))\n"
        "work.start(); work.join()\n"
        "print(service._workers._idle[0]._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_a_worker_whose_program_was_killed_does_not_go_on() -> None:
    program = (
        "import os, signal, threading, time\n"
        "from rulebook.languages.pattern import Pattern\n"
        "from rulebook.services.patterns import PatternSearch\n"
        "service = PatternSearch()\n"
        "def run():\n"
        "    service.search(Pattern('(a+)+!'), 'a!', 20)\n"
        "    worker = service._workers._idle[0]\n"
        "    print(worker._process.pid, flush=True)\n"
        "    worker._read = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"    service.search(Pattern('(a+)+$'), {TEXT!r}, 0.3)\n"
        "threading.Thread(target=run).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    ends_by = time.monotonic() + SOON_S
    while runs(int(done.stdout)) and time.monotonic() < ends_by:
        os.sched_yield()
    assert not runs(int(done.stdout))


def runs(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(shown.stdout.strip()) and "Z" not in shown.stdout
