"""What a whole run of an evaluation came to."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rulebook.evidence.row_records import RowRecord, Stage
from rulebook.measures.row_scores import RowFailure
from rulebook.outcome import Spent, spent_in_all
from rulebook.report.evaluation_gates import Verdict, verdicts_of
from rulebook.report.evaluation_tally import Summary, Tally
from rulebook.spec.gate_parts import Gate

MOST_TOLD = 5
"""How many failures of a scorer, of the task and of rows are told in full; all of them stand in the results."""


class Told(Struct, frozen=True):
    """One failure: the row, and the scorer that failed there; None where the whole row did, at `stage`."""

    row: int
    scorer: str | None
    stage: str
    type: str
    message: str

    @property
    def words(self) -> str:
        """What went wrong, for people."""
        return RowFailure(self.type, self.message).words


class Evaluated(Struct, frozen=True):
    """The aggregates of a run. `rows` counts every row, `damaged` those that could not be read, `task_failed` those
    for which the task gave nothing; both are unmeasured for every scorer. `told` are the first failures of each kind.
    `spent` is what was spent on models as far as the run's journal tells it, None where none was asked; `spent_since`
    is how much of it since the run went on, None where it was never stopped.
    """

    name: str
    run: str
    rows: int
    damaged: int
    task_failed: int
    scorers: Sequence[Summary]
    verdicts: Sequence[Verdict]
    told: Sequence[Told]
    notes: Sequence[str] = ()
    spent: Spent | None = None
    spent_since: Spent | None = None

    @property
    def gates_are_met(self) -> bool:
        """Whether every gate is met; so it is where there is none."""
        return all(verdict.is_met for verdict in self.verdicts)

    @property
    def is_measured(self) -> bool:
        """Whether no scorer failed in every row that it should have scored: of such a one nothing at all is known."""
        return not any(each.failed and not each.scores for each in self.scorers)


class Reckoning:
    """Adds up the records of a run, in the order of the rows. Of the records only scores are kept."""

    def __init__(self, scorers: Sequence[str], thresholds: Mapping[str, float]) -> None:
        self.rows = 0
        self._names = scorers
        self._tallies = [Tally(name, thresholds.get(name, 1.0)) for name in scorers]
        self._ended: dict[Stage, int] = {"row": 0, "task": 0}
        self._told: list[Told] = []
        self._times: dict[tuple[str | None, str], int] = {}
        self._spent: Spent | None = None
        self._spent_since: Spent | None = None

    def add(self, record: RowRecord) -> None:
        """One more row."""
        self._count(record)
        self._spend(record.spent)

    def goes_on(self) -> None:
        """From here on the run goes on that was stopped."""
        self._spent_since = Spent()

    def _spend(self, spent: Spent | None) -> None:
        if spent is not None:
            self._spent = spent_in_all([self._spent or Spent(), spent])
        if spent is not None and self._spent_since is not None:
            self._spent_since = spent_in_all([self._spent_since, spent])

    def _count(self, record: RowRecord) -> None:
        self.rows += 1
        if record.end is not None:
            self._ended[record.end.stage] += 1
            self._tell(record.row, None, record.end.stage, record.end.type, record.end.message)
            for tally in self._tallies:
                tally.add(RowFailure(record.end.type, record.end.message))
            return
        for name, tally, result in zip(self._names, self._tallies, record.results, strict=True):
            tally.add(result)
            if isinstance(result, RowFailure):
                self._tell(record.row, name, "scorer", result.type, result.message)

    def add_all(self, records: Sequence[RowRecord]) -> None:
        """As many more rows, in their order: a batch, whose last one tells what it cost."""
        self._spend(records[-1].spent)
        try:
            # nearly always every scorer gave one score for every row
            columns = [
                [score for ((score, _),) in results]
                for results in zip(*[each.results for each in records if each.end is None], strict=True)
            ]
        except (TypeError, ValueError):
            columns = []
        if len(columns) != len(self._tallies) or any(len(column) != len(records) for column in columns):
            for record in records:
                self._count(record)
            return
        self.rows += len(records)
        for tally, scores in zip(self._tallies, columns, strict=True):
            tally.add_single(scores)

    def outcome(self, name: str, run: str, gates: Sequence[Gate], notes: Sequence[str] = ()) -> Evaluated:
        """What it all came to."""
        summaries = tuple(tally.summary() for tally in self._tallies)
        return Evaluated(
            name,
            run,
            self.rows,
            self._ended["row"],
            self._ended["task"],
            summaries,
            verdicts_of(gates, summaries),
            tuple(self._told),
            notes,
            self._spent,
            self._spent_since,
        )

    def _tell(self, row: int, scorer: str | None, stage: str, kind: str, message: str) -> None:
        times = self._times.get((scorer, stage), 0)
        self._times[scorer, stage] = times + 1
        if times < MOST_TOLD:
            self._told.append(Told(row, scorer, stage, kind, message))
