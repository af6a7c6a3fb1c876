"""Errors that say that the machine is in trouble: they tell nothing of a program or a student, and are no verdict."""

import errno

_SHORT = frozenset(
    (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EINTR, errno.EAGAIN)
)


def is_shortage(error: OSError) -> bool:
    """Whether the machine lacks descriptors, memory or processes of ours, or a disk that answers.

    A full disk is not among them: a student can fill one.
    """
    return error.errno in _SHORT
