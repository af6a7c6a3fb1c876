"""Digests that tell the rows of a dataset from others."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from rulebook.errors import DatasetError
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.services.files import MachineFiles

_FILES = MachineFiles()
_encoder = msgspec.json.Encoder(order="sorted")


def files_digest(paths: Sequence[str]) -> str:
    """Of the bytes of these files, in their order: `file:` and 64 digits. Raises DatasetError."""
    digest = sha256()
    for path in paths:
        try:
            with _FILES.open(path) as file:
                size = 0
                while piece := file.read(1 << 20):
                    digest.update(piece)
                    size += len(piece)
        except OSError as error:
            reason = (error.strerror or "the machine refuses").lower()
            raise DatasetError(f"`{path}` can't be read: {reason}.") from None
        # or a line could move from the end of one file to the start of the next
        digest.update(size.to_bytes(8, "big") if len(paths) > 1 else b"")
    return f"file:{digest.hexdigest()}"


def rows_digest(rows: Iterable[Row | DamagedRow]) -> str:
    """Of every value of each of these rows, in their order: `rows:` and 64 digits. One pass; nothing is kept."""
    digest = sha256()
    for row in rows:
        digest.update(_line(row.values if isinstance(row, Row) else [row.reason]) + b"\n")
    return f"rows:{digest.hexdigest()}"


def _line(value: object) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # half a character in a text
        return json.dumps(value, sort_keys=True, default=str, separators=(",", ":")).encode("ascii")
