"""Playing students against one step: each works in a folder of its own, is collected from and judged, and is gone."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

from msgspec import Struct

from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Record
from rulebook.evidence.run_events import Event, MessageAddedEvent, StepStartedEvent, TaskStartedEvent
from rulebook.evidence.run_messages import Message, Role
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.evidence.submission import Submission
from rulebook.expression.nodes import Leaf
from rulebook.expression.task_program import StepProgram
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Measurement
from rulebook.ports import Ports
from rulebook.report.probe_scores import ORACLE, Played
from rulebook.report.task_scores import StepJudged
from rulebook.services.collecting import collected
from rulebook.services.leashes import leash
from rulebook.services.misbehaving import STUDENTS, Student
from rulebook.services.probe_scene import Scene, empty_folder, made_scene
from rulebook.services.rewriting import rewriting
from rulebook.session.instructing import instructions_of, system_prompt_of
from rulebook.session.oracle_work import recorded_right_work, right_texts, right_words
from rulebook.session.step_judging import judged_step
from rulebook.spec.steps import TaskSpec

_MOST_EARNED = 6


class Stage(Struct, frozen=True):
    """A step of a case, and what is known of right work.

    `position` counts the steps from 0, `before` is what those before it came to. `session` is the oracle's record, None
    where its transcript is made up; `recorded` the folder of its work, None where the task file has it, or nobody has.
    `folder` is where the students work; None: in a fresh one.
    """

    task: TaskSpec
    step: StepProgram
    position: int
    case: str | None
    params: Mapping[str, object]
    before: Mapping[str, Mapping[str, object]]
    session: Record | None
    recorded: str | None
    folder: str | None

    @property
    def has_oracle(self) -> bool:
        """Whether anybody said what right work is."""
        return self.session is not None or self.recorded is not None or self.step.spec.oracle is not None


_RIGHT = Student(ORACLE, "does the work", "The judge refuses right work, or the oracle is wrong.", by_hand=False)


def all_played(stage: Stage, ports: Ports) -> Iterator[Played]:
    """Every student whom the step concerns, the oracle last. Raises UsageError, and OSError where there is no room."""
    asked = bool(stage.step.spec.submissions)
    for student in STUDENTS:
        if (asked or not student.by_hand) and (stage.has_oracle or not student.knows):
            yield _played(student, stage, ports)
    if stage.has_oracle:
        yield _played(_RIGHT, stage, ports)


def _played(student: Student, stage: Stage, ports: Ports) -> Played:
    with ExitStack() as until_the_end:
        place = os.path.realpath(
            until_the_end.enter_context(ports.workspaces.fresh(small=stage.recorded is None and stage.folder is None))
        )
        scene = _scene(stage, place, until_the_end.enter_context(leash()), ports)
        until_the_end.enter_context(empty_folder(scene.folder))
        rewrite: Callable[[], None] | None = None
        try:
            _act(student, scene)
            if student.later:
                rewrite = until_the_end.enter_context(rewriting(scene.moves()))
        except OSError as error:
            return Played(student.name, student.about, None, (error.strerror or str(error)).lower())

        def collect() -> Mapping[str, Submission]:
            handed_in = collected(stage.step.spec, scene.folder, scene.taken, ports.files, keep_listing=False)
            if rewrite is not None:
                rewrite()
            return handed_in

        judged = judged_step(stage.step, _evidence(student, scene, stage), collect, ports)
        return _noted(student, judged, scene, place)


def _scene(stage: Stage, place: str, leash: str, ports: Ports) -> Scene:
    spec, folder = stage.step.spec, os.path.realpath(stage.folder or os.path.join(place, "work"))
    recorded = stage.recorded and recorded_right_work(stage.recorded, stage.case, spec, ports.files)
    right = recorded or right_texts(spec, stage.params)
    told = instructions_of(spec, stage.params, folder)
    return made_scene(place, folder, told, spec.submissions, right, stage.task.document.text, leash)


def _act(student: Student, scene: Scene) -> None:
    if student is _RIGHT:
        scene.do_right()
    elif student.act is not None:
        for submission in scene.submissions:
            student.act(scene, submission)


def _evidence(student: Student, scene: Scene, stage: Stage) -> Evidence:
    wants = stage.step.wants
    if student is _RIGHT and stage.session is not None:
        return Evidence(stage.session, params=stage.params, steps=stage.before)
    said = student.say(scene) if student.say is not None else None
    if student is _RIGHT:
        said = right_words(stage.step.spec, stage.params) or said
    messages: list[tuple[Role, str | None]] = [
        ("system", system_prompt_of(stage.task, stage.params)),
        ("user", scene.instructions),
        ("assistant", said),
    ]
    began: list[Event] = [
        TaskStartedEvent(run_id="probe", task_id=stage.task.name),
        StepStartedEvent(step=stage.position),
    ]
    told = [Message(role=role, content=text) for role, text in messages if text is not None]
    events = [*began, *(MessageAddedEvent(message=message) for message in told)]
    run = Transcript(run_id="probe", events=events)
    return Evidence(record_of_run(run, wants), params=stage.params, steps=stage.before, run=run)


def _noted(student: Student, judged: StepJudged, scene: Scene, place: str) -> Played:
    def plain(text: str) -> str:
        """Without the paths of folders that are gone by now."""
        text = re.sub(re.escape(place) + r"/(work|key|taken/[^/\s]*)/", "", text)
        return text.replace(scene.folder + "/", "").replace(scene.folder, "the student's folder").replace(place, "…")

    trace = judged.trace
    earned = [] if trace is None else list(_earned(trace))
    return Played(
        student.name,
        student.about,
        judged,
        plain(getattr(judged.outcome, "reason", "")),
        tuple(plain(_in_words(part)) for part in earned[:_MOST_EARNED]),
        student.advice,
        student.plain,
    )


def _earned(part: Trace) -> Iterator[Trace]:
    """The parts that scored or passed by themselves: not those that only stand on others which did."""
    if not isinstance(part.outcome, Measurement) or not (part.outcome.passed or part.outcome.score > 0):
        return
    below = [found for inner in part.parts for found in _earned(inner)]
    yield from below or [part]


def _in_words(part: Trace) -> str:
    common = part.node.common
    named = f"{common.kind} `{common.name}`" if common.name else common.kind
    asked = (
        part.node.check.sentence() if isinstance(part.node, Leaf) else "nothing in it passed, which it takes for a pass"
    )
    score = part.outcome.score if isinstance(part.outcome, Measurement) else 0.0
    return f"{named} (score {score:g}): {asked}"
