"""Reading the transcript of a run from its file."""

import os

from rulebook.api.own_machine import own_ports
from rulebook.errors import UnknownFormat
from rulebook.evidence.run_transcript import Transcript

LIMIT_BYTES = 1024 * 1024 * 1024
"""A larger transcript is not read."""


def read_transcript(path: str | os.PathLike[str]) -> Transcript:
    """The transcript in a file, one that is still being appended to as well. Raises UnknownFormat, OSError."""
    data = own_ports().files.read(os.fspath(path), LIMIT_BYTES)
    if len(data) > LIMIT_BYTES:
        raise UnknownFormat(f"`{os.fspath(path)}` is larger than {LIMIT_BYTES // 1024 // 1024} MB.")
    return Transcript.from_bytes(data)
