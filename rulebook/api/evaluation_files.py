"""A `rulebook.evaluation` file of any kind, with a task and whatever scorers it has, read and made ready to run."""

import os
from collections.abc import Mapping, Sequence

from rulebook.api.evaluation_tasks import columns_asked, command_task, function_task, model_task, who_answers
from rulebook.api.evaluations import check_columns
from rulebook.api.functions import Function, function
from rulebook.api.ready_rules import built_in, dataset_named
from rulebook.api.row_scorers import FunctionScorer, columns_needed, output_kind, row_scorer
from rulebook.api.runnable_evaluation import RunnableEvaluation
from rulebook.api.spec_options import spec_options
from rulebook.api.task_at_work import TaskAtWork
from rulebook.checks import MODEL_KINDS
from rulebook.diagnostic import has_errors
from rulebook.errors import RuleFileError, UsageError
from rulebook.evidence.row_columns import Kind
from rulebook.expression.program import load_rules
from rulebook.measures.row_scores import RowScorer
from rulebook.ports import Ports
from rulebook.services.code import function_named
from rulebook.session.evaluating import OUTPUT
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec
from rulebook.spec.params import param_values
from rulebook.spec.ready_evaluation import ReadyEvaluation, ReadyScorer


class EvaluationRules(RunnableEvaluation):
    """A `rulebook.evaluation` file of any kind, loaded."""

    def __init__(self, path: str, spec: EvaluationSpec, ports: Ports, *, allow_python: bool) -> None:
        """Raises UsageError, DatasetError for what the file names and is not there or does not fit."""
        self._spec = spec
        self._folder = os.path.dirname(os.path.abspath(path))
        if spec.runs_python and not allow_python:
            how = "`--allow-python`, or `allow_python=True`,"
            raise UsageError(f"`{path}` names functions of yours. Add {how} to let them run.")
        dataset = dataset_named(spec.dataset, self._folder)
        self._function = None if spec.task_python is None else _function(spec.task_python, self._folder)
        # scorers are made below: SQL asks for the columns of the dataset and the kind of the outputs
        thresholds = {each.name: each.threshold for each in spec.scorers}
        super().__init__(path, spec.name, spec.digest, dataset, (), thresholds, spec.gates, ports)
        self.scorers = tuple(self._scorer(each) for each in spec.scorers)
        self._judges = self._who_judges(spec.scorers)
        asked = () if spec.task is None else columns_asked(spec.task)
        check_columns(self._function, self.scorers, dataset, has_task=spec.has_task, asked=asked)

    def param_values(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """A value for every parameter that the file declares. Raises UsageError for one that does not fit."""
        return param_values(self._spec.params, params)

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

    def who_is_asked(self, params: Mapping[str, object]) -> list[object]:
        """The models that the task and the scorers ask."""
        task = self._spec.task
        answers = [] if task is None else who_answers(task, params, self._folder, self._ports.files)
        return [*answers, self._judges] if self._judges else [*answers]

    def warnings(self) -> list[str]:
        """What a user should know before a long run begins: a judge that has no key."""
        judged = [each for each in self._spec.scorers if each.kind in MODEL_KINDS]
        if not judged:
            return []
        from rulebook.api.judged_files import without_key  # as above

        return without_key(judged, self._folder, self._ports.files)

    def output_kind(self) -> Kind | None:
        """The kind of the task's outputs, what a command prints being text; None where rows have their own."""
        if not self._spec.has_task:
            return None
        return "text" if self._function is None else output_kind(self._function)

    def told_options(self) -> Mapping[str, Mapping[str, object]]:
        """The options of each scorer as a run keeps them, by its name."""
        return {each.name: spec_options(each, self._who_judges([each])) for each in self._spec.scorers}

    @property
    def task_columns(self) -> tuple[str, ...]:
        """The columns that the task names: the parameters of a function, and what a model's templates read."""
        if self._function is not None:
            return columns_needed(self._function)
        return () if self._spec.task is None else columns_asked(self._spec.task)

    def _scorer(self, spec: ScorerSpec) -> RowScorer:
        if spec.kind == "python":
            return FunctionScorer(_function(str(spec.options["function"]), self._folder), spec.name)
        if spec.kind in MODEL_KINDS:
            from rulebook.api.judged_files import judged_scorer  # only a file that asks models pays for it

            return row_scorer(judged_scorer(spec, self._ports, self._folder), self._columns)
        return built_in(spec.kind, spec.name, spec.inputs, spec.options, self._columns)

    def _who_judges(self, scorers: Sequence[ScorerSpec]) -> list[str]:
        judged = [each for each in scorers if each.kind in MODEL_KINDS]
        if not judged:
            return []
        from rulebook.api.judged_files import who_judges  # as above

        return who_judges(judged, self._folder, self._ports.files)

    def _columns(self) -> Mapping[str, Kind]:
        """The dataset's columns, and `output`."""
        output = self.output_kind()
        return self.dataset.columns if output is None else {**self.dataset.columns, OUTPUT: output}


def evaluation_in(path: str, ports: Ports) -> EvaluationSpec:
    """What the file at `path` says. Raises RuleFileError with every diagnostic, UsageError for another kind of file."""
    loaded = load_rules(path, ports.files)
    if has_errors(loaded.diagnostics):
        raise RuleFileError(loaded.diagnostics)
    if not isinstance(loaded.content, EvaluationSpec):
        raise UsageError(f"`{path}` is a `{loaded.schema}` file; only a `rulebook.evaluation` can be run over rows.")
    return loaded.content


def ready(spec: EvaluationSpec) -> ReadyEvaluation | None:
    """The same as plain data; None for one that runs a task or a function, asks a model, or has parameters."""
    kinds = {each.kind for each in spec.scorers}
    if spec.has_task or spec.runs_python or spec.params or kinds & set(MODEL_KINDS):
        return None
    scorers = [
        ReadyScorer(each.kind, each.name, each.inputs, each.options, each.threshold, spec_options(each))
        for each in spec.scorers
    ]
    return ReadyEvaluation(spec.name, spec.digest, spec.dataset, tuple(scorers), tuple(spec.gates))


def _function(use: str, folder: str) -> Function[..., object]:
    found = function_named(use, folder)
    made = found if isinstance(found, Function) else function(found)
    return made.within(folder)
