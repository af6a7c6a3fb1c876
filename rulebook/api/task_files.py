"""Tasks of rule files, as a harness holds them in its own loop."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from rulebook.api.step_judge import StepJudge
from rulebook.api.task_probe import ProbeReport
from rulebook.errors import UsageError
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.evidence.submission import Submission
from rulebook.expression.task_program import StepProgram, TaskProgram
from rulebook.outcome import Outcome, Skipped
from rulebook.ports import Ports
from rulebook.report.task_report import render_task, task_report
from rulebook.report.task_scores import StepJudged, TaskJudged, TaskScore, known_steps
from rulebook.services.collecting import collected, fresh_copies
from rulebook.services.students import Isolation, StudentCommand
from rulebook.session.instructing import instructions_of, system_prompt_of
from rulebook.session.opening import open_session
from rulebook.session.played import OnError, Played, Speaks
from rulebook.session.playing import play_task, run_files
from rulebook.session.step_judging import judged_step
from rulebook.session.task_probing import Probing, probe_task
from rulebook.session.task_scoring import Recorded, case_named, score_task, step_named, task_params

AnyPath = str | os.PathLike[str]


class TaskReport:
    """What recorded work came to under a task."""

    def __init__(self, judged: TaskJudged) -> None:
        self._judged = judged

    @property
    def total(self) -> TaskScore:
        """The score of the run, whether it passed, and what it has when it could not be measured."""
        return self._judged.total

    @property
    def passed(self) -> bool | None:
        """Whether every step that was not skipped passed; None when it could not be measured."""
        return self.total.passed

    @property
    def score(self) -> float | None:
        """The score of the run; None, never 0, when it could not be measured."""
        return self.total.score

    @property
    def steps(self) -> tuple[StepJudged, ...]:
        """What each step came to, in order."""
        return self._judged.steps

    def as_dict(self) -> dict[str, object]:
        """The report as plain data: `rulebook.task-report`, version 1."""
        return task_report(self._judged)

    def __str__(self) -> str:
        return render_task(self._judged)


class StepRules:
    """One step of a task file, for one case and one student.

    In a harness's loop: give the student `instructions`; when it is done and its processes are ended, call
    `pre_scoring_hook`; then `judged` says what the step came to, and whether the run goes on.
    """

    def __init__(
        self,
        program: StepProgram,
        params: Mapping[str, object],
        folder: str,
        before: Sequence[StepJudged],
        ports: Ports,
    ) -> None:
        self.params, self.folder = params, folder
        self._program, self._before, self._ports = program, tuple(before), ports
        self._handed_in: Mapping[str, Submission] | None = None

    @property
    def name(self) -> str:
        """The step's name."""
        return self._program.spec.name

    @property
    def instructions(self) -> str:
        """What the student is told, its hints too when the parameter `use_hints` is true."""
        return instructions_of(self._program.spec, self.params, self.folder)

    @property
    def submission_paths(self) -> tuple[Path, ...]:
        """Where the student writes what it hands in, in the order of the file."""
        return tuple(Path(self.folder, each.path) for each in self._program.spec.submissions)

    @property
    def saved_submissions(self) -> Mapping[str, Path]:
        """The saved copies by name; nothing stands at the path of one that was not handed in.

        Raises UsageError before `pre_scoring_hook`.
        """
        return {name: Path(each.path) for name, each in self._collected().items()}

    def pre_scoring_hook(self) -> None:
        """Take what was handed in into custody, in a fresh folder below `$RULEBOOK_HOME/submissions`.

        Raises MisbehaviorError for what looks like tampering or breaks a limit: the step then scores 0.
        """
        self._handed_in = collected(self._program.spec, self.folder, fresh_copies(), self._ports.files)

    @property
    def judge(self) -> StepJudge:
        """The step's rules as a judge of a transcript in memory; submissions that were not taken yet are taken then."""
        return StepJudge(self.name, self._outcome)

    def judged(self, transcript: Evidence | AnyPath) -> StepJudged:
        """What the step comes to over a session, named by its id or its path, or over evidence held in memory.

        Submissions that were not taken yet are taken now; misbehaviour there is the step's outcome. Raises UsageError
        for a session that is not there.
        """
        evidence = transcript if isinstance(transcript, Evidence) else self._evidence(os.fspath(transcript))
        evidence = replace(evidence, params=self.params, steps=known_steps(self._before), _document=None)
        return judged_step(self._program, evidence, self._taken, self._ports)

    def _outcome(self, transcript: Transcript) -> Outcome:
        judged = self.judged(Evidence(record_of_run(transcript, self._program.wants), run=transcript))
        return judged.outcome or Skipped(f"the step `{self.name}` was not reached")

    def _taken(self) -> Mapping[str, Submission]:
        if self._handed_in is None:
            self.pre_scoring_hook()
        return self._collected()

    def _collected(self) -> Mapping[str, Submission]:
        if self._handed_in is None:
            raise UsageError(f"The submissions of the step `{self.name}` are not saved yet: call `pre_scoring_hook`.")
        return self._handed_in

    def _evidence(self, session: str) -> Evidence:
        opened = open_session(session, self._program.wants, self._ports.files)
        if not opened.audit.accepted:
            raise UsageError(f"`{session}` cannot be judged: {opened.audit.reason}.")
        return Evidence(opened.record)


class TaskRules:
    """A `rulebook.task` file, compiled."""

    def __init__(self, path: str, program: TaskProgram, ports: Ports) -> None:
        self.path = path
        self._program, self._ports = program, ports

    @property
    def name(self) -> str:
        """What people call it."""
        return self._program.spec.name

    @property
    def step_names(self) -> tuple[str, ...]:
        """The names of its steps, in order."""
        return tuple(step.spec.name for step in self._program.steps)

    @property
    def case_names(self) -> tuple[str, ...]:
        """The names of its cases; none when it has no cases."""
        return tuple(case.name for case in self._program.spec.cases)

    def system_prompt(self, *, params: Mapping[str, object] | None = None, case: str | None = None) -> str | None:
        """What the student is told before any step; None when nothing. Raises UsageError as `step` does."""
        return system_prompt_of(self._program.spec, self._values(params, case))

    def step(
        self,
        name: str,
        *,
        params: Mapping[str, object] | None = None,
        case: str | None = None,
        folder: AnyPath = "",
        before: Sequence[StepJudged] = (),
    ) -> StepRules:
        """The step called `name`, its parameters set by `case` and `params`.

        `folder` is where the student works (the current folder, if none is given), `before` what the steps before this
        one came to. Raises UsageError for a step, a case or a parameter that there is not.
        """
        program, values = step_named(self._program, name), self._values(params, case)
        return StepRules(program, values, os.path.abspath(folder), before, self._ports)

    def score(
        self,
        transcript: AnyPath,
        submissions: AnyPath | None = None,
        *,
        case: str | None = None,
        step: str | None = None,
        params: Mapping[str, object] | None = None,
    ) -> TaskReport:
        """Score recorded work, as `rulebook task score` does: the whole task, or the one `step`.

        Raises UsageError for what is not there, and AuditGapError for a session that cannot be verified.
        """
        recorded = Recorded(os.fspath(transcript), None if submissions is None else os.fspath(submissions))
        judged = score_task(self._program, recorded, self._ports, case=case, only=step, params=params)
        return TaskReport(judged)

    def probe(
        self,
        *,
        case: str | None = None,
        step: str | None = None,
        params: Mapping[str, object] | None = None,
        oracle: AnyPath | None = None,
        oracle_transcript: AnyPath | None = None,
        folder: AnyPath | None = None,
        allow: float = 0.0,
        ask_models: bool = False,
        strict: bool = False,
    ) -> ProbeReport:
        """Play students who misbehave against the judges, as `rulebook task probe` does: all cases and steps, or one.

        Raises UsageError for what is not there, and AuditGapError for an oracle's session that cannot be verified.
        """
        how = Probing(
            case=case,
            step=step,
            params=params or {},
            allow=allow,
            oracle=None if oracle is None else os.fspath(oracle),
            oracle_transcript=None if oracle_transcript is None else os.fspath(oracle_transcript),
            folder=None if folder is None else os.fspath(folder),
            ask_models=ask_models,
            strict=strict,
        )
        return ProbeReport(probe_task(self._program, how, self._ports))

    def run(
        self,
        student: Sequence[str],
        *,
        case: str | None = None,
        params: Mapping[str, object] | None = None,
        speaks: Speaks = "text",
        on_error: OnError = "unmeasured",
        isolation: Isolation = "sandbox",
        user: int | None = None,
        network: bool = False,
        show: Sequence[AnyPath] = (),
        pass_env: Sequence[str] = (),
        outside_container: bool = False,
        transcript: AnyPath | None = None,
        save_artifacts: bool = True,
    ) -> TaskReport:
        """Play the task with the command `student`, a list of words, as `rulebook task run` does.

        `isolation` is `sandbox`, `user` (it runs as the user of the number `user`) or `none`. The transcript is written
        to a new file, in the store where `transcript` names none; the report says where. Raises UsageError for what
        cannot be done.
        """
        shown = tuple(os.path.abspath(path) for path in show)
        command = StudentCommand(tuple(student), isolation, user, network, shown, tuple(pass_env), outside_container)
        played = Played(case, params or {}, speaks, on_error)
        path = None if transcript is None else os.fspath(transcript)
        files = run_files(self._ports, path, artifacts=save_artifacts)
        return TaskReport(play_task(self._program, command, played, files, self._ports))

    def _values(self, params: Mapping[str, object] | None, case: str | None) -> dict[str, object]:
        return task_params(self._program.spec, case_named(self._program.spec, case), params or {})
