"""Scoring recorded work: a task's steps over a session and what was handed in, without a student."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256

from msgspec import Struct

from rulebook.diagnostic import has_errors
from rulebook.errors import AuditGapError, RuleFileError, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.submission import Submission
from rulebook.expression.program import load_rules
from rulebook.expression.task_program import StepProgram, TaskProgram
from rulebook.ports import Ports
from rulebook.report.task_scores import StepJudged, TaskJudged, known_steps
from rulebook.services.collecting import collected
from rulebook.session.opening import Opened, open_session
from rulebook.session.so_far import so_far
from rulebook.session.step_judging import Collect, judged_step
from rulebook.spec.params import param_values
from rulebook.spec.steps import StepSpec, TaskCase, TaskSpec
from rulebook.spelling import guess, listed


class Recorded(Struct, frozen=True):
    """Recorded work: a session by its id or path, and the folder in which the student worked, as it was left.

    `submissions` None: nothing was handed in that a step could ask for. A folder in it that is called like a step has
    what was handed in at that step.
    """

    session: str
    submissions: str | None = None
    session_format: str | None = None
    allow_unchained: bool = False


def load_task(path: str, ports: Ports) -> TaskProgram:
    """The task at `path`, compiled. Raises RuleFileError, and UsageError for another kind of file."""
    loaded = load_rules(path, ports.files)
    if has_errors(loaded.diagnostics):
        raise RuleFileError(loaded.diagnostics)
    if not isinstance(loaded.content, TaskProgram):
        raise UsageError(f"`{path}` is a `{loaded.schema}` file; only a `rulebook.task` file has steps.")
    return loaded.content


def case_named(spec: TaskSpec, name: str | None) -> TaskCase | None:
    """The case called `name`; the only one, or None for a task without cases, where no name is given.

    Raises UsageError.
    """
    names = [case.name for case in spec.cases]
    if name is None:
        if len(names) > 1:
            raise UsageError(f"The task has {len(names)} cases, so say which: `--case {names[0]}`.{guess('', names)}")
        return spec.cases[0] if spec.cases else None
    if name not in names:
        hint = guess(name, names) if names else " The task has no cases."
        raise UsageError(f"There is no case `{name}` in this task.{hint}")
    return spec.cases[names.index(name)]


def step_named(program: TaskProgram, name: str) -> StepProgram:
    """The step called `name`. Raises UsageError with the nearest."""
    for step in program.steps:
        if step.spec.name == name:
            return step
    names = [step.spec.name for step in program.steps]
    raise UsageError(f"There is no step `{name}` in this task.{guess(name, names) or f' It has {listed(names)}.'}")


def task_params(spec: TaskSpec, case: TaskCase | None, given: Mapping[str, object]) -> dict[str, object]:
    """The value of every parameter: the caller's, else the case's, else the default. Raises UsageError."""
    return param_values(spec.params, {**(case.values if case else {}), **given})


def score_task(
    program: TaskProgram,
    recorded: Recorded,
    ports: Ports,
    *,
    case: str | None = None,
    only: str | None = None,
    params: Mapping[str, object] | None = None,
) -> TaskJudged:
    """What the recorded work comes to. `only` names the one step to judge, whatever came before it.

    Raises UsageError, and AuditGapError for a session that cannot be verified.
    """
    spec = program.spec
    chosen = case_named(spec, case)
    values = task_params(spec, chosen, params or {})
    steps = program.steps if only is None else (step_named(program, only),)
    _check_folder(recorded.submissions, [step.spec for step in steps], ports)
    session = so_far(_opened(program, recorded, ports), recorded.session, program.wants, ports.files)
    judged: list[StepJudged] = []
    for step in steps:
        if any(before.ends_run for before in judged):
            judged.append(StepJudged(step.spec.name, weight=step.spec.weight))
            continue
        record = session.at(program.steps.index(step))
        evidence = Evidence(record, params=values, steps=known_steps(judged))
        with ExitStack() as stack:
            judged.append(judged_step(step, evidence, _collect(step.spec, recorded, ports, stack), ports))
    return TaskJudged(
        spec,
        sha256(spec.document.text.encode("utf-8", "surrogatepass")).hexdigest(),
        chosen.name if chosen else None,
        values,
        tuple(judged),
        session=session.opened.record.session_id,
        transcript=recorded.session,
        only=only,
    )


def _opened(program: TaskProgram, recorded: Recorded, ports: Ports) -> Opened:
    opened = open_session(
        recorded.session,
        program.wants,
        ports.files,
        session_format=recorded.session_format,
        allow_unchained=recorded.allow_unchained,
    )
    if not opened.audit.accepted:
        raise AuditGapError(opened.audit.verdict, f"`{recorded.session}` cannot be judged: {opened.audit.reason}")
    return opened


def _check_folder(folder: str | None, steps: list[StepSpec], ports: Ports) -> None:
    asked = next((step for step in steps if step.submissions), None)
    if folder is None and asked is not None:
        raise UsageError(f"The step `{asked.name}` reads submissions, so say where they are: `--submissions FOLDER`.")
    if folder is not None and not ports.files.stands(folder, folder=True):
        raise UsageError(f"There is no folder `{folder}` with submissions.")


def _collect(step: StepSpec, recorded: Recorded, ports: Ports, stack: ExitStack) -> Collect:
    """How a step's submissions are taken from the recorded work; the copies go with `stack`."""

    def collect() -> Mapping[str, Submission]:
        if recorded.submissions is None:
            return {}
        folder = os.path.realpath(recorded.submissions)
        own = os.path.join(folder, step.name)
        taken = any(each.path.split("/")[0] == step.name for each in step.submissions)  # it is what was handed in
        source = own if ports.files.stands(own, folder=True) and not taken else folder
        return collected(step, source, stack.enter_context(ports.workspaces.fresh()), ports.files)

    return collect
