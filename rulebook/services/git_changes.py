"""What differs between a commit and a work tree, told from the files themselves.

The repository's own index is not trusted with it: an entry can be marked "assume unchanged", a nested
repository hides what lies in it, and a filter named in the configuration would run.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from rulebook.ports import Change, GitError, Processes
from rulebook.services.git_converted import as_checked_out
from rulebook.services.git_private import over
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns
from rulebook.services.git_worktree import SUBMODULE, Entry, Found, entries_of, found_in

_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "-M")
_STATUSES = {"A": "added", "D": "deleted", "M": "modified", "T": "modified", "R": "renamed", "C": "added"}


class _Sides(Struct):
    """A commit and a work tree, ready to be compared.

    `tree` is the commit's, as a checkout would write its files; `tracked` are the paths in the repository's own index.
    """

    runs: GitRuns
    committed: dict[str, Entry]
    found: Found
    tree: str
    tracked: set[str]


def changes_since(processes: Processes, repository: str, base: str) -> list[Change]:
    """Every path that differs from `base`, sorted; submodules are looked into. Raises GitError."""
    with _compared(processes, repository, base) as sides:
        said = sides.runs.output(*_DIFF, "--raw", "--numstat", "-z", sides.tree, "--", limit_s=WORK_LIMIT_S)
    committed, found = sides.committed, sides.found
    changes = [*_parsed(said), *_large(found, committed)]
    ignored = _ignored(_own(processes, repository))
    changes = [_placed(change, sides.tracked, ignored) for change in changes]
    changes += [Change(path, "untracked", None, None) for path in found.strange if path not in committed]
    for path, entry in committed.items():
        if entry.mode == SUBMODULE:
            changes += _in_submodule(processes, repository, path, entry.id, found)
    return sorted(changes, key=lambda change: change.path)


def diff_since(processes: Processes, repository: str, base: str, limit_bytes: int, prefix: str = "") -> str:
    """The change since `base` as text, new files and submodules included. Raises GitError."""
    with _compared(processes, repository, base) as sides:
        names = (f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}")
        text = sides.runs.excerpt(*_DIFF, *names, sides.tree, "--", limit_bytes=limit_bytes)
    for path in sides.found.strange:
        text += f"Left out: b/{prefix}{_shown(path)}, which is no file, link or folder that git can record\n"
    for path in sides.found.large:
        text += f"Left out: b/{prefix}{_shown(path)}, which is too large to be looked into\n"
    for path in sides.found.submodules:
        inside = os.path.join(repository, path)
        text += diff_since(processes, inside, sides.committed[path].id, limit_bytes, f"{prefix}{path}/")
    return text


@contextmanager
def _compared(processes: Processes, repository: str, base: str) -> Iterator[_Sides]:
    tracked = set(_own(processes, repository).output("ls-files", "-z").split("\0"))
    with over(processes, repository, base) as private:
        runs = private.runs
        committed = entries_of(runs, base)
        found = found_in(repository, committed)
        own: dict[str, str | None] = {path: None for path in found.large if path in committed}
        own = {**as_checked_out(runs, repository, committed, found), **own}
        tree = _with(runs, committed, own) if own else base
        private.compare_bytes()
        _add(runs, found, committed, base)
        yield _Sides(runs, committed, found, tree, tracked)


def _with(runs: GitRuns, committed: dict[str, Entry], own: dict[str, str | None]) -> str:
    """Replace files in the index, None removing them; the tree that it holds then."""
    any_id = "1" * max(len(entry.id) for entry in committed.values())
    lines = (f"{committed[path].mode if name else 0:o} {name or any_id}\t{path}\0" for path, name in own.items())
    runs.output("update-index", "-z", "--index-info", stdin="".join(lines).encode(errors="surrogateescape"))
    return runs.output("write-tree", limit_s=WORK_LIMIT_S).strip()


def _add(runs: GitRuns, found: Found, committed: dict[str, Entry], base: str) -> None:
    """Make the private index hold what stands there and the commit lacks, so that one diff tells of everything.

    The object id says nothing: what stands in the file is what is compared. A file whose place a pipe has taken is
    removed, since git fails over it.
    """
    any_id = "1" * len(base)
    new = {path: mode for path, mode in found.files.items() if path not in committed}
    gone = {path: 0 for path in found.strange if path in committed and committed[path].mode != SUBMODULE}
    text = "".join(f"{mode:o} {any_id}\t{path}\0" for path, mode in {**gone, **new}.items())
    if text:
        runs.output("update-index", "-z", "--index-info", stdin=text.encode(errors="surrogateescape"))


def _large(found: Found, committed: dict[str, Entry]) -> Iterator[Change]:
    for path, mode in found.large.items():
        if path in committed:
            yield Change(path, "modified", None, None, None, committed[path].mode, mode)
        else:
            yield Change(path, "added", None, None, None, None, mode)


def _shown(path: str) -> str:
    return path if path.isprintable() else path.encode("unicode_escape").decode()


def _own(processes: Processes, repository: str) -> GitRuns:
    """git with the repository's own git folder, over this very work tree whatever its configuration says."""
    return GitRuns(processes, repository, {"GIT_WORK_TREE": os.path.realpath(repository)})


def _ignored(runs: GitRuns) -> set[str]:
    """The paths that the repository ignores (whole folders end in `/`)."""
    return set(runs.output("ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0"))


def _placed(change: Change, tracked: set[str], ignored: set[str]) -> Change:
    """Tell a new file that was handed to git from one that was not."""
    if change.status != "added" or change.path in tracked:
        return change
    names = change.path.split("/")
    folders = {"/".join(names[:count]) + "/" for count in range(1, len(names))}
    hidden = change.path in ignored or not folders.isdisjoint(ignored)
    return replace(change, status="ignored" if hidden else "untracked")


def _in_submodule(processes: Processes, repository: str, path: str, commit: str, found: Found) -> list[Change]:
    if path in found.files:  # a file or a link in place of the folder, which the diff leaves out
        return [Change(path, "modified", None, None, None, SUBMODULE, found.files[path])]
    if path not in found.submodules:
        gone = path in found.strange or not os.path.lexists(os.path.join(repository, path))
        return [Change(path, "deleted", None, None, old_mode=SUBMODULE)] if gone else []
    try:
        inside = changes_since(processes, os.path.join(repository, path), commit)
    except GitError as error:
        raise GitError(f"the submodule `{path}` cannot be compared: {error}") from error
    return [
        replace(c, path=f"{path}/{c.path}", previous=f"{path}/{c.previous}" if c.previous else None) for c in inside
    ]


def _parsed(said: str) -> list[Change]:
    """The changes in the output of `git diff --raw --numstat -z`: first every change, then every count."""
    words = iter(said.split("\0"))
    changes: dict[str, Change] = {}
    for word in words:
        if word.startswith(":"):
            old_mode, new_mode, _, _, status = word[1:].split(" ")
            previous = next(words) if status[0] in "RC" else None
            path = next(words)
            modes = int(old_mode, 8) or None, int(new_mode, 8) or None
            changes[path] = Change(path, _STATUSES[status[0]], None, None, previous, *modes)
        elif word:
            added, removed, path = word.split("\t", 2)
            if not path:
                next(words)
                path = next(words)
            if added != "-":
                changes[path] = replace(changes[path], added=int(added), removed=int(removed))
    return list(changes.values())
