"""Writing audit logs: one line an event, each chained to the line before it and safe on the disk before the next."""

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import NamedTuple

from rulebook.errors import UsageError
from rulebook.evidence.log_events import HEADER
from rulebook.services.output_files import write_all

_MODE = 0o644
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_CHUNK = 64 * 1024


class Entry(NamedTuple):
    """An event to write. `payload` is plain JSON data; a number that is not finite cannot be written."""

    kind: str
    payload: Mapping[str, object]
    time_ms: int


class LogWriter:
    """The only writer of one log, from its opening to its closing. Used as a context manager.

    Every event is one write and one fsync. The end of the file is read again for each, so that the chain follows
    what is there; a fragment that a crash left is cut off first, since it was never an event.
    """

    def __init__(self, path: str, session: str) -> None:
        """Open or create the log at `path`, mode 0644; its folders are made.

        Raises UsageError when another program is writing it, or when it is no audit log; OSError.
        """
        self._session = session
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self._file = os.open(path, _FLAGS, _MODE)
        try:
            self._lock(path)
            self._begin(path)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, kind: str, payload: Mapping[str, object], time_ms: int) -> int:
        """Write one event, and give its id: the byte offset at which its line starts. Raises OSError, ValueError."""
        at, last = self._tail()
        line = log_line(self._session, Entry(kind, payload, time_ms), last)
        write_all(self._file, line + b"\n")
        os.fsync(self._file)
        return at

    def close(self) -> None:
        """Let go of the log; closing twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self, path: str) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise UsageError(f"The log `{path}` is being written by another program; wait until it ends.") from fault

    def _begin(self, path: str) -> None:
        head = os.pread(self._file, len(HEADER) + 1, 0)
        if not head:
            write_all(self._file, HEADER + b"\n")
            os.fsync(self._file)
        elif head != HEADER + b"\n":
            raise UsageError(f"`{path}` is not an audit log: its first line is not `{HEADER.decode()}`.")

    def _tail(self) -> tuple[int, bytes]:
        """Where the next line starts and what the last one says, once what has no newline at its end is cut off."""
        end = size = os.fstat(self._file).st_size
        tail = b""
        while tail.count(b"\n") < 2 and end > 0:
            start = max(0, end - _CHUNK)
            tail = os.pread(self._file, end - start, start) + tail
            end = start
        whole = tail[: tail.rfind(b"\n") + 1]
        if len(whole) < len(tail):
            size -= len(tail) - len(whole)
            os.ftruncate(self._file, size)
        return size, whole[whole.rfind(b"\n", 0, -1) + 1 : -1]


def log_line(session: str, entry: Entry, last: bytes) -> bytes:
    """The line of one event, without its newline, chained to the line `last`. Raises ValueError for NaN and infinity.

    Halves of surrogate pairs, which no UTF-8 can hold, become U+FFFD.
    """
    envelope = {
        "id": 0,
        "session": session,
        "time_ms": entry.time_ms,
        "event": {entry.kind: entry.payload},
        "version": 1,
        "prev": hashlib.sha256(last).hexdigest(),
    }
    text = json.dumps(envelope, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def chained_lines(session: str, entries: Iterable[Entry]) -> Iterator[bytes]:
    """A whole log, line by line, each with its newline."""
    last = HEADER
    yield last + b"\n"
    for entry in entries:
        last = log_line(session, entry, last)
        yield last + b"\n"


def write_log(path: str, session: str, entries: Iterable[Entry]) -> None:
    """Write a whole log at once, or nothing: the file appears when it is complete. Raises OSError, ValueError.

    An existing log is never replaced: FileExistsError.
    """
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, _MODE)
            stream.writelines(chained_lines(session, entries))
            stream.flush()
            os.fsync(stream.fileno())
        os.link(draft, path)
    finally:
        os.unlink(draft)
