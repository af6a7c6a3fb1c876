"""The resulting repository of a session: files, the base commit, and what changed since."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct, field

from rulebook.errors import Missing, NotHandedIn
from rulebook.ports import Change, FileFacts, Files, Git, GitError, Leftover

Origin = Literal["project", "workspace", "session ref", "fixture"]

_MOST_LINKS = 40


class Repository(Struct):
    """A folder with the session's final state, read without following links and without changing anything.

    `origin` says which of the possible trees it is; `base` is the full object id of the base commit, None
    where none is known (`no_base` then says why). `digests` holds the SHA-256 of each file that was read, and under ""
    of the list of changes, since it was last cleared.
    """

    root: str
    origin: Origin
    files: Files
    git: Git
    base: str | None = None
    no_base: str = "no base commit is known"
    digests: dict[str, str] = field(default_factory=dict)
    _changes: Sequence[Change] | Missing | None = None

    def facts(self, path: str) -> FileFacts | None:
        """What stands at `path`, or the first link on the way; None when nothing does.

        Raises Missing in `fixture` when the machine refuses to tell.
        """
        try:
            return self.files.within(self.root, path)
        except OSError as error:
            raise _unreadable(path, error) from error

    def present(self, path: str) -> bool:
        """Whether anything stands at `path`, a dangling link too.

        A link on the way that leads out of the repository counts: behind it there may be anything.
        """
        facts = self.facts(path)
        if facts is None or facts.kind != "link" or facts.link == path:
            return facts is not None
        above, _, name = path.rpartition("/")
        place, outside = self._followed(above)
        return bool(outside) or (place is not None and self.facts(f"{place}/{name}".lstrip("/")) is not None)

    def absence(self, path: str) -> str:
        """Why nothing of the repository stands at `path`, in words; empty when something does.

        Links may lead there, as long as they stay inside. A pipe, a socket or a device is nothing of the repository's.
        """
        facts = self.facts(path)
        if facts is None:
            return "it is not there"
        if facts.kind != "link":
            return in_words(facts, path) if facts.kind == "other" else ""
        place, outside = self._followed(path)
        if outside:
            return f"`{outside}` is a link that leads out of the repository"
        there = self.facts(place) if place else None
        if place is None or (place and there is None):
            return f"`{facts.link}` is a link that leads to nothing"
        return f"behind a link {in_words(there, place)}" if there is not None and there.kind == "other" else ""

    def read(self, path: str, limit_bytes: int, *, cut: bool = False) -> bytes:
        """A regular file's bytes; with `cut` the first ones of a file that is larger than the limit.

        Raises NotHandedIn when it is not there, not a regular file or larger than the limit.
        """
        facts = self.facts(path)
        if facts is None:
            raise NotHandedIn(f"`{path}` is not there", cause="absent")
        if facts.kind != "file":
            raise NotHandedIn(f"`{path}` is not a regular file: {in_words(facts, path)}", cause="excess")
        if facts.size_bytes > limit_bytes and not cut:
            raise NotHandedIn(f"`{path}` has {facts.size_bytes} bytes; at most {limit_bytes} are read", cause="excess")
        try:
            data = self.files.read_within(self.root, path, limit_bytes)[:limit_bytes]
        except OSError as error:
            raise _unreadable(path, error) from error
        self.digests[path] = sha256(data).hexdigest()
        return data

    def changes(self) -> Sequence[Change]:
        """What differs from the base commit, looked up once. Raises Missing in `fixture` when git cannot tell."""
        base = self.based()
        if self._changes is None:
            try:
                self._changes = self.git.changes(self.root, base)
            except GitError as error:
                self._changes = Missing("fixture", str(error))
        if isinstance(self._changes, Missing):
            raise self._changes
        self.digests[""] = sha256(repr(self._changes).encode("utf-8", "backslashreplace")).hexdigest()
        return self._changes

    def commits_beside(self) -> Sequence[Leftover]:
        """The history that is there beside the base commit's. Raises Missing in `fixture` when git cannot tell."""
        base = self.based()
        try:
            return self.git.commits_beside(self.root, base)
        except GitError as error:
            raise Missing("fixture", str(error)) from error

    def objects_beside(self, commits: Sequence[str]) -> Sequence[Leftover]:
        """What the object store holds beside the base commit's history and that of `commits`.

        Raises Missing in `fixture` when git cannot tell.
        """
        try:
            return self.git.objects_beside(self.root, [self.based(), *commits])
        except GitError as error:
            raise Missing("fixture", str(error)) from error

    def diff(self, limit_bytes: int) -> str:
        """The textual change from the base commit. Raises Missing in `fixture` when git cannot tell."""
        base = self.based()
        try:
            return self.git.diff(self.root, base, limit_bytes)
        except GitError as error:
            raise Missing("fixture", str(error)) from error

    def head(self) -> str:
        """The commit that the tree's HEAD names. Raises Missing in `fixture`."""
        try:
            return self.git.resolve(self.root, "HEAD")
        except GitError as error:
            raise Missing("fixture", str(error)) from error

    def tree(self) -> str:
        """The object id of the base commit's tree. Raises Missing in `fixture`."""
        base = self.based()
        try:
            return self.git.tree_of(self.root, base)
        except GitError as error:
            raise Missing("fixture", str(error)) from error

    def based(self) -> str:
        """The full object id of the base commit. Raises Missing in `fixture` when none is known."""
        if self.base is None:
            raise Missing("fixture", self.no_base)
        return self.base

    def _followed(self, path: str) -> tuple[str | None, str]:
        """Where `path` leads inside the repository (None: in circles), or the link that leads out of it."""
        ahead, passed, links = path.split("/") if path else [], list[str](), 0
        link = path
        while ahead:
            name = ahead.pop(0)
            if name in ("", "."):
                continue
            if name == "..":
                if not passed:
                    return None, link
                passed.pop()
                continue
            here = "/".join([*passed, name])
            facts = self.facts(here)
            if facts is None or facts.kind != "link":
                passed.append(name)
                continue
            links, link = links + 1, here
            target = self._target(here)
            if links > _MOST_LINKS:
                return None, ""
            if target.startswith(self.root.rstrip("/") + "/"):
                passed, target = [], target[len(self.root.rstrip("/")) + 1 :]
            elif target.startswith("/"):
                return None, link
            ahead = target.split("/") + ahead
        return "/".join(passed), ""

    def _target(self, link: str) -> str:
        try:
            return self.files.link_within(self.root, link)
        except OSError as error:
            raise _unreadable(link, error) from error


def in_words(facts: FileFacts, path: str) -> str:
    """What stands at `path`, in the words of a reason: "it is a folder"."""
    match facts.kind:
        case "file":
            return "it is a file"
        case "folder":
            return "it is a folder"
        case "link" if facts.link == path:
            return "it is a link"
        case "link":
            return f"`{facts.link}` is a link"
        case "other":
            return "it is a pipe, a socket or a device"


def _unreadable(path: str, error: OSError) -> Missing:
    return Missing("fixture", f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}")
