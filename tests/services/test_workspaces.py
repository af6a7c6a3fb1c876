"""Throw-away folders: faithful copies, gone afterwards whatever was done to them."""

import os
from pathlib import Path

import pytest
from repositories import deepened, listing

from rulebook.services.workspaces import MachineWorkspaces

WORKSPACES = MachineWorkspaces()


def test_a_copy_is_faithful_and_its_original_untouched(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep/er").mkdir(parents=True)
    (source / "deep/er/run").write_bytes(b"\0\xff" * 1000)
    (source / "deep/er/run").chmod(0o755)
    os.utime(source / "deep/er/run", ns=(10**18, 10**18))
    (source / "empty").mkdir()
    (source / "link").symlink_to("/etc/passwd")
    (source / "folder-link").symlink_to("deep")
    (source / os.fsdecode(b"\xff")).write_text("odd")
    os.mkfifo(source / "pipe")
    before = listing(source)
    with WORKSPACES.copy_of(str(source)) as folder:
        copy = Path(folder)
        assert (copy / "deep/er/run").read_bytes() == b"\0\xff" * 1000
        assert (copy / "deep/er/run").stat().st_mode & 0o777 == 0o755
        assert (copy / "deep/er/run").stat().st_mtime_ns == 10**18
        assert (copy / "empty").is_dir()
        assert os.readlink(copy / "link") == "/etc/passwd"
        assert os.readlink(copy / "folder-link") == "deep"
        assert (copy / os.fsdecode(b"\xff")).read_text() == "odd"
        assert not (copy / "pipe").exists()
        (copy / "deep/er/run").write_text("changed")
    assert not copy.exists()
    assert listing(source) == before


def test_a_terabyte_of_nothing_is_copied_at_once(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with open(source / "huge", "wb") as stream:
        stream.write(b"a")
        stream.seek(2**36)
        stream.write(b"b")
        stream.truncate(2**37)
    with WORKSPACES.copy_of(str(source)) as folder, open(Path(folder, "huge"), "rb") as stream:
        assert os.fstat(stream.fileno()).st_size == 2**37
        assert os.fstat(stream.fileno()).st_blocks < 1000
        assert stream.read(1) == b"a"
        stream.seek(2**36)
        assert stream.read(2) == b"b\0"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(OSError), WORKSPACES.copy_of(str(tmp_path / "gone")):
        pass


def test_it_is_removed_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), WORKSPACES.fresh() as folder:
        raise ZeroDivisionError
    assert not Path(folder).exists()


def test_read_only_folders_are_removed_by_an_ordinary_user() -> None:
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            with WORKSPACES.fresh() as folder:
                (Path(folder) / "a/b").mkdir(parents=True)
                (Path(folder) / "a/b/c").write_text("")
                (Path(folder) / "a/b").chmod(0)
                (Path(folder) / "a").chmod(0o500)
            os._exit(1 if os.path.exists(folder) else 0)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_deep_folders_are_copied_taken_over_and_removed(tmp_path: Path) -> None:
    source, base = tmp_path / "source", tmp_path / "base"
    source.mkdir()
    base.mkdir()
    path = "d/" * 1500 + "evil"
    with deepened(base, 0), deepened(source, 1500):
        with WORKSPACES.copy_of(str(source)) as copy:
            assert Path(copy, path).read_text() == "x\n"
            WORKSPACES.take_over(copy, str(base), lambda found: found == path)
            assert (base / path).read_text() == "x\n"
        assert not os.path.exists(os.path.dirname(copy))


def test_folders_deeper_than_a_path_can_say(tmp_path: Path) -> None:
    with WORKSPACES.fresh() as folder:
        Path(folder, "deep").mkdir()
        with deepened(Path(folder, "deep"), 5000):
            Path(folder, "deep").rename(Path(folder, "moved"))
        os.mkfifo(Path(folder, "pipe"))
        Path(folder, "link").symlink_to(tmp_path)
        with pytest.raises(OSError, match="File name too long"), WORKSPACES.copy_of(folder):
            pass
    assert not os.path.exists(folder)
    assert tmp_path.exists()


def test_attack_a_link_in_place_of_the_throw_away_folder(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir(mode=0o750)
    (tmp_path / "victim/file").write_text("f")
    before = listing(tmp_path / "victim")
    with WORKSPACES.fresh() as folder:
        os.rmdir(folder)
        os.symlink(tmp_path / "victim", folder)
    assert listing(tmp_path / "victim") == before
    os.unlink(folder)


def taken(tmp_path: Path, wanted: set[str], source: dict[str, str], base: dict[str, str]) -> dict[str, str]:
    for name, files in (("source", source), ("base", base)):
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(text[1:]) if text.startswith("@") else place.write_text(text)
    target = tmp_path / "base"
    WORKSPACES.take_over(str(tmp_path / "source"), str(target), lambda path: path in wanted)
    found = {}
    for folder, _, _ in os.walk(target):
        for entry in os.scandir(folder):
            name = os.path.relpath(entry.path, target)
            if entry.is_symlink():
                found[name] = "@" + os.readlink(entry.path)
            elif entry.is_file():
                found[name] = Path(entry.path).read_text()
    return found


def test_only_what_is_wanted_is_taken_over(tmp_path: Path) -> None:
    source = {"src/a": "new", "src/b": "added", "t/x": "steered", "conftest.py": "evil", ".git/hooks/h": "evil"}
    base = {"src/a": "old", "src/gone": "deleted", "t/x": "honest"}
    wanted = {"src/a", "src/b", "src/gone", ".git/hooks/h"}
    assert taken(tmp_path, wanted, source, base) == {"src/a": "new", "src/b": "added", "t/x": "honest"}


@pytest.mark.parametrize(
    ("source", "base", "left"),
    [
        ({"d": "file"}, {"d/a": "x"}, {"d": "file"}),
        ({"d/a": "x"}, {"d": "file"}, {"d/a": "x"}),
        ({"d/a": "x"}, {"d": "@/tmp"}, {"d/a": "x"}),
        ({"d": "@/tmp"}, {"d/a": "x"}, {"d": "@/tmp"}),
    ],
)
def test_one_kind_of_thing_in_place_of_another(
    tmp_path: Path, source: dict[str, str], base: dict[str, str], left: dict[str, str]
) -> None:
    assert taken(tmp_path, {"d", "d/a"}, source, base) == left


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert taken(tmp_path, {"d/a"}, {"d/a": "x"}, {"d": f"@{outside}", "e": "y"}) == {"d/a": "x", "e": "y"}
    assert list(outside.iterdir()) == []
