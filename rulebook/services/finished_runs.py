"""A run of an evaluation that came to its end, as it lies on the disk: its journal, and its report beside it."""

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from rulebook.errors import NotComparable, UsageError
from rulebook.evidence.row_records import RowRecord
from rulebook.services.evaluation_journal import JournalHead, read_head, read_records
from rulebook.services.evaluation_runs import REPORT, is_finished
from rulebook.services.files import MachineFiles

_REPORTS = "rulebook.evaluation-report"


class _Rows(Struct):
    count: int


class _Scorer(Struct):
    name: str
    threshold: float


class _Report(Struct):
    schema: str
    run: str
    rows: _Rows
    scorers: Sequence[_Scorer]


class FinishedRun(Struct, frozen=True):
    """One run. `rows` is how many its report counts; `thresholds` are the scores from which each scorer's pass."""

    folder: str
    head: JournalHead
    rows: int
    thresholds: Mapping[str, float]

    def records(self) -> Iterator[RowRecord]:
        """What became of each row, in their order. Raises UsageError where the journal is not what the report is of."""
        count = 0
        for record in read_records(self.folder):
            count += 1
            yield record
        if count != self.rows:
            raise self.damaged(f"its journal has {count} rows and its report {self.rows}")

    def damaged(self, reason: str) -> UsageError:
        """What is raised where the run cannot be what was written."""
        return UsageError(f"The run `{self.head.run}` is damaged: {reason}. Run the evaluation again.")


def finished_run(folder: str) -> FinishedRun:
    """The run in `folder`. Raises UsageError where there is none, or it is damaged; NotComparable for one that is not
    finished: nobody knows what its other rows would have said.
    """
    head = read_head(folder)
    if head is None:
        raise UsageError(f"There is no run in `{folder}`: it has no journal that I can read.")
    if not is_finished(folder):
        raise NotComparable(
            f"The run `{head.run}` of `{head.name}` is not finished. Go on with it by "
            "`rulebook evaluation run FILE --resume`, or run it again, then compare."
        )
    path = os.path.join(folder, REPORT)
    try:
        report = msgspec.json.decode(MachineFiles().read(path), type=_Report)
    except OSError as error:
        raise UsageError(f"I can't read `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"`{path}` is no report of a run that I can read. Run the evaluation again.") from None
    if (report.schema, report.run) != (_REPORTS, head.run):
        raise UsageError(f"`{path}` is not the report of the run `{head.run}` beside it. Run the evaluation again.")
    found = FinishedRun(folder, head, report.rows.count, {each.name: each.threshold for each in report.scorers})
    if [each.name for each in report.scorers] != list(head.scorers):
        raise found.damaged("its report is of other scorers than its journal")
    return found
