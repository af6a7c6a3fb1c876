"""Reading git repositories: changes are told from the files, nothing is touched, no failure reads as "no change"."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repositories import commit, git, listing, repository

from rulebook.ports import Change, GitError, NotARepository, UnknownCommit
from rulebook.services.git import MachineGit
from rulebook.services.processes import MachineProcesses

GIT = MachineGit(MachineProcesses())
FILES = {
    "a.py": "1\n2\n",
    "long.py": "x = 1\n" * 30,
    "d/e.txt": "e\n",
    "gone.txt": "bye\n",
    ".gitignore": "*.log\nbuild/\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    repository(tmp_path / "tree", FILES)
    return tmp_path / "tree"


def changes(tree: Path, base: str = "HEAD") -> dict[str, Change]:
    return {change.path: change for change in GIT.changes(str(tree), base)}


def test_names_become_full_ids(tree: Path) -> None:
    first = git(tree, "rev-parse", "HEAD").strip()
    git(tree, "tag", "v1")
    git(tree, "tag", "--annotate", "--message=x", "v2")
    commit(tree, {"b": "b"})
    assert GIT.resolve(str(tree), "v1") == GIT.resolve(str(tree), "v2") == GIT.resolve(str(tree), first[:10]) == first
    assert GIT.resolve(str(tree), "refs/heads/main") != first
    assert GIT.tree_of(str(tree), first) == git(tree, "rev-parse", f"{first}^{{tree}}").strip()
    assert GIT.top(str(tree / "d")) == str(tree)


@pytest.mark.parametrize("ref", ["nope", "--all", "-h", "", "a" * 40, "HEAD~5", "a\0b", "HEAD:a.py"])
def test_names_of_no_commit(tree: Path, ref: str) -> None:
    with pytest.raises(UnknownCommit, match="names no commit"):
        GIT.resolve(str(tree), ref)


def test_an_untouched_tree_has_no_changes(tree: Path) -> None:
    assert changes(tree) == {}
    assert GIT.diff(str(tree), "HEAD", 1000) == ""


def test_every_kind_of_change(tree: Path) -> None:
    (tree / "a.py").write_text("1\n3\n4\n")
    (tree / "long.py").rename(tree / "moved.py")
    (tree / "gone.txt").unlink()
    (tree / "d/e.txt").chmod(0o755)
    (tree / "x.log").write_text("log\n")
    (tree / "build").mkdir()
    (tree / "build/o").write_bytes(b"\0\1")
    (tree / "staged").write_text("s\n")
    git(tree, "add", "staged")
    (tree / "loose").write_text("l\n")
    os.mkfifo(tree / "pipe")
    (tree / "link").symlink_to("/etc")
    found = changes(tree)
    assert {path: (c.status, c.added, c.removed) for path, c in found.items()} == {
        "a.py": ("modified", 2, 1),
        "moved.py": ("renamed", 0, 0),
        "gone.txt": ("deleted", 0, 1),
        "d/e.txt": ("modified", 0, 0),
        "x.log": ("ignored", 1, 0),
        "build/o": ("ignored", None, None),
        "staged": ("added", 1, 0),
        "loose": ("untracked", 1, 0),
        "pipe": ("untracked", None, None),
        "link": ("untracked", 1, 0),
    }
    assert found["moved.py"].previous == "long.py"
    assert (found["d/e.txt"].old_mode, found["d/e.txt"].new_mode) == (0o100644, 0o100755)
    assert list(found) == sorted(found)
    text = GIT.diff(str(tree), "HEAD", 100_000)
    for part in ("+3\n+4\n", "rename to moved.py", "-bye", "+log", "+l\n", "Binary files /dev/null and b/build/o"):
        assert part in text


def test_commits_since_the_base_count(tree: Path) -> None:
    base = git(tree, "rev-parse", "HEAD").strip()
    commit(tree, {"a.py": "9\n", "new": "n\n"})
    assert {path: c.status for path, c in changes(tree, base).items()} == {"a.py": "modified", "new": "added"}
    assert changes(tree) == {}


def test_odd_names(tree: Path) -> None:
    names = [os.fsdecode(b"\xff.txt"), "back\\slash", "a\nb", "tab\t", " ", ":(top)x", "-rf", '"q"', "git~1"]
    for name in names:
        (tree / name).write_text("odd\n")
    assert {path: c.status for path, c in changes(tree).items()} == dict.fromkeys(names, "untracked")


def test_a_file_for_a_folder_and_a_folder_for_a_file(tree: Path) -> None:
    shutil.rmtree(tree / "d")
    (tree / "d").write_text("now a file\n")
    (tree / "a.py").unlink()
    (tree / "a.py").mkdir()
    (tree / "a.py/inside").write_text("i\n")
    assert {path: c.status for path, c in changes(tree).items()} == {
        "d": "untracked", "d/e.txt": "deleted", "a.py": "deleted", "a.py/inside": "untracked",
    }  # fmt: skip


@pytest.mark.parametrize("trick", ["--assume-unchanged", "--skip-worktree"])
def test_attack_an_index_that_says_unchanged(tree: Path, trick: str) -> None:
    (tree / "a.py").write_text("evil\n")
    git(tree, "update-index", trick, "a.py")
    assert changes(tree)["a.py"].status == "modified"


def test_attack_a_nested_repository_hides_nothing(tree: Path) -> None:
    git(tree / "d", "init", "--quiet")
    (tree / "d/evil.py").write_text("evil\n")
    assert {path: c.status for path, c in changes(tree).items()} == {"d/.git": "untracked", "d/evil.py": "untracked"}
    assert "+evil" in GIT.diff(str(tree), "HEAD", 10_000)


def test_a_nested_repository_in_an_ignored_folder_is_ignored(tree: Path) -> None:
    (tree / "build").mkdir()
    git(tree / "build", "init", "--quiet")
    (tree / "build/o").write_text("o\n")
    assert changes(tree)["build/o"].status == "ignored"


def test_attack_attributes_cannot_make_text_binary(tree: Path) -> None:
    (tree / ".gitattributes").write_text("* -diff\n*.py binary\n")
    (tree / "a.py").write_text("evil\n")
    assert changes(tree)["a.py"].added == 1
    assert "+evil" in GIT.diff(str(tree), "HEAD", 10_000)


def test_attack_replaced_objects_are_not_believed(tree: Path) -> None:
    base = git(tree, "rev-parse", "HEAD").strip()
    other = commit(tree, {"a.py": "evil\n"})
    git(tree, "replace", base, other)
    assert list(changes(tree, base)) == ["a.py"]
    assert GIT.tree_of(str(tree), base) == git(tree, "--no-replace-objects", "rev-parse", f"{base}^{{tree}}").strip()


def test_attack_no_code_of_the_repository_runs(tree: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    spy = f"touch {ran}; cat"
    (tree / ".gitattributes").write_text("* filter=spy diff=spy merge=spy\n")
    for key in ("clean", "smudge", "process"):
        git(tree, "config", f"filter.spy.{key}", spy)
    for key in ("diff.spy.textconv", "diff.spy.command", "diff.external", "core.fsmonitor", "core.pager", "alias.diff"):
        git(tree, "config", key, spy)
    git(tree, "config", "core.hooksPath", str(tree / "hooks"))
    (tree / "hooks").mkdir()
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (tree / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (tree / "hooks" / hook).chmod(0o755)
    (tree / "a.py").write_text("changed\n")
    (tmp_path / "out").mkdir()
    GIT.changes(str(tree), "HEAD")
    GIT.diff(str(tree), "HEAD", 1000)
    GIT.checkout(str(tree), "HEAD", str(tmp_path / "out"))
    assert not ran.exists()


def test_reading_touches_nothing(tree: Path, tmp_path: Path) -> None:
    (tree / "a.py").write_text("changed\n")
    (tree / "new").write_text("n\n")
    (tmp_path / "out").mkdir()
    before = listing(tree)
    GIT.top(str(tree))
    GIT.resolve(str(tree), "HEAD")
    GIT.tree_of(str(tree), "HEAD")
    GIT.changes(str(tree), "HEAD")
    GIT.diff(str(tree), "HEAD", 1000)
    GIT.checkout(str(tree), "HEAD", str(tmp_path / "out"))
    assert listing(tree) == before


def test_a_long_diff_is_cut_and_says_so(tree: Path) -> None:
    (tree / "a.py").write_text("line\n" * 10_000)
    text = GIT.diff(str(tree), "HEAD", 1000)
    assert len(text) < 1100
    assert "bytes left out" in text


@pytest.fixture
def with_submodule(tree: Path, tmp_path: Path) -> Path:
    repository(tmp_path / "library", {"lib.c": "int x;\n"})
    git(tree, "submodule", "--quiet", "add", str(tmp_path / "library"), "vendor/lib")
    commit(tree, {})
    return tree


def test_a_submodule_is_looked_into(with_submodule: Path) -> None:
    assert changes(with_submodule) == {}
    (with_submodule / "vendor/lib/lib.c").write_text("int evil;\n")
    (with_submodule / "vendor/lib/more.c").write_text("int more;\n")
    found = changes(with_submodule)
    assert {path: c.status for path, c in found.items()} == {
        "vendor/lib/lib.c": "modified", "vendor/lib/more.c": "untracked",
    }  # fmt: skip
    text = GIT.diff(str(with_submodule), "HEAD", 10_000)
    assert "+++ b/vendor/lib/lib.c" in text
    assert "+int more;" in text


def test_a_submodule_that_was_never_filled(with_submodule: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(with_submodule), "clone")
    assert changes(tmp_path / "clone") == {}
    (tmp_path / "clone/vendor/lib/evil.c").write_text("e\n")
    assert list(changes(tmp_path / "clone")) == ["vendor/lib/evil.c"]
    shutil.rmtree(tmp_path / "clone/vendor/lib")
    assert changes(tmp_path / "clone")["vendor/lib"].status == "deleted"
    (tmp_path / "clone/vendor/lib").write_text("a file\n")
    assert changes(tmp_path / "clone")["vendor/lib"].status == "modified"


def test_a_submodule_that_cannot_be_compared_is_not_unchanged(with_submodule: Path) -> None:
    (with_submodule / "vendor/lib/.git").write_text("gitdir: /nowhere\n")
    with pytest.raises(GitError, match="submodule `vendor/lib`"):
        changes(with_submodule)


def test_a_checkout_is_a_repository_of_its_own(tree: Path, tmp_path: Path) -> None:
    base = git(tree, "rev-parse", "HEAD").strip()
    (tree / "link").symlink_to("a.py")
    (tree / "a.py").chmod(0o755)
    first = commit(tree, {"a.py": "1\n"})
    commit(tree, {"a.py": "2\n"})
    out = tmp_path / "out"
    out.mkdir()
    GIT.checkout(str(tree), first, str(out))
    assert (out / "a.py").read_text() == "1\n"
    assert (out / "a.py").stat().st_mode & 0o100
    assert os.readlink(out / "link") == "a.py"
    assert git(out, "status", "--short") == ""
    assert GIT.resolve(str(out), "HEAD") == first
    assert set(changes(out, base)) == {"a.py", "link"}
    commit(out, {"a.py": "3\n"})
    assert GIT.resolve(str(tree), "HEAD") != GIT.resolve(str(out), "HEAD")


def test_a_copied_worktree_is_separated(tree: Path, tmp_path: Path) -> None:
    git(tree, "worktree", "add", "--quiet", "--detach", str(tmp_path / "work"))
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "work", copy, symlinks=True)
    before = listing(tree, borrowed=True)
    GIT.separate(str(tmp_path / "work"), str(copy))
    assert (copy / ".git").is_dir()
    assert git(copy, "status", "--short") == ""
    commit(copy, {"evil": "e"})
    git(copy, "branch", "--force", "main")
    assert listing(tree, borrowed=True) == before
    own = listing(copy)
    GIT.separate(str(tmp_path / "work"), str(copy))
    assert listing(copy) == own


@pytest.mark.parametrize("name", ["refs", "index"])
def test_attack_a_copied_worktree_takes_nothing_of_the_machine_along(name: str, tree: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("s")
    work, head = tmp_path / "work", git(tree, "rev-parse", "HEAD").strip()
    shutil.copytree(tree, work, symlinks=True)
    own = (work / ".git").rename(work / "own")
    (work / ".git").write_text("gitdir: own\n")
    (own / "HEAD").write_text(f"{head}\n")
    (own / name).rename(own / "aside")
    (own / name).symlink_to(elsewhere if name == "refs" else elsewhere / "secret")
    copy = tmp_path / "copy"
    shutil.copytree(work, copy, symlinks=True)
    with pytest.raises(GitError, match=f"the `{name}` of the git folder of .* lies elsewhere"):
        GIT.separate(str(work), str(copy))


def test_a_bare_repository_has_commits_and_no_files(tree: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(tree), "bare")
    assert GIT.resolve(str(tmp_path / "bare"), "HEAD") == GIT.resolve(str(tree), "HEAD")
    with pytest.raises(GitError, match="bare repository"):
        changes(tmp_path / "bare")


def test_a_shallow_clone_lacks_its_base(tree: Path, tmp_path: Path) -> None:
    base = git(tree, "rev-parse", "HEAD").strip()
    commit(tree, {"b": "b"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tree}", "shallow")
    assert changes(tmp_path / "shallow") == {}
    with pytest.raises(UnknownCommit, match="shallow clone"):
        changes(tmp_path / "shallow", base)


def test_no_repository(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tree / "inside").mkdir()
    for folder in (tmp_path / "plain", tree / "inside"):
        with pytest.raises(NotARepository, match="is not a git repository"):
            changes(folder)
    with pytest.raises(NotARepository, match="is gone"):
        changes(tmp_path / "gone")


def test_a_broken_index(tree: Path) -> None:
    (tree / ".git/index").write_bytes(b"junk" * 10)
    with pytest.raises(GitError, match="index that cannot be read"):
        changes(tree)


@pytest.mark.parametrize("damage", ["junk", "missing"])
def test_broken_objects(tree: Path, damage: str) -> None:
    for item in (tree / ".git/objects").glob("??/*"):
        item.chmod(0o644)
        item.write_bytes(b"junk") if damage == "junk" else item.unlink()
    with pytest.raises(GitError):
        changes(tree)
    with pytest.raises(GitError):
        GIT.tree_of(str(tree), "HEAD")


def test_a_missing_blob_is_noticed_by_the_diff(tree: Path) -> None:
    blob = git(tree, "rev-parse", "HEAD:a.py").strip()
    (tree / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (tree / "a.py").write_text("changed\n")
    with pytest.raises(GitError):
        GIT.diff(str(tree), "HEAD", 1000)


def test_without_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitError, match="`git` is not installed"):
        changes(tree)


def test_a_folder_of_another_user_is_read_all_the_same(tree: Path) -> None:
    if os.getuid() == 0:
        for place in [tree, *tree.rglob("*")]:
            os.chown(place, 65534, 65534, follow_symlinks=False)
    assert changes(tree) == {}


def test_one_that_may_not_be_read(tree: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            (tree / ".git/HEAD").chmod(0)
            if os.getuid() == 0:
                os.setuid(65534)
            GIT.changes(str(tree), "HEAD")
            os._exit(1)
        except GitError:
            os._exit(0)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_sha256_repositories(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    made = subprocess.run(["git", "init", "--quiet", "--object-format=sha256"], cwd=tmp_path / "new", check=False)
    assert made.returncode == 0
    commit(tmp_path / "new", {"a": "a\n"})
    (tmp_path / "new/b").write_text("b\n")
    assert len(GIT.resolve(str(tmp_path / "new"), "HEAD")) == 64
    assert list(changes(tmp_path / "new")) == ["b"]
