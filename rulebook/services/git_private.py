"""A git folder of our own over the proven objects of somebody else's commit.

Their configuration, index, hooks and filters stay unread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from rulebook.ports import GitError, Processes
from rulebook.services.git_proof import prove
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns
from rulebook.services.workspaces import throw_away

_CONFIG = """[core]
\trepositoryformatversion = 1
\tfilemode = true
\tbare = false
\tsymlinks = true
\tignorecase = false
\tquotepath = false
\tprotectNTFS = false
\tprotectHFS = false
\tlogallrefupdates = false
\tcommitgraph = false
\tmultipackindex = false
\tfsync = none
"""

_ATTRIBUTES = "* !diff\n"
"""Content tells what is text: a `.gitattributes` could call any file binary and so hide it."""

_NO_ATTRIBUTES = "* !diff -text !crlf !eol -ident !filter !working-tree-encoding\n"
"""Nor is a byte looked past: one could have line endings, encodings and `$Id$` translated before files are compared."""


class Store(Struct, frozen=True):
    """Where a repository keeps its objects, and how their ids are made."""

    objects: str
    format: str


def store_of(runs: GitRuns) -> Store:
    """The object store of a repository, that of the main one for a worktree. Raises GitError."""
    said = runs.output("rev-parse", "--show-object-format", "--path-format=absolute", "--git-path", "objects")
    format, _, objects = said.rstrip("\n").partition("\n")
    if format not in ("sha1", "sha256") or "\n" in objects:
        raise GitError(f"`{runs.repository}` is a repository of a kind that is not known here")
    return Store(objects, format)


def lay_out(folder: str, store: Store, head: str) -> None:
    """Make `folder` a git folder that borrows the objects of `store`, its HEAD at `head`. Raises OSError."""
    for name in ("objects/info", "refs", "info"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    extension = "[extensions]\n\tobjectformat = sha256\n" if store.format == "sha256" else ""
    _write(folder, "config", _CONFIG + extension)
    _write(folder, "HEAD", head + "\n")
    _write(folder, "info/attributes", _ATTRIBUTES)
    borrow(folder, store)


def borrow(folder: str, store: Store) -> None:
    """Let the git folder `folder` find the objects of `store` too, after its own. Raises OSError."""
    _write(folder, "objects/info/alternates", store.objects + "\n")


class Private(Struct, frozen=True):
    """A git folder of our own over somebody's work tree."""

    runs: GitRuns
    folder: str

    def compare_bytes(self) -> None:
        """From now on files are what they are, whatever any attribute says. Raises OSError."""
        _write(self.folder, "info/attributes", _NO_ATTRIBUTES)


@contextmanager
def over(processes: Processes, repository: str, base: str) -> Iterator[Private]:
    """git on the work tree `repository` with a fresh index that holds the commit `base`, proven. Raises GitError."""
    if not os.path.lexists(os.path.join(repository, ".git")):
        GitRuns(processes, repository).output("rev-parse", "--git-dir")  # raises where there is none at all
        raise GitError(f"`{repository}` is a bare repository: it has no files to look at")
    store = store_of(GitRuns(processes, repository))
    try:
        with throw_away() as folder:
            lay_out(folder, store, base)
            runs = GitRuns(processes, repository, {"GIT_DIR": folder, "GIT_WORK_TREE": os.path.realpath(repository)})
            prove(runs, folder, base)
            runs.output("read-tree", base, limit_s=WORK_LIMIT_S)
            yield Private(runs, folder)
    except OSError as error:
        raise GitError(f"no place to look at `{repository}` from: {error.strerror}") from error


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
