"""A student's program that lives on while its work is judged, and then puts something else where that lay."""

import os
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rulebook.services.descendants import adopting, brood_of

_ANSWER_LIMIT_S = 30.0
_SCRIPT = """
read -r sign || exit 0
while [ $# -gt 1 ]; do
  rm -rf -- "$2"
  mv -f -- "$1" "$2" || exit 1
  shift 2
done
echo done
read -r sign
"""


class _Shell:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None


@contextmanager
def rewriting(moves: Sequence[tuple[str, str]]) -> Iterator[Callable[[], None]]:
    """A program of its own that, when told to, moves each first path over the second one, and lives until the end.

    Telling it returns when it is done with that. Raises OSError, as does telling it.
    """
    words = [word for move in moves for word in move]
    orders, order = os.pipe2(os.O_CLOEXEC)
    answer, answers = os.pipe2(os.O_CLOEXEC)
    ends = [orders, order, answer, answers]

    def start() -> _Shell:
        actions = [(os.POSIX_SPAWN_DUP2, orders, 0), (os.POSIX_SPAWN_DUP2, answers, 1)]
        argv = ["sh", "-c", _SCRIPT, "sh", *words]
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        return _Shell(os.posix_spawn("/bin/sh", argv, environment, file_actions=actions, setsid=True))

    try:
        with adopting(), brood_of(start):
            os.close(ends.pop())  # or the end of its answers would never be seen
            yield lambda: _tell(order, answer)
    finally:
        for end in ends:
            os.close(end)


def _tell(order: int, answer: int) -> None:
    os.write(order, b"go\n")
    watched = select.poll()
    watched.register(answer, select.POLLIN)
    if not watched.poll(_ANSWER_LIMIT_S * 1000) or os.read(answer, 16) != b"done\n":
        raise OSError("the student's program did not do what it was told to")
