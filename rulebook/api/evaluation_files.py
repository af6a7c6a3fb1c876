"""A `rulebook.evaluation` file from Python and for the command: loaded, run, and resumed."""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import cast

from rulebook.api import data_scorers, text_scorers
from rulebook.api.evaluations import check_columns, dataset_of
from rulebook.api.functions import Function, function
from rulebook.api.row_scorers import FunctionScorer, columns_needed, output_kind, row_scorer, row_task
from rulebook.api.sql_scorer import SqlScorer
from rulebook.checks import MODEL_KINDS
from rulebook.diagnostic import has_errors
from rulebook.errors import RuleFileError, UsageError
from rulebook.evidence.row_columns import Kind
from rulebook.expression.program import load_rules
from rulebook.measures.row_scores import RowScorer
from rulebook.ports import Ports
from rulebook.report.evaluation_outcome import Evaluated
from rulebook.report.evaluation_report import evaluation_report
from rulebook.services.clock import unix_ms
from rulebook.services.code import function_named
from rulebook.services.datasets import Dataset
from rulebook.services.evaluation_journal import JournalHead, read_head
from rulebook.services.evaluation_runs import resumable, runs_folder, write_report
from rulebook.services.store import new_session_id
from rulebook.session.evaluating import OUTPUT, Task, Work
from rulebook.session.evaluation_running import Plan, run_evaluation
from rulebook.session.row_commands import RowCommand
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec, StoredDataset

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
            raise UsageError(f"`{path}` names functions of yours. Add `--allow-python` to let them run.")
        self.dataset = _dataset(spec, self._folder)
        self._function = None if spec.task_python is None else _function(spec.task_python, self._folder)
        self._task = self._made_task()
        self._scorers = tuple(self._scorer(each) for each in spec.scorers)
        self._judges = self._who_judges()
        check_columns(self._function, self._scorers, self.dataset, has_task=spec.has_task)

    @property
    def name(self) -> str:
        """What people call it."""
        return self._spec.head.name

    def run(
        self,
        *,
        limit: int | None = None,
        resume: bool = False,
        table: str | None = None,
        heard: Callable[[int], object] = lambda _: None,
    ) -> Evaluated:
        """Run it over its rows, or the first `limit` of them, and write the report into the run's folder.

        `resume`: go on with the latest run of the same file, rows and limit, whether it was killed or came to its end;
        a new one where there is none. `table` is where a Parquet table of all results is written. `heard` is told now
        and then how many rows are done. Raises UsageError, DatasetError.
        """
        folder = runs_folder(os.path.abspath(self.path))
        fingerprint = self._fingerprint(limit)
        before = resumable(folder, fingerprint) if resume else None
        found = None if before is None else read_head(before)
        if before is None or found is None:
            run = new_session_id(unix_ms(), bytes.fromhex(self._ports.chance.token()))
            found = JournalHead(run, self.name, [each.name for each in self._scorers], fingerprint)
            before = os.path.join(folder, run)
        work = self.work(limit)
        thresholds = {each.name: each.threshold for each in self._spec.scorers}
        plan = Plan(self._spec.gates, thresholds, lambda: self.dataset.drift)
        evaluated = run_evaluation(work, found, before, plan, heard)
        write_report(before, evaluation_report(evaluated))
        if table is not None:
            from rulebook.services.evaluation_table import write_results  # 60 ms, which only a table pays for

            write_results(before, self.dataset, found.scorers, table)
        return evaluated

    def work(self, limit: int | None) -> Work:
        """What a run of it has to do."""
        return Work(self.dataset.scanned_rows, self._task, self._scorers, self._ports.clock.monotonic_s, limit)

    @property
    def task_columns(self) -> tuple[str, ...]:
        """The columns that a function of the author's, as the task, cannot do without."""
        return () if self._function is None else columns_needed(self._function)

    def _made_task(self) -> Task | None:
        spec = self._spec
        if self._function is not None:
            return row_task(self._function)
        if spec.task_argv is None:
            return None
        return RowCommand(spec.task_argv, self._folder, spec.task_timeout_s, self._ports.processes, spec.task_env)

    def _scorer(self, spec: ScorerSpec) -> RowScorer:
        if spec.kind == "sql":
            return row_scorer(SqlScorer(spec.name, str(spec.options["expression"])), self._columns)
        if spec.kind == "python":
            return FunctionScorer(_function(str(spec.options["function"]), self._folder), spec.name)
        if spec.kind in MODEL_KINDS:
            from rulebook.api.judged_files import judged_scorer  # only a file that asks models pays for it

            return row_scorer(judged_scorer(spec, self._ports), self._columns)
        options = cast("dict[str, object]", dict(spec.options))
        return row_scorer(_DECLARED[spec.kind](name=spec.name, inputs=spec.inputs, **_called(options)), self._columns)

    def _who_judges(self) -> list[str]:
        judged = [each for each in self._spec.scorers if each.kind in MODEL_KINDS]
        if not judged:
            return []
        from rulebook.api.judged_files import who_judges  # as above

        return who_judges(judged, self._folder, self._ports.files)

    def _columns(self) -> Mapping[str, Kind]:
        """The dataset's columns, and `output`: what a command prints is text."""
        if not self._spec.has_task:
            return self.dataset.columns
        return {**self.dataset.columns, OUTPUT: "text" if self._function is None else output_kind(self._function)}

    def _fingerprint(self, limit: int | None) -> str:
        """A digest of the file, its rows, `limit` and the models that judge: what is the same where a run goes on."""
        text = self._spec.document.text.encode("utf-8", "surrogatepass")
        said: list[object] = [sha256(text).hexdigest(), _digest(self._spec, self._folder, self.dataset), limit]
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
    return found if isinstance(found, Function) else function(found)


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


def _digest(spec: EvaluationSpec, folder: str, dataset: Dataset) -> str:
    """What tells the rows from others: the bytes of a file, the revision of a stored dataset, else the rule file."""
    if not isinstance(spec.dataset, str):
        return dataset.where
    digest = sha256()
    with open(os.path.join(folder, spec.dataset), "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
