"""A shell that outlives this process by a moment, to end what it could not end itself: nobody can catch SIGKILL.

It reads from a pipe which programs run. When the pipe's only writer is gone, it kills the process groups of those that
are still on its list. The kernel's own parent-death signal would need code between fork and exec, which is not safe
beside threads, and it does not reach grandchildren.
"""

import os
from contextlib import suppress

_SCRIPT = """
exec 3<&0
(
  trap '' INT TERM HUP
  running=
  while read -r sign number; do
    left=
    for each in $running; do [ "$each" = "$number" ] || left="$left $each"; done
    [ "$sign" = + ] && left="$left $number"
    running=$left
  done
  for each in $running; do kill -KILL "-$each"; done
) <&3 3<&- &
"""
"""The shell in the background belongs to init: whoever waits for all children of this process never waits for it."""


class Warden:
    """The list of process groups that are killed when this process is gone. Not for several threads at once."""

    def __init__(self) -> None:
        self._owner = 0
        self._ends: tuple[int, int] | None = None

    def stand_ready(self) -> None:
        """Start the shell, once for this process. Where there is none, nothing is watched."""
        if self._owner != os.getpid():  # after a fork the list is the parent's
            self._start()

    def watch(self, group: int) -> None:
        """Put a process group on the list."""
        self._say(f"+ {group}\n")

    def release(self, group: int) -> None:
        """Take a group off the list, before its number can be anybody else's."""
        self._say(f"- {group}\n")

    def _say(self, line: str) -> None:
        if self._ends is not None and self._owner == os.getpid():
            with suppress(OSError):
                os.write(self._ends[1], line.encode())

    def _start(self) -> None:
        for end in self._ends or ():
            with suppress(OSError):
                os.close(end)
        self._owner, self._ends = os.getpid(), None
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(writing, False)  # a list that nobody reads must hold nobody up
        silent = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_WRONLY, 0) for number in (1, 2)]
        actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silent]
        try:
            shell = os.posix_spawn("/bin/sh", ["sh", "-c", _SCRIPT], {}, file_actions=actions, setsid=True)
        except OSError:
            os.close(reading)
            os.close(writing)
            return
        self._ends = reading, writing  # both are kept: a pipe without readers would end its writer by SIGPIPE
        with suppress(ChildProcessError):
            os.waitpid(shell, 0)
