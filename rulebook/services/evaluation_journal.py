"""The journal of a run of an evaluation: one line a row, so that a run that was killed at any moment can go on.

A line is whole or it is none: what a kill left half written at the end is cut off when the run goes on.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType

import msgspec
from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.evidence.row_records import RowRecord, json_line, record_of
from rulebook.services.files import MachineFiles
from rulebook.services.output_files import write_all

JOURNAL = "journal.jsonl"
SCHEMA = "rulebook.evaluation-journal"
VERSION = 1

SYNC_S = 1.0
"""How much time may pass before what was written is safe even if the machine goes down."""

_HEAD_BYTES = 16 * 1024 * 1024
"""How long a first line may be: it has the options of each scorer, the whole instructions of a judge among them."""

_FILES = MachineFiles()
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

        Raises UsageError when another program is writing it, when it is of another fingerprint, and where nothing can
        be kept there.
        """
        self.path = os.path.join(folder, JOURNAL)
        with _keeping(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._file = os.open(self.path, _FLAGS, 0o600)
        self._synced_s = time.monotonic()
        try:
            with _keeping(folder):
                self._lock()
                self._begin(head)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, records: Sequence[RowRecord]) -> None:
        """Write these records behind the others. Raises UsageError, such as where the disk is full."""
        lines = b"".join(map(json_line, records))
        with _keeping(os.path.dirname(self.path)):
            write_all(self._file, lines)
        if time.monotonic() - self._synced_s >= SYNC_S:
            self.sync()

    def sync(self) -> None:
        """Make everything that was written safe on the disk. Raises UsageError."""
        with _keeping(os.path.dirname(self.path)):
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


@contextmanager
def _keeping(folder: str) -> Iterator[None]:
    """What the machine refuses in here is told in words."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "the machine refuses").lower()
        raise UsageError(
            f"The run can't be kept in `{folder}`: {reason}. "
            "Make room there, or name another folder in `RULEBOOK_HOME`."
        ) from None


def read_head(folder: str) -> JournalHead | None:
    """What a run's journal says it is of; None where it says nothing that we can read."""
    try:
        with _FILES.open(os.path.join(folder, JOURNAL)) as file:
            line = file.readline(_HEAD_BYTES)
        head = msgspec.convert(json.loads(line), JournalHead) if line.endswith(b"\n") else None
    except (OSError, ValueError, RecursionError):
        return None
    return head if head is not None and (head.schema, head.version) == (SCHEMA, VERSION) else None


def read_records(folder: str) -> Iterator[RowRecord]:
    """The records of a run, in the order of its rows, one at a time. A last line that is not whole is none.

    Raises UsageError for a line that is no record, or has no result for each of the run's scorers.
    """
    path = os.path.join(folder, JOURNAL)
    head = read_head(folder)
    try:
        with _FILES.open(path) as file:
            for number, line in enumerate(file, start=1):
                if number > 1 and line.endswith(b"\n"):
                    yield _record(line, path, number, None if head is None else len(head.scorers))
    except OSError as error:
        raise UsageError(f"I can't read `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None


def _record(line: bytes, path: str, number: int, scorers: int | None) -> RowRecord:
    try:
        record = record_of(line)
    except (ValueError, RecursionError):
        raise UsageError(f"`{path}` is damaged at line {number}. Start a new run.") from None
    if record.row != number - 1:
        raise UsageError(f"`{path}` has row {record.row} where row {number - 1} should be. Start a new run.")
    if record.end is None and scorers not in (None, len(record.results)):
        raise UsageError(f"`{path}` is damaged: row {record.row} has no result for each scorer. Start a new run.")
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
