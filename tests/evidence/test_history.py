"""What a repository holds beside its base commit's history, wherever git keeps it, and what the session made itself."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import IDENTITY, commit, git, repository

from rulebook.errors import Missing
from rulebook.evidence.history import strange_history
from rulebook.evidence.record import Record
from rulebook.evidence.repository import Origin, Repository
from rulebook.ports import Leftover
from rulebook.services.ports import machine_ports

PORTS = machine_ports()
START, END = 1_700_000_000, 1_700_000_600


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    repository(tmp_path / "tree", {"a.py": "1\n"})
    return tmp_path / "tree"


def head(tree: Path) -> str:
    return git(tree, "rev-parse", "HEAD").strip()


def strange(tree: Path, base: str, record: Record | None = None, origin: Origin = "project") -> list[Leftover]:
    return list(strange_history(Repository(str(tree), origin, PORTS.files, PORTS.git, base), record))


def kinds(found: list[Leftover]) -> list[str]:
    return [left.kind for left in found]


def session(**facts: object) -> Record:
    return Record(first_ms=START * 1000 + 900, last_ms=END * 1000, **facts)  # type: ignore[arg-type]


def committed_at(tree: Path, seconds: int, text: str) -> str:
    (tree / "a.py").write_text(text)
    dates = {"GIT_COMMITTER_DATE": f"{seconds} +0000", "GIT_AUTHOR_DATE": f"{seconds} +0000"}
    words = ["git", *IDENTITY, "commit", "--quiet", "--all", "--message=x"]
    subprocess.run(words, cwd=tree, env={**os.environ, **dates}, check=True)
    return head(tree)


def branch(tree: Path) -> None:
    git(tree, "checkout", "--quiet", "-b", "future")
    commit(tree, {"a.py": "solved\n"})
    git(tree, "checkout", "--quiet", "main")


def packed_tag(tree: Path) -> None:
    branch(tree)
    git(tree, "tag", "--annotate", "--message=v2", "v2", "future")
    git(tree, "branch", "--quiet", "-D", "future")
    git(tree, "pack-refs", "--all")
    git(tree, "gc", "--quiet")


def only_a_reflog(tree: Path) -> None:
    commit(tree, {"a.py": "solved\n"})
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")


def nothing_leads_there(tree: Path) -> None:
    only_a_reflog(tree)
    git(tree, "reflog", "expire", "--expire=now", "--all")
    (tree / ".git/ORIG_HEAD").unlink()


def stash(tree: Path) -> None:
    (tree / "a.py").write_text("solved\n")
    git(tree, "stash", "--quiet")


def worktree(tree: Path) -> None:
    git(tree, "worktree", "add", "--quiet", "--detach", str(tree.parent / "other"))
    commit(tree.parent / "other", {"a.py": "solved\n"})


def alternate(tree: Path) -> None:
    git(tree.parent, "clone", "--quiet", str(tree), "other")
    commit(tree.parent / "other", {"a.py": "solved\n"})
    (tree / ".git/objects/info/alternates").write_text(f"{tree.parent}/other/.git/objects\n")


def remote_branch(tree: Path) -> None:
    branch(tree)
    git(tree, "update-ref", "refs/remotes/origin/main", "future")
    git(tree, "branch", "--quiet", "-D", "future")


def older_history(tree: Path) -> None:
    git(tree, "checkout", "--quiet", "--orphan", "aside")
    commit(tree, {"a.py": "solved\n"})
    git(tree, "checkout", "--quiet", "main")


def grafted(tree: Path) -> None:
    """History that is made to look like the base commit's own."""
    branch(tree)
    git(tree, "replace", "--graft", "main", "future")
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/grafts").write_text(f"{head(tree)} {git(tree, 'rev-parse', 'future')}")


@pytest.mark.parametrize(
    "make",
    [
        branch, packed_tag, only_a_reflog, nothing_leads_there, stash, worktree, alternate, remote_branch,
        older_history, grafted,
    ],
)  # fmt: skip
def test_attack_history_that_could_be_copied_from(tree: Path, make: Callable[[Path], None]) -> None:
    base = head(tree)
    assert strange(tree, base) == []
    make(tree)
    assert set(kinds(strange(tree, base))) == {"commit"}


def test_the_names_that_lead_there_are_told_and_come_first(tree: Path) -> None:
    base = head(tree)
    nothing_leads_there(tree)  # the newest of the three
    git(tree, "checkout", "--quiet", "-b", "future")
    committed_at(tree, START, "in a way\n")
    committed_at(tree, START + 1, "in another way\n")
    git(tree, "tag", "v2", "future")
    git(tree, "tag", "--annotate", "--message=v1", "v1", "future~1")
    found = strange(tree, base)
    assert [left.refs for left in found] == [("refs/heads/future", "refs/tags/v2"), ("refs/tags/v1",), ()]


def test_the_history_before_the_base_is_its_own(tree: Path) -> None:
    commit(tree, {"a.py": "2\n"})
    git(tree, "tag", "v1", "HEAD~1")
    assert strange(tree, head(tree)) == []
    assert kinds(strange(tree, git(tree, "rev-parse", "HEAD~1").strip())) == ["commit"]


def test_a_shallow_clone_of_the_base_is_all_there_is(tree: Path, tmp_path: Path) -> None:
    commit(tree, {"a.py": "2\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tree}", "shallow")
    assert strange(tmp_path / "shallow", head(tree)) == []


def test_what_was_committed_during_the_session_is_its_own(tree: Path) -> None:
    base = head(tree)
    committed_at(tree, START, "2\n")
    committed_at(tree, END, "3\n")
    assert strange(tree, base, session()) == []
    late = committed_at(tree, END + 1, "4\n")
    assert [left.name for left in strange(tree, base, session())] == [late]


@pytest.mark.parametrize("seconds", [START - 1, END + 1])
def test_what_was_committed_before_or_after_is_not(tree: Path, seconds: int) -> None:
    base = head(tree)
    committed_at(tree, seconds, "2\n")
    assert kinds(strange(tree, base, session())) == ["commit"]


def test_without_times_every_other_commit_counts(tree: Path) -> None:
    base = head(tree)
    committed_at(tree, START, "2\n")
    assert kinds(strange(tree, base, Record())) == ["commit"]
    assert kinds(strange(tree, base, session(carries=frozenset(("messages",))))) == ["commit"]


def test_what_the_harness_parked_is_the_sessions_own(tree: Path) -> None:
    base = head(tree)
    parked = committed_at(tree, END + 60, "2\n")
    git(tree, "update-ref", "refs/chock/S1", parked)
    git(tree, "reset", "--quiet", "--hard", base)
    assert strange(tree, base, session(session_id="S1")) == []
    assert kinds(strange(tree, base, session(session_id="S2"))) == ["commit"]
    (tree.parent / "out").mkdir()
    PORTS.git.checkout(str(tree), parked, str(tree.parent / "out"))
    assert strange(tree.parent / "out", base, session(session_id="S2"), "session ref") == []


def loose(tree: Path, seconds: int) -> None:
    (tree / "b").write_text("solved\n")
    name = git(tree, "hash-object", "-w", "b").strip()
    os.utime(tree / ".git/objects" / name[:2] / name[2:], (seconds, seconds))
    (tree / "b").unlink()


def test_objects_of_no_commit_are_told_by_their_time(tree: Path) -> None:
    base = head(tree)
    loose(tree, START + 1)
    assert strange(tree, base, session()) == []
    loose(tree, START - 1)
    assert kinds(strange(tree, base, session())) == ["file"]
    loose(tree, END + 1)
    with pytest.raises(Missing, match="1 object belongs to no commit") as caught:
        strange(tree, base, session())
    assert caught.value.category == "fixture"
    assert kinds(strange(tree, base)) == ["file"]


def test_what_is_staged_and_what_is_empty_is_no_history(tree: Path) -> None:
    base = head(tree)
    (tree / "staged").write_text("s\n")
    git(tree, "add", "staged")
    (tree / "none").write_text("")
    git(tree, "hash-object", "-w", "none")
    assert strange(tree, base) == []


@pytest.mark.parametrize("name", ["tmp_pack_x1", "pack-1.pack"])
def test_attack_a_pack_that_git_does_not_list(tree: Path, name: str) -> None:
    base = head(tree)
    (tree / ".git/objects/pack").mkdir(exist_ok=True)
    (tree / ".git/objects/pack" / name).write_bytes(b"PACK")
    found = strange(tree, base, session())
    assert kinds(found) == ["pack"]
    assert found[0].name.endswith(name)


@pytest.fixture
def with_submodule(tree: Path, tmp_path: Path) -> Path:
    repository(tmp_path / "library", {"lib.c": "int x;\n"})
    git(tree, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    commit(tree, {})
    return tree


def test_a_submodule_is_looked_into(with_submodule: Path) -> None:
    base = head(with_submodule)
    assert strange(with_submodule, base) == []
    commit(with_submodule / "lib", {"lib.c": "int solved;\n"})
    assert kinds(strange(with_submodule, base)) == ["commit"]


def test_attack_a_repository_hidden_in_the_git_folder(with_submodule: Path) -> None:
    base = head(with_submodule)
    git(with_submodule, "clone", "--quiet", "--bare", str(with_submodule / "lib"), ".git/modules/spare")
    assert kinds(strange(with_submodule, base)) == ["repository"]


@pytest.mark.parametrize("damage", ["missing base", "broken objects", "broken index", "no repository"])
def test_a_git_that_cannot_tell_is_no_clean_history(tree: Path, damage: str) -> None:
    base = head(tree)
    if damage == "missing base":
        base = "1" * 40
    elif damage == "broken objects":
        for item in (tree / ".git/objects").glob("??/*"):
            item.chmod(0o644)
            item.write_bytes(b"junk")
    elif damage == "broken index":
        (tree / ".git/index").write_bytes(b"junk" * 10)
    else:
        (tree / ".git/HEAD").unlink()
    with pytest.raises(Missing) as caught:
        strange(tree, base)
    assert caught.value.category == "fixture"
