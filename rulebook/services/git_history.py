"""What a repository holds beside one commit and its history: all that an agent could have copied from."""

import os
from collections.abc import Iterator, Sequence

from rulebook.ports import GitError, Leftover, Processes
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns

_Kept = dict[str, tuple[str, int]]
_SUBMODULE = "160000"


def commits_beside(processes: Processes, repository: str, base: str) -> list[Leftover]:
    """The commits that are not in the history of `base`, and packs and repositories that git passes over.

    Every object counts, not only what a branch, a tag, a stash or a reflog names. Raises GitError.
    """
    runs = GitRuns(processes, repository)
    known = set(runs.output("rev-list", base, limit_s=WORK_LIMIT_S).split())
    beside = [name for name, (kind, _) in _objects(runs).items() if kind == "commit" and name not in known]
    found = _dated(runs, beside)
    found += [left for folder in _stores(runs) for left in _unlisted_packs(folder)]
    return found + _in_submodules(processes, runs, base)


def objects_beside(processes: Processes, repository: str, commits: Sequence[str]) -> list[Leftover]:
    """The files and folders that belong to none of these commits, to none before them and not to the index.

    What is empty is left out. Raises GitError.
    """
    runs = GitRuns(processes, repository)
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    words = ("rev-list", "--objects", "--no-object-names", "--indexed-objects", "--stdin")
    known = set(runs.output(*words, stdin=asked, limit_s=WORK_LIMIT_S).split())
    kinds = {"blob": "file", "tree": "folder"}
    stores = _stores(runs)
    return [
        Leftover("file" if kind == "blob" else "folder", name, _written(stores, name))
        for name, (kind, size) in _objects(runs).items()
        if kind in kinds and size and name not in known
    ]


def _objects(runs: GitRuns) -> _Kept:
    """The kind and size of every object by name, those of alternates too."""
    form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
    said = runs.output("cat-file", "--batch-all-objects", "--unordered", "--buffer", form, limit_s=WORK_LIMIT_S)
    found: _Kept = {}
    for line in said.splitlines():
        name, kind, size = line.split(" ")
        found[name] = kind, int(size)
    return found


def _dated(runs: GitRuns, commits: list[str]) -> list[Leftover]:
    """These commits, the newest first, with what names them."""
    if not commits:
        return []
    refs: dict[str, list[str]] = {}
    for line in runs.output("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)").splitlines():
        own, peeled, ref = line.split(" ", 2)
        refs.setdefault(peeled or own, []).append(ref)
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    said = runs.output("rev-list", "--no-walk=unsorted", "--timestamp", "--stdin", stdin=asked, limit_s=WORK_LIMIT_S)
    pairs = (line.split(" ") for line in said.splitlines())
    found = [Leftover("commit", name, int(made), tuple(refs.get(name, ()))) for made, name in pairs]
    return sorted(found, key=lambda left: (not left.refs, -(left.made_s or 0), left.name))


def _stores(runs: GitRuns) -> list[str]:
    """The folders that hold the objects: the repository's own, then its alternates."""
    own = runs.output("rev-parse", "--path-format=absolute", "--git-path", "objects").removesuffix("\n")
    said = runs.output("count-objects", "--verbose").splitlines()
    return [own, *(line.removeprefix("alternate: ") for line in said if line.startswith("alternate: "))]


def _written(stores: list[str], name: str) -> int | None:
    """When an object was written, where it has a file of its own."""
    for folder in stores:
        try:
            return int(os.lstat(os.path.join(folder, name[:2], name[2:])).st_mtime)
        except OSError:
            continue
    return None


def _unlisted_packs(store: str) -> Iterator[Leftover]:
    """Packs without an index, and what an interrupted fetch left: git does not see what they hold, others can."""
    folder = os.path.join(store, "pack")
    try:
        names = set(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        raise GitError(f"`{folder}` cannot be read: {error.strerror}") from error
    for name in sorted(names):
        stem, _, ending = name.rpartition(".")
        if name.startswith("tmp_") or (ending == "pack" and f"{stem}.idx" not in names):
            path = os.path.join(folder, name)
            yield Leftover("pack", path, int(os.lstat(path).st_mtime))


def _in_submodules(processes: Processes, runs: GitRuns, base: str) -> list[Leftover]:
    """What the repositories of submodules hold beside their commit, and repositories that belong to none."""
    found: list[Leftover] = []
    looked_at: set[str] = set()
    for path, commit in _submodules(runs, base):
        inside = os.path.join(runs.repository, path)
        if os.path.lexists(os.path.join(inside, ".git")):
            found += _inside(processes, inside, commit, path)
            said = GitRuns(processes, inside).output("rev-parse", "--absolute-git-dir")
            looked_at.add(os.path.realpath(said.removesuffix("\n")))
    modules = runs.output("rev-parse", "--path-format=absolute", "--git-path", "modules").removesuffix("\n")
    for folder, names, _ in os.walk(modules):
        if "objects" in names:
            names[:] = [name for name in names if name == "modules"]
            if os.path.realpath(folder) not in looked_at:
                found.append(Leftover("repository", folder, int(os.lstat(folder).st_mtime)))
    return found


def _submodules(runs: GitRuns, base: str) -> Iterator[tuple[str, str]]:
    for entry in runs.output("ls-tree", "-r", "-z", "--full-tree", base).split("\0")[:-1]:
        facts, _, path = entry.partition("\t")
        mode, _, commit = facts.split(" ")
        if mode == _SUBMODULE:
            yield path, commit


def _inside(processes: Processes, folder: str, commit: str, path: str) -> list[Leftover]:
    try:
        return commits_beside(processes, folder, commit)
    except GitError as error:
        raise GitError(f"the history of the submodule `{path}` cannot be told: {error}") from error
