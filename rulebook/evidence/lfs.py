"""Git LFS: a small text that stands in a repository for the content of a large file."""

import re
from typing import NamedTuple

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.repository import Repository

POINTER_BYTES = 1024
"""A pointer is smaller than this. Source: the Git LFS specification."""

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n?"
)


class Pointer(NamedTuple):
    """What a pointer says of the content that it stands for."""

    sha256: str
    size_bytes: int


def read_pointer(data: bytes) -> Pointer | None:
    """The pointer that a file's bytes are; None when they are none."""
    found = _POINTER.fullmatch(data) if len(data) < POINTER_BYTES else None
    return None if found is None else Pointer(found[1].decode(), int(found[2]))


def is_pointer(repository: Repository, path: str) -> bool:
    """Whether a pointer stands at `path`, and not the content that it is for."""
    try:
        return read_pointer(repository.read(path, POINTER_BYTES)) is not None
    except (Missing, NotHandedIn):
        return False
