"""What may be handed in, and the words for what may not."""

import errno
import os

from msgspec import Struct

from rulebook.errors import EvidenceError, MisbehaviorError, Missing
from rulebook.evidence.shortage import is_shortage
from rulebook.terminal import harmless

MAX_FILE_BYTES = 256 * 1024**2
MAX_TOTAL_BYTES = 1024**3
MAX_ENTRIES = 10_000
MAX_DEPTH = 32

LONGEST_PATH_BYTES = 4095
"""What the machine takes as one path; a copy that lies deeper could not be opened by the judge."""

_PROVOKED = frozenset((errno.ENAMETOOLONG, errno.EEXIST, errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class Terms(Struct, frozen=True):
    """The limits of one submission; all `max_` are inclusive.

    `max_entries` counts what lies below the top, `max_depth` counts folders with the top as 1. `owner` is the user
    who must own every file; None takes anybody's.
    """

    max_file_bytes: int = MAX_FILE_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES
    max_entries: int = MAX_ENTRIES
    max_depth: int = MAX_DEPTH
    allow_symlinks: bool = False
    allow_hard_links: bool = False
    owner: int | None = None


class Budget:
    """What all submissions of a step may take together; one object is handed to each `save_submission`."""

    def __init__(self, max_total_bytes: int = MAX_TOTAL_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        self._most_bytes, self._most_entries = max_total_bytes, max_entries
        self._bytes = self._entries = 0

    def take(self, *, size_bytes: int = 0, entries: int = 0) -> None:
        """Count more. Raises MisbehaviorError when it is too much."""
        self._bytes += size_bytes
        self._entries += entries
        if self._bytes > self._most_bytes:
            raise MisbehaviorError(f"the submissions' total size exceeds {self._most_bytes} bytes")
        if self._entries > self._most_entries:
            raise MisbehaviorError(f"the submissions have more than {self._most_entries} entries")


def unreadable(doing: str, path: str, error: OSError) -> EvidenceError:
    """What it means that the student's `path` could not be looked at: its doing, unless the machine is in trouble."""
    text = f"cannot {doing} {harmless(path)}: {reason_of(error)}"
    return Missing("harness", text) if is_shortage(error) else MisbehaviorError(text)


def unsaved(path: str, error: OSError) -> EvidenceError:
    """What it means that the copy of `path` could not be written: our trouble, unless a student can bring it about."""
    text = f"cannot save {harmless(path)}: {reason_of(error)}"
    return MisbehaviorError(text) if error.errno in _PROVOKED else Missing("harness", text)


def reason_of(error: OSError) -> str:
    """The machine's words for an error."""
    return os.strerror(error.errno) if error.errno else str(error)
