"""The outside world as small Protocols. `services/` implements them; tests hand in strict fakes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.model_port import Models


class FileFacts(Struct, frozen=True):
    """One entry of a folder, looked at without following a link.

    `kind` is what stands there, `size_bytes` and `mode` (permission bits) belong to a regular file. `link` is the
    path of the first link on the way, the last name included.
    """

    kind: Literal["file", "folder", "link", "other"]
    size_bytes: int = 0
    mode: int = 0
    link: str = ""


class ByteStream(Protocol):
    """An open file, read from the front, or from where `seek` went."""

    def read(self, size_bytes: int, /) -> bytes:
        """The next `size_bytes`, or fewer; nothing only at the end. Raises OSError."""
        ...

    def seek(self, offset_bytes: int, /) -> object:
        """Go to that byte, counted from the front. Raises OSError."""
        ...


class Files(Protocol):
    """Reading files. Nothing here creates, changes or follows out of the folder it was given."""

    def read(self, path: str, limit_bytes: int | None = None) -> bytes:
        """The file's bytes, at most `limit_bytes` + 1 of them. Raises OSError."""
        ...

    def lines(self, path: str, limit_bytes: int | None = None) -> AbstractContextManager[Iterator[bytes]]:
        """The file's lines, split at the newline byte only and holding it. Raises OSError.

        One that is longer than `limit_bytes` comes in pieces, each but its last of `limit_bytes` + 1 and without a
        newline: so memory is bounded by the limit, and without one by the longest line.

        Refuses (OSError) what is not a regular file, so that a FIFO never hangs a reader.
        """
        ...

    def open(self, path: str) -> AbstractContextManager[ByteStream]:
        """A regular file. Raises OSError, and at once for a FIFO, a device or a folder."""
        ...

    def stands(self, path: str, *, folder: bool) -> bool:
        """Whether a regular file (or a folder) stands at `path`; links are followed. False when nobody can tell."""
        ...

    def lies_within(self, folder: str, path: str) -> bool:
        """Whether `path` lies below `folder`, whatever links lead to either."""
        ...

    def within(self, root: str, path: str) -> FileFacts | None:
        """What stands at the relative `path` below `root`; None when nothing does.

        No link is followed, not even one in the middle: the first one met is what is found, and `link` names
        it. Raises OSError when the machine refuses to tell.
        """
        ...

    def link_within(self, root: str, path: str) -> str:
        """What the link at `path` below `root` says, as it says it. Raises OSError, also for what is no link."""
        ...

    def read_within(self, root: str, path: str, limit_bytes: int) -> bytes:
        """The bytes of a regular file below `root`, opened part by part without following links. Raises OSError."""
        ...


class Command(Struct, frozen=True):
    """A program to run: an argument array, never a shell.

    `environment` is all that it sees of one, beside the variables of our own that `inherit` names. `stdin` is what
    it can read. `output_limit_bytes` caps what is kept of each of stdout and stderr: its beginning and its end, with
    a note between them that says how much was thrown away. `odd_bytes` says what becomes of output that is not
    UTF-8: `replace` puts a sign in its place, `escape` keeps it as surrogate escapes, as the os module does. `user`
    is the number of the user it runs as, with a group of the same number and no others; None: our own. From a moment
    after its start no file that it writes grows beyond `file_limit_bytes`: throw-away folders may lie in memory, which
    one file could fill. `watch` is given everything that it prints on stdout, piece by piece, and says whether it may
    go on. `until` is a descriptor: as soon as anything can be read there the program is stopped.
    """

    argv: Sequence[str]
    cwd: str
    timeout_s: float
    environment: Mapping[str, str]
    output_limit_bytes: int = 1024 * 1024
    inherit: Sequence[str] = ()
    stdin: bytes = b""
    odd_bytes: Literal["replace", "escape"] = "replace"
    user: int | None = None
    file_limit_bytes: int | None = None
    watch: Callable[[bytes], bool] | None = None
    until: int | None = None


class Completed(Struct, frozen=True):
    """How a program ended.

    `exit` is the exit status, negative for a signal, and None when it never ran, or was stopped by its time limit, by
    whoever watched it or because it was to end (`stopped`). `failure` says why it could not be started, `failure_name`
    which error of the operating system it was. `machine_failed`: the fault was the machine's, which was short of
    something or lost how it ended; it says nothing of the program. Output is decoded with replacement.
    """

    exit: int | None
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool = False
    stopped: bool = False
    failure: str | None = None
    failure_name: str = ""
    machine_failed: bool = False
    stdout_cut: bool = False
    stderr_cut: bool = False


class Processes(Protocol):
    """Running programs."""

    def run(self, command: Command) -> Completed:
        """Run to the end or to the time limit, then kill what it left running. Never raises for the program."""
        ...


class Git(Protocol):
    """Reading a git repository. Every method raises GitError, and never reads a failure as "nothing there"."""

    def top(self, folder: str) -> str:
        """The top folder of the work tree that `folder` lies in."""
        ...

    def resolve(self, repository: str, ref: str) -> str:
        """The full object id of the commit that `ref` names."""
        ...

    def tree_of(self, repository: str, commit: str) -> str:
        """The object id of a commit's tree."""
        ...

    def changes(self, repository: str, base: str) -> Sequence["Change"]:
        """What differs between the commit `base` and the work tree: tracked, untracked and ignored files."""
        ...

    def diff(self, repository: str, base: str, limit_bytes: int) -> str:
        """The textual change from `base` to the work tree, cut at `limit_bytes`."""
        ...

    def commits_beside(self, repository: str, base: str) -> Sequence["Leftover"]:
        """What else of history the repository holds than `base` and its ancestors, whether or not anything names it.

        Commits and whole packs or repositories that git would not list; alternates and submodules are looked into.
        """
        ...

    def objects_beside(self, repository: str, commits: Sequence[str]) -> Sequence["Leftover"]:
        """The files and folders in the object store that belong to none of these commits and not to the index."""
        ...

    def checkout(self, repository: str, commit: str, folder: str) -> None:
        """Write the files of `commit` into the empty `folder`, touching neither the work tree nor the index.

        `folder` becomes a repository of its own, its HEAD at that commit, which borrows the objects of `repository`.
        """
        ...

    def separate(self, repository: str, folder: str) -> None:
        """Give `folder`, a copy of the work tree `repository`, its own `.git` where the copy's only points elsewhere.

        So no command that runs in the copy can reach the original's index, branches or HEAD.
        """
        ...


class GitError(Exception):
    """git could not tell: no repository, no such commit, a broken index, no git, no permission, no time."""


class NotARepository(GitError):
    """There is no git repository in that folder."""


class UnknownCommit(GitError):
    """The repository can be read, and the name stands for no commit in it."""


class Change(Struct, frozen=True):
    """One path that differs from the base commit.

    `status` is added, modified, deleted, renamed, untracked or ignored; `previous` is a renamed path's old name.
    `added` and `removed` count lines; None for a binary file and for what is no file. Names that are not UTF-8 are
    kept as surrogate escapes, as the os module does.
    """

    path: str
    status: str
    added: int | None
    removed: int | None
    previous: str | None = None
    old_mode: int | None = None
    new_mode: int | None = None


class Leftover(Struct, frozen=True):
    """Something in a git folder beside one commit's history.

    `kind` is commit, file, folder, pack or repository; `name` its full object id, or its path. `made_s` is when it was
    made, in seconds since 1970: a commit's committer date, else when it was written to the disk; None where nobody can
    tell. `refs` are the names that lead straight to a commit.
    """

    kind: Literal["commit", "file", "folder", "pack", "repository"]
    name: str
    made_s: int | None = None
    refs: tuple[str, ...] = ()


class Patterns(Protocol):
    """Regular-expression search with a time limit."""

    def search(self, pattern: "SearchPattern", text: str, limit_s: float) -> tuple[int, int] | None:
        """The first match's start and end in `text`, or None. Raises TimeoutError, leaving nothing running behind."""
        ...


class SearchPattern(Protocol):
    """What a search needs to know of a pattern."""

    @property
    def text(self) -> str:
        """The pattern as written."""
        ...

    @property
    def flags(self) -> str:
        """The letters of its flags, such as `im`."""
        ...

    @property
    def engine(self) -> Literal["python", "re2"]:
        """Whose meaning it has."""
        ...


class Clock(Protocol):
    """Time."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


class Workspaces(Protocol):
    """Throw-away folders."""

    def copy_of(self, folder: str) -> AbstractContextManager[str]:
        """A private copy of `folder` (links copied as links, no special files), removed at the end. Raises OSError."""
        ...

    def fresh(self, *, small: bool = False) -> AbstractContextManager[str]:
        """A private empty folder, removed at the end. Raises OSError.

        `small`: what will stand in it is small, and it may lie in memory.
        """
        ...

    def take_over(self, source: str, folder: str, wanted: Callable[[str], bool]) -> None:
        """Make every `wanted` path of `folder` what it is in `source`, deleting what is not there. Raises OSError.

        Only throw-away folders are written to. The top folder's `.git` is never taken.
        """
        ...


class Tables(Protocol):
    """SQL over one row, and nothing else within its reach."""

    def score(self, expression: str, row: Mapping[str, object]) -> float:
        """The finite number that an expression gives for a row. Raises Missing in `harness` where there is none."""
        ...


class Chance(Protocol):
    """What nobody can foresee."""

    def token(self) -> str:
        """32 hex digits, drawn anew."""
        ...


class Code(Protocol):
    """Code of a harness's own that a rule file names."""

    def load(self, use: str) -> Callable[..., object]:
        """The class that `module:Class` names. Raises Missing in `harness`."""
        ...


class Ports(Struct, frozen=True):
    """The outside world, handed to whatever measures.

    `code` is None where no code that a rule file names may run. `deadline_s` is the moment on `clock` at which the rule
    being measured runs out of its `timeout`.
    """

    files: Files
    processes: Processes
    git: Git
    patterns: Patterns
    clock: Clock
    workspaces: Workspaces
    models: Models
    chance: Chance
    deadline_s: float | None = field(default=None)
    code: Code | None = field(default=None)
    tables: Tables | None = field(default=None)

    def until(self, deadline_s: float | None) -> "Ports":
        """The same ports under the nearer of two deadlines."""
        if deadline_s is None or (self.deadline_s is not None and self.deadline_s <= deadline_s):
            return self
        return replace(self, deadline_s=deadline_s)

    def time_left(self, limit_s: float) -> float:
        """The seconds a piece of work may take: its own limit or what is left of the rule's, never below 0."""
        if self.deadline_s is None:
            return limit_s
        return max(0.0, min(limit_s, self.deadline_s - self.clock.monotonic_s()))
