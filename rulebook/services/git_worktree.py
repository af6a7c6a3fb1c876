"""What stands in a work tree, told from the files themselves."""

import os
import stat
from collections.abc import Iterator, Mapping

from msgspec import Struct

from rulebook.ports import GitError
from rulebook.services.git_guard import refuse_waiting
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns

MOST_FILE_BYTES = 64 * 1024**2
"""A file that is larger than this, and not as large as it was, is a change that nobody looks into."""

MOST_BYTES = 512 * 1024**2
"""As are all files that are new or have another size, once they are larger than this together."""

LINK, SUBMODULE = 0o120000, 0o160000
_READ_BY_GIT = (".gitignore", ".gitattributes")


class Entry(Struct, frozen=True):
    """A path of a commit: its git mode, its object, and the size of a file, None for a submodule."""

    mode: int
    id: str
    size_bytes: int | None


class Found(Struct):
    """A work tree.

    `files` are files and links by path with their git modes. `strange` is what git has no word for: pipes, sockets,
    devices, git folders within. `large` are files that cannot be what they were and are too large to look into.
    `submodules` are those of the commit that have a git folder.
    """

    files: dict[str, int]
    strange: list[str]
    large: dict[str, int]
    submodules: list[str]


def entries_of(runs: GitRuns, commit: str) -> dict[str, Entry]:
    """Every path of a commit. Raises GitError."""
    found: dict[str, Entry] = {}
    for entry in runs.output("ls-tree", "-r", "-l", "-z", "--full-tree", commit, limit_s=WORK_LIMIT_S).split("\0")[:-1]:
        facts, _, path = entry.partition("\t")
        mode, _, object_id, size = facts.split()
        found[path] = Entry(int(mode, 8), object_id, int(size) if size.isdigit() else None)
    return found


def found_in(repository: str, committed: Mapping[str, Entry]) -> Found:
    """What stands in a work tree whose commit is `committed`. Raises GitError when the machine refuses to tell."""
    found = _Looking(repository, committed)
    try:
        return found.everything()
    except OSError as error:
        raise GitError(f"`{_shortened(error.filename)}` cannot be read: {error.strerror}") from error


class _Looking:
    """One walk over a work tree. Links are not followed."""

    def __init__(self, root: str, committed: Mapping[str, Entry]) -> None:
        self._root, self._committed = root, committed
        self._found = Found({}, [], {}, [])
        self._left = MOST_BYTES

    def everything(self) -> Found:
        for path, facts in self._walk():
            kind, name = stat.S_IFMT(facts.st_mode), path.rpartition("/")[2]
            if kind == stat.S_IFREG:
                self._file(path, facts)
            elif kind == stat.S_IFLNK and name.lower() != ".gitmodules":  # no git takes that one in as a link
                self._found.files[path] = LINK
            elif kind != stat.S_IFLNK and name in _READ_BY_GIT:
                raise GitError(f"`{path}` is a pipe, a socket or a device: git would wait for it")
            else:
                self._found.strange.append(path)
        return self._found

    def _file(self, path: str, facts: os.stat_result) -> None:
        mode = 0o100755 if facts.st_mode & 0o100 else 0o100644
        before = self._committed.get(path)
        if before is None or before.size_bytes != facts.st_size:
            self._left -= facts.st_size
            if facts.st_size > MOST_FILE_BYTES or self._left < 0:
                self._left += facts.st_size
                self._found.large[path] = mode
                return
        self._found.files[path] = mode

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Everything that is no folder; a git folder within is strange, and submodules are left alone."""
        waiting = [""]
        while waiting:
            below = waiting.pop()
            with os.scandir(os.path.join(self._root, below)) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
            for entry in ordered:
                path = below + entry.name
                if path == ".git":
                    continue
                if entry.name.lower() == ".git":
                    self._found.strange.append(path)
                    refuse_waiting(os.path.dirname(entry.path))
                elif not entry.is_dir(follow_symlinks=False):
                    yield path, entry.stat(follow_symlinks=False)
                elif self._is_submodule(path) and os.path.lexists(f"{entry.path}/.git"):
                    self._found.submodules.append(path)
                else:
                    waiting.append(path + "/")

    def _is_submodule(self, path: str) -> bool:
        entry = self._committed.get(path)
        return entry is not None and entry.mode == SUBMODULE


def _shortened(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:100]}…{path[-50:]}"
