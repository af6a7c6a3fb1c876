"""A message about a rule file: what is wrong, where, and what to write instead."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from rulebook.codes import CODES, Severity, message_of
from rulebook.place import Path, Span


class Edit(Struct, frozen=True):
    """Replace the characters `start:end` (0-based offsets) of the file's text by `text`."""

    start: int
    end: int
    text: str


class Fix(Struct, frozen=True):
    """A change that mends the problem.

    `safe` keeps the meaning and can be made unseen; `ask` changes the meaning or guesses.
    `line` is the mended line or value as it would stand in the file.
    """

    line: str
    edits: tuple[Edit, ...]
    safe: bool = False


class Related(Struct, frozen=True):
    """Another place that belongs to the problem, such as the first of two equal keys."""

    message: str
    span: Span


class Diagnostic(Struct, frozen=True):
    """One problem of one rule file.

    `span` is None when the problem is the file itself; `path` leads to the value in the data that
    was read, as far as there is one. `help` says what to write when the message alone does not.
    """

    code: str
    message: str
    file: str
    span: Span | None = None
    path: Path = ()
    help: str = ""
    fix: Fix | None = None
    related: tuple[Related, ...] = ()

    def __str__(self) -> str:
        """The problem in one line: where it is, its code and its message."""
        where = f"{self.file}:{self.span.line}:{self.span.column}" if self.span else self.file
        return f"{where}: {self.code} {self.message}"

    @property
    def name(self) -> str:
        """The code's kebab-case name, such as `unknown-key`."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """How grave it is: `error` refuses the file, `warning` and `info` do not."""
        return CODES[self.code].severity


def problem(
    code: str,
    file: str,
    span: Span | None,
    *,
    path: Path = (),
    help: str = "",
    fix: Fix | None = None,
    related: tuple[Related, ...] = (),
    **words: object,
) -> Diagnostic:
    """A diagnostic with `code`'s own sentence, its blanks filled from `words` (a missing blank is a fault of ours)."""
    return Diagnostic(code, message_of(code, words), file, span, path, help, fix, related)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics sorted by their place in the file, each said once; a doubt that an error covers is left out."""
    kept = {(d.code, d.span, d.message): d for d in diagnostics}
    found = sorted(kept.values(), key=lambda d: (_start(d), d.code))
    doubts = not _DOUBTS.isdisjoint(d.code for d in found)
    return tuple(_without_covered_doubts(found) if doubts else found)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether one of them keeps the file from being loaded."""
    return any(d.severity == "error" for d in diagnostics)


def moved(diagnostic: Diagnostic, file: str) -> Diagnostic:
    """The same diagnostic under another file name."""
    return replace(diagnostic, file=file)


_DOUBTS = frozenset(("RB112", "RB113", "RB118"))
"""What the reader of a file says of a value before anyone knows what is wanted at its place."""


def _without_covered_doubts(found: list[Diagnostic]) -> list[Diagnostic]:
    covered: set[int] = set()
    reach: dict[str, int] = {}  # how far the errors reach that begin before here, by file
    for each in sorted(found, key=lambda d: (_start(d), d.code in _DOUBTS)):
        end = each.span.end if each.span else -1
        if each.code in _DOUBTS and end <= reach.get(each.file, -1):
            covered.add(id(each))
        elif each.severity == "error":
            reach[each.file] = max(end, reach.get(each.file, -1))
    return [each for each in found if id(each) not in covered]


def _start(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span else -1
