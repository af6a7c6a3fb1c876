"""Throw-away folders: copies in which a program may do what it likes."""

import atexit
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rulebook.services.undisturbed import undisturbed

MOST_BYTES = 64 * 1024**3
"""No copy takes up more than this on the disk."""

_IN_MEMORY = "/dev/shm"
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class MachineWorkspaces:
    """Folders under the machine's temporary folder (TMPDIR)."""

    @contextmanager
    def copy_of(self, folder: str) -> Iterator[str]:
        """A private copy: links as links, no special files, removed at the end. Raises OSError."""
        with throw_away() as place:
            copy = os.path.join(place, "copy")
            _Copying().folder(folder, copy)
            yield copy

    @contextmanager
    def fresh(self, *, small: bool = False) -> Iterator[str]:
        """A private empty folder, removed at the end; a small one lies in memory where it can. Raises OSError."""
        with throw_away(_IN_MEMORY if small and _memory_is_free() else None) as place:
            yield place

    def take_over(self, source: str, folder: str, wanted: Callable[[str], bool]) -> None:
        """Make every wanted path of `folder` what it is in `source`. Raises OSError."""
        for path in list(_below(folder)):
            if wanted(path):
                os.unlink(os.path.join(folder, path))
                _prune(folder, os.path.dirname(path))
        copying = _Copying()
        for path in _below(source):
            if wanted(path):
                _make_way(folder, path)
                copying.entry(os.path.join(source, path), os.path.join(folder, path))


def copy_as_it_stands(source: str, target: str) -> None:
    """Copy a file, a folder or a link, nothing where there is none: no link is followed. Raises OSError."""
    if os.path.isdir(source) and not os.path.islink(source):
        _Copying().folder(source, target)
    elif os.path.lexists(source):
        _Copying().entry(source, target)


@contextmanager
def throw_away(below: str | None = None) -> Iterator[str]:
    """A private empty folder, removed at the end with whatever stands in it then. Raises OSError."""
    place = ""
    try:
        with undisturbed():
            place = tempfile.mkdtemp(prefix="rulebook-", dir=below)
            _standing[place] = os.getpid()
            atexit.unregister(_remove_all)
            atexit.register(_remove_all)
        yield place
    finally:
        if place:
            with undisturbed():
                remove_folder(place)
                del _standing[place]


def _memory_is_free() -> bool:
    """Whether a folder may lie in memory: nobody chose another place, and there is one.

    Removing a folder from a busy disk takes as long as running a small script.
    """
    return tempfile.gettempdir() == "/tmp" and os.access(_IN_MEMORY, os.W_OK | os.X_OK)


_standing: dict[str, int] = {}
"""The folders that stand now, with the process that made them."""


def _remove_all() -> None:
    """Remove what stands at the end of the process: a signal can come between a folder's use and its removal."""
    for place, owner in list(_standing.items()):
        if owner == os.getpid():
            remove_folder(place)


class _Copying:
    """One copy in progress, with what is left of its size."""

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def folder(self, source: str, target: str) -> None:
        """Copy a folder and all that is in it, however deep; OSError where a path grows too long for the machine."""
        waiting, made = [(source, target)], list[tuple[str, str]]()
        while waiting:
            here, there = waiting.pop()
            os.mkdir(there)
            made.append((here, there))
            with os.scandir(here) as entries:
                for entry in entries:
                    place = os.path.join(there, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, place))
                    else:
                        self.entry(entry.path, place)
        for here, there in reversed(made):  # inner ones first: writing into a folder moves its times
            shutil.copystat(here, there, follow_symlinks=False)

    def entry(self, source: str, target: str) -> None:
        """Copy a file or a link; what is neither has no content that could be copied."""
        facts = os.lstat(source)
        if stat.S_ISLNK(facts.st_mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISREG(facts.st_mode):
            self._file(source, target, facts)

    def _file(self, source: str, target: str, facts: os.stat_result) -> None:
        self._left -= min(facts.st_size, facts.st_blocks * 512)
        if self._left < 0:
            raise OSError(errno.EFBIG, "it is too large to copy", source)
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with (
            open(os.open(source, flags), "rb") as original,
            open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copy,
        ):
            if facts.st_blocks * 512 < facts.st_size:
                _copy_islands(original.fileno(), copy.fileno(), facts.st_size)
            else:
                _copy_bytes(original.fileno(), copy.fileno(), 0, facts.st_size)
        shutil.copystat(source, target, follow_symlinks=False)


def _copy_islands(source: int, target: int, size: int) -> None:
    """Copy a file with holes, holes kept: one of a terabyte may hold no byte at all."""
    os.ftruncate(target, size)
    start = 0
    while start < size:
        try:
            start = os.lseek(source, start, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            raise
        end = os.lseek(source, start, os.SEEK_HOLE)
        _copy_bytes(source, target, start, end)
        start = end


def _copy_bytes(source: int, target: int, start: int, end: int) -> None:
    os.lseek(target, start, os.SEEK_SET)
    while start < end:
        count = os.sendfile(target, source, start, min(end - start, 1 << 26))
        if count == 0:
            return
        start += count


def _below(folder: str) -> Iterator[str]:
    """The relative path of everything below that is no folder, the top's `.git` aside."""
    waiting = [""]
    while waiting:
        way = waiting.pop()
        with os.scandir(os.path.join(folder, way)) as entries:
            for entry in entries:
                path = way + entry.name
                if path == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path + "/")
                else:
                    yield path


def _prune(folder: str, path: str) -> None:
    """Remove the folders that were left empty, so that something else can stand in their place."""
    while path:
        try:
            os.rmdir(os.path.join(folder, path))
        except OSError:
            return
        path = os.path.dirname(path)


def _make_way(folder: str, path: str) -> None:
    """Make the folders above `path`, never through a link or a file: what stands in the way goes."""
    names = path.split("/")
    for count in range(1, len(names)):
        place = os.path.join(folder, *names[:count])
        if os.path.lexists(place) and not stat.S_ISDIR(os.lstat(place).st_mode):
            os.unlink(place)
        with suppress(FileExistsError):
            os.mkdir(place)
    place = os.path.join(folder, path)
    if os.path.isdir(place) and not os.path.islink(place):
        remove_folder(place)


def remove_folder(place: str) -> None:
    """Remove a folder whatever stands in it, as far as the machine lets us.

    A program may have taken away its own right to delete, or have made folders deeper than a path can be long or a
    function can call itself. So every folder is moved up to the top before it is emptied.
    """
    with suppress(OSError), _opened(place) as top:
        waiting = _emptied(top, top, [])
        while waiting:
            name = waiting.pop()
            with suppress(OSError):
                with _opened(name, top) as folder:
                    _emptied(folder, top, waiting)
                os.rmdir(name, dir_fd=top)
    with suppress(OSError):
        os.rmdir(place)


@contextmanager
def _opened(name: str, above: int | None = None) -> Iterator[int]:
    """A folder, never one that a link leads to, in which everything is allowed to us. Raises OSError."""
    held = os.open(name, os.O_PATH | _FOLDER, dir_fd=above)
    try:
        itself = f"/proc/self/fd/{held}"
        os.chmod(itself, 0o700)
        folder = os.open(itself, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(held)
    try:
        yield folder
    finally:
        os.close(folder)


def _emptied(folder: int, top: int, waiting: list[str]) -> list[str]:
    """Delete the files of a folder and move its folders to the top under new names, which join those that wait."""
    with os.scandir(folder) as entries:
        ordered = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in ordered:
        with suppress(OSError):
            if not is_folder:
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)  # or it could not be moved: `..` in it changes
            new = os.urandom(16).hex()
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
            waiting.append(new)
    return waiting
