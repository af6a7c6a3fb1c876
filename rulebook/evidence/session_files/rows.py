"""Files with a session on each line: looked through once, after which any one of them is read where it stands."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from rulebook.evidence.session_files.names import distinct
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import decoded, mapping

Namer = Callable[[Mapping[str, object], int], str | None]
"""The name of the session on a line of that number; None where the line is none."""


class Row(Struct, frozen=True):
    """One session: its name, and where its line stands."""

    name: str
    offset: int
    size_bytes: int


class Rows(Struct):
    """The sessions of a file in its order, and the lines that are not valid JSON, with the reason."""

    rows: list[Row] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def row(self, name: str | None) -> Row | None:
        """The session of that name, or the first one."""
        return next((row for row in self.rows if name in (None, row.name)), None)


def rows_of(file: SessionFile, named: Namer) -> Rows:
    """Look through the file, the first time it is asked for. Raises OSError."""
    return file.once(lambda opened: _looked_through(opened, named))


def value_of(file: SessionFile, row: Row) -> Mapping[str, object]:
    """What stands on a session's line. Raises OSError; a file that was changed meanwhile gives an empty one."""
    with file.files.open(file.path) as stream:
        stream.seek(row.offset)
        parts: list[bytes] = []
        left = row.size_bytes
        while left and (part := stream.read(left)):
            parts.append(part)
            left -= len(part)
    try:
        return mapping(decoded(b"".join(parts)))
    except ValueError:
        return {}


def _looked_through(file: SessionFile, named: Namer) -> Rows:
    found, places, offset = Rows(), [], 0
    with file.lines() as lines:
        for number, line in lines:
            start, offset = offset, offset + len(line)
            if line.isspace():
                continue
            try:
                name = named(mapping(decoded(line)), number)
            except ValueError as error:
                found.faults.append((number, str(error)))
                continue
            if name is not None:
                places.append((name, start, len(line)))
    names = distinct(name for name, _, _ in places)
    found.rows = [Row(name, start, size) for name, (_, start, size) in zip(names, places, strict=True)]
    return found
