"""Calling git on a repository that nobody vouches for.

No code of its own runs, nothing is written, nobody is asked for anything.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from rulebook.ports import Command, Completed, GitError, NotARepository, Processes
from rulebook.services.git_guard import refuse_waiting

GIT_LIMIT_S = 30.0
"""How long git may read in somebody else's git folder."""

WORK_LIMIT_S = 120.0
"""How long it may go through the content of whole trees, on what has been looked at before."""

LIST_LIMIT_BYTES = 256 * 1024 * 1024

_OPTIONS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "diff.external=false",
    "gc.auto=0",
    "submodule.recurse=false",
    "protocol.allow=never",
)

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/nonexistent",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
}

_REASONS: tuple[tuple[str, str], ...] = (
    (r"not a git repository", "is not a git repository"),
    (r"must be run in a work tree", "is a bare repository: it has no files to look at"),
    (r"index file|bad signature|index uses|unknown index", "has an index that cannot be read"),
    (r"[Pp]ermission denied", "may not be read by this user"),
    (r"dubious ownership", "belongs to another user"),
    (r"hash mismatch", "has damaged or forged objects"),
    (r"bad tree object|not a tree object|failed to unpack tree", "lacks the tree of that commit"),
    (
        r"unable to read|missing blob|loose object|corrupt|inflate|could not read",
        "has broken or missing objects",
    ),
    (r"repository version|unknown repository extension", "is of a kind that this git does not know"),
)


class GitRuns:
    """git commands on one repository.

    `environment` adds to what git sees, such as a private git folder. `look_above`: the repository may be that
    of a folder above.
    """

    def __init__(
        self,
        processes: Processes,
        repository: str,
        environment: Mapping[str, str] | None = None,
        *,
        look_above: bool = False,
    ) -> None:
        self._processes = processes
        self._folder = os.path.realpath(repository)
        self._environment = dict(environment or {})
        self._look_above = look_above
        self._looked_at = "GIT_DIR" in self._environment  # that one is our own
        self.repository = repository

    def over(self, folder: str) -> "GitRuns":
        """The same private git folder over another work tree."""
        environment = {**self._environment, "GIT_WORK_TREE": os.path.realpath(folder)}
        return GitRuns(self._processes, folder, environment)

    def output(self, *argv: str, stdin: bytes = b"", limit_s: float = GIT_LIMIT_S) -> str:
        """What git prints, complete; bytes that are not UTF-8 as surrogate escapes. Raises GitError."""
        done = self._succeeded(self._done(argv, stdin, LIST_LIMIT_BYTES, "escape", limit_s), argv, limit_s)
        if done.stdout_cut:
            raise GitError(f"`{self.repository}` has more files than can be listed")
        return done.stdout

    def excerpt(self, *argv: str, limit_bytes: int) -> str:
        """What git prints, for reading: cut in its middle at the limit. Raises GitError."""
        return self._succeeded(self._done(argv, b"", limit_bytes, "replace", WORK_LIMIT_S), argv, WORK_LIMIT_S).stdout

    def answer(self, *argv: str) -> str | None:
        """Like `output`; None when git says no (status 1) without a word of complaint. Raises GitError."""
        done = self._done(argv, b"", LIST_LIMIT_BYTES, "escape", GIT_LIMIT_S)
        if done.exit == 1 and not done.stderr.strip():
            return None
        return self._succeeded(done, argv, GIT_LIMIT_S).stdout

    def _succeeded(self, done: Completed, argv: Sequence[str], limit_s: float) -> Completed:
        if done.exit != 0:
            raise self._error(done, argv[0], limit_s)
        return done

    def _done(
        self,
        argv: Sequence[str],
        stdin: bytes,
        limit_bytes: int,
        odd_bytes: Literal["replace", "escape"],
        limit_s: float,
    ) -> Completed:
        if not self._looked_at:
            refuse_waiting(self._folder, look_above=self._look_above)
            self._looked_at = True
        return self._processes.run(
            Command(
                argv=["git", "--no-pager", *self._options(), *argv],
                cwd=self._folder,
                timeout_s=limit_s,
                environment=self._whole_environment(),
                output_limit_bytes=limit_bytes,
                inherit=("PATH",),
                stdin=stdin,
                odd_bytes=odd_bytes,
            )
        )

    def _options(self) -> list[str]:
        safe = [self._folder]
        while self._look_above and (above := os.path.dirname(safe[-1])) != safe[-1]:
            safe.append(above)
        settings = [*_OPTIONS, *(f"safe.directory={folder}" for folder in safe)]
        return [word for setting in settings for word in ("-c", setting)]

    def _whole_environment(self) -> dict[str, str]:
        ceiling = {} if self._look_above else {"GIT_CEILING_DIRECTORIES": os.path.dirname(self._folder)}
        return {**_ENVIRONMENT, **ceiling, **self._environment}

    def _error(self, done: Completed, what: str, limit_s: float) -> GitError:
        name = f"`{self.repository}`"
        if done.failure is not None:
            if not os.path.isdir(self._folder):
                return NotARepository(f"{name} is gone")
            return self._barred() or GitError(f"git cannot run: {done.failure}")
        if done.timed_out:
            return GitError(f"git took longer than {limit_s:g} s over {name}")
        for pattern, reason in _REASONS:
            if re.search(pattern, done.stderr):
                if "not a git" in reason:
                    return self._barred() or NotARepository(f"{name} {reason}")
                return GitError(f"{name} {reason}")
        said = done.stderr.strip().splitlines()
        return GitError(f"git {what} failed in {name}" + (f": {said[-1][:200]}" if said else ""))

    def _barred(self) -> GitError | None:
        """Where the folder or its git folder is closed to us: git says then that there is no repository."""
        for place in ("", ".git", ".git/HEAD", ".git/objects"):
            path = os.path.join(self._folder, place)
            if os.path.lexists(path) and not os.access(path, os.R_OK):
                return GitError(f"`{self.repository}` may not be read by this user")
        return None
