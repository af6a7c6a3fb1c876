"""What linting found, as text with pictures, one line a problem, or JSON."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from rulebook.codes import Severity
from rulebook.diagnostic import Diagnostic, Fix
from rulebook.place import Path, Span
from rulebook.terminal import harmless, painted

SCHEMA = "rulebook.lint"
VERSION = 1
NARROWEST, WIDEST = 60, 120


class Linted(Struct, frozen=True):
    """One file that was linted: its text, the problems to show, and its data where it could be read."""

    file: str
    text: str
    diagnostics: Sequence[Diagnostic]
    data: object = None


def render_lint(
    files: Sequence[Linted], checks: int, *, colour: bool = False, left_out: int = 0, width: int = WIDEST
) -> str:
    """Every problem with its picture, grouped by file, then the count.

    `checks` is how many rules were looked at; `left_out` problems were not selected.
    """
    blocks = [_block(linted, colour, width) for linted in files if linted.diagnostics]
    return "\n\n".join([*blocks, _count(files, checks, colour, left_out)]) + "\n"


def render_concise(files: Sequence[Linted]) -> str:
    """`path:line:column: severity [code] message`, one problem a line."""
    return "".join(
        f"{harmless(linted.file)}:{_position(found.span)}: {found.severity} [{found.code}] {_in_one(found)}\n"
        for linted in files
        for found in linted.diagnostics
    )


def lint_json(files: Sequence[Linted]) -> dict[str, object]:
    """The `rulebook.lint` report as plain data. Lines and columns count characters from 1, offsets from 0."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "problems": [_problem(found, linted.data) for linted in files for found in linted.diagnostics],
        "summary": {
            "files": len(files),
            "errors": count_of(files, "error"),
            "warnings": count_of(files, "warning"),
            "infos": count_of(files, "info"),
        },
    }


def count_of(files: Iterable[Linted], severity: Severity) -> int:
    """How many problems of one severity there are."""
    return sum(found.severity == severity for linted in files for found in linted.diagnostics)


def _block(linted: Linted, colour: bool, width: int) -> str:
    from rulebook.picture import render_problems  # a file without problems has no pictures

    pictures = render_problems(
        linted.file, linted.text, linted.diagnostics, data=linted.data, colour=colour, width=width
    )
    return pictures + _hidden(linted)


def _problem(found: Diagnostic, data: object) -> dict[str, object]:
    from rulebook.picture import crumbs  # as above

    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity,
        "message": found.message,
        "path": found.file,
        "start": None if found.span is None else _point(found.span.line, found.span.column, found.span.start),
        "end": None if found.span is None else _point(found.span.end_line, found.span.end_column, found.span.end),
        "where": crumbs(found.path, data),
        "pointer": _pointer(found.path),
        "help": _help(found),
        "related": [
            {
                "message": related.message,
                "start": _point(related.span.line, related.span.column, related.span.start),
                "end": _point(related.span.end_line, related.span.end_column, related.span.end),
            }
            for related in found.related
        ],
        "explain": f"rulebook explain {found.code}",
    }


def _point(line: int, column: int, offset: int) -> dict[str, int]:
    return {"line": line, "column": column, "offset": offset}


def _pointer(path: Path) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _help(found: Diagnostic) -> list[dict[str, object]]:
    said: list[dict[str, object]] = []
    if found.help:
        said.append({"text": found.help, "kind": "manual", "edits": []})
    if found.fix is not None:
        said.append({"text": found.fix.line, "kind": "safe" if found.fix.safe else "ask", "edits": _edits(found.fix)})
    return said


def _edits(fix: Fix) -> list[dict[str, object]]:
    return [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in fix.edits]


def _position(span: Span | None) -> str:
    return f"{span.line}:{span.column}" if span is not None else "1:1"


def _in_one(found: Diagnostic) -> str:
    return harmless(found.message)


def _hidden(linted: Linted) -> str:
    """Say so when a file could not be read far enough to look at its meaning."""
    unread = linted.data is None and any(found.severity == "error" for found in linted.diagnostics)
    return "\n\nI stopped checking meaning until this is fixed." if unread else ""


def _count(files: Sequence[Linted], checks: int, colour: bool, left_out: int) -> str:
    errors, warnings = count_of(files, "error"), count_of(files, "warning")
    infos = count_of(files, "info")
    hidden = f" ({_number(left_out, 'problem')} not selected)" if left_out else ""
    if not errors + warnings + infos:
        seen = f"{_number(len(files), 'file')}, {_number(checks, 'check')}"
        return painted(f"{seen}: {'nothing selected' if left_out else 'all good'}", "green", colour) + hidden
    notes = f", {_number(infos, 'note')}" if infos else ""
    return (
        f"{_number(len(files), 'file')}, {_number(errors, 'error')}, {_number(warnings, 'warning')}{notes}. "
        f"Nothing was changed{hidden}."
    )


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
