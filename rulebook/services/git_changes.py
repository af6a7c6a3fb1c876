"""What differs between a commit and a work tree, told from the files themselves.

The repository's own index is not trusted with it: an entry can be marked "assume unchanged", a nested
repository hides what lies in it, and a filter named in the configuration would run.
"""

import os
import stat
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from rulebook.ports import Change, GitError, Processes
from rulebook.services.git_guard import refuse_waiting
from rulebook.services.git_private import over
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns

MOST_FILE_BYTES = 1024**3
"""No file larger than this is compared: git would read all of it, a hole of terabytes too."""

_LINK, _SUBMODULE = 0o120000, 0o160000
_READ_BY_GIT = (".gitignore", ".gitattributes")
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "-M")
_STATUSES = {"A": "added", "D": "deleted", "M": "modified", "T": "modified", "R": "renamed", "C": "added"}


class _Found(Struct):
    """A work tree: files and links by path with their git modes, and what git has no word for."""

    files: dict[str, int]
    strange: list[str]
    submodules: list[str]


def changes_since(processes: Processes, repository: str, base: str) -> list[Change]:
    """Every path that differs from `base`, sorted; submodules are looked into. Raises GitError."""
    with over(processes, repository, base) as runs:
        committed = _entries(runs)
        found = _found(repository, committed)
        _add(runs, found, committed, base)
        said = runs.output(*_DIFF, "--raw", "--numstat", "-z", base, "--", limit_s=WORK_LIMIT_S)
    tracked, ignored = _known_to_git(GitRuns(processes, repository))
    changes = [_placed(change, tracked, ignored) for change in _parsed(said)]
    changes += [Change(path, "untracked", None, None) for path in found.strange if path not in committed]
    for path, (mode, commit) in committed.items():
        if mode == _SUBMODULE:
            changes += _in_submodule(processes, repository, path, commit, found)
    return sorted(changes, key=lambda change: change.path)


def diff_since(processes: Processes, repository: str, base: str, limit_bytes: int, prefix: str = "") -> str:
    """The change since `base` as text, new files and submodules included. Raises GitError."""
    with over(processes, repository, base) as runs:
        committed = _entries(runs)
        found = _found(repository, committed)
        _add(runs, found, committed, base)
        sides = (f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}")
        text = runs.excerpt(*_DIFF, *sides, base, "--", limit_bytes=limit_bytes)
    for path in found.strange:
        shown = path if path.isprintable() else path.encode("unicode_escape").decode()
        text += f"Left out: b/{prefix}{shown}, which is no file, link or folder that git can record\n"
    for path in found.submodules:
        inside = os.path.join(repository, path)
        text += diff_since(processes, inside, committed[path][1], limit_bytes, f"{prefix}{path}/")
    return text


def _entries(runs: GitRuns) -> dict[str, tuple[int, str]]:
    """The mode and object id of every path in the index."""
    found: dict[str, tuple[int, str]] = {}
    for entry in runs.output("ls-files", "--stage", "-z").split("\0")[:-1]:
        facts, _, path = entry.partition("\t")
        mode, object_id, _ = facts.split(" ")
        found[path] = (int(mode, 8), object_id)
    return found


def _found(repository: str, committed: Mapping[str, tuple[int, str]]) -> _Found:
    found = _Found({}, [], [])
    try:
        for path, facts in _walk(repository, found, committed):
            if stat.S_ISLNK(facts.st_mode):
                found.files[path] = _LINK
            elif stat.S_ISREG(facts.st_mode):
                found.files[path] = 0o100755 if facts.st_mode & 0o100 else 0o100644
                if facts.st_size > MOST_FILE_BYTES:
                    raise GitError(f"`{path}` has {facts.st_size} bytes; files over 1 GiB are not compared")
            else:
                found.strange.append(path)
                if path.rpartition("/")[2] in _READ_BY_GIT:
                    raise GitError(f"`{path}` is a pipe, a socket or a device: git would wait for it")
    except OSError as error:
        raise GitError(f"`{_shortened(error.filename)}` cannot be read: {error.strerror}") from error
    return found


def _walk(root: str, found: _Found, committed: Mapping[str, tuple[int, str]]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder that is no folder. A nested `.git` is strange; submodules are noted."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(root, below)) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            path = below + entry.name
            if entry.name.lower() == ".git":
                if below:
                    found.strange.append(path)
                    refuse_waiting(os.path.dirname(entry.path))
            elif not entry.is_dir(follow_symlinks=False):
                yield path, entry.stat(follow_symlinks=False)
            elif committed.get(path, (0, ""))[0] == _SUBMODULE and os.path.lexists(f"{entry.path}/.git"):
                found.submodules.append(path)
            else:
                waiting.append(path + "/")


def _shortened(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:100]}…{path[-50:]}"


def _add(runs: GitRuns, found: _Found, committed: Mapping[str, tuple[int, str]], base: str) -> None:
    """Make the private index hold what stands there and the commit lacks, so that one diff tells of everything.

    The object id says nothing: what stands in the file is what is compared. A file whose place a pipe has taken is
    removed, since git fails over it.
    """
    any_id = "1" * len(base)
    new = {path: mode for path, mode in found.files.items() if path not in committed}
    gone = {path: 0 for path in found.strange if committed.get(path, (_SUBMODULE, ""))[0] != _SUBMODULE}
    text = "".join(f"{mode:o} {any_id}\t{path}\0" for path, mode in {**gone, **new}.items())
    if text:
        runs.output("update-index", "-z", "--index-info", stdin=text.encode(errors="surrogateescape"))


def _known_to_git(runs: GitRuns) -> tuple[set[str], set[str]]:
    """The paths in the repository's own index, and those that it ignores (whole folders end in `/`)."""
    tracked = runs.output("ls-files", "-z")
    ignored = runs.output("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    return set(tracked.split("\0")), set(ignored.split("\0"))


def _placed(change: Change, tracked: set[str], ignored: set[str]) -> Change:
    """Tell a new file that was handed to git from one that was not."""
    if change.status != "added" or change.path in tracked:
        return change
    names = change.path.split("/")
    folders = {"/".join(names[:count]) + "/" for count in range(1, len(names))}
    hidden = change.path in ignored or not folders.isdisjoint(ignored)
    return replace(change, status="ignored" if hidden else "untracked")


def _in_submodule(processes: Processes, repository: str, path: str, commit: str, found: _Found) -> list[Change]:
    if path in found.files:  # a file or a link in place of the folder, which the diff leaves out
        return [Change(path, "modified", None, None, None, _SUBMODULE, found.files[path])]
    if path not in found.submodules:
        gone = path in found.strange or not os.path.lexists(os.path.join(repository, path))
        return [Change(path, "deleted", None, None, old_mode=_SUBMODULE)] if gone else []
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
