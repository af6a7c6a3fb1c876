"""The way to a submission, walked one name at a time over open folders, so that no link on it is ever followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from rulebook.errors import EvidenceError, MisbehaviorError, MissingParentError, UnfitPath
from rulebook.services.custody_terms import LONGEST_PATH_BYTES, unreadable
from rulebook.terminal import harmless

_LONGEST_NAME_BYTES = 255
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def plain_path(path: str | os.PathLike[str]) -> str:
    """The absolute path, `..` taken away before any link is looked at. Raises UnfitPath where no file can lie there."""
    text = os.path.normpath(os.path.join(os.getcwd(), os.fspath(path)))
    text = "/" + text.lstrip("/")
    shown = harmless(text)
    if text == "/":
        raise UnfitPath("`/` cannot be a submission: name a file or a folder in it.")
    if "\0" in text:
        raise UnfitPath(f"`{shown}` cannot be a submission: no path holds the character NUL.")
    sizes = [len(name) for name in os.fsencode(text).split(b"/")]
    if max(sizes) > _LONGEST_NAME_BYTES or sum(sizes) + len(sizes) - 1 > LONGEST_PATH_BYTES:
        raise UnfitPath(f"`{shown[:80]}…` cannot be a submission: it is longer than any path on this machine.")
    return text


@contextmanager
def way_to(path: str) -> Iterator[tuple[int, str]]:
    """The folder in which the absolute `path` lies, held open, and the last name of the path.

    Raises MissingParentError where a folder on the way is missing, MisbehaviorError where something else stands there.
    """
    *names, last = path.split("/")[1:]
    folder = os.open("/", _STEP)
    try:
        for place, name in enumerate(names, 1):
            try:
                below = os.open(name, _STEP, dir_fd=folder)
            except OSError as error:
                raise _blocked(folder, name, "/" + "/".join(names[:place]), error) from None
            os.close(folder)
            folder = below
        yield folder, last
    finally:
        os.close(folder)


def _blocked(folder: int, name: str, path: str, error: OSError) -> EvidenceError:
    shown = harmless(path)
    if error.errno == errno.ENOENT:
        return MissingParentError(f"{shown} does not exist")
    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
        return unreadable("open", path, error)
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError as gone:
        return unreadable("stat", path, gone)
    return MisbehaviorError(f"{shown} is a symlink" if stat.S_ISLNK(mode) else f"{shown} is not a directory")
