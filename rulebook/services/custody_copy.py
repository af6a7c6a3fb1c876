"""Copying a file or a tree that a student wrote: never a link followed, never more than the terms allow."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from msgspec import Struct

from rulebook.errors import EvidenceError, MisbehaviorError, Missing
from rulebook.services.custody_terms import LONGEST_PATH_BYTES, Budget, Terms, reason_of, unreadable, unsaved
from rulebook.terminal import harmless

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1024 * 1024
_SPARSE_CHUNK = 64 * 1024
_ZEROS = bytes(_CHUNK)


class Copied(Struct, frozen=True):
    """One entry of a copy. `path` is relative to the submission, empty for its top; links and folders have no sum."""

    path: str
    kind: str
    size_bytes: int = 0
    sha256: str | None = None


class _Level(Struct):
    """A folder that is being copied: both sides held open, and the names that are left."""

    source: int
    target: int
    path: str
    names: Iterator[str]


class Copying:
    """One submission being copied to `target_path`. `copied` grows as it goes."""

    def __init__(self, terms: Terms, path: str, target_path: str, budget: Budget | None) -> None:
        self._terms, self._top, self._budget = terms, path, budget
        self._room = LONGEST_PATH_BYTES - len(os.fsencode(target_path)) - 1
        self._bytes = self._entries = 0
        self.copied: list[Copied] = []

    def copy(self, source: int, name: str, target: int, new: str) -> bool:
        """Copy `name` of the open folder `source` as `new` into `target`; false when nothing is there.

        Raises MisbehaviorError, and Missing for a fault of this machine; what was written by then stays.
        """
        try:
            facts = os.stat(name, dir_fd=source, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unreadable("stat", self._top, error) from None
        if stat.S_ISLNK(facts.st_mode):
            raise MisbehaviorError(f"{harmless(self._top)} is a symlink")
        if stat.S_ISDIR(facts.st_mode):
            self._tree(source, name, target, new)
        else:
            self._leaf(source, name, target, new, "", facts)
        return True

    def _tree(self, source: int, name: str, target: int, new: str) -> None:
        with ExitStack() as held:
            levels = [(held, held.enter_context(self._entered(source, name, target, new, "")))]
            while levels:
                until_done, level = levels[-1]
                inner = next(level.names, None)
                if inner is None:
                    until_done.close()
                    levels.pop()
                    continue
                path = f"{level.path}/{inner}" if level.path else inner
                facts = self._facts(level.source, inner, path)
                if not stat.S_ISDIR(facts.st_mode):
                    self._leaf(level.source, inner, level.target, inner, path, facts)
                    continue
                if len(levels) >= self._terms.max_depth:
                    raise MisbehaviorError(f"submission is nested too deep at {harmless(path)}")
                below = held.enter_context(ExitStack())
                entered = below.enter_context(self._entered(level.source, inner, level.target, inner, path))
                levels.append((below, entered))

    @contextmanager
    def _entered(self, source: int, name: str, target: int, new: str, path: str) -> Iterator[_Level]:
        self._fits(path)
        with ExitStack() as held:
            try:
                folder = os.open(name, _FOLDER, dir_fd=source)
            except OSError as error:
                raise self._swapped(path, error) from None
            held.callback(os.close, folder)
            names = self._names(folder, path)
            try:
                os.mkdir(new, 0o700, dir_fd=target)
                copy = os.open(new, _FOLDER, dir_fd=target)
            except OSError as error:
                raise unsaved(self._shown(path), error) from None
            held.callback(os.close, copy)
            self.copied.append(Copied(path, "folder"))
            yield _Level(folder, copy, path, iter(names))

    def _names(self, folder: int, path: str) -> list[str]:
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count_entry()
                    names.append(entry.name)
        except OSError as error:
            raise Missing("harness", f"cannot list {harmless(self._shown(path))}: {reason_of(error)}") from None
        return sorted(names)

    def _count_entry(self) -> None:
        self._entries += 1
        if self._entries > self._terms.max_entries:
            raise MisbehaviorError(f"submission has more than {self._terms.max_entries} entries")
        if self._budget is not None:
            self._budget.take(entries=1)

    def _facts(self, folder: int, name: str, path: str) -> os.stat_result:
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            raise unreadable("stat", path, error) from None

    def _leaf(self, source: int, name: str, target: int, new: str, path: str, facts: os.stat_result) -> None:
        self._fits(path)
        if stat.S_ISREG(facts.st_mode):
            self._file(source, name, target, new, path)
        elif not stat.S_ISLNK(facts.st_mode):
            raise MisbehaviorError(f"{harmless(self._shown(path))} is not a regular file")
        elif not self._terms.allow_symlinks:
            raise MisbehaviorError(f"{harmless(self._shown(path))} is a symlink")
        else:
            self._link(source, name, target, new, path)

    def _link(self, source: int, name: str, target: int, new: str, path: str) -> None:
        try:
            says = os.readlink(name, dir_fd=source)
        except OSError as error:
            raise unreadable("read", self._shown(path), error) from None
        try:
            os.symlink(says, new, dir_fd=target)
        except OSError as error:
            raise unsaved(self._shown(path), error) from None
        self.copied.append(Copied(path, "link"))

    def _file(self, source: int, name: str, target: int, new: str, path: str) -> None:
        try:
            original = os.open(name, _READ, dir_fd=source)
        except OSError as error:
            raise self._swapped(path, error) from None
        try:
            facts = os.fstat(original)
            self._admit(facts, path)
            try:
                copy = os.open(new, _WRITE, 0o600, dir_fd=target)
            except OSError as error:
                raise unsaved(self._shown(path), error) from None
            try:
                digest = self._content(original, copy, facts, path)
            finally:
                os.close(copy)
            after = os.fstat(original)
        finally:
            os.close(original)
        if _version(after) != _version(facts):
            raise MisbehaviorError(f"{harmless(self._shown(path))} changed while it was saved")
        self.copied.append(Copied(path, "file", facts.st_size, digest))

    def _admit(self, facts: os.stat_result, path: str) -> None:
        """Refuse what the open file must not be; only what is opened can no longer be swapped."""
        terms, shown = self._terms, harmless(self._shown(path))
        if not stat.S_ISREG(facts.st_mode):
            raise MisbehaviorError(f"{shown} is not a regular file")
        if facts.st_nlink > 1 and not terms.allow_hard_links:
            raise MisbehaviorError(f"{shown} is a hard link: the file has {facts.st_nlink} names")
        if terms.owner is not None and facts.st_uid != terms.owner:
            raise MisbehaviorError(f"{shown} belongs to user {facts.st_uid}, not to {terms.owner}")
        if facts.st_size > terms.max_file_bytes:
            raise MisbehaviorError(f"{shown} is too large ({facts.st_size} > {terms.max_file_bytes} bytes)")
        self._bytes += facts.st_size
        if self._bytes > terms.max_total_bytes:
            raise MisbehaviorError(f"submission total size exceeds {terms.max_total_bytes} bytes")
        if self._budget is not None:
            self._budget.take(size_bytes=facts.st_size)

    def _content(self, original: int, copy: int, facts: os.stat_result, path: str) -> str:
        """Copy the bytes, runs of zeros as holes, and no byte more than the file had; their SHA-256."""
        digest, count, hole = hashlib.sha256(), 0, False
        chunk = _SPARSE_CHUNK if facts.st_blocks * 512 < facts.st_size else _CHUNK
        while data := self._read(original, min(chunk, facts.st_size + 1 - count), path):
            count += len(data)
            digest.update(data)
            hole = len(data) == chunk and data == _ZEROS[:chunk]
            try:
                if hole:
                    os.lseek(copy, chunk, os.SEEK_CUR)
                else:
                    _write(copy, data)
            except OSError as error:
                raise unsaved(self._shown(path), error) from None
        if hole:
            os.ftruncate(copy, count)
        if count != facts.st_size:  # a file system of the student's own may say what it likes
            raise MisbehaviorError(f"{harmless(self._shown(path))} changed while it was saved")
        return digest.hexdigest()

    def _read(self, original: int, size_bytes: int, path: str) -> bytes:
        try:
            return os.read(original, size_bytes)
        except OSError as error:
            raise Missing("harness", f"cannot read {harmless(self._shown(path))}: {reason_of(error)}") from None

    def _fits(self, path: str) -> None:
        if len(path) * 4 > self._room and len(os.fsencode(path)) > self._room:
            raise unsaved(self._shown(path), OSError(errno.ENAMETOOLONG, ""))

    def _swapped(self, path: str, error: OSError) -> EvidenceError:
        """Why something could not be opened that was fit to be opened a moment ago."""
        shown = self._shown(path)
        if error.errno == errno.ELOOP:
            return MisbehaviorError(f"{harmless(shown)} is a symlink")
        if error.errno == errno.ENXIO:
            return MisbehaviorError(f"{harmless(shown)} is not a regular file")
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return MisbehaviorError(f"{harmless(shown)} changed while it was saved")
        return unreadable("open", shown, error)

    def _shown(self, path: str) -> str:
        return path or self._top


def _version(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _write(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
