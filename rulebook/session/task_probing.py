"""Probing a task: students who misbehave, and one who does its work, are played against the judge of each step."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.checks.always_pass import AlwaysPass
from rulebook.errors import AuditGapError, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.expression.nodes import Leaf, Node, parts_of
from rulebook.expression.task_program import StepProgram, TaskProgram
from rulebook.outcome import Skipped
from rulebook.ports import Ports
from rulebook.report.probe_scores import Probed, StepProbed
from rulebook.services.unasked_models import UnaskedModels
from rulebook.session.opening import open_session
from rulebook.session.probe_playing import Stage, all_played
from rulebook.session.so_far import SoFar, so_far
from rulebook.session.step_judging import left_out
from rulebook.session.task_scoring import case_named, step_named, task_params
from rulebook.spec.steps import TaskCase, TaskSpec

_UNASKED = "no model was asked, which `--ask-models` would do"


class Probing(Struct, frozen=True):
    """How a task is probed.

    `case` and `step` None: all of them. `allow` is the most that idle work may score. `oracle` is a folder of recorded
    right work, `oracle_transcript` its session by id or path. `folder` is where students work, where a judge knows
    that by heart; None: a fresh one. `strict`: a student who cannot be played on this machine refuses the whole.
    """

    case: str | None = None
    step: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    allow: float = 0.0
    oracle: str | None = None
    oracle_transcript: str | None = None
    folder: str | None = None
    ask_models: bool = False
    strict: bool = False


def probe_task(program: TaskProgram, how: Probing, ports: Ports) -> Probed:
    """What everybody got. Nothing of it stays on the machine.

    Raises UsageError for what there is not, and AuditGapError for an oracle's session that cannot be verified.
    """
    if not how.ask_models:
        ports = replace(ports, models=UnaskedModels(_UNASKED))
    steps = program.steps if how.step is None else (step_named(program, how.step),)
    session = None if how.oracle_transcript is None else _session(program, how.oracle_transcript, ports)
    cases = list(_cases(program.spec, how))
    judges_nothing = all(_is_open(step.judge) for step in program.steps)
    return Probed(
        program.spec,
        sha256(program.spec.document.text.encode("utf-8", "surrogatepass")).hexdigest(),
        tuple(_probed(program, step, case, session, how, ports) for step in steps for case in cases),
        how.params,
        how.allow,
        how.strict,
        how.ask_models,
        judges_nothing,
    )


def _cases(spec: TaskSpec, how: Probing) -> Iterator[TaskCase | None]:
    if how.case is not None or not spec.cases:
        yield case_named(spec, how.case)
    else:
        yield from spec.cases


def _session(program: TaskProgram, word: str, ports: Ports) -> SoFar:
    opened = open_session(word, program.wants, ports.files)
    if not opened.audit.accepted:
        raise AuditGapError(opened.audit.verdict, f"`{word}` cannot be judged: {opened.audit.reason}")
    return so_far(opened, word, program.wants, ports.files)


def _probed(
    program: TaskProgram,
    step: StepProgram,
    case: TaskCase | None,
    session: SoFar | None,
    how: Probing,
    ports: Ports,
) -> StepProbed:
    name, position = None if case is None else case.name, program.steps.index(step)
    if _is_open(step.judge):
        return StepProbed(name, step.spec.name, kind="open by design", why="its judge is `always_pass`")
    values = task_params(program.spec, case, how.params)
    if step.spec.instructions is None:
        raise UsageError(f"The step `{step.spec.name}` has no instructions.")
    before, idle = _opened(program, step, position, values, ports)
    if idle:
        return StepProbed(name, step.spec.name, kind="skipped", why=idle)
    stage = Stage(
        program.spec,
        step,
        position,
        name,
        values,
        before,
        None if session is None else session.at(position),
        how.oracle,
        how.folder,
    )
    return StepProbed(name, step.spec.name, tuple(all_played(stage, ports)))


def _opened(
    program: TaskProgram, step: StepProgram, position: int, params: Mapping[str, object], ports: Ports
) -> tuple[Mapping[str, Mapping[str, object]], str]:
    """What the steps before came to, so that this one is taken, and why it never is, which is empty where it is.

    They passed, with score 1, or with 0 for a step that gives a second chance.
    """
    why = ""
    names = [each.spec.name for each in program.steps[:position]]
    for score in (1.0, 0.0):
        before = {each: {"score": score, "passed": True} for each in names}
        idle = left_out(step.spec, Evidence(params=params, steps=before), ports)
        if not isinstance(idle, Skipped):
            return before, ""
        why = why or idle.reason
    return {}, why


def _is_open(judge: Node) -> bool:
    """Whether nothing but `always_pass` decides."""
    if isinstance(judge, Leaf):
        return isinstance(judge.check, AlwaysPass)
    return all(_is_open(part) for part in parts_of(judge))
