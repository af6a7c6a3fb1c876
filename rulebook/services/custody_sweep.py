"""One walk through a file tree that removes what one user owns: over open folders, however deep, no link followed."""

import errno
import os
import stat
import time

from msgspec import Struct

from rulebook.errors import EvidenceError, Missing, ReclaimError
from rulebook.services.custody_grounds import Ground
from rulebook.services.custody_permission import permit_user
from rulebook.services.custody_terms import reason_of
from rulebook.terminal import harmless

MOST_ENTRIES = 2_000_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_NAMED = 1000
_STAYS = (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST)


class Patience:
    """How long all sweeps together may take, and how many names they may look at."""

    def __init__(self, timeout_s: float, most_entries: int = MOST_ENTRIES) -> None:
        self._timeout_s, self._most_entries = timeout_s, most_entries
        self._until, self._entries = time.monotonic() + timeout_s, 0

    def count(self) -> None:
        """Look at one more name. Raises ReclaimError when it was one too many, or too late."""
        self._entries += 1
        if self._entries > self._most_entries:
            raise ReclaimError(f"there are more than {self._most_entries} files to look through")
        if self._entries & 255 == 1 and time.monotonic() >= self._until:
            raise ReclaimError(f"removing files took longer than {self._timeout_s:g} s")


class _Below(Struct):
    """A folder that is yet to be swept."""

    name: str
    identity: tuple[int, int]
    ground: Ground | None
    goes: bool


class _Level(Struct):
    """A folder that is being swept; the way back up must lead to the `identity` of the one above."""

    identity: tuple[int, int]
    name: str
    goes: bool
    waiting: list[_Below]


class Sweep:
    """Removes what `uid` owns. `removed` counts, `left` names what could not be removed and why."""

    def __init__(self, uid: int, ground: Ground, patience: Patience) -> None:
        """Raises NotAllowedHere for a user that cannot be the student."""
        permit_user(uid)
        self._uid, self._top, self._patience = uid, ground, patience
        self._here, self._levels, self._start = -1, list[_Level](), ""
        self.removed = 0
        self.left: list[str] = []

    def everything(self) -> None:
        """Sweep the whole tree."""
        self._begin(os.open("/", _FOLDER), "")
        try:
            self._levels = [self._level(_Below("", _identity(os.fstat(self._here)), self._top, False))]
            self._walk()
        finally:
            os.close(self._here)

    def one(self, folder: int, name: str, path: str) -> None:
        """Sweep what stands at `path`, which is `name` in an open folder; nothing may stand there."""
        known, barren = self._known(path)
        if barren and known is None:
            return
        self._begin(os.open(f"/proc/self/fd/{folder}", _FOLDER & ~os.O_NOFOLLOW), os.path.dirname(path))
        try:
            self._levels = [_Level(_identity(os.fstat(self._here)), "", False, [])]
            self._look(name, known, self._levels[0])
            self._walk()
        finally:
            os.close(self._here)

    def _known(self, path: str) -> tuple[Ground | None, bool]:
        """What is known of a path, and whether it lies where nothing can be removed."""
        known = last = self._top
        for part in path.split("/")[1:]:
            if last.kept:
                break
            below = known.children.get(part)
            if below is None:
                return None, bool(last.barren)
            known = last = below
        return (None, True) if last.kept else (known, bool(last.barren))

    def _begin(self, folder: int, path: str) -> None:
        self._here, self._start = folder, path.rstrip("/")

    def _walk(self) -> None:
        while self._levels:
            if self._levels[-1].waiting:
                self._down(self._levels[-1].waiting.pop())
            elif len(self._levels) > 1:
                self._up()
            else:
                self._levels.pop()

    def _down(self, below: _Below) -> None:
        try:
            folder = os.open(below.name, _FOLDER, dir_fd=self._here)
        except FileNotFoundError:
            return
        except OSError as error:
            self._leave(below.name, error)
            return
        os.close(self._here)
        self._here = folder
        self._levels.append(_Level(below.identity, below.name, below.goes, []))
        if _identity(os.fstat(folder)) != below.identity:
            raise _moved(self._path(""), below.goes)
        self._levels[-1] = self._level(below)

    def _level(self, below: _Below) -> _Level:
        """Remove the files of the folder that is open, and note its folders."""
        level = _Level(below.identity, below.name, below.goes, [])
        known = below.ground
        try:
            names = list(known.children) if known is not None and known.barren else self._names()
        except OSError as error:
            self._leave("", error)
            return level
        for name in names:
            self._look(name, known.children.get(name) if known is not None else None, level)
        return level

    def _names(self) -> list[str]:
        names = []
        with os.scandir(self._here) as entries:
            for entry in entries:
                self._patience.count()
                names.append(entry.name)
        return names

    def _look(self, name: str, known: Ground | None, level: _Level) -> None:
        if known is not None and known.kept:
            return
        try:
            facts = os.stat(name, dir_fd=self._here, follow_symlinks=False)
            goes = facts.st_uid == self._uid and known is None
            if stat.S_ISDIR(facts.st_mode):
                level.waiting.append(_Below(name, _identity(facts), known, goes))
            elif goes:
                os.unlink(name, dir_fd=self._here)
                self.removed += 1
        except FileNotFoundError:
            return
        except OSError as error:
            self._leave(name, error)

    def _up(self) -> None:
        level = self._levels.pop()
        above = os.open("..", _FOLDER, dir_fd=self._here)
        os.close(self._here)
        self._here = above
        if _identity(os.fstat(above)) != self._levels[-1].identity:
            raise _moved(self._path(level.name), level.goes)
        if not level.goes:
            return
        try:
            os.rmdir(level.name, dir_fd=above)
            self.removed += 1
        except OSError as error:
            if error.errno not in _STAYS:  # what is in it is not the student's, or has just been named
                self._leave(level.name, error)

    def _leave(self, name: str, error: OSError) -> None:
        if len(self.left) < _MOST_NAMED:
            self.left.append(f"{self._path(name)} ({reason_of(error)})")

    def _path(self, name: str) -> str:
        parts = [self._start, *(level.name for level in self._levels[1:]), *([name] if name else [])]
        path = "/".join(parts) or "/"
        return harmless(path if len(path) < 300 else f"{path[:100]}…{path[-150:]}")


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _moved(path: str, is_students: bool) -> EvidenceError:
    """What it means that a folder was moved while it was swept; of the student nothing runs any more."""
    reason = f"{path} was moved while it was swept"
    return ReclaimError(reason) if is_students else Missing("harness", f"{reason}, by somebody else than the student")
