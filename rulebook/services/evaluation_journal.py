"""The journal of a run of an evaluation: one line a row, so that a run that was killed at any moment can go on.

A line is whole or it is none: what a kill left half written at the end is cut off when the run goes on.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType

import msgspec
from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.evidence.row_records import RowRecord, json_line, record_of
from rulebook.services.output_files import write_all

JOURNAL = "journal.jsonl"
SCHEMA = "rulebook.evaluation-journal"
VERSION = 1

SYNC_S = 1.0
"""How much time may pass before what was written is safe even if the machine goes down."""

_MOST_HEAD_BYTES = 16 * 1024 * 1024
"""A file whose first line is longer is no journal."""

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class JournalHead(Struct, frozen=True):
    """The first line: what the run is of. Runs of the same `fingerprint` give the same rows to the same scorers.

    `dataset` tells the rows from others, whatever the limit: runs of the same one have the same row under each number.
    None: nobody knows. `options` are those of each scorer of which they are known, by its name. `metadata` is what the
    caller noted of the run.
    """

    run: str
    name: str
    scorers: Sequence[str]
    fingerprint: str
    dataset: str | None = None
    options: Mapping[str, Mapping[str, object]] = {}
    metadata: Mapping[str, object] = {}
    schema: str = SCHEMA
    version: int = VERSION


class Journal:
    """The only writer of one run's journal. Used as a context manager."""

    def __init__(self, folder: str, head: JournalHead) -> None:
        """Open the journal in `folder`, which is made, or go on with the one that is there.

        Raises UsageError when another program is writing it, or when it is of another fingerprint; OSError.
        """
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, JOURNAL)
        self._file = os.open(self.path, _FLAGS, 0o600)
        self._synced_s = time.monotonic()
        try:
            self._lock()
            self._begin(head)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, records: Sequence[RowRecord]) -> None:
        """Write these records behind the others. Raises OSError."""
        write_all(self._file, b"".join(map(json_line, records)))
        if time.monotonic() - self._synced_s >= SYNC_S:
            self.sync()

    def sync(self) -> None:
        """Make everything that was written safe on the disk. Raises OSError."""
        os.fsync(self._file)
        self._synced_s = time.monotonic()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"The run in `{os.path.dirname(self.path)}` is still going on. Wait until it ends."
            ) from None

    def _begin(self, head: JournalHead) -> None:
        end = _whole_bytes(self._file)
        os.ftruncate(self._file, end)
        if end == 0:
            write_all(self._file, json_line(head))
            self.sync()
            return
        found = read_head(os.path.dirname(self.path))
        if found is None or found.fingerprint != head.fingerprint:
            raise UsageError(f"The run in `{os.path.dirname(self.path)}` is of something else. Start a new one.")


def read_head(folder: str) -> JournalHead | None:
    """What a run's journal says it is of; None where it says nothing that we can read."""
    try:
        with open(os.path.join(folder, JOURNAL), "rb") as file:
            line = file.readline(_MOST_HEAD_BYTES)
        head = msgspec.convert(json.loads(line), JournalHead) if line.endswith(b"\n") else None
    except (OSError, ValueError):
        return None
    return head if head is not None and (head.schema, head.version) == (SCHEMA, VERSION) else None


def read_records(folder: str) -> Iterator[RowRecord]:
    """The records of a run, in the order of its rows, one at a time. A last line that is not whole is none.

    Raises UsageError for a line that is no record.
    """
    path = os.path.join(folder, JOURNAL)
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if number > 1 and line.endswith(b"\n"):
                    yield _record(line, path, number)
    except OSError as error:
        raise UsageError(f"I can't read `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None


def _record(line: bytes, path: str, number: int) -> RowRecord:
    try:
        record = record_of(line)
    except (ValueError, json.JSONDecodeError):
        raise UsageError(f"`{path}` is damaged at line {number}. Start a new run.") from None
    if record.row != number - 1:
        raise UsageError(f"`{path}` has row {record.row} where row {number - 1} should be. Start a new run.")
    return record


def _whole_bytes(file: int) -> int:
    """How many bytes of an open file are whole lines."""
    size = os.fstat(file).st_size
    at = size
    while at > 0:
        start = max(0, at - (1 << 16))
        place = os.pread(file, at - start, start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        at = start
    return 0
