"""Loading rules from Python, and evaluating them over what a run left behind."""

import os
from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from rulebook.api.evaluation_files import EvaluationRules
from rulebook.api.task_files import TaskRules
from rulebook.diagnostic import has_errors
from rulebook.errors import RuleFileError, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.expression.program import Program, load_rules
from rulebook.expression.task_program import TaskProgram
from rulebook.ports import Ports
from rulebook.report.eval_report import eval_report
from rulebook.report.findings import Finding
from rulebook.report.judged import Audit, Judged
from rulebook.report.rewards import totals
from rulebook.report.text import render_report
from rulebook.services.code import with_code
from rulebook.services.ports import machine_ports
from rulebook.session.checking import check_of, judge
from rulebook.spec.evaluation_parts import EvaluationSpec
from rulebook.spec.params import param_values


class Report(Struct, frozen=True):
    """What a session came to under a spec.

    `passed` is true only when nothing failed and nothing was unmeasured. `score` and `reward` lie in 0..1 and are None
    where there is no such number: a reward that could not be measured is never 0.
    """

    judged: Judged

    @property
    def passed(self) -> bool:
        """Whether everything that was asked holds."""
        return totals(self.judged).passed

    @property
    def score(self) -> float | None:
        """Passed findings over passed and failed ones."""
        return totals(self.judged).score

    @property
    def reward(self) -> float | None:
        """The weighted mean of the components; None when it could not be measured."""
        return totals(self.judged).reward

    @property
    def no_reward(self) -> str:
        """Why there is no reward, in words; empty when there is one."""
        return totals(self.judged).no_reward

    @property
    def reward_components(self) -> Mapping[str, float | None]:
        """The weighted mean of the findings' scores, by category."""
        return cast("Mapping[str, float | None]", dict(totals(self.judged).components))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every line of the report."""
        return self.judged.findings

    def as_dict(self) -> dict[str, object]:
        """The report as plain data: `chock.eval-report`, version 1."""
        return eval_report(self.judged)

    def __str__(self) -> str:
        return render_report(self.judged)


class Rules:
    """A `chock.eval` file, compiled."""

    def __init__(self, path: str, program: Program, ports: Ports) -> None:
        self.path = path
        self._program, self._ports = program, ports

    @property
    def name(self) -> str:
        """What people call it."""
        return self._program.spec.head.name

    def evaluate(
        self,
        evidence: Evidence | str | os.PathLike[str],
        *,
        project: str | os.PathLike[str] | None = None,
        params: Mapping[str, object] | None = None,
        skip_tests: bool = False,
    ) -> Report:
        """Evaluate the rules over a recorded session, named by its id or its path, or over evidence held in memory.

        `project` is the resulting repository and belongs to a session's path; evidence in memory has its own. A session
        whose log cannot be verified is not judged: the report says so, and has neither score nor reward.

        Raises UsageError for a session that is not there and for parameters that do not fit.
        """
        _check_given(evidence, params)
        if isinstance(evidence, Evidence):
            evidence.params = param_values(self._program.spec.params, {**evidence.params, **(params or {})})
            audit = Audit("given", True, evidence.session.total_events)
            return Report(judge(self._program, evidence, audit, self._ports, skip_tests=skip_tests))
        check = check_of(
            self.path,
            self._ports,
            program=self._program,
            project=None if project is None else os.fspath(project),
            skip_tests=skip_tests,
            params=params,
        )
        return Report(check.one(os.fspath(evidence)))


def _check_given(evidence: object, params: object) -> None:
    if not isinstance(evidence, Evidence | str | os.PathLike):
        found = type(evidence).__name__
        raise UsageError(f"A session is named by its id or its path, or given as `Evidence`; this is a `{found}`.")
    named = isinstance(params, Mapping) and all(isinstance(name, str) for name in params)
    if params is not None and not named:
        raise UsageError("`params` must be a mapping from the names of parameters to their values.")


def load(path: str | os.PathLike[str], *, allow_python: bool = False) -> Rules | TaskRules | EvaluationRules:
    """The rule file at `path`, ready to use: an eval as `Rules`, a task as `TaskRules`, an evaluation as
    `EvaluationRules`.

    `allow_python`: judges, tasks and scorers of your own that it names may run.

    Raises RuleFileError with every diagnostic when it is not valid, and UsageError when it is another kind of file, or
    names what is not there; DatasetError for an evaluation whose rows cannot be read.
    """
    name = os.fspath(path)
    ports = with_code(machine_ports(name), allowed=allow_python)
    loaded = load_rules(name, ports.files)
    if has_errors(loaded.diagnostics):
        raise RuleFileError(loaded.diagnostics)
    match loaded.content:
        case Program():
            return Rules(name, loaded.content, ports)
        case TaskProgram():
            return TaskRules(name, loaded.content, ports)
        case EvaluationSpec():
            return EvaluationRules(name, loaded.content, ports, allow_python=allow_python)
        case _:
            known = "a `chock.eval`, a `rulebook.task` or a `rulebook.evaluation`"
            raise UsageError(f"`{name}` is a `{loaded.schema}` file; `load` takes {known}.")
