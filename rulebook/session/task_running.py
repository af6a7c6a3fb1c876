"""Playing a whole task with a command as the student, and writing down what happened as it happens.

Source: scoring, "How a step gets scored"; the order of events is the reference's.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Literal

from rulebook.errors import Missing, UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.run_events import (
    ErrorEvent,
    Event,
    MessageAddedEvent,
    ScoringEvent,
    StepCompletedEvent,
    StepStartedEvent,
    TaskCompletedEvent,
    TaskPreHookCompletedEvent,
    TaskStartedEvent,
)
from rulebook.evidence.run_messages import Message
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.evidence.scoring import Scoring
from rulebook.evidence.submission import Submission
from rulebook.expression.task_program import StepProgram, TaskProgram
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured
from rulebook.ports import Completed, Ports
from rulebook.report.plain_json import plain
from rulebook.report.task_scores import StepJudged, TaskJudged, known_steps, task_score, unscored
from rulebook.services.students import Student
from rulebook.session.hearing import Hearing, Reply, uncounted
from rulebook.session.instructing import instructions_of, system_prompt_of
from rulebook.session.played import Played
from rulebook.session.step_judging import judged_step, left_out
from rulebook.session.task_scoring import case_named, task_params
from rulebook.session.telling import told_as_events, told_as_text, told_by_name
from rulebook.spec.steps import HINTS_PARAM, StepSpec
from rulebook.terminal import harmless

STEP_TIME_S = 3600.0
"""How long a step may take where the task says nothing."""

_REASON_LIMIT = 300

Keep = Callable[[StepSpec, Mapping[str, Submission]], None]
"""Keeps copies of what a step's student handed in. May raise Missing."""


def run_task(
    program: TaskProgram, student: Student, played: Played, ports: Ports, write: Callable[[Event], None], keep: Keep
) -> TaskJudged:
    """Play the task to its end, or until a step does not pass; `write` puts each event where it is safe.

    Raises UsageError for a case or a parameter that there is not, and for instructions that cannot be filled in.
    """
    chosen = case_named(program.spec, played.case)
    values = task_params(program.spec, chosen, played.params)
    run = _Run(program, student, played, ports, write, keep, values)
    try:
        run.play()
    except BaseException as error:
        run.broke(error)
        raise
    return TaskJudged(
        program.spec,
        sha256(program.spec.document.text.encode("utf-8", "surrogatepass")).hexdigest(),
        chosen.name if chosen else None,
        values,
        tuple(run.judged),
        run.errored,
        session=played.run_id,
        transcript=played.transcript,
        played={**played.told, "notes": list(run.notes)},
    )


class _Run:
    """One run in progress."""

    def __init__(
        self,
        program: TaskProgram,
        student: Student,
        played: Played,
        ports: Ports,
        write: Callable[[Event], None],
        keep: Keep,
        values: Mapping[str, object],
    ) -> None:
        self.judged: list[StepJudged] = []
        self.errored = ""
        self.notes: dict[str, None] = dict.fromkeys(played.notes)
        self._program, self._student, self._played, self._ports = program, student, played, ports
        self._write, self._keep, self._values = write, keep, values
        self._events: list[Event] = []

    def play(self) -> None:
        """Every step, until one does not pass."""
        spec = self._program.spec
        prompt = system_prompt_of(spec, self._values)
        hints = self._values.get(HINTS_PARAM)
        self._add(
            TaskStartedEvent(
                run_id=self._played.run_id,
                task_id=spec.name if self._played.case is None else f"{spec.name}-{self._played.case}",
                n_steps=len(spec.steps),
                use_hints=hints if isinstance(hints, bool) else None,
            )
        )
        self._add(TaskPreHookCompletedEvent(metadata={}))
        if prompt is not None:
            self._say("system", prompt)
        for number, step in enumerate(self._program.steps):
            if self.errored or any(before.ends_run for before in self.judged):
                self.judged.append(StepJudged(step.spec.name, weight=step.spec.weight))
            else:
                self.judged.append(self._step(number, step))
        self._add(TaskCompletedEvent(status=self._status()))

    def broke(self, error: BaseException) -> None:
        """Write down that the run itself broke off, unless what broke is the writing."""
        with suppress(UsageError):
            self._write(ErrorEvent(exception_type=type(error).__name__, message=str(error)))
            self._write(TaskCompletedEvent(status="error"))

    def _step(self, number: int, step: StepProgram) -> StepJudged:
        evidence = self._evidence(step)
        idle = left_out(step.spec, evidence, self._ports)
        if idle is not None:
            return self._ended(number, unscored(step.spec, idle), began=False)
        self._student.begin(step.spec.folders_on_the_way)
        self._add(StepStartedEvent(step=number))
        self._say("user", instructions_of(step.spec, self._values, self._student.folder))
        outcome = self._work(step.spec)
        if self.errored:
            self._add(ErrorEvent(exception_type="StudentError", message=self.errored))
            return unscored(step.spec, Unmeasured("harness", self.errored))
        if outcome is not None:
            return self._ended(number, unscored(step.spec, outcome))
        with self._ports.workspaces.fresh() as folder:
            judged = judged_step(step, self._evidence(step), lambda: self._handed_in(step.spec, folder), self._ports)
        return self._ended(number, judged)

    def _work(self, step: StepSpec) -> Outcome | None:
        """Let the student work; an outcome when there is nothing left to judge, and `errored` when the run is over."""
        limits = self._program.spec.limits
        speaks = self._played.speaks == "events"
        hearing = Hearing(limits, self._add) if speaks else Reply()
        limit_s = STEP_TIME_S if limits.step_time_s is None else limits.step_time_s
        told = told_as_events(self._events) if speaks else told_as_text(self._events)
        variables = {"RULEBOOK_RUN": self._played.run_id, "RULEBOOK_STEP": step.name, **told_by_name(self._events)}
        ended = self._student.work(told, variables, limit_s, hearing.hear)
        hearing.end()
        if not speaks and ended.stdout.strip():
            self._say("assistant", ended.stdout)
        self.notes.update(dict.fromkeys(uncounted(limits, hearing)))
        if hearing.misbehavior:
            return Misbehavior(f"the student was stopped: {hearing.misbehavior}")
        limit = f"{limit_s:g} s" if ended.timed_out else hearing.limit
        if limit:
            self.notes[f"The step `{step.name}` was stopped at its limit of {limit}."] = None
            if limits.on_limit == "score":
                return None
            return Unmeasured("budget", f"the student was stopped at its limit of {limit}")
        self._check(ended, hearing)
        return None

    def _check(self, ended: Completed, hearing: Hearing | Reply) -> None:
        """Set `errored` where the student's command broke."""
        if ended.failure is not None:
            self.errored = f"the student's command could not be run: {ended.failure}"
        elif hearing.fault:
            self.errored = f"the student cannot be understood: {hearing.fault}"
        elif ended.exit != 0:
            last = harmless(ended.stderr.strip().rpartition("\n")[2])[-_REASON_LIMIT:]
            how = (
                f"was ended by signal {-ended.exit}"
                if ended.exit and ended.exit < 0
                else f"ended with status {ended.exit}"
            )
            said = f"the student's command {how}" + (f": {last}" if last else "")
            if self._played.on_error == "score":
                self.notes[f"{said[0].upper()}{said[1:]}."] = None
            else:
                self.errored = said

    def _handed_in(self, step: StepSpec, folder: str) -> Mapping[str, Submission]:
        found = self._student.hand_in(step, folder)
        try:
            self._keep(step, found)
        except Missing as error:
            self.notes[f"{error.reason}."] = None  # nothing that is judged depends on it
        return found

    def _ended(self, number: int, judged: StepJudged, *, began: bool = True) -> StepJudged:
        """Write down what a step came to."""
        match judged.outcome:
            case Unmeasured(category, reason):
                self._add(ErrorEvent(exception_type="UnmeasuredError", message=f"{category}: {reason}"))
            case Skipped() | None:
                pass
            case outcome:
                self._add(ScoringEvent(scoring=_scoring(outcome)))
                if began:
                    self._add(StepCompletedEvent(step=number))
        return judged

    def _evidence(self, step: StepProgram) -> Evidence:
        run = Transcript(run_id=self._played.run_id, events=list(self._events))
        record = record_of_run(run, step.wants)
        return Evidence(record, params=self._values, steps=known_steps(self.judged), run=run)

    def _status(self) -> Literal["passed", "failed", "error"]:
        total = task_score(self._program.spec.score, self.judged, self._values, self.errored)
        return "error" if total.passed is None else "passed" if total.passed else "failed"

    def _say(self, role: Literal["system", "user", "assistant"], text: str) -> None:
        self._add(MessageAddedEvent(message=Message(role=role, content=text)))

    def _add(self, event: Event) -> None:
        self._events.append(event)
        self._write(event)


def _scoring(outcome: Measurement | Misbehavior) -> Scoring:
    if isinstance(outcome, Misbehavior):
        return Scoring(0.0, _data({**outcome.metadata, "misbehavior": outcome.reason}), False)
    return Scoring(outcome.score, _data({"reason": outcome.reason, **outcome.metadata}), outcome.passed)


def _data(metadata: Mapping[str, object]) -> dict[str, object]:
    return {str(plain(key)): plain(value) for key, value in metadata.items()}
