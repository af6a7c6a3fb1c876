"""Running programs: bounded in time and output, with nothing left running afterwards."""

import fcntl
import os
import resource
import select
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from rulebook.evidence.shortage import is_shortage
from rulebook.ports import Command, Completed
from rulebook.services.descendants import Brood, adopting, brood_of

_CHUNK = 64 * 1024
_LONGEST_WAIT_S = 3600.0


class MachineProcesses:
    """The programs of this machine."""

    def run(self, command: Command) -> Completed:
        """Run to the end or to the time limit, then kill what it left running. Never raises for it."""
        began = time.monotonic()
        try:
            with adopting(), _standing_in(command.stdin) as stdin, ExitStack() as until_the_end:
                try:
                    brood = until_the_end.enter_context(brood_of(partial(_started, command, stdin)))
                except (OSError, ValueError) as error:
                    return _not_run(error, command, began)
                return _followed(brood, command, began)
        except OSError as error:
            if not is_shortage(error):
                raise
            return _not_run(error, command, began)


def _not_run(error: OSError | ValueError, command: Command, began: float) -> Completed:
    return Completed(
        None,
        "",
        "",
        time.monotonic() - began,
        failure=_why(error, command),
        failure_name=type(error).__name__,
        machine_failed=isinstance(error, OSError) and is_shortage(error),
    )


class _Kept:
    """What is kept of one stream: its beginning and its end."""

    def __init__(self, descriptor: int, limit_bytes: int, watch: Callable[[bytes], bool] | None = None) -> None:
        self.descriptor = descriptor
        self.stopped = False
        self._watch = watch
        self._first = limit_bytes - limit_bytes // 2
        self._last = limit_bytes // 2
        self._head, self._tail = bytearray(), bytearray()
        self._lost = 0

    def read(self) -> int:
        """Read once: the number of bytes, 0 at the end. Raises BlockingIOError when nothing is there."""
        data = os.read(self.descriptor, _CHUNK)
        room = max(0, self._first - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._last + _CHUNK:
            self._trim()
        if data and self._watch is not None and not self._watch(data):
            self.stopped = True
        return len(data)

    def drain(self) -> None:
        """Read what is in the pipe now, and no more: whoever still holds it could write for ever."""
        left = fcntl.fcntl(self.descriptor, fcntl.F_GETPIPE_SZ)
        with suppress(BlockingIOError):
            while left > 0 and not self.stopped and (count := self.read()):
                left -= count

    def text(self, errors: str) -> tuple[str, bool]:
        """What was kept as text, and whether some was thrown away."""
        self._trim()
        head, tail = self._head.decode(errors=errors), self._tail.decode(errors=errors)
        if not self._lost:
            return (self._head + self._tail).decode(errors=errors), False
        return f"{head}\n… {self._lost} bytes left out …\n{tail}", True

    def _trim(self) -> None:
        over = len(self._tail) - self._last
        if over > 0:
            del self._tail[:over]
            self._lost += over


@contextmanager
def _standing_in(stdin: bytes) -> Iterator[int]:
    """A file to read `stdin` from: no pipe, so that a program that does not read it blocks nobody."""
    if not stdin:
        yield subprocess.DEVNULL
        return
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "w+b") as stream:
        stream.write(stdin)
        stream.seek(0)
        yield descriptor


def _started(command: Command, stdin: int) -> subprocess.Popen[bytes]:
    if not command.argv or not command.argv[0]:
        raise ValueError("empty")
    inherited = {name: os.environ[name] for name in command.inherit if name in os.environ}
    process = subprocess.Popen(
        list(command.argv),
        cwd=command.cwd,
        env={**inherited, **command.environment},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        user=command.user,
        group=command.user,
        extra_groups=None if command.user is None else (),
    )
    if command.file_limit_bytes is not None:
        with suppress(OSError, ValueError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (command.file_limit_bytes,) * 2)
    return process


def _followed(brood: Brood[subprocess.Popen[bytes]], command: Command, began: float) -> Completed:
    with ExitStack() as open_pipes:
        pipes = [open_pipes.enter_context(p) for p in (brood.process.stdout, brood.process.stderr) if p]
        watches = (command.watch, None)
        kept = [_Kept(p.fileno(), command.output_limit_bytes, w) for p, w in zip(pipes, watches, strict=True)]
        try:
            in_time = _ended(brood.leader, kept, began + command.timeout_s, command.until)
            for stream in kept:
                stream.drain()
        finally:
            status = brood.end()
    errors = "replace" if command.odd_bytes == "replace" else "surrogateescape"
    (out, out_cut), (err, err_cut) = (stream.text(errors) for stream in kept)
    stopped = any(stream.stopped for stream in kept) or _is_readable(command.until)
    unknown = in_time and not stopped and status is None
    return Completed(
        exit=status if in_time and not stopped else None,
        stdout=out,
        stderr=err,
        duration_s=time.monotonic() - began,
        timed_out=not in_time,
        stopped=stopped,
        failure="it ended, and nobody can say how" if unknown else None,
        failure_name="ChildProcessError" if unknown else "",
        machine_failed=unknown,
        stdout_cut=out_cut,
        stderr_cut=err_cut,
    )


def _ended(pid: int, kept: Sequence[_Kept], deadline: float, until: int | None) -> bool:
    """Read what it prints until it ends or is to (true), or the time is up (false), whoever holds its pipes."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        with selectors.DefaultSelector() as ready:
            ready.register(descriptor, selectors.EVENT_READ)
            if until is not None:
                ready.register(until, selectors.EVENT_READ)
            for stream in kept:
                os.set_blocking(stream.descriptor, False)
                ready.register(stream.descriptor, selectors.EVENT_READ, stream)
            while (left := deadline - time.monotonic()) > 0:
                for key, _ in ready.select(min(left, _LONGEST_WAIT_S)):
                    if key.data is None:
                        return True
                    goes_on = _read_or_end(key.data)
                    if key.data.stopped:
                        return True
                    if not goes_on:
                        ready.unregister(key.fd)
            return False
    finally:
        os.close(descriptor)


def _is_readable(descriptor: int | None) -> bool:
    if descriptor is None:
        return False
    watched = select.poll()  # not select.select, which refuses descriptors above 1023
    watched.register(descriptor, select.POLLIN)
    return bool(watched.poll(0))


def _read_or_end(stream: _Kept) -> bool:
    try:
        return stream.read() > 0
    except BlockingIOError:
        return True


def _why(error: OSError | ValueError, command: Command) -> str:
    if not command.argv or not command.argv[0]:
        return "the command is empty"
    if isinstance(error, ValueError):
        return "a word of the command holds a character that no command can have"
    program = command.argv[0]
    here = os.path.join(command.cwd, program) if "/" in program else None
    match error:
        case FileNotFoundError() | NotADirectoryError() if not os.path.isdir(command.cwd):
            return f"the folder it should run in, `{command.cwd}`, is not there"
        case FileNotFoundError() if here is not None and os.path.exists(here):
            return f"the first line of `{program}` names an interpreter that is not there"
        case FileNotFoundError() | NotADirectoryError() if here is not None:
            return f"`{program}` is not there"
        case FileNotFoundError():
            return f"`{program}` is not installed, or not on the PATH"
        case PermissionError():
            return f"`{program}` may not be run"
        case _:
            return f"`{program}` could not be started: {(error.strerror or str(error)).lower()}"
