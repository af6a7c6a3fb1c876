"""What is said of a run whose `json_match` looks at paths that no row has: both sides agree there, and say nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from msgspec import UNSET, Struct

from rulebook.evidence.row_records import RowRecord
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.session.evaluating import OUTPUT


class PathsAsked(Struct, frozen=True):
    """The paths that a scorer looks at in the JSON of these columns."""

    scorer: str
    columns: Sequence[str]
    paths: Sequence[str]


class Declared(Protocol):
    """A scorer as it was declared, wherever that was."""

    @property
    def name(self) -> str:
        """What its scores are called."""

    @property
    def inputs(self) -> Sequence[str] | None:
        """The columns that it reads."""

    @property
    def options(self) -> Mapping[str, object]:
        """What was given, by name."""


def paths_asked(scorers: Iterable[Declared]) -> list[PathsAsked]:
    """What those of the scorers look at that name paths into JSON."""
    named = [each for each in scorers if each.options.get("paths")]
    return [PathsAsked(each.name, each.inputs or (), cast("Sequence[str]", each.options["paths"])) for each in named]


def path_notes(
    asked: Sequence[PathsAsked], rows: Callable[[], Rows], records: Callable[[], Iterable[RowRecord]]
) -> Iterator[str]:
    """A note for each path that no row of a run has on either side, as far as both sides are JSON.

    Rows and records are read side by side, and nearly always it takes but the first of them.
    """
    for each in asked:
        from rulebook.measures.json_match import json_path_to, paths_in_none  # only who asks for paths pays for it

        pairs = zip(rows(), records(), strict=False)
        documents = (document for pair in pairs for document in _documents(each, *pair))
        for path in paths_in_none(list(map(json_path_to, each.paths)), documents):
            yield (
                f"No row has `{path.text}` on either side, so that `{each.scorer}` counts it as agreed in every row. "
                "Is it spelt as in the rows?"
            )


def _documents(asked: PathsAsked, row: Row | DamagedRow, record: RowRecord) -> Sequence[object]:
    """Both sides of a row; none where it has not both, or one of them is no JSON."""
    from rulebook.measures.json_reading import NotJson, read_json  # as above

    if isinstance(row, DamagedRow) or record.end is not None:
        return ()
    values = row.values if record.output is UNSET else {**row.values, OUTPUT: record.output}
    found = [read_json(values[column]) for column in asked.columns if column in values]
    whole = len(found) == len(asked.columns) and not any(isinstance(each, NotJson) for each in found)
    return found if whole else ()
