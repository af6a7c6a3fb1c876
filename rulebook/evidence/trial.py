"""Running a command over the resulting repository, always in a throw-away copy of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.repository import Repository
from rulebook.languages.globs import glob_covers
from rulebook.outcome import Measurement
from rulebook.ports import Command, Completed, GitError, Ports

INHERITED = ("PATH", "HOME", "LANG")
"""The variables of our own that a command sees; no key is among them."""

_TAIL_CHARACTERS = 4000


def run_over(
    repository: Repository, argv: Sequence[str], timeout_s: float, take: Sequence[str], ports: Ports
) -> Completed:
    """Run `argv` in a copy of the repository, or in the base commit with only the paths of `take` taken over.

    Raises NotHandedIn when the program is the student's own and cannot be started; Missing in `fixture` when
    there is no such copy, in `harness` when a program of ours cannot be started, or the machine fails us.
    """
    with _stage(repository, take, ports) as folder:
        done = ports.processes.run(Command(argv, folder, timeout_s, environment={}, inherit=INHERITED))
    if done.failure is not None:
        if done.machine_failed:
            raise Missing("harness", done.failure)
        _not_started(argv[0], done.failure, take)
    return done


def ended(done: Completed, wanted: int, timeout_s: float) -> Measurement:
    """Whether a command ended with the wanted status; one that ran out of time is the student's fault."""
    metadata = {name: text[-_TAIL_CHARACTERS:] for name, text in _printed(done).items() if text}
    if done.timed_out:
        reason = f"it was stopped after {timeout_s:g} s"
        return Measurement(0.0, False, reason, f"exit {wanted}", "out of time", metadata, student_fault=True)
    passed = done.exit == wanted
    reason = "" if passed else _last_line(done)
    actual = f"exit {done.exit}" if done.exit is None or done.exit >= 0 else killed_by(-done.exit)
    return Measurement(float(passed), passed, reason, f"exit {wanted}", actual, metadata)


def killed_by(number: int) -> str:
    """The signal that ended a program, by its name where it has one."""
    import signal  # only a command that was killed pays for its names

    try:
        return f"killed by {signal.Signals(number).name}"
    except ValueError:
        return f"killed by signal {number}"


@contextmanager
def _stage(repository: Repository, take: Sequence[str], ports: Ports) -> Iterator[str]:
    """The copy to run in. What goes wrong with it is never the student's fault."""
    try:
        with _base(repository, take, ports) if take else _whole(repository, ports) as folder:
            yield folder
    except OSError as error:
        raise Missing("fixture", f"the repository cannot be copied: {error.strerror or error}") from error
    except GitError as error:
        raise Missing("fixture", f"the base commit cannot be checked out: {error}") from error


@contextmanager
def _whole(repository: Repository, ports: Ports) -> Iterator[str]:
    with ports.workspaces.copy_of(repository.root) as folder:
        with suppress(GitError):  # then the copy has no `.git` at all: better than one that points to the original
            ports.git.separate(repository.root, folder)
        yield folder


@contextmanager
def _base(repository: Repository, take: Sequence[str], ports: Ports) -> Iterator[str]:
    with ports.workspaces.fresh() as folder:
        ports.git.checkout(repository.root, repository.based(), folder)
        ports.workspaces.take_over(repository.root, folder, lambda path: _taken(path, take))
        yield folder


def _taken(path: str, take: Sequence[str]) -> bool:
    return any(glob_covers(pattern, path) for pattern in take)


def _not_started(program: str, failure: str, take: Sequence[str]) -> None:
    """Say whose fault it is: the student could have spoiled a program named by a path into the tree."""
    if "/" not in program or program.startswith("/"):
        raise Missing("harness", failure)
    if take and not _taken(program.removeprefix("./"), take):
        raise Missing("fixture", f"in the base commit {failure}")
    raise NotHandedIn(failure, cause="absent")


def _printed(done: Completed) -> Mapping[str, str]:
    return {"stdout": done.stdout, "stderr": done.stderr}


def _last_line(done: Completed) -> str:
    for text in _printed(done).values():
        if text.strip():
            return text.strip().splitlines()[-1].strip()[:500]
    return "it printed nothing"
