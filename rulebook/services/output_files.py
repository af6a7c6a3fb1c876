"""Writing files that a command was asked for: whole or not at all, and never over another by accident."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from rulebook.errors import UsageError


def write_text(path: str, text: str, *, force: bool) -> None:
    """Write a file whole or not at all; one that is there already stays unless `force`. Raises UsageError."""
    write_bytes(path, (text.encode("utf-8"),), force=force)


def write_bytes(path: str, pieces: Iterable[bytes], *, force: bool) -> None:
    """Like `write_text`, for bytes that come in pieces. An error while they are read leaves nothing behind."""
    try:
        with drafted(path, force=force) as file:
            file.writelines(pieces)
    except FileExistsError:
        message = f"`{path}` is there already and was not touched. Write another name, or remove it first."
        raise UsageError(message) from None
    except OSError as error:
        raise UsageError(f"I can't write `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None


def refuse_over(path: str, sources: Iterable[str]) -> None:
    """Refuse to write over what is being read, or over what is no ordinary file. Raises UsageError."""
    if not os.path.lexists(path):
        return
    if not os.path.isfile(path):
        raise UsageError(f"`{path}` is no ordinary file, and was not touched. Write another name.")
    for source in sources:
        if os.path.exists(source) and os.path.samefile(path, source):
            raise UsageError(f"`{path}` is what is being checked, and was not touched. Write another name.")


@contextmanager
def drafted(path: str, *, force: bool) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when all went well, and is gone where anything went wrong.

    Raises FileExistsError where there is one already, unless `force`; OSError.
    """
    # a name that nobody else has; `tempfile` would do the same, and costs a fifth of a command's start
    draft = os.path.join(os.path.dirname(path), f".rulebook-{os.urandom(8).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(draft, 0o666 & ~_umask())
        if force:
            os.replace(draft, os.path.realpath(path))
        else:
            os.link(draft, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_all(descriptor: int, data: bytes) -> None:
    """One write; the kernel may still take it in pieces when the disk is nearly full. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]
