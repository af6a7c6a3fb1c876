"""Finding and ending everything that a program started, also what left its process group and its session.

While a program of ours runs, this process adopts orphans (PR_SET_CHILD_SUBREAPER), so that no descendant can
leave our own process tree. Which orphan belongs to which program is told by its session and by a tag that
the kernel hands down from parent to child: the limit on file locks, which Linux keeps and never uses. Its hard
half cannot be raised again. Children that were not started here, a trainer's own servers say, bear no tag and
live on.
"""

import os
import resource
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from rulebook.services.undisturbed import undisturbed
from rulebook.services.warden import Warden

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_RLIMIT_LOCKS = 10
_UNLIMITED = 1 << 62
_WIDTH = 1 << 40
_NESTED_WIDTH = 1 << 20
_END_LIMIT_S = 10.0
_GIVEN_AWAY = (b"PATH", b"HOME", b"LANG", b"LC_ALL", b"TMPDIR", b"PWD", b"SHLVL", b"_")


class Started(Protocol):
    """A child process that has been started. `returncode` is set when it has ended."""

    pid: int
    returncode: Any


Program = TypeVar("Program", bound=Started)


class Brood(Generic[Program]):
    """One running program, a child of this process, and its descendants."""

    def __init__(self, process: Program, tag: int, width: int) -> None:
        self.process, self.leader = process, process.pid
        self._tag, self._width = tag, width
        self.ended = False
        with suppress(OSError, ValueError):
            resource.prlimit(self.leader, _RLIMIT_LOCKS, (tag, tag))

    def end(self) -> int | None:
        """Kill the program and every descendant; it is not reaped yet, so that its number stays taken.

        Its exit status, negative for a signal; None when nobody can tell: someone else reaped it, or it
        cannot be killed.
        """
        with undisturbed():
            status = self._end()
            self.ended = True
        return status

    def _end(self) -> int | None:
        deadline = time.monotonic() + _END_LIMIT_S
        with suppress(OSError):
            os.killpg(self.leader, signal.SIGKILL)
        status = _status(self.leader, deadline)
        empty = 0
        while empty < 2 and time.monotonic() < deadline:  # twice: the kernel's list can skip one while others end
            found = [child for child in _children() if self._owns(child)]
            empty = 0 if found else empty + 1
            for child in found:
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            for child in found:
                _reap(child, deadline)
        self.process.returncode = -signal.SIGKILL if status is None else status
        return status

    def _owns(self, child: int) -> bool:
        if child in _leaders:
            return False
        try:
            session = os.getsid(child)
            soft, hard = resource.prlimit(child, _RLIMIT_LOCKS)
        except OSError:
            return False
        if session == self.leader:
            return True
        if hard == _own_limit():  # from before the leader was tagged, or someone else's
            return soft == self._tag and session != os.getsid(0) and not _knows_our_environment(child)
        alone = len(_leaders) == 1  # then who lowered its limit below every tag can only be ours
        return alone or self._tag - self._width < hard <= self._tag


@contextmanager
def adopting() -> Iterator[None]:
    """Adopt orphans while this lasts. Several threads may do so at once; the last one restores what was."""
    global _adopters, _adopted_before
    counted = False
    try:
        with undisturbed(), _lock:
            if _adopters == 0:
                _warden.stand_ready()  # before adopting, or its shell would become our child
                _adopted_before = _subreaper()
                _set_subreaper(1)
            _adopters += 1
            counted = True
        yield
    finally:
        with undisturbed(), _lock:
            _adopters -= counted
            if counted and _adopters == 0:
                _set_subreaper(_adopted_before)


@contextmanager
def brood_of(start: Callable[[], Program]) -> Iterator[Brood[Program]]:
    """Start a program and tell its brood apart from those beside it; ends and reaps it at the end.

    Raises what `start` raises. Until the program stands to be tagged, this process's own soft limit, which a
    child takes over, stands in for the tag.
    """
    brood: Brood[Program] | None = None
    try:
        with undisturbed(), _lock:
            brood = _tagged(start)
            _leaders.add(brood.leader)
            _warden.watch(brood.leader)
        yield brood
    finally:
        if brood is not None:
            with undisturbed():
                _dismiss(brood)


_lock = threading.Lock()
_adopters = 0
_adopted_before = 0
_runs = 0
_leaders: set[int] = set()
_warden = Warden()


def _tagged(start: Callable[[], Program]) -> Brood[Program]:
    global _runs
    _runs += 1
    soft, hard = resource.getrlimit(_RLIMIT_LOCKS)
    unlimited = hard == resource.RLIM_INFINITY
    width = _WIDTH if unlimited else _NESTED_WIDTH
    tag = max(0, (_UNLIMITED if unlimited else hard) - width * (1 + _runs % _NESTED_WIDTH))
    try:
        resource.setrlimit(_RLIMIT_LOCKS, (tag, hard))
        process = start()
    finally:
        resource.setrlimit(_RLIMIT_LOCKS, (soft, hard))
    return Brood(process, tag, width)


def _dismiss(brood: Brood[Program]) -> None:
    if not brood.ended:
        brood.end()
    with _lock:
        _leaders.discard(brood.leader)
        _warden.release(brood.leader)
    _reap(brood.leader, time.monotonic() + _END_LIMIT_S)


def _own_limit() -> int:
    return resource.getrlimit(_RLIMIT_LOCKS)[1]


def _children() -> list[int]:
    """This process's children, adopted ones among them, whichever thread they belong to."""
    found: list[int] = []
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{thread}/children", "rb") as stream:
            found += map(int, stream.read().split())
    return found


def _knows_our_environment(child: int) -> bool:
    """Whether it was started with variables of this process that no program started here was given."""
    try:
        with open(f"/proc/{child}/environ", "rb") as stream:
            theirs = set(stream.read().split(b"\0"))
    except OSError:
        return True
    ours = {name + b"=" + value for name, value in os.environb.items() if name not in _GIVEN_AWAY}
    return not ours.isdisjoint(theirs)


def _status(leader: int, deadline: float) -> int | None:
    if not _has_ended(leader, deadline):
        return None
    with suppress(ChildProcessError):
        ended = os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if ended is not None:
            return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    return None


def _reap(child: int, deadline: float) -> None:
    if _has_ended(child, deadline):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG)


def _has_ended(child: int, deadline: float) -> bool:
    try:
        descriptor = os.pidfd_open(child)
    except OSError:
        return False
    try:
        watched = select.poll()  # not select.select, which refuses descriptors above 1023
        watched.register(descriptor, select.POLLIN)
        return bool(watched.poll(max(0.0, deadline - time.monotonic()) * 1000))
    finally:
        os.close(descriptor)


def end_with_parent(parent: int, number: int) -> None:
    """Let the kernel send this process a signal when `parent`, which forked it, is gone: now, if it is already."""
    _libc().prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


@cache
def _libc() -> Any:
    import ctypes  # 11 ms that only running a program pays

    return ctypes.CDLL(None, use_errno=True)


def _subreaper() -> int:
    import ctypes

    value = ctypes.c_int(0)
    _libc().prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(value), 0, 0, 0)
    return value.value


def _set_subreaper(value: int) -> None:
    _libc().prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
