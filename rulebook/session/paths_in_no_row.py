"""Paths of `json_match` that no row of a run has: both sides lack them, and so agree, in every row. They are typos."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import UNSET, Struct

from rulebook.evidence.row_records import RowRecord
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.measures.row_scores import RowFailure, RowScores
from rulebook.services.evaluation_journal import JournalHead
from rulebook.session.evaluating import OUTPUT

Rows = Iterable[Row | DamagedRow]


class _Sought(Struct, frozen=True):
    """A path that was not found yet, where it is looked for, and the place of its scorer among the scorers."""

    place: int
    scorer: str
    inputs: Sequence[str]
    path: str


def paths_in_no_row(head: JournalHead, rows: Rows, records: Iterable[RowRecord]) -> Sequence[str]:
    """A note for each path that neither side has in any row in which both are JSON; none where there is no such row.

    `records` are what became of `rows`, in their order. Reading ends with the first row that has all the paths, which
    nearly always is the first one. Of a scorer with so many paths that the run kept their digest, nothing is said.
    """
    sought = list(_sought(head))
    measured: set[int] = set()
    for row, record in zip(rows, records, strict=False) if sought else ():
        if isinstance(row, DamagedRow) or record.end is not None:
            continue
        values = dict(row.values) if record.output is UNSET else {**row.values, OUTPUT: record.output}
        seen = {each.place for each in sought if _is_compared(record.scores(each.place))}
        measured |= seen
        sought = [each for each in sought if each.place not in seen or not _has(values, each)]
        if not sought:
            break
    return [
        f"`{each.scorer}` looks at `{each.path}`, and no row has it: both sides lack it, and so agree, in every row."
        for each in sought
        if each.place in measured
    ]


def _sought(head: JournalHead) -> Iterator[_Sought]:
    for place, name in enumerate(head.scorers):
        options = head.options.get(name, {})
        paths, inputs = options.get("paths"), options.get("inputs")
        if options.get("kind") == "json_match" and isinstance(paths, list | tuple) and isinstance(inputs, list | tuple):
            yield from (_Sought(place, name, [str(each) for each in inputs], str(path)) for path in paths)


def _is_compared(scores: RowScores) -> bool:
    """Whether both sides were JSON: where one was not, they did not agree at any path."""
    return not isinstance(scores, RowFailure) and all("error" not in (metadata or {}) for _, metadata in scores)


def _has(values: Mapping[str, object], sought: _Sought) -> bool:
    from rulebook.measures.json_match import ABSENT, at_path, json_path_to  # only a run with paths pays for it
    from rulebook.measures.json_reading import NotJson, read_json

    documents = [read_json(values.get(column)) for column in sought.inputs]
    path = json_path_to(sought.path)
    return any(not isinstance(each, NotJson) and at_path(each, path) is not ABSENT for each in documents)
