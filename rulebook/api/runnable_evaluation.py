"""What a `rulebook.evaluation` file comes to once it is read: rows, scorers and gates, run and resumed."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from rulebook.api.evaluation_runs import EvaluationRun
from rulebook.api.evaluations import Evaluation, metadata_given, scorers_given
from rulebook.api.task_at_work import TaskAtWork
from rulebook.errors import UsageError
from rulebook.evidence.row_columns import Kind
from rulebook.measures.row_scores import RowScorer
from rulebook.ports import Ports
from rulebook.services.clock import unix_ms
from rulebook.services.datasets import Dataset
from rulebook.services.evaluation_journal import JournalHead
from rulebook.services.evaluation_runs import resumable, runs_folder
from rulebook.services.store import new_session_id
from rulebook.session.evaluating import Task, Work
from rulebook.session.evaluation_running import Plan, run_evaluation
from rulebook.spec.gate_parts import Gate


class RunnableEvaluation:
    """A `rulebook.evaluation` file, loaded: its dataset is there, its functions are imported, its scorers are ready.

    `digest` is that of the file's text, `thresholds` say from which score each scorer's passes.
    """

    def __init__(
        self,
        path: str,
        name: str,
        digest: str,
        dataset: Dataset,
        scorers: Sequence[RowScorer],
        thresholds: Mapping[str, float],
        gates: Sequence[Gate],
        ports: Ports,
    ) -> None:
        self.path = path
        self.name = name
        self.dataset = dataset
        self.scorers = scorers
        self._digest, self._thresholds, self._gates, self._ports = digest, thresholds, gates, ports

    @property
    def plan(self) -> Plan:
        """Its gates and the score from which each scorer's passes, with what was noted about its rows."""
        return Plan(self._gates, self._thresholds, lambda: self.dataset.drift)

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
        now and then how many rows are done. `metadata` stands in the report; a run that goes on keeps its own. Raises
        UsageError, DatasetError.
        """
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise UsageError(f"`limit` is how many rows to take, 1 or more; this is `{limit}`.")
        about = metadata_given(metadata)
        values = self.param_values(params or {})
        task = self.at_work(values)
        folder = runs_folder(os.path.abspath(self.path))
        dataset = self.dataset.digest()
        fingerprint = self.fingerprint(dataset, limit, values)
        before = resumable(folder, fingerprint) if resume else None
        if before is None:
            run = new_session_id(unix_ms(), bytes.fromhex(self._ports.chance.token()))
            names = [each.name for each in self.scorers]
            head = JournalHead(run, self.name, names, fingerprint, dataset, self.told_options(), about)
            before = os.path.join(folder, run), head
        place, head = before
        found = run_evaluation(self.work(limit, task), head, place, self.plan, heard, task.crew_of)
        return EvaluationRun(self, head, place, found)

    def rescored(
        self, task: Task, scorers: Iterable[object], name: str, metadata: Mapping[str, object] | None, plan: Plan
    ) -> EvaluationRun:
        """A run of other scorers over outputs that are there already; `run.rescore` is the way to it."""
        other = Evaluation(name, self.dataset, None, scorers_given(scorers), {}, self.output_kind())
        return other.scored(TaskAtWork(task), metadata, plan)

    def work(self, limit: int | None, task: TaskAtWork) -> Work:
        """What a run of it has to do."""
        return Work(self.dataset.scanned_rows, task.task, self.scorers, self._ports.clock.monotonic_s, limit)

    def fingerprint(self, dataset: str, limit: int | None, params: Mapping[str, object]) -> str:
        """A digest of the file, its rows, `limit`, the parameters and who is asked: a run goes on where it is the same.

        Raises UsageError where the task asks a model and nothing says which.
        """
        said: list[object] = [self._digest, dataset, limit]
        said += [dict(params)] if params else []
        said += self.who_is_asked(params)
        return sha256(json.dumps(said).encode("ascii")).hexdigest()

    def param_values(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """A value for every parameter that the file declares. Raises UsageError for one that does not fit."""
        if not params:
            return {}
        from rulebook.spec.params import param_values  # says that there is none

        return param_values((), params)

    def at_work(self, params: Mapping[str, object]) -> TaskAtWork:  # noqa: ARG002
        """The task with these parameters. Raises UsageError where they do not fit it."""
        return TaskAtWork()

    def who_is_asked(self, params: Mapping[str, object]) -> list[object]:  # noqa: ARG002
        """The models that the task and the scorers ask."""
        return []

    def warnings(self) -> list[str]:
        """What a user should know before a long run begins."""
        return []

    def output_kind(self) -> Kind | None:
        """The kind of the task's outputs; None where rows have their own."""
        return None

    def told_options(self) -> Mapping[str, Mapping[str, object]]:
        """The options of each scorer as a run keeps them, by its name."""
        return {}
