"""Whose processes may be killed and whose files removed, and where: a student's own user, where nobody else lives."""

import os

from rulebook.errors import NotAllowedHere

OUTSIDE_CONTAINER = "RULEBOOK_OUTSIDE_CONTAINER"
"""The variable that asks for the second time, by naming the user."""

_LARGEST_UID = 2**32 - 2
_MARKS = ("/.dockerenv", "/run/.containerenv")


def permit(uid: int, *, outside_container: bool) -> None:
    """Raise NotAllowedHere unless every process and file of `uid` is the student's and may go."""
    permit_user(uid)
    if not in_container():
        permit_outside(uid, asked=outside_container)


def permit_user(uid: int) -> None:
    """Refuse root, numbers that the kernel takes for "no change", our own user, and whoever is not root himself."""
    if isinstance(uid, bool) or not isinstance(uid, int) or not 0 < uid <= _LARGEST_UID:
        raise NotAllowedHere(f"`{uid}` cannot be the student's user: give a number from 1 to {_LARGEST_UID}.")
    if os.geteuid() != 0:
        raise NotAllowedHere(
            f"Only root can end the processes of user {uid} and remove its files; this is user {os.geteuid()}."
        )
    if uid in _our_users():
        raise NotAllowedHere(f"User {uid} runs this very program; the student must be a user of its own.")


def permit_outside(uid: int, *, asked: bool) -> None:
    """Outside a container it must be asked for twice: by the caller, and by whoever set up the machine."""
    if asked and os.environ.get(OUTSIDE_CONTAINER) == str(uid):
        return
    raise NotAllowedHere(
        f"This is no container: whatever user {uid} runs and owns on this machine would be gone. If that is the "
        f"student's alone, pass `outside_container=True` and set {OUTSIDE_CONTAINER}={uid}."
    )


def in_container(root: str = "/") -> bool:
    """Whether this is a container, by the marks that container runtimes leave under `root`."""
    if any(os.path.exists(root.rstrip("/") + mark) for mark in _MARKS):
        return True
    try:
        with open(os.path.join(root, "proc/1/environ"), "rb") as stream:
            return any(word.startswith(b"container=") for word in stream.read().split(b"\0"))
    except OSError:
        return False


def _our_users() -> set[int]:
    """The users of this process and of all that started it."""
    users, process = {*os.getresuid()}, os.getpid()
    while process > 1:
        try:
            with open(f"/proc/{process}/status", "rb") as stream:
                fields = dict(line.split(b":", 1) for line in stream.read().splitlines() if b":" in line)
        except OSError:
            break
        users.update(map(int, fields[b"Uid"].split()))
        process = int(fields[b"PPid"])
    return users
