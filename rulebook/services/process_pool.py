"""Processes that are forked to share work, and what becomes of it when one of them dies."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, TypeVar

from rulebook.errors import Stopped
from rulebook.services.descendants import end_with_parent
from rulebook.services.undisturbed import undisturbed

Given = TypeVar("Given")
Result = TypeVar("Result")


def spread(
    work: Callable[[Given], Result], given: Iterable[Given], workers: int, lost: Callable[[Given], Result]
) -> Iterator[Result]:
    """`work` done on each in forked processes, as `parallel.in_order` promises it."""
    waiting: deque[tuple[Given, Future[Result]]] = deque()
    pieces = iter(given)
    pool = _pool(work, workers)
    try:
        while True:
            while len(waiting) < 4 * workers and (piece := next(pieces, None)) is not None:
                waiting.append((piece, _submitted(pool, piece)))
            if not waiting:
                break
            piece, future = waiting.popleft()
            try:
                result = future.result()
            except BrokenProcessPool:
                _end(pool)
                again = [piece, *(other for other, _ in waiting)]
                waiting.clear()
                yield from (_alone(work, one, lost) for one in again)
                pool = _pool(work, workers)
                continue
            yield result
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()


def _submitted(pool: ProcessPoolExecutor, piece: object) -> Future[Any]:
    """The piece under way. In a pool that broke since the last look, it has failed as those before it have."""
    try:
        return pool.submit(_done, piece)
    except BrokenProcessPool as broken:
        failed: Future[Any] = Future()
        failed.set_exception(broken)
        return failed


def _alone(work: Callable[[Given], Result], piece: Given, lost: Callable[[Given], Result]) -> Result:
    """A piece that was under way when a process died, tried once more in a process that it shares with none."""
    pool = _pool(work, 1)
    try:
        result: Result = pool.submit(_done, piece).result()
        return result
    except BrokenProcessPool:
        return lost(piece)
    finally:
        _end(pool)


def _pool(work: Callable[[Any], Any], workers: int) -> ProcessPoolExecutor:
    """Forked, so that `work` and all that it holds need not be picklable."""
    how = multiprocessing.get_context("fork")
    return ProcessPoolExecutor(workers, mp_context=how, initializer=_begin, initargs=(work, os.getpid()))


_work: Callable[[Any], Any] | None = None
_ending = False
_TO_CLEAR_UP_S = 10.0


def _begin(work: Callable[[Any], Any], parent: int) -> None:
    """Ctrl-C reaches every process of the terminal: ending is the first one's business, which then sends SIGTERM.

    So does the kernel, once the first one was killed without a chance to.
    """
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    end_with_parent(parent, signal.SIGTERM)


def _stop(number: int, _: object) -> None:
    global _ending
    if not _ending:  # the pool repeats it as soon as one process is gone: clearing up must not be cut short
        _ending = True
        raise Stopped(128 + number)


def _done(piece: object) -> Any:
    try:
        if _ending or _work is None:
            raise SystemExit
        return _work(piece)
    except SystemExit:  # the pool would take it for a result, and go on to the next piece
        os._exit(128 + signal.SIGTERM)


def _end(pool: ProcessPoolExecutor) -> None:
    """End every process now. One that is in the middle of a piece is told to, and clears up what it started.

    A second Ctrl-C waits until that is done: processes that were left to themselves would hold up the end of this one.
    """
    processes = list((pool._processes or {}).values())
    with undisturbed():
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            with suppress(OSError, ValueError):
                process.terminate()
        for process in processes:
            with suppress(OSError, ValueError, AssertionError):
                process.join(_TO_CLEAR_UP_S)
                process.kill()  # one that waits for a lock which died with another process would wait for ever
                process.join()
