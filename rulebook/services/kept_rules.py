"""Evaluations that were read before, so that running one again need not read its file where its bytes are the same.

One entry for each rule file lies under `cache/rules` in the state folder. It holds for this version of the program and
for the very bytes of the file. Nothing here raises: without an entry the file is read.
"""

import os
from contextlib import suppress
from functools import cache
from hashlib import sha256

import msgspec
from msgspec import Struct

from rulebook import __version__
from rulebook.errors import UsageError
from rulebook.ports import Files
from rulebook.services.files import MachineFiles
from rulebook.services.output_files import write_bytes
from rulebook.services.store import project_key, store_folder
from rulebook.spec.ready_evaluation import ReadyEvaluation

MAX_BYTES = 1024 * 1024
"""The largest file that is worth keeping: rows in a rule file are read as fast from there."""

_READERS = ("spec", "languages", "source", "checks")
"""The rooms whose code says what a file means."""

_FILES = MachineFiles()


class _Entry(Struct, frozen=True):
    key: str
    ready: ReadyEvaluation


class KeptRules:
    """What is kept of the rule file at `path`, as its bytes are when this is made."""

    def __init__(self, path: str, files: Files) -> None:
        self._entry = os.path.join(store_folder(), "cache", "rules", project_key(path) + ".json")
        self._raw: bytes | None = None
        with suppress(OSError, ValueError):
            raw = files.read(path, MAX_BYTES)
            self._raw = raw if len(raw) <= MAX_BYTES else None

    def find(self) -> ReadyEvaluation | None:
        """What the file says, where it was kept and nothing has changed since."""
        if self._raw is None:
            return None
        try:
            with _FILES.open(self._entry) as file:  # which keeps nobody waiting for a FIFO
                about = os.fstat(file.fileno())
                if about.st_uid != os.geteuid() or about.st_mode & 0o022:
                    return None  # somebody else may have written it
                entry = msgspec.json.decode(file.read(4 * MAX_BYTES), type=_Entry)
        except (OSError, ValueError, RecursionError):
            return None
        return entry.ready if entry.key == _key(self._raw) else None

    def keep(self, ready: ReadyEvaluation, text: str) -> None:
        """Keep what was read of `text`, unless JSON cannot hold it or the file has changed meanwhile."""
        raw = self._raw
        if raw is None or raw != text.encode("utf-8", "surrogatepass"):
            return
        entry = _Entry(_key(raw), ready)
        with suppress(OSError, UsageError, TypeError, ValueError, OverflowError, RecursionError):
            said = msgspec.json.encode(entry)
            if msgspec.json.decode(said, type=_Entry) != entry:
                return
            os.makedirs(os.path.dirname(self._entry), mode=0o700, exist_ok=True)
            write_bytes(self._entry, (said,), force=True)


def _key(raw: bytes) -> str:
    return sha256(_program().encode("ascii") + b"\n" + raw).hexdigest()


@cache
def _program() -> str:
    """What tells this program from another one: its version, and when the code that reads files was written."""
    root = os.path.dirname(os.path.dirname(__file__))
    newest = 0
    for room in _READERS:
        with os.scandir(os.path.join(root, room)) as entries:
            newest = max(newest, *(each.stat().st_mtime_ns for each in entries if each.name.endswith(".py")))
    return f"{__version__} {newest}"
