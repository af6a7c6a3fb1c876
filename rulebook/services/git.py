"""Reading git repositories by running git."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence

from rulebook.ports import Change, GitError, Leftover, Processes, UnknownCommit
from rulebook.services.git_changes import changes_since, diff_since
from rulebook.services.git_history import commits_beside, objects_beside
from rulebook.services.git_private import borrow, lay_out, store_of
from rulebook.services.git_proof import prove
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns
from rulebook.services.workspaces import copy_as_it_stands


class MachineGit:
    """The git of this machine. Each method runs a few git processes."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def top(self, folder: str) -> str:
        """The top folder of the work tree that `folder` lies in. Raises GitError."""
        runs = GitRuns(self._processes, folder, look_above=True)
        return runs.output("rev-parse", "--show-toplevel").removesuffix("\n")

    def resolve(self, repository: str, ref: str) -> str:
        """The full object id of a commit. Raises UnknownCommit when it is not there, else GitError.

        What looks like an id, or its beginning, is one: a branch or a tag of that name is not believed.
        """
        runs = GitRuns(self._processes, repository)
        shallow = runs.output("rev-parse", "--is-shallow-repository").strip() == "true"
        found = None
        if ref and "\0" not in ref:
            found = runs.answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if found is None or (_ID.fullmatch(ref) and not found.startswith(ref.lower())):
            why = "; it is a shallow clone, without its older commits" if shallow else ""
            raise UnknownCommit(f"`{ref}` names no commit in `{repository}`{why}")
        return found.strip()

    def tree_of(self, repository: str, commit: str) -> str:
        """The object id of a commit's tree. Raises GitError, also when the commit is not what its id says."""
        full = self.resolve(repository, commit)
        text = GitRuns(self._processes, repository).output("cat-file", "commit", full)
        content = text.encode(errors="surrogateescape")
        digest = hashlib.new("sha1" if len(full) == 40 else "sha256", b"commit %d\0" % len(content) + content)
        if digest.hexdigest() != full:
            raise GitError(f"the object `{full}` of the commit `{full}` is damaged or forged")
        return text.partition("\n")[0].removeprefix("tree ")

    def changes(self, repository: str, base: str) -> Sequence[Change]:
        """What differs between `base` and the files that stand there. Raises GitError."""
        return changes_since(self._processes, repository, self.resolve(repository, base))

    def diff(self, repository: str, base: str, limit_bytes: int) -> str:
        """The change since `base` as text, new files included. Raises GitError."""
        return diff_since(self._processes, repository, self.resolve(repository, base), limit_bytes)

    def commits_beside(self, repository: str, base: str) -> Sequence[Leftover]:
        """All history that the repository holds beside that of `base`, whether or not anything names it.

        Raises GitError.
        """
        return commits_beside(self._processes, repository, self.resolve(repository, base))

    def objects_beside(self, repository: str, commits: Sequence[str]) -> Sequence[Leftover]:
        """The files and folders in the object store that belong to none of these commits and not to the index.

        `commits` are full object ids. Raises GitError.
        """
        return objects_beside(self._processes, repository, commits)

    def checkout(self, repository: str, commit: str, folder: str) -> None:
        """Write the files of `commit` into the empty `folder`, a repository of its own. Raises GitError."""
        full = self.resolve(repository, commit)
        store, own = store_of(GitRuns(self._processes, repository)), os.path.join(folder, ".git")
        try:
            lay_out(own, store, full)
            runs = GitRuns(self._processes, folder, {"GIT_DIR": own, "GIT_WORK_TREE": os.path.realpath(folder)})
            prove(runs, own, full)
            runs.output("read-tree", full, limit_s=WORK_LIMIT_S)
            runs.output("checkout-index", "--all", "--index", "--force", limit_s=WORK_LIMIT_S)
            borrow(own, store)
        except OSError as error:
            raise GitError(f"`{folder}` cannot be written to: {error.strerror}") from error

    def separate(self, repository: str, folder: str) -> None:
        """Replace the pointer `.git` of a copied worktree by a git folder of its own. Raises GitError."""
        pointer = os.path.join(folder, ".git")
        try:
            if not os.path.lexists(pointer) or stat.S_ISDIR(os.lstat(pointer).st_mode):
                return
            os.unlink(pointer)
            runs = GitRuns(self._processes, repository)
            store, head = store_of(runs), self.resolve(repository, "HEAD")
            lay_out(pointer, store, head)
            asked = ("rev-parse", "--path-format=absolute")
            homes = runs.output(*asked, "--git-dir", "--git-common-dir").splitlines()
            for name in ("index", "packed-refs", "refs"):
                original = runs.output(*asked, "--git-path", name).removesuffix("\n")
                if os.path.dirname(original) not in homes:  # a link may lead to any folder of this machine
                    raise GitError(f"the `{name}` of the git folder of `{repository}` lies elsewhere")
                place = os.path.join(pointer, name)
                if os.path.isdir(place):
                    os.rmdir(place)
                copy_as_it_stands(original, place)
        except OSError as error:
            raise GitError(f"`{folder}` cannot be made a repository: {error.strerror}") from error


_ID = re.compile("[0-9a-fA-F]{4,64}")
