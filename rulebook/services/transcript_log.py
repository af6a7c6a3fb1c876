"""Writing the transcript of a run: each event is safe on the disk before the run goes on."""

import os
from types import TracebackType
from typing import Self

from rulebook.evidence.run_events import Event
from rulebook.evidence.run_transcript import Transcript, event_line, head_line, whole_file
from rulebook.services.output_files import write_bytes

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class TranscriptLog:
    """The one writer of a run's transcript, from its first event to its last. Used as a context manager.

    Every event is one write and one fsync, so that a run that is killed leaves what happened.
    """

    def __init__(self, path: str | os.PathLike[str], run_id: str) -> None:
        """Begin the file at `path`; its folders are made. Raises FileExistsError, OSError."""
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        self._file = os.open(path, _FLAGS, 0o644)
        self._put(head_line(run_id))
        _sync(folder)

    def append(self, event: Event) -> None:
        """Write one event. Raises OSError."""
        self._put(event_line(event))

    def close(self) -> None:
        """Let go of the file; closing twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)


def write_transcript(transcript: Transcript, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a transcript whole or not at all; one that is there already stays unless `force`. Raises UsageError."""
    write_bytes(os.fspath(path), (whole_file(transcript),), force=force)


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
