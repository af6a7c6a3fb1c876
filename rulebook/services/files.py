"""Reading files: regular ones only, creating nothing, and never leaving the folder that was given."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from rulebook.ports import FileFacts

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_CHUNK = 1024 * 1024
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class MachineFiles:
    """The files of this machine."""

    def read(self, path: str, limit_bytes: int | None = None) -> bytes:
        """The bytes of a regular file, at most `limit_bytes` + 1 of them. Raises OSError."""
        descriptor = os.open(path, _READ)
        try:
            _regular(descriptor, path)
            return _content(descriptor, limit_bytes)
        finally:
            os.close(descriptor)

    @contextmanager
    def lines(self, path: str, limit_bytes: int | None = None) -> Iterator[Iterator[bytes]]:
        """The lines of a regular file, each with its newline byte; long ones in pieces. Raises OSError."""
        with self.open(path) as stream:
            yield stream if limit_bytes is None else iter(lambda: stream.readline(limit_bytes + 1), b"")

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """A regular file, buffered. Raises OSError."""
        descriptor = os.open(path, _READ)
        with os.fdopen(descriptor, "rb", buffering=_CHUNK) as stream:
            _regular(descriptor, path)
            yield stream

    def stands(self, path: str, *, folder: bool) -> bool:
        """Whether a regular file (or a folder) stands at `path`."""
        return os.path.isdir(path) if folder else os.path.isfile(path)

    def lies_within(self, folder: str, path: str) -> bool:
        """Whether `path` lies below `folder`, all links resolved."""
        real, above = os.path.realpath(path), os.path.realpath(folder)
        return real != above and os.path.commonpath((real, above)) == above

    def within(self, root: str, path: str) -> FileFacts | None:
        """What stands at `path` below `root`, or the first link on the way to it. Raises OSError."""
        names = _steps(path)
        with _opened(root) as folder:
            for place, name in enumerate(names):
                try:
                    found = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
                except OSError as error:
                    if error.errno in _NOTHING_THERE:
                        return None
                    raise
                if stat.S_ISLNK(found.st_mode):
                    return FileFacts("link", link="/".join(names[: place + 1]))
                if place == len(names) - 1:
                    return _facts(found)
                if not stat.S_ISDIR(found.st_mode):
                    return None
                folder.enter(name)
        return None

    def link_within(self, root: str, path: str) -> str:
        """What the link at `path` below `root` says. Raises OSError."""
        *way, name = _steps(path)
        with _opened(root) as folder:
            for step in way:
                folder.enter(step)
            return os.readlink(name, dir_fd=folder.descriptor)

    def read_within(self, root: str, path: str, limit_bytes: int) -> bytes:
        """The bytes of a regular file below `root`, at most `limit_bytes` + 1 of them. Raises OSError."""
        *way, name = _steps(path)
        with _opened(root) as folder:
            for step in way:
                folder.enter(step)
            descriptor = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder.descriptor)
            try:
                _regular(descriptor, path)
                return _content(descriptor, limit_bytes)
            finally:
                os.close(descriptor)


class _At:
    """A folder held open while one walks down, so that nobody can swap a part of the way behind our back."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def enter(self, name: str) -> None:
        below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.descriptor)
        os.close(self.descriptor)
        self.descriptor = below


@contextmanager
def _opened(root: str) -> Iterator[_At]:
    folder = _At(os.open(root, _FOLDER))
    try:
        yield folder
    finally:
        os.close(folder.descriptor)


def _facts(found: os.stat_result) -> FileFacts:
    if stat.S_ISREG(found.st_mode):
        return FileFacts("file", found.st_size, stat.S_IMODE(found.st_mode))
    return FileFacts("folder" if stat.S_ISDIR(found.st_mode) else "other")


def _regular(descriptor: int, path: str) -> None:
    """Refuse what is no regular file: a FIFO would hang its reader, a device would never end."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)


def _content(descriptor: int, limit_bytes: int | None) -> bytes:
    parts: list[bytes] = []
    left = None if limit_bytes is None else limit_bytes + 1
    while left is None or left > 0:
        part = os.read(descriptor, _CHUNK if left is None else min(_CHUNK, left))
        if not part:
            break
        parts.append(part)
        left = None if left is None else left - len(part)
    return b"".join(parts)


def _steps(path: str) -> list[str]:
    """The names on the way of a path below a folder. Raises OSError for one that leads up out of it."""
    names = path.split("/")
    if ".." in names:
        raise OSError(errno.EINVAL, "the path leads out of the folder")
    return names
