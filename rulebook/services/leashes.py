"""What misbehaving students' programs hang on: a file that is there while they are played, and no longer."""

import fcntl
import os
import select
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_MOST = 200
_END_LIMIT_S = 10.0


@contextmanager
def leash() -> Iterator[str]:
    """The path of a file that is no younger than anything made from now on. At the end it is gone, and so is every
    program that was started with its path.

    Its name is the same in every run, as long as no other holds that: it stands in what students hand in, and a judge
    that looks for a digit there must not find one by chance. Raises OSError.
    """
    path, held = _taken()
    try:
        os.utime(held)
        tick = os.fstat(
            held
        ).st_ctime_ns  # the kernel's clock ticks in milliseconds: what is made next may bear the same
        os.utime(held, ns=(tick - 1, tick - 1))
        yield path
    finally:
        os.unlink(path)
        os.close(held)
        _end_all_that_hold(path)


def _taken() -> tuple[str, int]:
    """A path and the open file there, which is locked: whoever is killed leaves a file that the next one may take."""
    folder = os.path.realpath(tempfile.gettempdir())
    for count in range(1, _MOST + 1):
        path = os.path.join(folder, "rulebook-leash-" + "x" * count)
        try:
            held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            continue  # another user's
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(held), os.lstat(path)):  # else its last owner has just removed it
                return path, held
        except OSError:
            pass
        os.close(held)
    raise OSError(f"{_MOST} tasks are being probed in `{folder}` already")


def _end_all_that_hold(path: str) -> None:
    """Kill every program that was started with `path`, which nobody else knows, as a word, until there is none."""
    mark = os.fsencode(path)
    for _ in range(100):  # one that forks faster than it is found would be found again by its own limit
        found = [number for name in os.listdir("/proc") if name.isdigit() and _holds(number := int(name), mark)]
        if not found:
            return
        for number in found:
            _end(number, mark)


def _holds(number: int, mark: bytes) -> bool:
    if number == os.getpid():
        return False
    try:
        with open(f"/proc/{number}/cmdline", "rb") as stream:
            return mark in stream.read().split(b"\0")
    except OSError:
        return False


def _end(number: int, mark: bytes) -> None:
    try:
        held = os.pidfd_open(number)
    except OSError:
        return
    try:
        if not _holds(number, mark):  # the number may have become somebody else's
            return
        with suppress(OSError):
            signal.pidfd_send_signal(held, signal.SIGKILL)
        watched = select.poll()
        watched.register(held, select.POLLIN)
        watched.poll(_END_LIMIT_S * 1000)
    finally:
        os.close(held)
