"""Proving that a commit is what its id says.

git believes the name under which it finds an object. Whoever may write to a repository can leave the name and change
what stands behind it, in a loose object or in a pack. So what belongs to a commit is copied, and the copies are given
their names anew, by hashing: whatever was changed has another name then, and is not found.
"""

import os

from rulebook.ports import GitError
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns

_ALL_OF_IT = ("rev-list", "--objects", "--no-object-names", "--no-walk")


def prove(runs: GitRuns, folder: str, commit: str) -> None:
    """Take the objects of `commit` over into `folder`, the git folder of `runs`, and cut it off from all others.

    The history before it is not taken over. Raises GitError when an object is missing or is not what its name says,
    OSError when `folder` cannot be written to. Costs the disk space of a checkout while `folder` stands.
    """
    names = runs.output(*_ALL_OF_IT, commit).encode()
    stem = os.path.join(folder, "objects/pack/pack")
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    made = runs.output("pack-objects", "--quiet", "--window=0", "--compression=0", stem, stdin=names).strip()
    for name in os.listdir(os.path.dirname(stem)):
        if not name.endswith(".pack"):
            os.unlink(os.path.join(os.path.dirname(stem), name))  # the index holds the names that were claimed
    os.unlink(os.path.join(folder, "objects/info/alternates"))
    runs.output("index-pack", f"{stem}-{made}.pack", limit_s=WORK_LIMIT_S)
    _refuse_missing(runs, commit)


def _refuse_missing(runs: GitRuns, commit: str) -> None:
    try:
        found = runs.output(*_ALL_OF_IT, "--missing=print", commit).splitlines()
    except GitError:
        found = [f"?{commit}"]
    for line in found:
        if line.startswith("?"):
            raise GitError(f"the object `{line[1:]}` of the commit `{commit}` is damaged or forged")
