"""A task played with a command as the student: the transcript and the artifacts are kept, the student is ended."""

import os
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from rulebook.errors import UsageError
from rulebook.evidence.run_events import Event
from rulebook.expression.task_program import TaskProgram
from rulebook.ports import Ports
from rulebook.report.task_scores import TaskJudged
from rulebook.services.clock import unix_ms
from rulebook.services.custody_artifacts import artifact_folder, keep_handed_in
from rulebook.services.store import new_session_id, store_folder
from rulebook.services.students import StudentCommand, student_of
from rulebook.services.transcript_log import TranscriptLog
from rulebook.session.played import Played
from rulebook.session.task_running import run_task
from rulebook.session.task_scoring import case_named, task_params

_NOT_APART = "The student ran without isolation: it could have read the answers, or changed what was judged."


class RunFiles(Struct, frozen=True):
    """Where a run leaves what it leaves. `save_artifacts`: what was handed in is kept beside the transcript."""

    run_id: str
    transcript_file: str
    save_artifacts: bool = True

    @property
    def artifacts(self) -> str:
        """The folder of what was handed in, made when it is first asked for."""
        return str(artifact_folder(self))


def run_files(ports: Ports, transcript: str | None, *, artifacts: bool = True) -> RunFiles:
    """The files of a new run: its transcript at `transcript`, or in the store's folder `runs`."""
    run_id = new_session_id(unix_ms(), bytes.fromhex(ports.chance.token()))
    path = transcript or os.path.join(store_folder(), "runs", f"{run_id}.jsonl")
    return RunFiles(run_id, os.path.abspath(path), artifacts)


def play_task(
    program: TaskProgram,
    command: StudentCommand,
    played: Played,
    files: RunFiles,
    ports: Ports,
    heard: Callable[[Event], None] | None = None,
) -> TaskJudged:
    """Play the task; `heard` is told each event once it is written.

    Raises UsageError for a command that cannot be run, a transcript that is there already, and what `run_task` raises.
    """
    task_params(program.spec, case_named(program.spec, played.case), played.params)  # before anything is written
    if command.isolation == "sandbox":
        _refuse_to_show((program.spec.document.file, files.transcript_file), command.shown)
    told = {"student": list(command.argv), "isolation": command.isolation}
    notes = (_NOT_APART,) if command.isolation == "none" else ()
    played = replace(played, run_id=files.run_id, transcript=files.transcript_file, told=told, notes=notes)
    with student_of(command, ports.processes, ports.files) as student, _opened(files) as log:

        def write(event: Event) -> None:
            try:
                log.append(event)
            except OSError as error:
                raise _unwritten(files, error) from None
            if heard is not None:
                heard(event)

        return run_task(
            program, student, played, ports, write, lambda step, handed_in: keep_handed_in(files, step, handed_in)
        )


def _opened(files: RunFiles) -> TranscriptLog:
    path = files.transcript_file
    try:
        return TranscriptLog(path, files.run_id)
    except FileExistsError:
        raise UsageError(f"`{path}` is there already: a transcript is never written over. Name another file.") from None
    except OSError as error:
        raise _unwritten(files, error) from None


def _unwritten(files: RunFiles, error: OSError) -> UsageError:
    why = (error.strerror or str(error)).lower()
    return UsageError(f"The transcript cannot be written to `{files.transcript_file}`: {why}.")


def _refuse_to_show(answers: Iterable[str], shown: Iterable[str]) -> None:
    """Raise UsageError where one of the files that hold the answers would be shown to the student."""
    for path in shown:
        for each in answers:
            if os.path.commonpath((os.path.realpath(path), os.path.realpath(each))) == os.path.realpath(path):
                raise UsageError(f"Showing `{path}` would show the student `{each}`, with the answers. Show less.")
