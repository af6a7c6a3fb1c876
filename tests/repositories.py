"""Real git repositories for tests, and listings that show whether anything was touched."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str) -> str:
    """Run git as a user would, without anybody's own configuration."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    return subprocess.run(
        ["git", *IDENTITY, *words], cwd=folder, env=environment, capture_output=True, encoding="utf-8",
        errors="surrogateescape", check=True,
    ).stdout  # fmt: skip


def repository(folder: Path, files: Mapping[str, str]) -> str:
    """Make `folder` a repository with one commit of these files; the commit's id."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder, files)


def commit(folder: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=state")
    return git(folder, "rev-parse", "HEAD").strip()


def listing(folder: Path, *, borrowed: bool = False) -> dict[str, tuple[int, int, int]]:
    """Everything in a folder, itself included, with mode, size and times: equal listings mean that nothing was touched.

    `borrowed`: a git that borrows this one's objects may mark those it uses as fresh, which moves their times alone.
    """
    found = {}
    for place in [folder, *folder.rglob("*")]:
        facts = place.lstat()
        fresh = borrowed and "objects" in place.parts and place.is_file()
        found[str(place)] = (facts.st_mode, facts.st_size, 0 if fresh else facts.st_mtime_ns)
    return found


@contextmanager
def deepened(folder: Path, depth: int) -> Iterator[None]:
    """Folders in folders below `folder`, in the last of them a file; `folder` is gone afterwards.

    They lie deeper than a function can call itself, or than a path can say: pytest itself could not remove them.
    """
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("evil").write_text("x\n")
        os.fchdir(before)
        yield
    finally:
        os.fchdir(before)
        os.close(before)
        subprocess.run(["rm", "-rf", str(folder)], check=True)
