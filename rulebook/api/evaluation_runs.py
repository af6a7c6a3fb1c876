"""A run of an evaluation, as Python users hold it. Source: scorers-facts §7."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import UNSET, Struct

from rulebook.api.evaluation_comparisons import EvaluationComparison
from rulebook.api.row_scorers import gives_lists
from rulebook.errors import DatasetError, UnfitOption, UsageError
from rulebook.evidence.row_columns import Kind
from rulebook.evidence.row_records import RowRecord
from rulebook.measures.row_scores import RowFailure
from rulebook.report.evaluation_outcome import Evaluated
from rulebook.report.evaluation_report import evaluation_report
from rulebook.report.evaluation_tally import Summary
from rulebook.report.evaluation_text import render_evaluation, table_lines
from rulebook.report.plain_json import plain
from rulebook.services.datasets import Dataset
from rulebook.services.declared_columns import Declared
from rulebook.services.evaluation_journal import JournalHead, read_head, read_records
from rulebook.services.evaluation_runs import write_report
from rulebook.session.evaluating import Task
from rulebook.session.evaluation_running import Plan


class Table(Struct, frozen=True):
    """One line for each scorer, in their order; as text it is the table that the command prints."""

    scorers: Sequence[Summary]

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in table_lines(self.scorers))

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.scorers)

    def __len__(self) -> int:
        return len(self.scorers)

    def __getitem__(self, name: str) -> Summary:
        """The line of the scorer of that name. Raises KeyError."""
        for each in self.scorers:
            if each.name == name:
                return each
        raise KeyError(name)


class Rescorable(Protocol):
    """What a run asks of its evaluation."""

    def rescored(
        self, task: Task, scorers: Iterable[object], name: str, metadata: Mapping[str, object] | None, plan: Plan
    ) -> "EvaluationRun":
        """A run of other scorers over outputs that are there."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def scorers(self) -> Sequence[object]:
        """Its handles."""

    @property
    def dataset(self) -> Dataset:
        """Its rows."""

    @property
    def plan(self) -> Plan:
        """What its scores add up to."""

    def output_kind(self) -> Kind | None:
        """The kind of its outputs; None where nobody said."""


class EvaluationRun:
    """One run: what every scorer said of every row, and what it comes to.

    `id` names it, `folder` is where its journal and its report lie. `outcome` has every figure and the gates'
    verdicts. `metadata` is what the caller wanted to know of it later: it stands in the report.
    """

    status: Literal["succeeded"] = "succeeded"

    def __init__(self, evaluation: Rescorable, head: JournalHead, folder: str, found: Evaluated) -> None:
        self.evaluation = evaluation
        self.id = head.run
        self.folder = folder
        self.metadata = head.metadata
        self._names = head.scorers
        self.outcome = found
        write_report(folder, self.report())

    def wait(self, timeout: float = 600, poll_interval: float = 2, raise_on_failure: bool = True) -> "EvaluationRun":  # noqa: ARG002
        """The run itself: it was over when `run` returned. The arguments are the reference's, and have no effect."""
        return self

    def means(self) -> dict[str, float | None]:
        """The mean of each scorer's scores; None where it could measure no row, which is not 0."""
        return {each.name: each.mean for each in self.outcome.scorers}

    def table(self) -> Table:
        """Each scorer's mean, with how many scores and failures it covers, its interval and its percentiles."""
        return Table(self.outcome.scorers)

    def report(self) -> dict[str, object]:
        """The report `rulebook.evaluation-report` as plain data, with the run's `metadata` where it was given some."""
        given = {"metadata": plain(self.metadata)} if self.metadata else {}
        return {**evaluation_report(self.outcome), **given}

    def rows(self) -> Iterator[RowRecord]:
        """What became of each row, in their order, one at a time."""
        return read_records(self.folder)

    def to_parquet(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write one table of the dataset's columns, the outputs and what each scorer said, and give its path.

        `path` None: into the run's folder. Raises UsageError where pyarrow is not installed, DatasetError where the
        dataset is not what it was.
        """
        self._check_rows()
        from rulebook.services.evaluation_table import write_results  # Arrow, which only a table pays for

        place = None if path is None else os.fspath(path)
        return write_results(self.folder, self.evaluation.dataset, self._names, self._declared(), place)

    def _declared(self) -> Declared:
        given = zip(self._names, self.evaluation.scorers, strict=True)
        return Declared(self.evaluation.output_kind(), frozenset(name for name, scorer in given if gives_lists(scorer)))

    def to_table(self, path: str | os.PathLike[str]) -> str:
        """Write the same table as the name of `path` says, `.csv`, `.jsonl` or `.parquet`, and give its path.

        Raises UsageError for another name, and what `to_parquet` raises.
        """
        self._check_rows()
        from rulebook.services.evaluation_table import write_table  # as above

        return write_table(self.folder, self.evaluation.dataset, self._names, self._declared(), os.fspath(path))

    def rescore(
        self,
        scorers: Iterable[object] | None = None,
        evaluation: Rescorable | None = None,
        name: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> "EvaluationRun":
        """Score this run's outputs once more, by `scorers` or those of another `evaluation`; no task is run.

        Raises UnfitOption when both are given, no scorer at all, or a `name` without `scorers`; DatasetError where the
        dataset is not what it was.
        """
        if scorers is not None and evaluation is not None:
            raise UnfitOption("Give `scorers` or `evaluation`, not both.")
        if name is not None and scorers is None:
            raise UnfitOption("`name` is for new `scorers`: give them too, or leave it out.")
        self._check_rows()
        other = evaluation or self.evaluation
        given = other.scorers if scorers is None else scorers
        title = name or (f"{self.evaluation.name} (rescored)" if scorers is not None else other.name)
        plan = other.plan if scorers is None else Plan(notes=lambda: self.evaluation.dataset.drift)
        return self.evaluation.rescored(self._outputs(), given, title, metadata, plan)

    def compare(
        self, other: "EvaluationRun | str", *, confidence: float = 0.95, lower_is_better: Iterable[str] = ()
    ) -> EvaluationComparison:
        """Hold the candidate `other`, a run or the id, folder or report of one, against this run, row by row.

        `lower_is_better` names scorers. Raises NotComparable where they are not of the same rows, UsageError.
        """
        folder = other.folder if isinstance(other, EvaluationRun) else other
        return EvaluationComparison(self.folder, folder, confidence, lower_is_better)

    def _check_rows(self) -> None:
        """Raise DatasetError where the rows are others by now: what was given for one would stand beside another."""
        head, dataset = read_head(self.folder), self.evaluation.dataset
        if head is None:
            raise UsageError(f"The run in `{self.folder}` has no journal any more that I can read. Run it again.")
        if head.dataset not in (None, dataset.digest()):
            raise DatasetError(f"`{dataset.where}` is not what it was when the run `{self.id}` was made. Run it again.")

    def _outputs(self) -> Task:
        records = read_records(self.folder)

        def output(row: Mapping[str, object]) -> object:
            for record in records:
                # a row that could not be read then cannot be read now, and is not asked for
                if record.end is None:
                    return row.get("output") if record.output is UNSET else record.output
                if record.end.stage == "task":
                    return RowFailure(record.end.type, record.end.message)
            raise UnfitOption("the run has no output for this row")

        return output

    def __str__(self) -> str:
        return render_evaluation(self.outcome)
