"""Child processes that search for patterns: one that takes too long can be ended from any thread."""

import atexit
import os
import selectors
import struct
import subprocess
import sys
import threading
import time

from rulebook.errors import Missing

START_LIMIT_S = 30.0
"""How long a worker may take to start; it takes some hundredths of a second on an idle machine."""

SPARE_S = 1.0
"""A worker ends itself so long after its limit, for when nobody is left to end it."""

MAX_IDLE = 4
"""How many workers are kept for the next search."""


class Workers:
    """A few processes, started when first needed, kept for reuse, killed on time-out and ended at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._owner = os.getpid()

    def search(self, written: str, flags: int, text: str, limit_s: float) -> tuple[int, int] | None:
        """The first match's start and end, or None. Raises TimeoutError after `limit_s`, or Missing."""
        worker = self._taken()
        try:
            result = worker.search(written, flags, text, limit_s)
        except TimeoutError:
            worker.kill()
            raise TimeoutError(f"the search took more than {limit_s:g} s") from None
        except OSError as error:
            worker.kill()
            raise Missing("harness", f"a pattern search ended early: {error}") from None
        except BaseException:
            worker.kill()
            raise
        self._give_back(worker)
        return result

    def close(self) -> None:
        """End the idle workers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()

    def _taken(self) -> "_Worker":
        with self._lock:
            if self._owner != os.getpid():  # after a fork the workers are the parent's
                self._idle, self._owner = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        atexit.unregister(self.close)
        atexit.register(self.close)
        return _Worker()

    def _give_back(self, worker: "_Worker") -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE:
                self._idle.append(worker)
                return
        worker.kill()


class _Worker:
    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise Missing("harness", f"no process for a pattern search could be started: {error}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._back = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._back, False)
        try:
            self._read(len(_READY), time.monotonic() + START_LIMIT_S)
        except OSError:
            self.kill()
            raise Missing("harness", "the process for a pattern search did not start") from None

    def search(self, written: str, flags: int, text: str, limit_s: float) -> tuple[int, int] | None:
        """One search. Raises TimeoutError, and OSError when the process is gone."""
        deadline_s = time.monotonic() + limit_s
        parts = [written.encode("utf-32-le", "surrogatepass"), text.encode("utf-32-le", "surrogatepass")]
        self._write(_HEAD.pack(limit_s + SPARE_S, flags, *map(len, parts)) + b"".join(parts), deadline_s)
        start, end = _ANSWER.unpack(self._read(_ANSWER.size, deadline_s))
        return None if start < 0 else (start, end)

    def kill(self) -> None:
        """End it for certain, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _write(self, data: bytes, deadline_s: float) -> None:
        rest = memoryview(data)
        while rest:
            _wait(self._to, selectors.EVENT_WRITE, deadline_s)
            rest = rest[os.write(self._to, rest[:65536]) :]

    def _read(self, size: int, deadline_s: float) -> bytes:
        data = b""
        while len(data) < size:
            _wait(self._back, selectors.EVENT_READ, deadline_s)
            more = os.read(self._back, size - len(data))
            if not more:
                raise OSError("the process is gone")
            data += more
        return data


def _wait(pipe: int, event: int, deadline_s: float) -> None:
    left = deadline_s - time.monotonic()
    with selectors.DefaultSelector() as selector:  # plain select() refuses descriptors above 1024
        selector.register(pipe, event)
        if left <= 0 or not selector.select(left):
            raise TimeoutError


_HEAD = struct.Struct("<dIII")
_ANSWER = struct.Struct("<qq")
_READY = b"+"
_PROGRAM = """
import re, signal, struct, sys, warnings
warnings.simplefilter("ignore")
source, target = sys.stdin.buffer, sys.stdout.buffer
target.write(b"+")
target.flush()
timer = getattr(signal, "setitimer", lambda *_: None)
if hasattr(signal, "SIGALRM"):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
while len(head := source.read(20)) == 20:
    limit, flags, *sizes = struct.unpack("<dIII", head)
    written, text = (source.read(size).decode("utf-32-le", "surrogatepass") for size in sizes)
    timer(0, limit)
    found = re.compile(written, flags).search(text)
    timer(0, 0)
    target.write(struct.pack("<qq", *(found.span() if found else (-1, -1))))
    target.flush()
"""
