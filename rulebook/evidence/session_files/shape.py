"""What a foreign session format is: how it is recognised, read, and what it can tell."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

from msgspec import Struct, field

from rulebook.errors import UnknownFormat
from rulebook.evidence.record import EVERYTHING, Fact, Record, Wants
from rulebook.evidence.session_files.sample import Kind, Sample, sample_of
from rulebook.evidence.session_files.values import decoded
from rulebook.evidence.transcript import Source, Transcript
from rulebook.ports import Files

Made = TypeVar("Made")

LIMIT_BYTES = 512 * 1024 * 1024
"""The largest file of one JSON value that is read; a file of lines may be of any size."""

LIMIT_LINE_BYTES = 32 * 1024 * 1024
"""The longest line that is read: a reader holds several times as much while it decodes one."""

Fit = Literal[0, 1, 2]
"""How surely a sample is of a format: 0 not at all, 1 it has the shape, 2 it says so itself."""


class Format(Struct, frozen=True):
    """One foreign format: `title` reads after "is", and `expects` says what its files look like.

    `carries` holds the facts that its files can tell; `kinds` the kinds of sample that it comes in. `parts` names the
    sessions of a file that can hold several, in their order; None: a file is always one session. `fold` gives the facts
    that `wants` asks for without the transcript between, the very ones that it would give; None, there too where a file
    is out of the ordinary: the transcript is read.
    """

    name: str
    title: str
    expects: str
    kinds: frozenset[Kind]
    carries: frozenset[Fact]
    fits: Callable[[Sample], Fit]
    read: Callable[["SessionFile"], Transcript]
    parts: Callable[["SessionFile"], Sequence[str]] | None = None
    fold: Callable[["SessionFile"], Record | None] | None = None


class SessionFile(Struct):
    """A session file being read.

    `sha256` is that of the bytes that were read, and complete after the reading. `part` names one session of several;
    None where the file is one. `wants` is what will be asked of the session: a reader may leave out whatever else
    costs memory (texts, results, payloads), as long as every message, call and event keeps its place. `head` is how the
    file begins; `overlong` are the numbers of the lines that were passed over because they are too long (None: a line
    of a file beside it).
    """

    path: str
    files: Files
    head: bytes
    part: str | None = None
    wants: Wants = EVERYTHING
    overlong: list[int | None] = field(default_factory=list)
    _digest: Any = field(default_factory=hashlib.sha256)
    _root: list[object] = field(default_factory=list)
    _made: list[Any] = field(default_factory=list)
    _sample: Sample | None = None

    @property
    def sample(self) -> Sample:
        """What the first bytes look like, worked out when it is first asked for."""
        if self._sample is None:
            self._sample = sample_of(self.head)
        return self._sample

    @property
    def sha256(self) -> str:
        """The digest, in hex, of what the last reading of the file has read so far."""
        digest: str = self._digest.hexdigest()
        return digest

    @contextmanager
    def lines(self) -> Iterator[Iterator[tuple[int, bytes]]]:
        """The lines with their numbers from 1, in bounded memory; those that are too long left out. Raises OSError."""
        digest = self._digest = hashlib.sha256()
        self.overlong = []
        with self.files.lines(self.path, LIMIT_LINE_BYTES) as pieces:
            yield self._whole_lines(pieces, digest)

    @contextmanager
    def lines_beside(self, path: str) -> Iterator[Iterator[bytes]]:
        """The lines of another file that belongs to the session, in bounded memory. Raises OSError."""
        with self.files.lines(path, LIMIT_LINE_BYTES) as pieces:
            yield (line for _, line in self._whole_lines(pieces, None))

    def whole(self) -> bytes:
        """All bytes. Raises OSError, and UnknownFormat when there are too many."""
        data = self.files.read(self.path, LIMIT_BYTES)
        if len(data) > LIMIT_BYTES:
            raise UnknownFormat(f"`{self.path}` is larger than {LIMIT_BYTES // 1024 // 1024} MB")
        self._digest = hashlib.sha256(data)
        return data

    def json(self, title: str) -> object:
        """The one JSON value of the file, read once for all its sessions; `title` says what it should be.

        Raises OSError, and UnknownFormat when it is not JSON.
        """
        if not self._root:
            try:
                self._root.append(decoded(self.whole()))
            except ValueError as error:
                raise UnknownFormat(
                    f"`{self.path}` cannot be read as {title}: it is not valid JSON ({error})"
                ) from error
        return self._root[0]

    def once(self, made: Callable[["SessionFile"], Made]) -> Made:
        """What `made` makes of the file, made once for all of its sessions: nothing may change it."""
        if not self._made:
            self._made.append(made(self))
        value: Made = self._made[0]
        return value

    def transcript(self, format_name: str, *, lines: bool = False) -> Transcript:
        """An empty transcript that names this file.

        The digest is filled in by whoever finishes the reading.
        """
        places: Literal["lines", "items"] = "lines" if lines else "items"
        return Transcript(Source(format_name, self.path, "", places=places, part=self.part))

    def _whole_lines(self, pieces: Iterator[bytes], digest: Any) -> Iterator[tuple[int, bytes]]:
        number, inside = 0, False
        for piece in pieces:
            if digest is not None:
                digest.update(piece)
            ends = len(piece) <= LIMIT_LINE_BYTES or piece.endswith(b"\n")
            if not inside:
                number += 1
                if ends:
                    yield number, piece
                else:
                    self.overlong.append(None if digest is None else number)
            inside = not ends
