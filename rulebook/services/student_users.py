"""The number of the user that a student is: nobody else's, and no other run's at the same time."""

import fcntl
import os
import pwd
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from rulebook.errors import UsageError

FORGET = """
import ctypes, os, sys
uid, call = int(sys.argv[1]), {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
libc = ctypes.CDLL(None)
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
for ring in (-4, -5) if call else ():
    libc.syscall(call, 7, ring)
"""
"""A program for Python that takes a user's number and empties the kernel's key rings of that user.

They outlive its processes: a student could leave the answers there for the next step, or for the next run.
"""

SPARE_UIDS = range(61_900, 65_000)

_LOCKS = "/run/rulebook-students.lock"
"""The byte at each number is locked by the run whose student it is; the kernel lets go of it with the process."""


@contextmanager
def claimed(uids: Iterable[int]) -> Iterator[int]:
    """The first of the numbers that is no other run's on this machine now, held while this lasts. Only for root.

    Where no lock can be kept, it is the first. Raises UsageError where every one is taken.
    """
    try:
        descriptor = os.open(_LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        descriptor = -1
    try:
        yield _first(uids, descriptor)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def spare_uids() -> Iterator[int]:
    """The numbers of users that nobody is, neither by name nor by what runs."""
    taken = {each.pw_uid for each in pwd.getpwall()}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            taken.add(os.stat(f"/proc/{name}").st_uid)
    return (uid for uid in SPARE_UIDS if uid not in taken)


def _first(uids: Iterable[int], descriptor: int) -> int:
    for uid in uids:
        if descriptor < 0:
            return uid
        with suppress(BlockingIOError):
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhxxxxqqixxxx", fcntl.F_WRLCK, 0, uid, 1, 0))
            return uid
    raise UsageError("No user is left to be the student: each belongs to another run now. Name another with `--uid`.")
