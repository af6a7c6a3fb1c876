"""Reading a report back: what it found, and where."""

import json
from collections.abc import Mapping

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.ports import Files
from rulebook.report.eval_report import SCHEMA
from rulebook.spelling import guess

_LIMIT_BYTES = 256 * 1024 * 1024


class StoredFinding(Struct, frozen=True):
    """One finding as a report tells it; `at` holds its places, `no_place` says why there are none."""

    id: str
    status: str
    reason: str
    at: tuple[Mapping[str, object], ...]
    no_place: str
    expected: object = None
    actual: object = None


class StoredReport(Struct, frozen=True):
    """What a report says of its evidence, and its findings in order.

    `session` is the id or path that the session was named by and `project` the repository's folder, each None where
    the report was made of evidence in memory; `sha256` is the digest of the session's file.
    """

    path: str
    session: str | None
    part: str | None
    project: str | None
    sha256: str | None
    findings: tuple[StoredFinding, ...]

    def finding(self, id: str) -> StoredFinding:
        """The finding of that id. Raises UsageError with the nearest."""
        for finding in self.findings:
            if finding.id == id:
                return finding
        ids = [finding.id for finding in self.findings]
        raise UsageError(f"`{self.path}` has no finding `{id}`.{guess(id, ids, list_up_to=12)}")


def read_report(path: str, files: Files) -> StoredReport:
    """The report at `path`. Raises UsageError for what cannot be read or is none of ours."""
    try:
        with files.lines(path):
            pass  # refuses a FIFO, on which `read` would wait
        data = files.read(path, _LIMIT_BYTES)
    except OSError as error:
        raise UsageError(f"I can't read the report `{path}`: {(error.strerror or str(error)).lower()}.") from error
    try:
        whole = _mapping(json.loads(data))
    except (ValueError, RecursionError):
        whole = {}
    if whole.get("schema") != SCHEMA:
        made = "rulebook eval check SPEC --session SESSION --format json --output FILE"
        raise UsageError(f"`{path}` is no report of a checked session. {made} writes one.")
    source = _mapping(whole.get("source"))
    findings = whole.get("findings")
    return StoredReport(
        path,
        _text(source.get("session")) or None,
        _text(source.get("part")) or None,
        _text(source.get("project")) or None,
        _text(_mapping(whole.get("audit")).get("sha256")) or None,
        tuple(_finding(_mapping(given)) for given in findings) if isinstance(findings, list) else (),
    )


def _finding(given: Mapping[str, object]) -> StoredFinding:
    at = given.get("at")
    return StoredFinding(
        _text(given.get("id")),
        _text(given.get("status")),
        _text(given.get("reason")),
        tuple(_mapping(place) for place in at) if isinstance(at, list) else (),
        _text(given.get("no_place")),
        given.get("expected"),
        given.get("actual"),
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
