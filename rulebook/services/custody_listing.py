"""What stood where a student misbehaved: names and facts, never content, so that the case can be looked at later."""

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from rulebook.errors import EvidenceError
from rulebook.services.custody_way import way_to

MOST_ENTRIES = 1000
_DEEPEST = 64
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class Listed(Struct, frozen=True, omit_defaults=True):
    """One name, looked at without following a link. `mode` is octal, `target` what a link says."""

    path: str
    kind: str
    size_bytes: int
    mode: str
    owner: int
    names: int
    modified_ns: int
    target: str | None = None


def listing(path: str) -> tuple[list[Listed], bool]:
    """Every folder on the way to `path` and all that lies below it, the nearest first; whether some was left out."""
    found = list(_on_the_way(path))
    with suppress(EvidenceError, OSError), way_to(path) as (folder, name):
        found += islice(_below(folder, name, path), MOST_ENTRIES + 1)
    return found[:MOST_ENTRIES], len(found) > MOST_ENTRIES


def _on_the_way(path: str) -> Iterator[Listed]:
    names = path.split("/")[1:-1]
    for count in range(1, len(names) + 1):
        place = "/" + "/".join(names[:count])
        try:
            facts = os.lstat(place)
            yield _listed(place, facts, os.readlink(place) if stat.S_ISLNK(facts.st_mode) else None)
        except OSError:
            return
        if not stat.S_ISDIR(facts.st_mode):
            return


def _below(folder: int, name: str, path: str) -> Iterator[Listed]:
    waiting = deque([(name, path)])
    while waiting:
        way, place = waiting.popleft()
        with suppress(OSError), _Reached(folder, way) as (holder, last):
            facts = os.stat(last, dir_fd=holder, follow_symlinks=False)
            link = stat.S_ISLNK(facts.st_mode)
            yield _listed(place, facts, os.readlink(last, dir_fd=holder) if link else None)
            if stat.S_ISDIR(facts.st_mode) and len(waiting) <= MOST_ENTRIES and way.count("/") < _DEEPEST:
                waiting.extend((f"{way}/{inner}", f"{place}/{inner}") for inner in _names(last, holder))


class _Reached:
    """The folder that holds the end of a relative way, reached name by name; a link on it is an OSError."""

    def __init__(self, folder: int, way: str) -> None:
        *self._names, self._last = way.split("/")
        self._folder = os.dup(folder)

    def __enter__(self) -> tuple[int, str]:
        try:
            for name in self._names:
                below = os.open(name, _FOLDER, dir_fd=self._folder)
                os.close(self._folder)
                self._folder = below
        except OSError:
            os.close(self._folder)
            raise
        return self._folder, self._last

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)


def _names(name: str, holder: int) -> list[str]:
    folder = os.open(name, _FOLDER, dir_fd=holder)
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, MOST_ENTRIES + 1))
    finally:
        os.close(folder)


def _listed(path: str, facts: os.stat_result, target: str | None) -> Listed:
    return Listed(
        path=text_of(path),
        kind=_KINDS.get(stat.S_IFMT(facts.st_mode), "other"),
        size_bytes=facts.st_size,
        mode=f"{stat.S_IMODE(facts.st_mode):04o}",
        owner=facts.st_uid,
        names=facts.st_nlink,
        modified_ns=facts.st_mtime_ns,
        target=None if target is None else text_of(target),
    )


def text_of(path: str) -> str:
    """A path as text that every file can hold: bytes that are not UTF-8 are written out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
