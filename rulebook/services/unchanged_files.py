"""Rows of a file that is read more than once, and must be the same file each time."""

import os
from collections.abc import Callable

from rulebook.errors import DatasetError
from rulebook.evidence.rows import Rows


def unchanged(path: str, read: Callable[[str], Rows]) -> Callable[[], Rows]:
    """The rows of a file that must be the same at each pass: what was found in the first holds in the next.

    They raise DatasetError where it is not, as soon as a pass begins, and at its end.
    """
    first: tuple[int, int, int] | None = None

    def check() -> None:
        nonlocal first
        first = first or _state(path)
        if _state(path) != first:
            raise DatasetError(f"`{path}` was changed while it was read. Read a file that stays as it is.")

    def rows() -> Rows:
        check()
        yield from read(path)
        check()

    return rows


def _state(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
