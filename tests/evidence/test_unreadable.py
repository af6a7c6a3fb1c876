"""The ways in which a git that cannot be read could look like one that found no change: each is unmeasured."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from repositories import commit, git, repository

from rulebook.checks import kind_named
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.repository import Repository
from rulebook.interpreter.evaluate import measured
from rulebook.outcome import Unmeasured
from rulebook.ports import Command, Completed, Ports
from rulebook.services.git import MachineGit
from rulebook.services.ports import machine_ports

RULES: list[tuple[str, dict[str, object]]] = [
    ("changes", {"never": ["tests/**"]}),
    ("changes", {"only_history": True}),
    ("expr", {"formula": "not repository.dirty"}),
    ("contains", {"from": {"diff": True}, "expected": "evil"}),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    repository(tmp_path / "tree", {"a.py": "1\n"})
    commit(tmp_path / "tree", {"a.py": "2\n"})
    return tmp_path / "tree"


def outcomes(tree: Path, base: str | None, ports: Ports | None = None) -> list[Any]:
    """What each rule makes of the tree; every one would pass, or fail, where git can be read."""
    ports = ports or machine_ports()
    found = []
    for kind, options in RULES:
        check = kind_named(kind).model_validate(options)
        tree_of = Repository(str(tree), "project", ports.files, ports.git, base)
        found.append(measured(check, check.owner(), Evidence(tree=tree_of), ports))
    return found


def head(tree: Path) -> str:
    return git(tree, "rev-parse", "HEAD").strip()


def unmeasured(tree: Path, base: str | None, words: str, ports: Ports | None = None) -> None:
    for outcome in outcomes(tree, base, ports):
        assert isinstance(outcome, Unmeasured), outcome
        assert outcome.category == "fixture"
        assert words in outcome.reason


def test_where_git_can_be_read_they_are_measured(tree: Path) -> None:
    base = head(tree)
    assert [outcome.passed for outcome in outcomes(tree, base)] == [True, True, True, False]
    commit(tree, {"a.py": "evil\n", "tests/t.py": "t\n"})
    assert [outcome.passed for outcome in outcomes(tree, base)] == [False, False, False, True]


def test_a_base_commit_that_is_not_there(tree: Path) -> None:
    unmeasured(tree, "1" * 40, "names no commit")
    unmeasured(tree, None, "no base commit is known")


def test_a_shallow_clone(tree: Path, tmp_path: Path) -> None:
    base = git(tree, "rev-parse", "HEAD~1").strip()
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tree}", "shallow")
    unmeasured(tmp_path / "shallow", base, "shallow clone")


def test_a_broken_index(tree: Path) -> None:
    base = head(tree)
    (tree / ".git/index").write_bytes(b"junk" * 10)
    unmeasured(tree, base, "index that cannot be read")


def test_no_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = head(tree)
    monkeypatch.setenv("PATH", "/nowhere")
    unmeasured(tree, base, "`git` is not installed")


class Slow:
    """Processes of which none comes to an end."""

    def run(self, command: Command) -> Completed:
        return Completed(None, "", "", command.timeout_s, timed_out=True)


def test_no_time(tree: Path) -> None:
    ports = machine_ports()
    slow = replace(ports, processes=Slow(), git=MachineGit(Slow()))
    unmeasured(tree, head(tree), "took longer than", slow)


def test_a_git_that_stops_halfway_through_its_answer(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints no change and then fails: what it printed counts for nothing."""
    base = head(tree)
    (tree / "a.py").write_text("evil\n")
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    real = git(tree, "--exec-path").strip()
    fake.write_text(f'#!/bin/sh\ncase " $* " in *" diff "*|*" rev-list "*) exit 128;; esac\nexec {real}/git "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    unmeasured(tree, base, "git")


@pytest.mark.parametrize("place", [".git", ".git/objects", ".git/index"])
def test_no_permission(tree: Path, tmp_path: Path, place: str) -> None:
    base = head(tree)
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o755)
    before = (tree / place).stat().st_mode
    (tree / place).chmod(0)
    try:
        assert in_a_child(lambda: unmeasured(tree, base, "read"))
    finally:
        (tree / place).chmod(before)


def in_a_child(ask: Callable[[], None]) -> bool:
    """Whether a user without rights, in a process of its own, finds that it holds."""
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            ask()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
