"""Which tree is judged, and against which commit. Source: formats, "The resulting repository"."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from msgspec import Struct

from rulebook.evidence.record import Record
from rulebook.evidence.repository import Origin, Repository
from rulebook.ports import GitError, NotARepository, Ports, UnknownCommit
from rulebook.session.implied import BaseCommit

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class Resulting(Struct, frozen=True):
    """The tree to judge, None where there is none (`reason` says why), and where its session began."""

    repository: Repository | None
    reason: str
    base: BaseCommit


@contextmanager
def resulting_repository(
    project: str | None,
    record: Record,
    fixture: str | None,
    base_commit: str | None,
    store: str,
    ports: Ports,
    *,
    shared: bool = False,
) -> Iterator[Resulting]:
    """The resulting repository of a session, for as long as this lasts.

    In this order: `project`; the session's workspace, when it lies in the folder `store` and is still there;
    a checkout of `refs/chock/<session>` in the fixture; the fixture. `base_commit` is the spec's, None where it
    says none. A fixture that cannot be read is a reason, never passed over. With `shared` the fixture's own tree is no
    session's.
    """
    # the fixture is ours; a name that is only in the project is one that the student could move
    base = base_of(record, base_commit, fixture or project, ports, own=fixture is None)
    if base.resolved is None and fixture is not None and project is not None:
        base = base_of(record, base_commit, project, ports, own=True)
    with ExitStack() as kept:  # a folder costs more than most sessions: it is made when something is checked out

        def fresh() -> str:
            return kept.enter_context(ports.workspaces.fresh())

        try:
            place = _place(project, record, fixture, store, fresh, ports, shared)
        except GitError as error:
            place = str(error)
        if isinstance(place, str):
            yield Resulting(None, place, base)
            return
        root, origin = place
        yield Resulting(Repository(root, origin, ports.files, ports.git, base.known, base.unknown), "", base)


def base_of(
    record: Record, base_commit: str | None, repository: str | None, ports: Ports, *, own: bool = False
) -> BaseCommit:
    """The commit that a session started from, and the one that the spec names, looked up in `repository`.

    A spec that names none means whatever HEAD was then: the log's own commit, where it has one.
    """
    logged = record.workspaces[0].base_commit or None if record.workspaces else None
    asked = base_commit or "HEAD"
    if repository is None:
        return BaseCommit(asked, None, logged, "no repository was given: write `fixture:` or pass `--project`")
    try:
        resolved = ports.git.resolve(repository, base_commit or logged or "HEAD")
    except GitError as error:
        return BaseCommit(asked, None, logged, str(error))
    return BaseCommit(asked, resolved, logged, own=own)


def _place(
    project: str | None,
    record: Record,
    fixture: str | None,
    store: str,
    fresh: Callable[[], str],
    ports: Ports,
    shared: bool,
) -> tuple[str, Origin] | str:
    if project is not None:
        return _folder(project, "project", ports)
    workspace = record.workspaces[-1].path if record.workspaces else ""
    if workspace and ports.files.lies_within(store, workspace) and ports.files.stands(workspace, folder=True):
        return workspace, "workspace"
    if fixture is None:
        return "no repository was given: write `fixture:` or pass `--project`"
    commit = _parked(record.session_id, fixture, ports)
    if commit is None and shared:
        return "several sessions share the fixture, and nothing says what this one left behind"
    if commit is None:
        return _folder(fixture, "fixture", ports)
    folder = fresh()
    ports.git.checkout(fixture, commit, folder)
    return folder, "session ref"


def _folder(path: str, origin: Origin, ports: Ports) -> tuple[str, Origin] | str:
    return (path, origin) if ports.files.stands(path, folder=True) else f"the folder `{path}` is not there"


def _parked(session: str | None, fixture: str, ports: Ports) -> str | None:
    """The commit under which the session's work was left in the fixture, if any. Raises GitError."""
    if session is None or _SESSION_ID.fullmatch(session) is None:
        return None
    try:
        return ports.git.resolve(fixture, f"refs/chock/{session}")
    except (UnknownCommit, NotARepository):
        return None
