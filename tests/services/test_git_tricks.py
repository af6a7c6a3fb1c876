"""What a repository can say of its own files: attributes, settings, filters and marks that could hide a change."""

import ctypes  # noqa: F401 — loaded while it may be read: `as_nobody` runs programs after it gave its rights away
import hashlib
import os
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from repositories import commit, git, listing, repository

from rulebook.ports import GitError
from rulebook.services.git import MachineGit
from rulebook.services.processes import MachineProcesses

GIT = MachineGit(MachineProcesses())
FILES = {"a.py": "1\n2\n3\n", "d/e.txt": "e\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    repository(tmp_path / "tree", FILES)
    return tmp_path / "tree"


def changes(tree: Path, base: str = "HEAD") -> dict[str, tuple[str, int | None, int | None]]:
    found = GIT.changes(str(tree), base)
    assert {path for change in found for path in (change.path, change.previous) if path} == in_diff(tree, base)
    return {change.path: (change.status, change.added, change.removed) for change in found}


def in_diff(tree: Path, base: str) -> set[str]:
    """The plain paths that the text of the change names."""
    text = GIT.diff(str(tree), base, 1_000_000)
    named = re.findall(r"^diff --git a/(.*) b/(.*)$", text, re.M)
    return {path for pair in named for path in pair} | set(re.findall(r"^Left out: b/(.*?), which", text, re.M))


def checked_out(tree: Path, place: Path, *settings: str) -> Path:
    """A clone by a git with these settings, whose files its owner has not touched."""
    words = [word for setting in settings for word in ("--config", setting)]
    git(place.parent, "clone", "--quiet", *words, str(tree), place.name)
    return place


def crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def test_other_line_endings_are_a_change_whatever_a_setting_says(tree: Path) -> None:
    crlf(tree / "a.py")
    git(tree, "config", "core.autocrlf", "true")
    assert git(tree, "diff", "--numstat") == ""
    assert changes(tree) == {"a.py": ("modified", 3, 3)}


def test_a_setting_makes_no_change_of_files_that_are_as_committed(tree: Path) -> None:
    crlf(tree / "d/e.txt")
    commit(tree, {})
    git(tree, "config", "core.autocrlf", "true")
    assert changes(tree) == {}


@pytest.mark.parametrize("attributes", ["* text=auto eol=crlf\n", "*.py text eol=crlf\n*.txt eol=crlf\n"])
def test_line_endings_that_the_base_commit_asks_for_are_no_change(
    tree: Path, tmp_path: Path, attributes: str
) -> None:
    commit(tree, {".gitattributes": attributes})
    copy = checked_out(tree, tmp_path / "copy")
    assert (copy / "a.py").read_bytes() == b"1\r\n2\r\n3\r\n"
    assert changes(copy) == {}
    (copy / "a.py").write_bytes(b"1\r\nnew\r\n3\r\n")
    assert changes(copy) == {"a.py": ("modified", 1, 1)}
    (copy / "a.py").write_bytes(b"1\n2\n3\n")  # as committed
    assert changes(copy) == {}


def test_attack_line_endings_that_only_the_work_tree_asks_for(tree: Path) -> None:
    crlf(tree / "a.py")
    (tree / ".gitattributes").write_text("* text eol=crlf\n")
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/attributes").write_text("* text eol=crlf\n")
    assert changes(tree) == {"a.py": ("modified", 3, 3), ".gitattributes": ("untracked", 1, 0)}


def test_attack_half_of_the_lines_in_other_endings(tree: Path, tmp_path: Path) -> None:
    commit(tree, {".gitattributes": "* text eol=crlf\n"})
    copy = checked_out(tree, tmp_path / "copy")
    (copy / "a.py").write_bytes(b"1\r\n2\n3\r\n")
    assert git(copy, "diff", "--numstat") == ""
    assert changes(copy) == {"a.py": ("modified", 1, 1)}


def test_attack_text_within_an_id_keyword(tree: Path, tmp_path: Path) -> None:
    commit(tree, {".gitattributes": "* ident\n", "i.py": "# $Id$\nx\n"})
    copy = checked_out(tree, tmp_path / "copy")
    assert (copy / "i.py").read_text() != "# $Id$\nx\n"
    assert changes(copy) == {}
    (copy / "i.py").write_text("# $Id: evil $\nx\n")
    assert git(copy, "diff", "--numstat") == ""
    assert changes(copy) == {"i.py": ("modified", 1, 1)}


def test_attack_another_encoding(tree: Path) -> None:
    (tree / ".gitattributes").write_text("*.py working-tree-encoding=UTF-16LE\n")
    (tree / "a.py").write_bytes("1\n2\n3\n".encode("utf-16-le"))
    assert git(tree, "diff", "--numstat") == ""
    assert changes(tree)["a.py"] == ("modified", None, None)


def test_an_encoding_that_the_base_commit_asks_for(tree: Path, tmp_path: Path) -> None:
    commit(tree, {".gitattributes": "*.w working-tree-encoding=UTF-16LE-BOM\n", "x.w": ""})
    (tree / "x.w").write_bytes("grün\n".encode("utf-16"))
    commit(tree, {})
    copy = checked_out(tree, tmp_path / "copy")
    assert changes(copy) == {}
    (copy / "x.w").write_bytes("blau\n".encode("utf-16"))
    assert list(changes(copy)) == ["x.w"]


def test_names_that_a_list_of_paths_cannot_hold(tree: Path, tmp_path: Path) -> None:
    names = ["a\nb.txt", "end\r", '"q".txt', os.fsdecode(b"\xff.txt")]
    commit(tree, {".gitattributes": "* text eol=crlf\n", **dict.fromkeys(names, "1\n2\n")})
    copy = checked_out(tree, tmp_path / "copy")
    assert GIT.changes(str(copy), "HEAD") == []
    (copy / names[0]).write_bytes(b"1\r\n")
    assert [(c.path, c.added, c.removed) for c in GIT.changes(str(copy), "HEAD")] == [(names[0], 0, 1)]


def pointer_to(content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"


def test_a_pointer_stands_for_its_content(tree: Path) -> None:
    content = b"\0large\n" * 1000
    commit(tree, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "m.bin": pointer_to(content)})
    assert changes(tree) == {}
    (tree / "m.bin").write_bytes(content)
    assert changes(tree) == {}
    (tree / "m.bin").write_bytes(content[:-1] + b"!")
    assert changes(tree) == {"m.bin": ("modified", None, None)}
    (tree / "m.bin").write_text(pointer_to(b"other"))
    assert changes(tree) == {"m.bin": ("modified", 2, 2)}


def test_attack_a_text_that_claims_to_be_a_pointer(tree: Path) -> None:
    evil = b"evil\n"
    (tree / ".gitattributes").write_text("*.py filter=lfs\n")
    (tree / "a.py").write_bytes(evil)
    (tree / "d/e.txt").write_text(pointer_to(evil))
    assert changes(tree) == {
        "a.py": ("modified", 1, 3), "d/e.txt": ("modified", 3, 1), ".gitattributes": ("untracked", 1, 0),
    }  # fmt: skip


def test_a_filter_that_the_base_commit_asks_for_is_not_run(tree: Path) -> None:
    commit(tree, {".gitattributes": "*.py filter=vault\n"})
    git(tree, "config", "filter.vault.clean", "touch ran; cat")
    assert changes(tree) == {}
    (tree / "a.py").write_text("secret\n")
    with pytest.raises(GitError, match="`a.py` passes through the filter `vault`"):
        GIT.changes(str(tree), "HEAD")
    assert not (tree / "ran").exists()


def test_a_commit_with_attributes_that_ask_for_nothing(tree: Path) -> None:
    commit(tree, {".gitattributes": "*.py -diff export-ignore filter\n*.txt -text eol=crlf\n"})
    assert changes(tree) == {}
    (tree / "a.py").write_text("1\n")
    crlf(tree / "d/e.txt")
    assert changes(tree) == {"a.py": ("modified", 0, 2), "d/e.txt": ("modified", 1, 1)}


def test_reading_with_attributes_touches_nothing(tree: Path, tmp_path: Path) -> None:
    commit(tree, {".gitattributes": "* text eol=crlf\n"})
    copy = checked_out(tree, tmp_path / "copy")
    before = listing(copy)
    assert changes(copy) == {}
    assert listing(copy) == before


def setting(*words: str) -> Callable[[Path], None]:
    def make(tree: Path) -> None:
        git(tree, "config", *words)

    return make


def hooks(tree: Path) -> None:
    (tree / ".git/hooks").mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"):
        (tree / ".git/hooks" / name).write_text("#!/bin/sh\ntouch ran\n")
        (tree / ".git/hooks" / name).chmod(0o755)
    git(tree, "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman")


def included(tree: Path) -> None:
    (tree / ".git/more").write_text('[core]\n\tfsmonitor = "touch ran"\n\tworktree = /\n\tignoreCase = true\n')
    git(tree, "config", "include.path", "more")


def sparse(tree: Path) -> None:
    git(tree, "sparse-checkout", "set", "--no-cone", "/d/")


@pytest.mark.parametrize(
    "trick",
    [
        setting("core.worktree", "/usr"),
        setting("core.bare", "true"),
        setting("core.ignoreCase", "true"),
        setting("core.fileMode", "false"),
        setting("core.symlinks", "false"),
        setting("core.trustctime", "false"),
        setting("core.checkStat", "minimal"),
        setting("core.untrackedCache", "true"),
        setting("core.quotePath", "true"),
        setting("core.precomposeUnicode", "true"),
        setting("core.sparseCheckout", "true"),
        setting("core.excludesFile", "/dev/fd/0"),
        setting("core.bigFileThreshold", "1"),
        setting("diff.ignoreSubmodules", "all"),
        setting("diff.renames", "copies"),
        setting("diff.noprefix", "true"),
        setting("diff.orderFile", "d/e.txt"),
        setting("diff.algorithm", "histogram"),
        setting("status.showUntrackedFiles", "no"),
        setting("color.ui", "always"),
        setting("index.sparse", "true"),
        setting("extensions.partialClone", "origin"),
        hooks,
        included,
        sparse,
    ],
)
def test_attack_no_setting_hides_or_makes_a_change_or_runs_anything(tree: Path, trick: Callable[[Path], None]) -> None:
    base = commit(tree, {".gitignore": "*.log\n"})
    trick(tree)
    (tree / ".gitignore").write_text("*.log\n")  # the sparse checkout has taken it away
    (tree / "x.log").write_text("x\n")
    (tree / "a.py").write_text("1\nevil\n3\n")
    (tree / "a.py").chmod(0o755)
    (tree / "A.py").write_text("other\n")
    assert changes(tree, base) == {
        "A.py": ("untracked", 1, 0), "a.py": ("modified", 1, 1), "x.log": ("ignored", 1, 0),
    }  # fmt: skip
    mode = next(change for change in GIT.changes(str(tree), base) if change.path == "a.py")
    assert (mode.old_mode, mode.new_mode) == (0o100644, 0o100755)
    assert not (tree / "ran").exists()


def test_attack_a_sparse_checkout_hides_no_deletion(tree: Path) -> None:
    sparse(tree)
    assert not (tree / "a.py").exists()
    assert changes(tree) == {"a.py": ("deleted", 0, 3)}


@pytest.mark.parametrize("name", [".GIT", ".Git"])
def test_attack_a_folder_that_only_looks_like_gits_own(tree: Path, name: str) -> None:
    (tree / name).mkdir()
    (tree / name / "evil.py").write_text("e\n")
    assert changes(tree) == {name: ("untracked", None, None)}


def test_attack_a_link_that_no_git_takes_in(tree: Path) -> None:
    (tree / ".gitmodules").symlink_to("a.py")
    (tree / "a.py").write_text("evil\n")
    assert changes(tree) == {".gitmodules": ("untracked", None, None), "a.py": ("modified", 1, 3)}


def test_attack_a_pattern_that_takes_for_ever(tree: Path) -> None:
    name = "a" * 200
    (tree / name).write_text("x\n")
    (tree / ".gitignore").write_text("*a" * 30 + "b\n")
    assert set(changes(tree)) == {name, ".gitignore"}


def test_an_ignored_file_counts_whatever_ignores_it(tree: Path) -> None:
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/exclude").write_text("*\n")
    (tree / "new").write_text("n\n")
    assert changes(tree) == {"new": ("ignored", 1, 0)}


def as_nobody(ask: Callable[[], object]) -> str:
    """What a user without rights is told, in a process of its own; "" when nothing is wrong."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            ask()
        except GitError as error:
            os.write(write, str(error).encode())
        except BaseException as error:  # noqa: BLE001 - it is told to the test
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with open(read, "rb") as said:
        return said.read().decode()


@pytest.fixture
def public(tree: Path) -> Iterator[Path]:
    """The tree where every user may go: pytest's own folders are closed to others, and are closed again at any time."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copytree(tree, Path(folder, "tree"), symlinks=True)
        yield Path(folder, "tree")


@pytest.mark.parametrize("place", ["a.py", "d", ".git/objects", ".git/index", ".git/HEAD", ".git", ""])
def test_what_may_not_be_read_is_not_unchanged(public: Path, place: str) -> None:
    base = git(public, "rev-parse", "HEAD").strip()
    ask = lambda: GIT.changes(str(public), base)  # noqa: E731
    assert as_nobody(ask) == ""
    before = (public / place).stat().st_mode
    (public / place).chmod(0)
    try:
        said = as_nobody(ask)
        assert "rror" not in said
        assert re.search("may not be read|Permission denied|cannot be read", said), said
    finally:
        (public / place).chmod(before)


def test_a_rename_of_many_files_does_not_take_for_ever(tree: Path) -> None:
    for number in range(1500):
        (tree / f"old{number}").write_text(f"{number}\n" * 30)
    base = commit(tree, {})
    for number in range(1500):
        (tree / f"old{number}").rename(tree / f"new{number}")
        (tree / f"new{number}").write_text(f"{number}\n" * 29 + "x\n")
    found = GIT.changes(str(tree), base)
    assert {path for change in found for path in (change.path, change.previous) if path} >= {"old7", "new7"}


def test_a_large_tree_takes_seconds_and_little_memory(tmp_path: Path) -> None:
    tree = tmp_path / "large"
    for folder in range(40):
        (tree / f"d{folder}").mkdir(parents=True)
        for number in range(100):
            (tree / f"d{folder}/f{number}.txt").write_text(f"{folder} {number}\n" * 5)
    git(tree, "init", "--quiet")
    commit(tree, {})
    (tree / "d7/f7.txt").write_text("x\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.process_time()
    assert [change.path for change in GIT.changes(str(tree), "HEAD")] == ["d7/f7.txt"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = time.process_time() - began + after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    assert spent < 4  # 0.4 s here, and 1.4 s for 20,000 files
