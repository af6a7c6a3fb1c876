"""The work of `rulebook task run`, apart from its options."""

import os
import shlex
from argparse import Namespace
from collections.abc import Mapping

from rulebook.cli import output
from rulebook.cli.handing_out import hand_out
from rulebook.cli.task_work import with_task
from rulebook.errors import Missing, UsageError
from rulebook.evidence.run_events import Event, StepStartedEvent
from rulebook.report.task_report import exit_status, headline, render_task, task_report
from rulebook.report.task_scores import TaskJudged
from rulebook.services.sandboxes import is_seen
from rulebook.services.students import Isolation, StudentCommand
from rulebook.session.played import Played
from rulebook.session.playing import RunFiles, play_task, run_files


def play(given: Namespace, params: Mapping[str, str], words: tuple[str, ...]) -> int:
    """Play the task, hand out the report, and give the exit status."""
    program, ports = with_task(given, ())
    files = run_files(ports, given.transcript, artifacts=not given.no_artifacts)
    played = Played(case=given.case, params=params, speaks=given.speaks, on_error=given.on_student_error)
    begun: list[int] = []

    def heard(event: Event) -> None:
        if isinstance(event, StepStartedEvent):
            begun.append(event.step)
            steps = program.steps
            output.say(f"Step {event.step + 1} of {len(steps)}, {steps[event.step].spec.name}: the student works.")

    try:
        judged = play_task(program, _command(given, words), played, files, ports, heard)
    except BaseException:
        if begun:
            output.say(f"What happened so far is in {files.transcript_file}.")
        raise
    hand_out(given, judged, task_report, render_task, headline)
    output.say(f"The transcript is {files.transcript_file}.")
    submissions = _artifacts(files) if _can_be_scored_again(judged) else None
    if submissions is not None:
        case = ("--case", given.case) if given.case else ()
        again = ("rulebook", "task", "score", given.task, *case, "--transcript", files.transcript_file, "--submissions")
        output.say(f"Score it again: {shlex.join((*again, submissions))}")
    return exit_status(judged)


def _can_be_scored_again(judged: TaskJudged) -> bool:
    """Whether the transcript and the artifacts hold all that was judged: not that a student was stopped, or refused."""
    reached = [step for step in judged.steps if step.outcome is not None and step.status != "skipped"]
    return not judged.errored and all(step.trace is not None for step in reached)


def _artifacts(files: RunFiles) -> str | None:
    """The folder of what was handed in; None where nothing is kept, or cannot be, which the report says."""
    try:
        return files.artifacts if files.save_artifacts else None
    except Missing:
        return None


def _command(given: Namespace, words: tuple[str, ...]) -> StudentCommand:
    isolation: Isolation = "none" if given.no_isolation else "sandbox" if given.uid is None else "user"
    shown = tuple(os.path.abspath(path) for path in given.show)
    for path in shown:
        if not os.path.exists(path):
            raise UsageError(f"`--show {path}`: there is nothing.")
    shown += tuple(word for word in words if _is_ours(word) and not is_seen(word, shown))
    return StudentCommand(
        words, isolation, given.uid, given.network, shown, tuple(given.pass_env), given.outside_container
    )


def _is_ours(word: str) -> bool:
    """Whether a word of the command names a file; a link leads to what needs more than itself, and must be shown."""
    return os.path.isabs(word) and os.path.isfile(word) and not os.path.islink(word)
