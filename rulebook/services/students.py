"""A command as the student: run step by step in a folder of its own, as somebody else, and relieved of its work."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rulebook.errors import EvidenceError, MisbehaviorError, UsageError
from rulebook.evidence.submission import Submission
from rulebook.ports import Command, Completed, Files, Processes
from rulebook.services.collecting import collected
from rulebook.services.custody_permission import permit, permit_user
from rulebook.services.custody_processes import kill_processes
from rulebook.services.custody_reclaim import TIMEOUT_S, delete_files
from rulebook.services.custody_sweep import Patience
from rulebook.services.sandboxes import INSIDE, bounded, confined, is_seen, refuse_hiding
from rulebook.services.student_users import FORGET, claimed, spare_uids
from rulebook.services.workspaces import remove_folder, throw_away
from rulebook.spec.steps import StepSpec
from rulebook.terminal import cut, harmless

Isolation = Literal["sandbox", "user", "none"]

OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024
"""How much of a reply in plain text is kept."""

_COMMON = ("/tmp", "/var/tmp", "/dev/shm")
"""Where every user may leave files."""
_TRIAL_S = 60.0
_FORGET_S = 60.0
_SAID_COLUMNS = 300


class StudentCommand(Struct, frozen=True):
    """A command that plays the student, and how far it is kept apart from us.

    `user`: the number of the user it runs as. In a sandbox it is one that nobody has, where we are root and none is
    named. `shown` are absolute paths that it sees in the sandbox, `network` whether it reaches beyond it, `passed` the
    names of variables of ours that it is given. `outside_container`: its user's processes and files may go here too.
    """

    argv: tuple[str, ...]
    isolation: Isolation = "sandbox"
    user: int | None = None
    network: bool = False
    shown: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    outside_container: bool = False


class Student:
    """The student of one run. Every step finds a fresh folder, and nothing of the step before goes on."""

    def __init__(self, command: StudentCommand, place: str, processes: Processes, files: Files) -> None:
        self._command, self._place = command, place
        self._processes, self._files = processes, files
        self._steps = 0
        self._folder = ""

    @property
    def folder(self) -> str:
        """The path by which the student knows its folder, from `begin` on."""
        return INSIDE if self._command.isolation == "sandbox" else self._folder

    def begin(self, on_the_way: Sequence[str] = ()) -> None:
        """Make the folder of the next step, and in it the folders on the way to what is to be handed in."""
        self._steps += 1
        self._folder = os.path.join(self._place, f"step-{self._steps}")
        self._own_folder(self._folder)
        for inner in on_the_way:
            self._own_folder(os.path.join(self._folder, inner))
        if self._command.user is not None:
            forget = (sys.executable, "-I", "-S", "-c", FORGET, str(self._command.user))
            self._processes.run(Command(forget, "/", _FORGET_S, {}))

    def work(
        self, told: bytes, environment: Mapping[str, str], limit_s: float, watch: Callable[[bytes], bool] | None = None
    ) -> Completed:
        """Let the student work in its folder until it ends; `told` is what it can read. Never raises for it."""
        home = {"HOME": self.folder, "LANG": "C.UTF-8", "PATH": _path(self._command), **environment}
        argv, user = bounded(self._command.argv), self._command.user
        if self._command.isolation == "sandbox":
            network, shown = self._command.network, self._command.shown
            argv, user = confined(argv, self._folder, user=user, network=network, shown=shown), None
        return self._processes.run(
            Command(
                argv,
                self._folder,
                limit_s,
                home,
                output_limit_bytes=OUTPUT_LIMIT_BYTES,
                inherit=self._command.passed,
                stdin=told,
                user=user,
                watch=watch,
            )
        )

    def leave(self) -> None:
        """Remove the step's folder with all that is in it."""
        remove_folder(self._folder)

    def hand_in(self, step: StepSpec, keep: str) -> Mapping[str, Submission]:
        """End what the student still runs, and save what it hands in below `keep`; nothing else of it stays.

        Raises what `collected`, `kill_processes` and `delete_files` raise.
        """
        command, owner = self._command, os.geteuid() if self._command.user is None else self._command.user
        if command.isolation != "user" or command.user is None:
            found = self._collected(step, keep, owner)
            self.leave()
            return found
        patience, places = Patience(TIMEOUT_S), [self._place, *_COMMON]
        wanted = [os.path.join(self._folder, each.path) for each in step.submissions]
        asked = command.outside_container
        kill_processes(command.user, outside_container=asked)
        delete_files(command.user, places, extend_exclude=wanted, patience=patience, outside_container=asked)
        found = self._collected(step, keep, owner)
        delete_files(command.user, places, patience=patience, outside_container=asked)
        return found

    def _collected(self, step: StepSpec, keep: str, owner: int) -> Mapping[str, Submission]:
        try:
            return collected(step, self._folder, keep, self._files, owner=owner)
        except MisbehaviorError as tried:
            reason = tried.reason.replace(self._folder, self.folder)  # the path that the student was told
            raise MisbehaviorError(reason, listing=tried.listing, metadata=tried.metadata) from None

    def _own_folder(self, path: str) -> None:
        os.mkdir(path, 0o700)
        if self._command.user is not None:
            os.chown(path, self._command.user, self._command.user)


@contextmanager
def student_of(command: StudentCommand, processes: Processes, files: Files) -> Iterator[Student]:
    """The student that `command` makes; its folders are gone at the end.

    Raises UsageError for a command that cannot be run, a sandbox that cannot be made, and a user who is another run's
    student at this moment; NotAllowedHere for a user that it must not be.
    """
    command = _checked(command)
    with ExitStack() as until_the_end:
        if command.user is not None:
            until_the_end.enter_context(claimed((command.user,)))
        elif command.isolation == "sandbox" and os.geteuid() == 0:
            command = replace(command, user=until_the_end.enter_context(claimed(spare_uids())))
        place = until_the_end.enter_context(throw_away())
        if command.isolation == "user" and command.user is not None:
            os.chmod(place, 0o711)  # so that its user gets through to its own folder
            _check_way(place)
            _clear_before(command)
            until_the_end.callback(_clear, command)
        if command.isolation == "sandbox":
            _try_sandbox(Student(replace(command, argv=("true",)), place, processes, files))
        yield Student(command, place, processes, files)


def _checked(command: StudentCommand) -> StudentCommand:
    """The same command with its program found, once it is sure that it may be run so."""
    user = command.user
    match command.isolation:
        case "none":
            user = None
        case "user":
            permit(-1 if user is None else user, outside_container=command.outside_container)
        case "sandbox" if user is not None:
            permit_user(user)
        case "sandbox":
            pass
    absent = [name for name in command.passed if name not in os.environ]
    if absent:
        raise UsageError(f"There is no variable `{absent[0]}` to hand to the student: set it, or leave it out.")
    found = replace(command, argv=_found(command), user=user)
    if command.isolation == "sandbox":
        for path in command.shown:
            refuse_hiding(path)
        confined(found.argv, "/")
        if not is_seen(found.argv[0], command.shown):
            raise UsageError(
                f"`{found.argv[0]}` is not seen in the sandbox: add `--show FOLDER`, the folder that holds it and "
                "all that it needs; links are followed to their ends."
            )
    return found


def _clear(command: StudentCommand) -> None:
    """End whatever its user runs, and remove what it left where every user may leave files."""
    if command.user is not None:
        kill_processes(command.user, outside_container=command.outside_container)
        delete_files(command.user, _COMMON, outside_container=command.outside_container)


def _clear_before(command: StudentCommand) -> None:
    """The same before the run: one that was killed could not do it afterwards. Raises UsageError."""
    try:
        _clear(command)
    except EvidenceError as error:
        raise UsageError(f"User {command.user} cannot be the student: {error}.") from None


def _try_sandbox(trial: Student) -> None:
    """Run a program that does nothing. Raises UsageError where the sandbox cannot be made: no student is to blame."""
    trial.begin()
    ended = trial.work(b"", {}, _TRIAL_S)
    trial.leave()
    if ended.exit != 0:
        said = harmless(ended.stderr.strip().rpartition("\n")[2]) or ended.failure or "it says nothing"
        raise UsageError(
            f"The sandbox cannot be made on this machine: {cut(said, _SAID_COLUMNS)}. Choose `--uid NUMBER` or "
            "`--no-isolation`, or let programs make namespaces here."
        )


def _found(command: StudentCommand) -> tuple[str, ...]:
    """The command with its program's absolute path."""
    if not command.argv:
        raise UsageError("The student's command is empty: write `--student 'PROGRAM WORDS…'`.")
    program = shutil.which(command.argv[0], path=_path(command))
    if program is None:
        raise UsageError(f"The student's command `{command.argv[0]}` is not there, or may not be run.")
    return (os.path.abspath(program), *command.argv[1:])


def _path(command: StudentCommand) -> str:
    return os.environ.get("PATH", os.defpath) if command.isolation != "sandbox" else "/usr/local/bin:/usr/bin:/bin"


def _check_way(place: str) -> None:
    """Raise UsageError where another user cannot get to `place`."""
    above = os.path.dirname(place)
    while above != "/":
        if not os.stat(above).st_mode & stat.S_IXOTH:
            raise UsageError(
                f"The student's folder lies in `{tempfile.gettempdir()}`, and no other user gets through `{above}`: "
                "set TMPDIR to a folder that everybody may enter."
            )
        above = os.path.dirname(above)
