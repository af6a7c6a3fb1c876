"""System V shared memory, message queues and semaphores: what a user can leave behind without a file."""

import errno
from collections.abc import Iterator

_REMOVE = 0
_KINDS = (("shm", "shared memory"), ("msg", "message queue"), ("sem", "semaphores"))


def remove_shared_memory(uid: int) -> tuple[int, list[str]]:
    """Remove all that `uid` owns or made; how many there were, and what could not be removed."""
    removed, left = 0, []
    for kind, words in _KINDS:
        for number in list(_of(uid, kind)):
            if _remove(kind, number):
                removed += 1
            else:
                left.append(f"{words} {number}")
    return removed, left


def _of(uid: int, kind: str) -> Iterator[int]:
    try:
        with open(f"/proc/sysvipc/{kind}") as stream:
            heads, *lines = (line.split() for line in stream)
    except (FileNotFoundError, ValueError):
        return
    for line in lines:
        told = dict(zip(heads, line, strict=False))
        if uid in (int(told["uid"]), int(told["cuid"])):
            yield int(line[1])


def _remove(kind: str, number: int) -> bool:
    """Whether it is gone."""
    import ctypes  # only who has something to remove pays for it

    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (number, 0, _REMOVE) if kind == "sem" else (number, _REMOVE, None)
    if getattr(libc, f"{kind}ctl")(*arguments) == 0:
        return True
    return ctypes.get_errno() in (errno.EINVAL, errno.EIDRM)  # it went in the meantime
