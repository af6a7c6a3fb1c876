"""Repositories whose owner lies: objects that are not what their names say, and parts over which git would wait."""

import os
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import commit, deepened, git, repository

from rulebook.ports import Change, GitError, UnknownCommit
from rulebook.services.git import MachineGit
from rulebook.services.processes import MachineProcesses

GIT = MachineGit(MachineProcesses())
FILES = {"tests/t.py": "assert honest\n", "src/a.py": "old\n", "src/b.py": "b\n"}


@pytest.fixture(params=["sha1", "sha256"])
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "--quiet", "--initial-branch=main", f"--object-format={request.param}")
    (tree / "run").write_text("#!/bin/sh\n")
    (tree / "run").chmod(0o755)
    (tree / "link").symlink_to("src/a.py")
    commit(tree, FILES)
    return tree


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    repository(tmp_path / "plain", FILES)
    return tmp_path / "plain"


def name_of(tree: Path, what: str) -> str:
    return git(tree, "rev-parse", what).strip()


def loose(tree: Path, name: str) -> Path:
    return tree / ".git/objects" / name[:2] / name[2:]


def forge(tree: Path, name: str, kind: str, content: bytes) -> None:
    """Leave the name of an object and change what it holds."""
    place = loose(tree, name)
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content))


def raw(tree: Path, kind: str, name: str) -> bytes:
    return subprocess.run(["git", "cat-file", kind, name], cwd=tree, capture_output=True, check=True).stdout


def forge_blob(tree: Path) -> str:
    name = name_of(tree, "HEAD:tests/t.py")
    forge(tree, name, "blob", b"pass\n")
    return name


def forge_link(tree: Path) -> str:
    name = name_of(tree, "HEAD:link")
    forge(tree, name, "blob", b"tests/t.py")
    return name


def forge_tree(tree: Path) -> str:
    """Another blob under the old path, in a tree that keeps its name."""
    name = name_of(tree, "HEAD:tests")
    evil = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=tree, input=b"pass\n", capture_output=True, check=True
    ).stdout
    forge(tree, name, "tree", b"100644 t.py\0" + bytes.fromhex(evil.decode().strip()))
    return name


def forge_mode(tree: Path) -> str:
    name = name_of(tree, "HEAD^{tree}")
    forge(tree, name, "tree", raw(tree, "tree", name).replace(b"100755 run", b"100644 run"))
    return name


def forge_commit(tree: Path) -> str:
    name = name_of(tree, "HEAD")
    (tree / "tests/t.py").write_text("pass\n")
    git(tree, "add", "--all")
    other = git(tree, "write-tree").strip()
    text = raw(tree, "commit", name)
    forge(tree, name, "commit", text.replace(text[5 : 5 + len(other)], other.encode()))
    return name


def errors(tree: Path, base: str, out: Path) -> list[str]:
    out.mkdir()
    said = []
    asked: list[Callable[[], object]] = [
        lambda: GIT.changes(str(tree), base),
        lambda: GIT.diff(str(tree), base, 10_000),
        lambda: GIT.checkout(str(tree), base, str(out)),
    ]
    for ask in asked:
        with pytest.raises(GitError) as caught:
            ask()
        said.append(str(caught.value))
    assert not any(place.is_file() for place in out.glob("*/*.py"))
    return said


@pytest.mark.parametrize("lie", [forge_blob, forge_link, forge_tree, forge_mode])
def test_attack_an_object_that_is_not_what_its_name_says(
    tree: Path, tmp_path: Path, lie: Callable[[Path], str]
) -> None:
    base, whole = name_of(tree, "HEAD"), name_of(tree, "HEAD^{tree}")
    forged = lie(tree)
    for said in errors(tree, base, tmp_path / "out"):
        assert said == f"the object `{forged}` of the commit `{base}` is damaged or forged"
    assert GIT.tree_of(str(tree), base) == whole


def test_attack_a_commit_that_is_not_what_its_name_says(tree: Path, tmp_path: Path) -> None:
    base = forge_commit(tree)
    for said in errors(tree, base, tmp_path / "out"):
        assert "damaged or forged" in said
    with pytest.raises(GitError, match="damaged or forged"):
        GIT.tree_of(str(tree), base)


def test_attack_a_pack_whose_index_lies(tree: Path, tmp_path: Path) -> None:
    base, honest = name_of(tree, "HEAD"), name_of(tree, "HEAD:tests/t.py")
    (tree / "src/b.py").write_text("assert forged\n")  # as long as the other
    evil = git(tree, "hash-object", "-w", "src/b.py").strip()
    (tree / "src/b.py").write_text("b\n")
    names = "\n".join({*git(tree, "rev-list", "--objects", "--no-object-names", base).split(), evil} - {honest})
    subprocess.run(["git", "pack-objects", "-q", ".git/objects/pack/pack"], cwd=tree, input=names, text=True,
                   capture_output=True, check=True)  # fmt: skip
    for place in (tree / ".git/objects").glob("??"):
        shutil.rmtree(place)
    index = next((tree / ".git/objects/pack").glob("*.idx"))
    forged = renamed_in_index(index.read_bytes(), bytes.fromhex(evil), bytes.fromhex(honest))
    index.unlink()
    index.write_bytes(forged)
    assert git(tree, "show", f"{base}:tests/t.py") == "assert forged\n"
    for said in errors(tree, base, tmp_path / "out"):
        assert said == f"the object `{honest}` of the commit `{base}` is damaged or forged"


def renamed_in_index(index: bytes, old: bytes, new: bytes) -> bytes:
    """A pack's index (version 2) in which one object has another name."""
    count, size = int.from_bytes(index[8 + 255 * 4 : 8 + 256 * 4], "big"), len(old)
    start = 8 + 256 * 4
    names = [index[start + n * size : start + (n + 1) * size] for n in range(count)]
    rest = index[start + count * size :]
    crcs = [rest[n * 4 : n * 4 + 4] for n in range(count)]
    offsets = [rest[(count + n) * 4 : (count + n) * 4 + 4] for n in range(count)]
    rows = sorted(
        (new if name == old else name, crc, offset) for name, crc, offset in zip(names, crcs, offsets, strict=True)
    )
    fan = b"".join(sum(row[0][0] <= first for row in rows).to_bytes(4, "big") for first in range(256))
    body = index[:8] + fan + b"".join(row[0] for row in rows) + b"".join(row[1] for row in rows)
    return body + b"".join(row[2] for row in rows) + rest[count * 8 :]


def test_packed_objects_and_modes_are_checked_out_as_they_were(tree: Path, tmp_path: Path) -> None:
    base = name_of(tree, "HEAD")
    commit(tree, {"src/a.py": "new\n"})
    git(tree, "gc", "--quiet", "--aggressive")
    assert not list((tree / ".git/objects").glob("??/*"))
    (tmp_path / "out").mkdir()
    GIT.checkout(str(tree), base, str(tmp_path / "out"))
    out = tmp_path / "out"
    assert (out / "src/a.py").read_text() == "old\n"
    assert os.readlink(out / "link") == "src/a.py"
    assert (out / "run").stat().st_mode & 0o777 == 0o755
    assert git(out, "status", "--short") == ""
    assert GIT.tree_of(str(tree), base) == git(out, "write-tree").strip()
    assert [change.path for change in GIT.changes(str(tree), base)] == ["src/a.py"]


def test_a_repository_without_its_first_commit_or_any_file(tmp_path: Path) -> None:
    base = repository(tmp_path / "empty", {})
    (tmp_path / "empty/new").write_text("n\n")
    assert [change.path for change in GIT.changes(str(tmp_path / "empty"), base)] == ["new"]
    commit(tmp_path / "empty", {})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path / 'empty'}", "shallow")
    assert GIT.changes(str(tmp_path / "shallow"), "HEAD") == []


def test_attack_a_forged_object_in_a_submodule(plain: Path, tmp_path: Path) -> None:
    repository(tmp_path / "library", {"lib.c": "int x;\n"})
    git(plain, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    base = commit(plain, {})
    assert GIT.changes(str(plain), base) == []
    blob = name_of(plain / "lib", "HEAD:lib.c")
    place = plain / ".git/modules/lib/objects" / blob[:2] / blob[2:]
    place.unlink()
    place.write_bytes(zlib.compress(b"blob 5\0evil\n"))
    (plain / "lib/lib.c").write_text("evil\n")
    for ask in (lambda: GIT.changes(str(plain), base), lambda: GIT.diff(str(plain), base, 1000)):
        with pytest.raises(GitError, match=f"`{blob}` .*damaged or forged"):
            ask()


def test_attack_grafts_and_replacements_do_not_steer(plain: Path) -> None:
    first = name_of(plain, "HEAD")
    other = commit(plain, {"src/a.py": "forged\n"})
    second = commit(plain, {"src/b.py": "2\n"})
    git(plain, "checkout", "--quiet", "--orphan", "aside")
    evil = commit(plain, {"tests/t.py": "pass\n"})
    git(plain, "checkout", "--quiet", "main")
    git(plain, "replace", first, evil)
    git(plain, "replace", second, evil)
    git(plain, "replace", name_of(plain, f"{first}:tests/t.py"), name_of(plain, f"{evil}:tests/t.py"))
    (plain / ".git/info").mkdir(exist_ok=True)
    (plain / ".git/info/grafts").write_text(f"{second} {evil}\n")
    assert name_of(plain, f"{second}^{{tree}}") == name_of(plain, f"{evil}^{{tree}}")
    assert git(plain, "--no-replace-objects", "rev-parse", f"{second}~1").strip() == evil
    assert GIT.resolve(str(plain), f"{second}~1") == other
    assert [change.path for change in GIT.changes(str(plain), first)] == ["src/a.py", "src/b.py"]


def test_attack_alternates_add_nothing_false(plain: Path, tmp_path: Path) -> None:
    base, blob = name_of(plain, "HEAD"), name_of(plain, "HEAD:tests/t.py")
    repository(tmp_path / "other", {})
    forge(tmp_path / "other", blob, "blob", b"pass\n")
    loose(plain, blob).unlink()
    (plain / ".git/objects/info/alternates").write_text(f"{tmp_path}/other/.git/objects\n")
    assert git(plain, "cat-file", "blob", blob) == "pass\n"
    for said in errors(plain, base, tmp_path / "out"):
        assert said == f"the object `{blob}` of the commit `{base}` is damaged or forged"


def test_attack_a_branch_that_is_called_like_an_id(plain: Path) -> None:
    first = name_of(plain, "HEAD")
    evil = commit(plain, {"tests/t.py": "pass\n"})
    assert GIT.resolve(str(plain), first[:8].upper()) == first
    git(plain, "branch", first[:8], evil)
    with pytest.raises(UnknownCommit):
        GIT.resolve(str(plain), first[:8])


def pipe(place: str) -> Callable[[Path], None]:
    def make(tree: Path) -> None:
        (tree / place).unlink(missing_ok=True)
        (tree / place).parent.mkdir(exist_ok=True)
        os.mkfifo(tree / place)

    return make


def included(line: str) -> Callable[[Path], None]:
    def make(tree: Path) -> None:
        os.mkfifo(tree / "pipe")
        (tree / "more").write_text("[include] path = pipe\n")
        with open(tree / ".git/config", "a") as stream:
            stream.write(line)

    return make


def linked(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    (tree / ".git/HEAD").unlink()
    (tree / ".git/HEAD").symlink_to("../pipe")


def pointer(tree: Path) -> None:
    shutil.rmtree(tree / ".git")
    os.mkfifo(tree / ".git")


def nested(tree: Path) -> None:
    git(tree / "src", "init", "--quiet")
    pipe("src/.git/HEAD")(tree)


@pytest.mark.parametrize(
    "make",
    [
        pipe(".git/HEAD"),
        pipe(".git/index"),
        pipe(".git/packed-refs"),
        pipe(".git/config"),
        pipe(".git/objects/info/alternates"),
        pipe(".git/refs/heads/main"),
        pipe(".git/shallow"),
        pipe(".git/commondir"),
        pipe(".git/info/exclude"),
        pipe(".gitignore"),
        pipe("src/.gitattributes"),
        included("[include]\n\tpath = ../pipe\n"),
        included('[IncludeIf "gitdir:/**"]path="../pipe"\n'),
        included("[include]\n\tpath = ../more\n"),
        included("[include]\n\tpath = ../pi\\\npe\n"),
        included("[include]\n\tpath = /dev/zero\n"),
        linked,
        pointer,
        nested,
    ],
)
def test_attack_a_pipe_where_git_expects_a_file(plain: Path, make: Callable[[Path], None]) -> None:
    base = name_of(plain, "HEAD")
    make(plain)
    began = time.monotonic()
    with pytest.raises(GitError, match="would wait for it|not followed here"):
        GIT.changes(str(plain), base)
    assert time.monotonic() - began < 10


def test_configuration_that_includes_a_file_is_fine(plain: Path) -> None:
    (plain / ".git/more").write_text("[core]\n\tx = y\n")
    git(plain, "config", "include.path", "more")
    git(plain, "config", "includeIf.gitdir:/x/.path", "/nowhere")
    assert GIT.changes(str(plain), "HEAD") == []


def test_a_tracked_file_that_became_a_pipe_is_gone(plain: Path) -> None:
    (plain / "src/a.py").unlink()
    os.mkfifo(plain / "src/a.py")
    (plain / "src/b.py").write_text("c\n")
    os.mkfifo(plain / "odd\nname")
    assert GIT.changes(str(plain), "HEAD") == [
        Change("odd\nname", "untracked", None, None),
        Change("src/a.py", "deleted", 0, 1, None, 0o100644),
        Change("src/b.py", "modified", 1, 1, None, 0o100644, 0o100644),
    ]
    text = GIT.diff(str(plain), "HEAD", 10_000)
    assert "+c\n" in text
    assert text.endswith(
        "Left out: b/odd\\nname, which is no file, link or folder that git can record\n"
        "Left out: b/src/a.py, which is no file, link or folder that git can record\n"
    )


def test_a_submodule_that_became_a_pipe_is_gone(plain: Path, tmp_path: Path) -> None:
    repository(tmp_path / "library", {"lib.c": "int x;\n"})
    git(plain, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    commit(plain, {})
    shutil.rmtree(plain / "lib")
    os.mkfifo(plain / "lib")
    assert GIT.changes(str(plain), "HEAD") == [Change("lib", "deleted", None, None, None, 0o160000)]
    assert "Left out: b/lib," in GIT.diff(str(plain), "HEAD", 1000)


def test_a_file_of_terabytes_is_a_change_that_nobody_looks_into(plain: Path) -> None:
    for name in ("big", "src/a.py"):
        with open(plain / name, "wb") as stream:
            stream.truncate(3 * 1024**4)
    assert GIT.changes(str(plain), "HEAD") == [
        Change("big", "untracked", None, None, None, None, 0o100644),
        Change("src/a.py", "modified", None, None, None, 0o100644, 0o100644),
    ]
    text = GIT.diff(str(plain), "HEAD", 1000)
    assert "Left out: b/big, which is too large to be looked into\n" in text
    assert "Left out: b/src/a.py, which is too large" in text


def test_attack_many_files_with_holes_do_not_take_for_ever(plain: Path) -> None:
    (plain / "holes").mkdir()
    for number in range(300):
        with open(plain / f"holes/{number}", "wb") as stream:
            stream.truncate(60 * 1024**2)
    began = time.monotonic()
    assert len(GIT.changes(str(plain), "HEAD")) == 300
    assert time.monotonic() - began < 60


def test_deep_folders(plain: Path) -> None:
    (plain / "deep").mkdir()
    with deepened(plain / "deep", 1500):
        assert [change.path for change in GIT.changes(str(plain), "HEAD")] == ["deep/" + "d/" * 1500 + "evil"]
    (plain / "deeper").mkdir()
    with deepened(plain / "deeper", 3000), pytest.raises(GitError, match="cannot be read: File name too long"):
        GIT.changes(str(plain), "HEAD")
