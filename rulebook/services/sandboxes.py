"""Confining a program: what it sees of this machine, and how much of it it may take.

The sandbox is bubblewrap's: new user, process, network and other namespaces, no powers, the system's programs
read-only, and one folder to write in. Nothing of ours is in it, so that an answer key beside the rule file cannot be
read.
"""

import os
import resource
import shutil
from collections.abc import Iterable, Iterator, Sequence

from rulebook.errors import UsageError

INSIDE = "/home/student"
"""Where the folder to write in stands in the sandbox, which is also the home of who runs in it."""

MAX_PROCESSES = 2048
MAX_FILE_BYTES = 16 * 1024**3
MAX_MEMORY_FILES_BYTES = 1024**3

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "alternatives", "ca-certificates", "fonts", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "magic", "mime.types", "nsswitch.conf", "passwd", "pki", "protocols", "services", "ssl",
)  # fmt: skip
"""What programs read below /etc; nothing of it is secret."""
_ITS_OWN = (INSIDE, "/proc", "/dev", "/tmp", "/var/tmp")
_NETWORK_SETTINGS = ("hosts", "resolv.conf")


def confined(
    argv: Sequence[str], folder: str, *, user: int | None = None, network: bool = False, shown: Iterable[str] = ()
) -> list[str]:
    """The command that runs `argv` in a sandbox, in `folder`: the only one it can write in, which lies at `INSIDE`.

    `user` is the number of the user it becomes in there, which only root can ask for: who it is otherwise is known by
    another number inside. `shown` are absolute paths of ours that it sees read-only. Raises UsageError where there
    is no bubblewrap.
    """
    bubblewrap = shutil.which("bwrap")  # by our PATH; the student's is another
    if bubblewrap is None:
        raise UsageError(
            "There is no bubblewrap on this machine (`bwrap`), which makes the sandbox. Install it (on Debian and "
            "Ubuntu: `apt-get install bubblewrap`), or choose `--uid NUMBER` or `--no-isolation`."
        )
    words = [bubblewrap, *_apart(user), *(["--share-net"] if network else ["--unshare-net"])]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", *_system(), "--proc", "/proc", "--dev", "/dev"]
    words += [*_way("/etc/settings"), *_way("/var/tmp"), *_way(INSIDE)]
    for name in _SETTINGS + (_NETWORK_SETTINGS if network else ()):
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        words += ["--perms", "1777", "--size", str(MAX_MEMORY_FILES_BYTES), "--tmpfs", place]
    for path in shown:
        words += [*_way(path), "--ro-bind", path, path]
    words += ["--bind", folder, INSIDE, "--remount-ro", "/", "--remount-ro", "/dev"]  # both lie in memory, unbounded
    if user is None:
        return [*words, "--chdir", INSIDE, "--", *argv]
    becoming = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--bounding-set=-all"]
    powers = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    return [*words, *powers, "--", *becoming, "--inh-caps=-all", "--no-new-privs", "env", "-C", INSIDE, *argv]


def _apart(user: int | None) -> list[str]:
    """The namespaces: one of users too, where we are not root and may not make the others without it."""
    words = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "student"]
    return words if user is not None else ["--unshare-user", "--uid", "1000", "--gid", "1000", *words]


def refuse_hiding(path: str) -> None:
    """Raise UsageError where showing that absolute path would lie over what the sandbox is made of."""
    for own in _ITS_OWN:
        if _below(own, os.path.normpath(path)):
            raise UsageError(
                f"`{path}` cannot be shown: it would lie over the sandbox's own `{own}`. Name what is in it."
            )


def is_seen(path: str, shown: Iterable[str]) -> bool:
    """Whether a program at that absolute path can be run in the sandbox."""
    real = os.path.realpath(path)
    roots = (*_SYSTEM, *shown)
    return all(
        any(_below(each, os.path.realpath(root)) or _below(each, root) for root in roots) for each in (path, real)
    )


def bounded(argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` with bounds on processes and on the size of a file, and without core dumps."""
    if shutil.which("prlimit") is None:
        return list(argv)
    bounds = {
        "nproc": _at_most(resource.RLIMIT_NPROC, MAX_PROCESSES),
        "fsize": _at_most(resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        "core": 0,
    }
    return ["prlimit", *(f"--{name}={bound}" for name, bound in bounds.items()), "--", *argv]


def _way(path: str) -> Iterator[str]:
    """Options that make the folders above a path, open to everybody: bubblewrap's own are for root alone."""
    parts = path.split("/")[1:-1]
    for count in range(1, len(parts) + 1):
        above = "/" + "/".join(parts[:count])
        if above not in _SYSTEM:
            yield from ("--perms", "0755", "--dir", above)


def _at_most(limit: int, wanted: int) -> int:
    hard = resource.getrlimit(limit)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)


def _system() -> Iterator[str]:
    """Options that show the system's programs as they stand here: folders, or links into /usr."""
    for path in _SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
