"""Evaluations from Python: a dataset, a task and scorers, run in place. Source: scorers; scorers-facts §7."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rulebook.api.dataset_names import revision_named
from rulebook.api.evaluation_runs import EvaluationRun
from rulebook.api.functions import Function
from rulebook.api.row_scorers import columns_needed, output_kind, row_scorer
from rulebook.api.task_at_work import TaskAtWork
from rulebook.api.told_options import told_options
from rulebook.errors import DatasetError, UnfitKind, UnfitOption
from rulebook.evidence.row_columns import Kind
from rulebook.measures.row_scores import RowScorer
from rulebook.services.chance import MachineChance
from rulebook.services.clock import MachineClock, unix_ms
from rulebook.services.collector import collecting_seldom
from rulebook.services.datasets import Dataset, open_dataset
from rulebook.services.evaluation_journal import JournalHead
from rulebook.services.evaluation_runs import named_folder
from rulebook.services.store import new_session_id
from rulebook.session.evaluating import OUTPUT, Task, Work
from rulebook.session.evaluation_running import Plan, run_evaluation
from rulebook.spelling import guess


class Evaluation:
    """What is to be measured: made once with `create`, run as often as is wanted.

    `scorers` are the handles that were given, `scorer_names` their names in that order. `output` is the kind of the
    outputs where they are those of a task that is no function, and are there already.
    """

    def __init__(
        self,
        name: str,
        dataset: Dataset,
        task: object,
        scorers: tuple[object, ...],
        metadata: Mapping[str, object],
        output: Kind | None = None,
    ) -> None:
        self.name = name
        self.dataset = dataset
        self.task = task
        self.scorers = scorers
        self.metadata = metadata
        self._output = output
        self._task = _at_work(task)
        self._scorers = tuple(row_scorer(each, self._columns) for each in scorers)
        self.scorer_names = tuple(each.name for each in self._scorers)
        _check_names(self.scorer_names)
        check_columns(task, self._scorers, dataset, has_task=task is not None or output is not None)

    @classmethod
    def create(
        cls,
        name: str,
        *,
        dataset: object,
        task: object = None,
        scorers: Iterable[object],
        metadata: Mapping[str, object] | None = None,
        suite_id: str | None = None,  # noqa: ARG003
    ) -> "Evaluation":
        """An evaluation of a task over a dataset.

        `dataset` is what `DatasetClient().upload` gave, an object or a mapping with `dataset_id` and `revision_id` or
        with `dataset_name`, or whatever `upload` takes: a path, a list of rows, columns, a frame. `task` is a function
        with `@rulebook.function` above it; None: every row has its own `output`. `suite_id` is the reference's, and has
        no effect. Raises UnfitOption for a blank name, no scorers, a name that two of them share, and a column that no
        row has; UnfitKind for what is no scorer, task or metadata; DatasetError.
        """
        if not isinstance(name, str) or not name.strip():
            raise UnfitOption('An evaluation needs a name: `Evaluation.create("support-triage", …)`.')
        given = scorers_given(scorers)
        return cls(name.strip(), dataset_of(dataset), task, given, metadata_given(metadata))

    def run(self, metadata: Mapping[str, object] | None = None, execution_mode: str | None = None) -> EvaluationRun:  # noqa: ARG002
        """Run the task over every row and score what it gives; the run is over when this returns.

        A task with `@rulebook.function(concurrency=4)` above it takes so many rows at once, each in its own thread.
        Its results lie in `evaluations` below `RULEBOOK_HOME`. `execution_mode` is the reference's, and has no effect.
        Raises DatasetError where the dataset cannot be read; whatever is wrong with a row is the row's alone.
        """
        if self._output is not None:
            raise UnfitOption(f"`{self.name}` is over outputs that are there. Run the evaluation that made them.")
        return self.scored(self._task, metadata, self.plan)

    @property
    def plan(self) -> Plan:
        """No gates, and every score passes from 1 on."""
        return Plan(notes=lambda: self.dataset.drift)

    def rescored(
        self, task: Task, scorers: Iterable[object], name: str, metadata: Mapping[str, object] | None, plan: Plan
    ) -> EvaluationRun:
        """A run of other scorers over outputs that are there already; `run.rescore` is the way to it."""
        other = Evaluation(name, self.dataset, self.task, scorers_given(scorers), self.metadata, self._output)
        return other.scored(TaskAtWork(task), metadata, plan)

    def scored(self, task: TaskAtWork, metadata: Mapping[str, object] | None, plan: Plan) -> EvaluationRun:
        """A run over what `task` gives."""
        run = new_session_id(unix_ms(), bytes.fromhex(MachineChance().token()))
        told = zip(self.scorer_names, map(told_options, self.scorers), strict=True)
        options = {scorer: each for scorer, each in told if each is not None}
        about = metadata_given(metadata)
        head = JournalHead(run, self.name, self.scorer_names, run, self.dataset.digest(), options, about)
        work = Work(self.dataset.scanned_rows, task.task, self._scorers, MachineClock().monotonic_s)
        folder = os.path.join(named_folder(self.name), run)
        with collecting_seldom():
            found = run_evaluation(work, head, folder, plan, crew_of=task.crew_of)
        return EvaluationRun(self, head, folder, found)

    def _columns(self) -> Mapping[str, Kind]:
        """The dataset's columns and `output`, which is text where nobody says what the task gives."""
        output = self.output_kind()
        return self.dataset.columns if output is None else {**self.dataset.columns, OUTPUT: output}

    def output_kind(self) -> Kind | None:
        """The kind of the outputs, as the task's annotation says; None where rows have their own."""
        return output_kind(self.task) if self._output is None and isinstance(self.task, Function) else self._output


def scorers_given(given: object) -> tuple[object, ...]:
    """At least one scorer, as they were given. Raises UnfitKind for what is no list, UnfitOption for an empty one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UnfitKind(f"`scorers` is a list of scorers; this is {given!r:.80}.")
    scorers = tuple(given)
    if not scorers:
        raise UnfitOption("An evaluation needs scorers, such as `scorers=[rulebook.scorers.json_valid()]`.")
    return scorers


def _at_work(task: object) -> TaskAtWork:
    if task is None:
        return TaskAtWork()
    from rulebook.api.evaluation_tasks import function_task  # threads, which rows with an output do without

    return function_task(task)


def _check(what: str, name: str, inputs: Iterable[str], known: Iterable[str]) -> None:
    columns = list(known)
    for column in inputs:
        if column in columns:
            continue
        if column == OUTPUT and what == "scorer":
            raise UnfitOption(f"The scorer `{name}` reads `output`: give a task, or rows that have an `output`.")
        hint = guess(column, columns)
        raise UnfitOption(f"The {what} `{name}` reads the column `{column}`, and no row has it.{hint}")


def _check_read(dataset: Dataset) -> None:
    """Raise DatasetError where no row could be read, of whose columns nobody can say anything."""
    if dataset.columns:
        return
    if not dataset.damaged:
        raise DatasetError(f"`{dataset.where}` has no rows.")
    first = dataset.damaged[0]
    raise DatasetError(f"No row of `{dataset.where}` can be read. The first, {first.place()}: {first.reason}.")


def check_columns(
    task: object, scorers: Iterable[RowScorer], dataset: Dataset, *, has_task: bool, asked: Sequence[str] = ()
) -> None:
    """Raise UnfitOption for a column that a task or a scorer reads and no row has; DatasetError.

    `asked` are the columns that a task reads which is no function.
    """
    own = [OUTPUT] if has_task else []
    reads: list[tuple[str, str, Sequence[str], list[str]]] = [("task", "model", asked, [])]
    if isinstance(task, Function):
        reads.append(("task", task.name, columns_needed(task), []))
    reads += [("scorer", each.name, each.inputs or (), own) for each in scorers]
    if dataset.lacks({column for _, _, columns, given in reads for column in columns if column not in given}):
        _check_read(dataset)
        for what, name, columns, given in reads:
            _check(what, name, columns, [*dataset.columns, *given])


def _check_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UnfitOption(f"Two scorers are called `{name}`. Give one of them another name with `name=`.")
        seen.add(name)


def dataset_of(given: object) -> Dataset:
    """The rows that a caller named: a revision of the store, or whatever a dataset is made of. Raises DatasetError."""
    named = revision_named(given)
    if named is not None:
        from rulebook.services.dataset_store import DatasetStore  # a file and rows in place do without

        store = DatasetStore()
        entry = store.find(**named)
        where = f"{entry.name}, revision {entry.revision_id}"
        return Dataset(where, lambda: store.rows(entry), lambda: f"revision:{entry.revision_id}")
    return open_dataset(given)


def metadata_given(given: Any) -> Mapping[str, object]:
    """What a caller noted of an evaluation or a run; none for None. Raises UnfitKind for what is no JSON mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise UnfitKind(f"`metadata` is a mapping under text keys; this is {given!r:.80}.")
    try:
        json.dumps(dict(given), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitKind(f"`metadata` cannot be written as JSON: {error}.") from error
    return dict(given)
