"""Removing what a student owns, wherever it lies, and nothing else. Only ever in a temporary folder, for a user of its own."""

import ctypes
import errno
import fcntl
import os
import socket
import stat
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from students import OTHER, STUDENT, cleared, give, needs_root

from rulebook.errors import MisbehaviorError, Missing, ReclaimError
from rulebook.services.custody_grounds import Ground, ground
from rulebook.services.custody_memory import remove_shared_memory
from rulebook.services.custody_permission import OUTSIDE_CONTAINER
from rulebook.services.custody_reclaim import ALSO_KEPT, delete_files
from rulebook.services.custody_sweep import Patience, Sweep

pytestmark = needs_root


@pytest.fixture(autouse=True)
def asked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(OUTSIDE_CONTAINER, str(STUDENT))
    with cleared():
        yield


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def sweep(*places: Path, exclude: tuple[Path, ...] = (), timeout: float = 600.0, patience: Patience | None = None) -> int:
    """Every sweep of these tests stays below the folders it is given."""
    assert places
    return delete_files(
        STUDENT, places, extend_exclude=exclude, timeout=timeout, outside_container=True, patience=patience
    )


def names(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def test_all_that_is_the_students_goes_and_all_else_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = give(place / "mine") if (place / "mine").mkdir() is None else place
    for name in ("file", os.fsdecode(b"\xff\n"), ".hidden"):
        give(mine / name) if (mine / name).write_text("x") else None
    os.mkfifo(mine / "fifo")
    give(mine / "fifo")
    (mine / "link").symlink_to("/etc/passwd")
    give(mine / "link")
    monkeypatch.chdir(mine)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    give(mine / "socket")
    (place / "theirs").mkdir()
    (place / "theirs/in a folder of ours").write_text("x")
    give(place / "theirs/in a folder of ours")
    (place / "theirs/ours").write_text("x")
    (place / "theirs/another's").write_text("x")
    give(place / "theirs/another's", OTHER)
    monkeypatch.chdir("/")
    assert sweep(place) == 8
    assert names(place) == ["theirs", "theirs/another's", "theirs/ours"]


def test_what_is_ours_in_a_folder_of_the_students_keeps_the_folder(place: Path) -> None:
    (place / "mine/deeper").mkdir(parents=True)
    (place / "mine/deeper/ours").write_text("x")
    (place / "mine/own").write_text("x")
    for path in (place / "mine", place / "mine/deeper", place / "mine/own"):
        give(path)
    assert sweep(place) == 1
    assert names(place) == ["mine", "mine/deeper", "mine/deeper/ours"]


def test_a_folder_to_sweep_goes_itself_when_it_is_the_students(place: Path) -> None:
    give(place)
    (place.parent / "file").write_text("x")
    give(place.parent / "file")
    assert sweep(place, place.parent / "file", place.parent / "was never there", place.parent / "nor/this") == 2
    assert not place.exists()


def test_no_link_is_followed(place: Path) -> None:
    outside = place.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    give(outside / "file")
    for name in ("in a folder", "as the place"):
        (place / name).symlink_to(outside)
        give(place / name)
    assert sweep(place / "as the place") == 1
    (place / "as the place").symlink_to(outside)
    with pytest.raises(MisbehaviorError, match="as the place is a symlink"):
        sweep(place / "as the place/file")
    assert sweep(place) == 1
    assert (outside / "file").exists()


def test_a_tree_deeper_than_any_path(place: Path) -> None:
    here = os.open(place, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 10, dir_fd=here)
        os.chown("d" * 10, STUDENT, STUDENT, dir_fd=here)
        below = os.open("d" * 10, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    before = len(os.listdir("/proc/self/fd"))
    assert sweep(place) == 1500
    assert len(os.listdir("/proc/self/fd")) == before
    assert names(place) == []


def test_what_is_excluded_stays_with_the_way_to_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("a/b/kept/in/it", "a/b/gone", "a/file", "c/also", "d"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("x")
    (place / "way").symlink_to("a")
    for path in place.rglob("*"):
        give(path)
    monkeypatch.setenv(ALSO_KEPT, f"{place}/c/also:")
    assert sweep(place, exclude=(place / "a/b/kept", place / "way/b/kept", place / "not/there")) == 3
    assert names(place) == ["a", "a/b", "a/b/kept", "a/b/kept/in", "a/b/kept/in/it", "c", "c/also", "way"]
    assert sweep(place / "a/b/kept/in", exclude=(place / "a/b/kept",)) == 0


@pytest.fixture
def mounted(place: Path) -> Iterator[Path]:
    """A read-only file system in the place, a writable one in that, and a bound file; all the student's."""
    (place / "fixed").mkdir()
    mounts = [place / "fixed"]
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place / "fixed")], check=True)
    try:
        (place / "fixed/way/loose mount").mkdir(parents=True)
        for path in ("fixed/file", "fixed/way/file", "bound"):
            (place / path).write_text("x")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place / "fixed/way/loose mount")], check=True)
        mounts.append(place / "fixed/way/loose mount")
        (place / "fixed/way/loose mount/file").write_text("x")
        subprocess.run(["mount", "--bind", str(place / "bound"), str(place / "bound")], check=True)
        mounts.append(place / "bound")
        for path in (place / "fixed", *place.rglob("*")):
            give(path)
        subprocess.run(["mount", "-o", "remount,ro", str(place / "fixed")], check=True)
        yield place
    finally:
        for mount in reversed(mounts):
            subprocess.run(["umount", str(mount)], check=True)


def test_mount_points_and_read_only_file_systems_stay(mounted: Path) -> None:
    assert sweep(mounted) == 1
    assert names(mounted) == ["bound", "fixed", "fixed/file", "fixed/way", "fixed/way/file", "fixed/way/loose mount"]
    assert sweep(mounted / "fixed/way") == 0
    assert sweep(mounted / "fixed/way/file") == 0


def test_the_kernels_own_file_systems_are_not_walked() -> None:
    top = ground(["/root"])
    assert top.children["root"].kept
    assert top.children["proc"].barren
    assert top.children["sys"].barren
    assert not top.barren


def test_the_whole_tree_from_its_top() -> None:
    """With everything of the top kept: nothing may be removed outside of a temporary folder."""
    top = Ground(children={name: Ground(kept=True) for name in os.listdir("/")})
    walk = Sweep(STUDENT, top, Patience(60))
    walk.everything()
    assert (walk.removed, walk.left) == (0, [])


def immutable(path: Path, yes: bool) -> None:
    with open(path) as stream:
        flags = struct.unpack("l", fcntl.ioctl(stream, 0x80086601, bytes(8)))[0]
        fcntl.ioctl(stream, 0x40086602, struct.pack("l", flags | 0x10 if yes else flags & ~0x10))


@pytest.mark.parametrize("students", [True, False])
def test_a_folder_that_is_moved_meanwhile_is_the_students_doing_only_where_it_is_its_own(
    students: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine others move their folders, and the student must not pay for that."""
    for name in ("before/inner", "after"):
        (place / name).mkdir(parents=True)
    if students:
        give(place / "before" / "inner")
    names_of = Sweep._names

    def moving(walk: Sweep) -> list[str]:
        found = names_of(walk)
        if walk._levels[-1].name == "inner":
            (place / "before" / "inner").rename(place / "after" / "inner")
        return found

    monkeypatch.setattr(Sweep, "_names", moving)
    with pytest.raises(ReclaimError if students else Missing, match="was moved while it was swept"):
        sweep(place)


def test_what_cannot_be_removed_is_misbehaviour_and_named(place: Path) -> None:
    for name in ("stays", "goes"):
        (place / name).write_text("x")
        give(place / name)
    immutable(place / "stays", True)
    try:
        with pytest.raises(ReclaimError) as caught:
            sweep(place)
    finally:
        immutable(place / "stays", False)
    assert isinstance(caught.value, MisbehaviorError)
    assert str(caught.value).endswith(f"removed: {place}/stays ({os.strerror(errno.EPERM)})")
    assert names(place) == ["stays"]


def test_time_and_names_are_bounded(place: Path) -> None:
    for number in range(6):
        (place / str(number)).write_text("")
    with pytest.raises(ReclaimError, match="longer than 0 s"):
        sweep(place, timeout=0)
    patience = Patience(600, most_entries=12)
    assert sweep(place, patience=patience) == sweep(place, patience=patience) == 0
    with pytest.raises(ReclaimError, match="more than 12 files"):
        sweep(place, patience=patience)


def test_shared_memory_queues_and_semaphores_go(place: Path) -> None:
    def made(uid: int) -> list[int]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setresuid(uid, uid, uid)
                libc = ctypes.CDLL(None)
                ids = libc.shmget(0, 4096, 0o1600), libc.msgget(0, 0o1600), libc.semget(0, 1, 0o1600)
                os.write(writing, " ".join(map(str, ids)).encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading) as stream:
            return [int(word) for word in stream.read().split()]

    def there(uid: int) -> int:
        text = "".join(Path("/proc/sysvipc", kind).read_text() for kind in ("shm", "msg", "sem"))
        return sum(str(uid) in line.split() for line in text.splitlines())

    assert min(made(STUDENT) + made(OTHER)) >= 0
    assert (there(STUDENT), there(OTHER)) == (3, 3)
    assert left_by_another() == b"0 3"
    assert sweep(place) == 3
    assert (there(STUDENT), there(OTHER)) == (0, 3)
    delete_files_of_other(place)
    assert there(OTHER) == 0


def left_by_another() -> bytes:
    """What could and could not be removed of the student's by a user who has no right to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(OTHER, OTHER, OTHER)
            removed, left = remove_shared_memory(STUDENT)
            os.write(writing, f"{removed} {len(left)}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, "rb") as stream:
        return stream.read()


def delete_files_of_other(place: Path) -> None:
    os.environ[OUTSIDE_CONTAINER] = str(OTHER)
    delete_files(OTHER, [place], outside_container=True)


def test_a_folder_that_another_process_moves_is_not_left_by_the_wrong_way(place: Path) -> None:
    """A folder swept while it is moved elsewhere must not lead the sweep to what lies above its new place."""
    (place / "a/b").mkdir(parents=True)
    walk = Sweep(STUDENT, Ground(), Patience(60))

    (place / "elsewhere").mkdir()
    moved = []

    class Names(dict[str, Ground]):
        def get(self, name: str, default: Ground | None = None) -> Ground | None:  # type: ignore[override]
            if name == "b" and not moved:
                moved.append(os.rename(place / "a", place / "elsewhere/a"))
            return default

    known = walk._top  # noqa: SLF001
    for part in str(place).split("/")[1:]:
        known = known.children.setdefault(part, Ground())
    known.children["a"] = Ground(children=Names())
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        with pytest.raises(Missing, match="was moved while it was swept"):
            walk.one(folder, place.name, str(place))
    finally:
        os.close(folder)
    assert stat.S_ISDIR(os.stat(place / "elsewhere/a/b").st_mode)
