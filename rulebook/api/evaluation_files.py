"""A `rulebook.evaluation` file from Python and for the command: loaded, run, and resumed."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import cast

from rulebook.api import data_scorers, text_scorers
from rulebook.api.evaluation_runs import EvaluationRun
from rulebook.api.evaluation_tasks import (
    TaskAtWork,
    columns_asked,
    command_task,
    function_task,
    model_task,
    who_answers,
)
from rulebook.api.evaluations import Evaluation, check_columns, dataset_of
from rulebook.api.functions import Function, function
from rulebook.api.row_scorers import FunctionScorer, columns_needed, output_kind, row_scorer
from rulebook.api.sql_scorer import SqlScorer
from rulebook.api.told_options import spec_options
from rulebook.checks import MODEL_KINDS
from rulebook.diagnostic import has_errors
from rulebook.errors import RuleFileError, UsageError
from rulebook.evidence.row_columns import Kind
from rulebook.expression.program import load_rules
from rulebook.measures.row_scores import RowScorer
from rulebook.ports import Ports
from rulebook.services.clock import unix_ms
from rulebook.services.code import function_named
from rulebook.services.datasets import Dataset
from rulebook.services.evaluation_journal import JournalHead, read_head
from rulebook.services.evaluation_runs import resumable, runs_folder
from rulebook.services.store import new_session_id
from rulebook.session.evaluating import OUTPUT, Task, Work
from rulebook.session.evaluation_running import Plan, run_evaluation
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec, StoredDataset
from rulebook.spec.params import param_values

_DECLARED: Mapping[str, Callable[..., object]] = {
    "exact_match": text_scorers.exact_match,
    "contains": text_scorers.contains,
    "levenshtein": text_scorers.levenshtein,
    "string_similarity": text_scorers.string_similarity,
    "regex_match": data_scorers.regex_match,
    "json_valid": data_scorers.json_valid,
    "json_match": data_scorers.json_match,
    "numeric_close": data_scorers.numeric_close,
}


class EvaluationRules:
    """A `rulebook.evaluation` file, loaded: its dataset is there, its functions are imported, its scorers are ready."""

    def __init__(self, path: str, spec: EvaluationSpec, ports: Ports, *, allow_python: bool) -> None:
        """Raises UsageError, DatasetError for what the file names and is not there or does not fit."""
        self.path = path
        self._spec, self._ports = spec, ports
        self._folder = os.path.dirname(os.path.abspath(path))
        if spec.runs_python and not allow_python:
            how = "`--allow-python`, or `allow_python=True`,"
            raise UsageError(f"`{path}` names functions of yours. Add {how} to let them run.")
        self.dataset = _dataset(spec, self._folder)
        self._function = None if spec.task_python is None else _function(spec.task_python, self._folder)
        self.scorers = tuple(self._scorer(each) for each in spec.scorers)
        self._judges = self._who_judges(spec.scorers)
        asked = () if spec.task is None else columns_asked(spec.task)
        check_columns(self._function, self.scorers, self.dataset, has_task=spec.has_task, asked=asked)

    @property
    def name(self) -> str:
        """What people call it."""
        return self._spec.head.name

    @property
    def plan(self) -> Plan:
        """Its gates and the score from which each scorer's passes, with what was noted about its rows."""
        thresholds = {each.name: each.threshold for each in self._spec.scorers}
        return Plan(self._spec.gates, thresholds, lambda: self.dataset.drift)

    def run(
        self,
        *,
        limit: int | None = None,
        resume: bool = False,
        params: Mapping[str, object] | None = None,
        metadata: Mapping[str, object] | None = None,
        heard: Callable[[int], object] = lambda _: None,
    ) -> EvaluationRun:
        """Run it over its rows, or the first `limit` of them; the run is over when this returns.

        `resume`: go on with the latest run of the same file, rows, limit and parameters, whether it was killed or came
        to its end; a new one where there is none. `params` are values for those that the file declares. `heard` is told
        now and then how many rows are done. Raises UsageError, DatasetError.
        """
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise UsageError(f"`limit` is how many rows to take, 1 or more; this is `{limit}`.")
        values = param_values(self._spec.params, params or {})
        task = self.at_work(values)
        folder = runs_folder(os.path.abspath(self.path))
        dataset = self.dataset.digest()
        fingerprint = self.fingerprint(dataset, limit, values)
        before = resumable(folder, fingerprint) if resume else None
        head = None if before is None else read_head(before)
        if before is None or head is None:
            run = new_session_id(unix_ms(), bytes.fromhex(self._ports.chance.token()))
            options = {each.name: spec_options(each, self._who_judges([each])) for each in self._spec.scorers}
            names = [each.name for each in self.scorers]
            head = JournalHead(run, self.name, names, fingerprint, dataset, options)
            before = os.path.join(folder, run)
        found = run_evaluation(self.work(limit, task), head, before, self.plan, heard, task.crew_of)
        return EvaluationRun(self, head, before, metadata or {}, found)

    def rescored(
        self, task: Task, scorers: Iterable[object], name: str, metadata: Mapping[str, object] | None, plan: Plan
    ) -> EvaluationRun:
        """A run of other scorers over outputs that are there already; `run.rescore` is the way to it."""
        other = Evaluation(
            name, self.dataset, None, tuple(scorers), {}, self._output() if self._spec.has_task else None
        )
        return other.scored(TaskAtWork(task), metadata, plan)

    def work(self, limit: int | None, task: TaskAtWork) -> Work:
        """What a run of it has to do."""
        return Work(self.dataset.scanned_rows, task.task, self.scorers, self._ports.clock.monotonic_s, limit)

    @property
    def task_columns(self) -> tuple[str, ...]:
        """The columns that the task names: the parameters of a function, and what a model's templates read."""
        if self._function is not None:
            return columns_needed(self._function)
        return () if self._spec.task is None else columns_asked(self._spec.task)

    def at_work(self, params: Mapping[str, object]) -> TaskAtWork:
        """The task with these parameters. Raises UsageError where they do not fit it."""
        spec = self._spec.task
        if spec is None:
            return TaskAtWork()
        if self._function is not None:
            return function_task(self._function, spec.concurrency)
        if spec.model is not None:
            return model_task(spec, self._ports, params)
        return command_task(spec, self._folder, self._ports, params)

    def _scorer(self, spec: ScorerSpec) -> RowScorer:
        if spec.kind == "sql":
            return row_scorer(SqlScorer(spec.name, str(spec.options["expression"])), self._columns)
        if spec.kind == "python":
            return FunctionScorer(_function(str(spec.options["function"]), self._folder), spec.name)
        if spec.kind in MODEL_KINDS:
            from rulebook.api.judged_files import judged_scorer  # only a file that asks models pays for it

            return row_scorer(judged_scorer(spec, self._ports, self._folder), self._columns)
        options = cast("dict[str, object]", dict(spec.options))
        return row_scorer(_DECLARED[spec.kind](name=spec.name, inputs=spec.inputs, **_called(options)), self._columns)

    def _who_judges(self, scorers: Sequence[ScorerSpec]) -> list[str]:
        judged = [each for each in scorers if each.kind in MODEL_KINDS]
        if not judged:
            return []
        from rulebook.api.judged_files import who_judges  # as above

        return who_judges(judged, self._folder, self._ports.files)

    def _columns(self) -> Mapping[str, Kind]:
        """The dataset's columns, and `output`: what a command prints is text."""
        return {**self.dataset.columns, OUTPUT: self._output()} if self._spec.has_task else self.dataset.columns

    def _output(self) -> Kind:
        return "text" if self._function is None else output_kind(self._function)

    def fingerprint(self, dataset: str, limit: int | None, params: Mapping[str, object]) -> str:
        """A digest of the file, its rows, `limit`, the parameters and who is asked: a run goes on where it is the same.

        Raises UsageError where the task asks a model and nothing says which.
        """
        text = self._spec.document.text.encode("utf-8", "surrogatepass")
        said: list[object] = [sha256(text).hexdigest(), dataset, limit]
        said += [dict(params)] if params else []
        if self._spec.task is not None:
            said += who_answers(self._spec.task, params, self._folder, self._ports.files)
        if self._judges:
            said.append(self._judges)
        return sha256(json.dumps(said).encode("ascii")).hexdigest()


def load_evaluation(path: str, ports: Ports, *, allow_python: bool = False) -> EvaluationRules:
    """The evaluation in the file at `path`. Raises RuleFileError with every diagnostic, UsageError, DatasetError."""
    return EvaluationRules(path, evaluation_in(path, ports), ports, allow_python=allow_python)


def evaluation_in(path: str, ports: Ports) -> EvaluationSpec:
    """What the file at `path` says. Raises RuleFileError with every diagnostic, UsageError for another kind of file."""
    loaded = load_rules(path, ports.files)
    if has_errors(loaded.diagnostics):
        raise RuleFileError(loaded.diagnostics)
    if not isinstance(loaded.content, EvaluationSpec):
        raise UsageError(f"`{path}` is a `{loaded.schema}` file; only a `rulebook.evaluation` can be run over rows.")
    return loaded.content


def _called(options: dict[str, object]) -> dict[str, object]:
    """The options as the functions of `rulebook.scorers` take them."""
    paths = options.get("paths")
    return options if paths is None else {**options, "paths": tuple(cast("list[str]", paths))}


def _function(use: str, folder: str) -> Function[..., object]:
    found = function_named(use, folder)
    made = found if isinstance(found, Function) else function(found)
    return made.within(folder)


def _dataset(spec: EvaluationSpec, folder: str) -> Dataset:
    match spec.dataset:
        case str():
            return dataset_of(os.path.join(folder, spec.dataset))
        case StoredDataset():
            return dataset_of(_Stored(spec.dataset))
        case _:
            return dataset_of(list(spec.dataset))


class _Stored:
    """A stored dataset as a caller in Python names one."""

    def __init__(self, named: StoredDataset) -> None:
        self.dataset_name = named.name
        self.revision_id = named.revision
