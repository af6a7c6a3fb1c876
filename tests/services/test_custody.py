"""Saving submissions: faithful copies, and the name of misbehaviour for everything that is not plain work."""

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from students import STUDENT, give, needs_root, open_folder

from rulebook.errors import (
    DestinationTaken,
    MisbehaviorError,
    MissingParentError,
    UnfitPath,
    UsageError,
)
from rulebook.services.custody import save_submission
from rulebook.services.custody_copy import Copying
from rulebook.services.custody_terms import Budget, Terms


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "submissions"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def misbehaviour(source: Path, **terms: object) -> str:
    """What the error says; nothing of a copy is left, and a listing is."""
    home = Path(os.environ["RULEBOOK_HOME"], "submissions")
    before = folders(home)
    with pytest.raises(MisbehaviorError) as caught:
        save_submission(source, **terms)  # type: ignore[arg-type]
    assert caught.value.listing is not None
    listing = Path(caught.value.listing)
    assert folders(home) == before
    assert json.loads(listing.read_bytes())["reason"] == str(caught.value)
    return str(caught.value)


def folders(place: Path) -> set[Path]:
    return {path for path in place.iterdir() if path.is_dir()} if place.exists() else set()


def as_student(said: Callable[[], str]) -> str:
    """What a function says that runs in a child which gave up root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(STUDENT, STUDENT, STUDENT)
            os.write(writing, said().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# what is saved


def test_a_file_is_copied_into_a_fresh_folder(work: Path, home: Path) -> None:
    (work / "answer.txt").write_bytes(b"42\n\xff")
    (work / "answer.txt").chmod(0o777)
    first, second = save_submission(work / "answer.txt"), save_submission(work / "answer.txt")
    assert first != second
    assert first.parent == home
    assert (first / "answer.txt").read_bytes() == b"42\n\xff"
    assert mode(first / "answer.txt") == 0o600
    assert mode(first) == mode(home) == 0o700


def test_a_tree_is_copied_with_odd_names(work: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe")
    (work / "a/b").mkdir(parents=True)
    (work / "a/b" / odd).write_text("odd")
    (work / "a/new\nline").write_text("line")
    (work / "empty").mkdir()
    copy = save_submission(work) / "out"
    assert (copy / "a/b" / odd).read_text() == "odd"
    assert (copy / "a/new\nline").read_text() == "line"
    assert {mode(copy), mode(copy / "a"), mode(copy / "empty")} == {0o700}


def test_the_record_beside_a_copy_has_its_sums(work: Path) -> None:
    for name in ("b", "a"):
        (work / name).mkdir()
    (work / os.fsdecode(b"\xff.txt")).write_text("abc")
    folder = save_submission(work)
    record = json.loads(folder.with_suffix(".json").read_bytes())
    assert record["outcome"] == "saved"
    assert [(e["path"], e["size_bytes"]) for e in record["copied"]] == [("", 0), ("a", 0), ("b", 0), ("\\xff.txt", 3)]
    assert record["copied"][3]["sha256"].startswith("ba7816bf8f01cfea")
    assert mode(folder.with_suffix(".json")) == 0o600


def test_what_was_never_written_is_no_misbehaviour(work: Path) -> None:
    folder = save_submission(work / "answer.txt")
    assert list(folder.iterdir()) == []
    assert json.loads(folder.with_suffix(".json").read_bytes())["outcome"] == "absent"
    dest = work / "copy"
    assert save_submission(work / "answer.txt", dest) == dest
    assert not dest.exists()


def test_a_destination_of_ones_own(work: Path, home: Path) -> None:
    (work / "answer.txt").write_text("42")
    dest = work / "copy"
    assert save_submission(work / "answer.txt", dest) == dest
    assert dest.read_text() == "42"
    assert not home.exists()


def test_a_relative_path_is_taken_from_here_and_dots_before_any_link(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "answer.txt").write_text("42")
    (work.parent / "link").symlink_to("/etc")
    monkeypatch.chdir(work)
    copy = save_submission("../link/../out/answer.txt")  # type: ignore[arg-type]
    assert (copy / "answer.txt").read_text() == "42"


def test_sparse_files_stay_sparse(work: Path) -> None:
    size = 200 * 1024**2
    with open(work / "sparse", "wb") as stream:
        stream.seek(100 * 1024**2)
        stream.write(b"x")
        stream.truncate(size)
    (work / "zeros").write_bytes(bytes(3 * 1024**2))
    copy = save_submission(work) / "out"
    assert (copy / "sparse").stat().st_size == size
    assert (copy / "sparse").stat().st_blocks * 512 < 1024**2
    assert (copy / "zeros").stat().st_size == 3 * 1024**2
    assert (copy / "zeros").stat().st_blocks == 0
    with open(copy / "sparse", "rb") as stream:
        stream.seek(100 * 1024**2 - 1)
        assert stream.read(3) == b"\0x\0"


def test_bytes_after_a_run_of_zeros_are_where_they_were(work: Path) -> None:
    content = bytes(1024**2) + b"end"
    (work / "answer").write_bytes(content)
    assert (save_submission(work / "answer") / "answer").read_bytes() == content


# links, special files and the way there


def test_a_link_is_misbehaviour(work: Path) -> None:
    (work / "report.txt").symlink_to("/etc/shadow")
    assert misbehaviour(work / "report.txt") == f"{work}/report.txt is a symlink"
    assert misbehaviour(work) == "report.txt is a symlink"


def test_a_link_that_leads_nowhere_is_misbehaviour(work: Path) -> None:
    (work / "report.txt").symlink_to("gone")
    assert misbehaviour(work / "report.txt") == f"{work}/report.txt is a symlink"


def test_a_linked_folder_on_the_way_is_named(work: Path) -> None:
    (work / "real").mkdir()
    (work / "real/report.txt").write_text("x")
    (work / "way").symlink_to("real")
    assert misbehaviour(work / "way/report.txt") == f"{work}/way is a symlink"
    assert misbehaviour(work / "way/deeper/report.txt") == f"{work}/way is a symlink"


def test_a_missing_folder_on_the_way_is_misbehaviour_unless_allowed(work: Path) -> None:
    assert misbehaviour(work / "a/b/report.txt") == f"{work}/a does not exist"
    with pytest.raises(MissingParentError):
        save_submission(work / "a/report.txt")
    assert list(save_submission(work / "a/report.txt", allow_missing_parent=True).iterdir()) == []
    (work / "a").symlink_to("gone")
    assert misbehaviour(work / "a/report.txt", allow_missing_parent=True) == f"{work}/a is a symlink"


def test_a_file_in_the_place_of_a_folder_is_misbehaviour(work: Path) -> None:
    (work / "a").write_text("")
    assert misbehaviour(work / "a/report.txt") == f"{work}/a is not a directory"


def test_a_fifo_hangs_nobody(work: Path) -> None:
    os.mkfifo(work / "fifo")
    assert misbehaviour(work / "fifo") == f"{work}/fifo is not a regular file"
    assert misbehaviour(work) == "fifo is not a regular file"


def test_a_socket_is_misbehaviour(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("s")
        assert misbehaviour(work) == "s is not a regular file"


@needs_root
def test_a_device_is_misbehaviour(work: Path) -> None:
    os.mknod(work / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    assert misbehaviour(work / "zero") == f"{work}/zero is not a regular file"


def test_allowed_links_are_copied_as_links_and_never_followed(work: Path) -> None:
    (work / "inner").symlink_to("/etc/passwd")
    copy = save_submission(work, allow_symlinks=True) / "out"
    assert os.readlink(copy / "inner") == "/etc/passwd"
    assert "is a symlink" in misbehaviour(work / "inner", allow_symlinks=True)


def test_a_hard_link_is_misbehaviour(work: Path) -> None:
    (work.parent / "key").write_text("secret")
    os.link(work.parent / "key", work / "report.txt")
    assert misbehaviour(work / "report.txt") == f"{work}/report.txt is a hard link: the file has 2 names"
    assert (save_submission(work, allow_hard_links=True) / "out/report.txt").read_text() == "secret"


@needs_root
def test_another_users_file_is_misbehaviour_where_an_owner_is_named(work: Path) -> None:
    (work / "mine").write_text("x")
    os.chown(work / "mine", STUDENT, STUDENT)
    assert (save_submission(work, owner=STUDENT) / "out/mine").is_file()  # the folder itself may be anybody's
    (work / "taken").write_text("secret")
    assert misbehaviour(work, owner=STUDENT) == f"taken belongs to user 0, not to {STUDENT}"


@needs_root
def test_a_folder_that_we_may_not_search_is_misbehaviour(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_folder() as place:
        (place / "closed").mkdir(mode=0o700)
        (place / "closed/report.txt").write_text("x")
        (place / "home").mkdir()
        give(place / "home")
        monkeypatch.setenv("RULEBOOK_HOME", str(place / "home"))

        def attempt() -> str:
            with pytest.raises(MisbehaviorError) as caught:
                save_submission(place / "closed/report.txt")
            return str(caught.value)

        assert as_student(attempt) == f"cannot stat {place}/closed/report.txt: Permission denied"


# too much


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(work: Path) -> None:
    (work / "a").write_bytes(bytes(10))
    assert (save_submission(work / "a", max_file_bytes=10) / "a").stat().st_size == 10
    (work / "a").write_bytes(bytes(11))
    assert misbehaviour(work / "a", max_file_bytes=10) == f"{work}/a is too large (11 > 10 bytes)"


def test_a_terabyte_of_nothing_is_refused_unread(work: Path) -> None:
    with open(work / "huge", "wb") as stream:
        stream.truncate(1024**4)
    assert "is too large (1099511627776 > 268435456 bytes)" in misbehaviour(work / "huge")


def test_the_total_counts_zeros_and_single_files(work: Path) -> None:
    for name in "abc":
        (work / name).write_bytes(bytes(10))
    assert save_submission(work, max_total_bytes=30)
    assert misbehaviour(work, max_total_bytes=29) == "submission total size exceeds 29 bytes"
    assert misbehaviour(work / "a", max_total_bytes=9) == "submission total size exceeds 9 bytes"


def test_entries_are_counted_without_the_top(work: Path) -> None:
    for name in "abc":
        (work / name).mkdir()
    assert save_submission(work, max_entries=3)
    assert misbehaviour(work, max_entries=2) == "submission has more than 2 entries"


def test_the_top_is_level_1(work: Path) -> None:
    (work / "a/b").mkdir(parents=True)
    assert save_submission(work, max_depth=3)
    assert misbehaviour(work, max_depth=2) == "submission is nested too deep at a/b"


def test_the_default_limits(work: Path) -> None:
    deep = work.joinpath(*["d"] * 31)
    deep.mkdir(parents=True)
    assert save_submission(work)
    (deep / "d").mkdir()
    assert misbehaviour(work).startswith("submission is nested too deep at d/d")
    many = work.parent / "many"
    many.mkdir()
    for number in range(10_001):
        os.mknod(many / str(number))
    assert misbehaviour(many) == "submission has more than 10000 entries"


def test_a_tree_far_deeper_than_any_path_is_refused(work: Path) -> None:
    top = os.open(work, os.O_RDONLY)
    for _ in range(500):
        os.mkdir("d" * 10, dir_fd=top)
        below = os.open("d" * 10, os.O_RDONLY, dir_fd=top)
        os.close(top)
        top = below
    os.close(top)
    try:
        assert "nested too deep" in misbehaviour(work)
        assert misbehaviour(work, max_depth=5000).endswith("File name too long")
    finally:
        subprocess.run(["rm", "-rf", str(work)], check=True)


def test_the_submissions_of_a_step_share_a_budget(work: Path) -> None:
    for name in "ab":
        (work / name).mkdir()
        (work / name / "file").write_bytes(bytes(10))
    budget = Budget(max_total_bytes=15)
    save_submission(work / "a", budget=budget)
    assert misbehaviour(work / "b", budget=budget) == "the submissions' total size exceeds 15 bytes"
    budget = Budget(max_entries=1)
    save_submission(work / "a", budget=budget)
    assert misbehaviour(work / "b", budget=budget) == "the submissions have more than 1 entries"


# where the copy goes


def test_what_stands_at_the_destination_is_not_touched(work: Path) -> None:
    (work / "a").write_text("new")
    for taken in (work / "taken", work / "link"):
        taken.symlink_to("gone") if taken.name == "link" else taken.write_text("old")
        with pytest.raises(FileExistsError) as caught:
            save_submission(work / "a", taken)
        assert isinstance(caught.value, DestinationTaken)
    assert (work / "taken").read_text() == "old"


def test_nothing_stays_at_a_destination_when_it_fails(work: Path) -> None:
    (work / "src").mkdir()
    (work / "src/a").write_text("1")
    (work / "src/b").symlink_to("a")
    with pytest.raises(MisbehaviorError):
        save_submission(work / "src", work / "copy")
    with pytest.raises(MisbehaviorError):
        save_submission(work / "src/a", work / "copy", max_file_bytes=0)
    assert not (work / "copy").exists()


def test_a_destination_without_a_folder_is_our_mistake(work: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        save_submission(work, work.parent / "no/copy")


def test_a_copy_whose_path_would_be_too_long_is_misbehaviour(work: Path) -> None:
    deep = work.joinpath(*["n" * 200] * 17)
    deep.mkdir(parents=True)
    dest = work.joinpath(*["m" * 200] * 5)
    dest.mkdir(parents=True)
    with pytest.raises(MisbehaviorError, match="cannot save .* File name too long"):
        save_submission(work / ("n" * 200), dest / "copy")
    lone = work / "lone"
    lone.mkdir()
    (lone / ("f" * 255)).write_text("")
    short = work
    while len(str(short)) < 3700:
        short = short / ("m" * 100)
    short.mkdir(parents=True)
    room = 4095 - len(str(short)) - 1
    assert save_submission(lone / ("f" * 255), short / "c").is_file()
    with pytest.raises(MisbehaviorError, match="cannot save f+: File name too long"):
        save_submission(lone, short / ("c" * (room - 255)))
    assert save_submission(lone, short / ("c" * (room - 256)))


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_a_name_collision_is_misbehaviour(work: Path, make: Callable[[Path], None]) -> None:
    """As `Answer` and `answer` collide in a place of ours that takes them for one name."""
    make(work / "answer")
    (work.parent / "copies").mkdir()
    source, target = os.open(work, os.O_RDONLY), os.open(work.parent / "copies", os.O_RDONLY)
    (work.parent / "copies" / "answer").write_text("another's")
    try:
        with pytest.raises(MisbehaviorError, match=f"^cannot save {work}: File exists$"):
            Copying(Terms(), str(work), str(work.parent / "copies"), None).copy(source, "answer", target, "answer")
    finally:
        os.close(source)
        os.close(target)
    assert (work.parent / "copies" / "answer").read_text() == "another's"


@needs_root
def test_a_full_disk_is_misbehaviour(work: Path, home: Path) -> None:
    home.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(home)], check=True)
    try:
        (work / "a").write_bytes(b"x" * 2**18)
        with pytest.raises(MisbehaviorError, match=f"^cannot save {work}/a: {os.strerror(errno.ENOSPC)}$"):
            save_submission(work / "a")
        assert [path for path in home.iterdir() if path.is_dir()] == []
    finally:
        subprocess.run(["umount", str(home)], check=True)


@pytest.mark.parametrize("path", ["/", "//", "/a/..", "/tmp/a\0b", "/tmp/" + "n" * 256, "/n" * 3000])
def test_paths_that_no_submission_can_have(path: str) -> None:
    with pytest.raises(ValueError) as caught:
        save_submission(path)  # type: ignore[arg-type]
    assert isinstance(caught.value, UnfitPath)


# what is told


def test_the_message_is_text_whatever_the_names(work: Path) -> None:
    (work / os.fsdecode(b"\xff\n\x1b[2J")).symlink_to("/")
    said = misbehaviour(work)
    assert said.encode() == b"\\udcff\\n\\x1b[2J is a symlink"


def test_the_listing_has_facts_and_no_content(work: Path) -> None:
    (work / "secret.txt").write_text("SECRET")
    (work / "key").symlink_to("/root/key")
    os.mkfifo(work / "pipe")
    with pytest.raises(MisbehaviorError) as caught:
        save_submission(work)
    text = Path(str(caught.value.listing)).read_text()
    assert "SECRET" not in text
    record = json.loads(text)
    assert record["outcome"] == "misbehavior"
    found = {entry["path"].removeprefix(f"{work}"): entry for entry in record["listed"]}
    assert found["/key"]["target"] == "/root/key"
    assert found["/pipe"]["kind"] == "fifo"
    assert (found["/secret.txt"]["size_bytes"], found["/secret.txt"]["names"]) == (6, 1)
    assert found[""]["kind"] == "folder"


def test_the_listing_goes_down_so_far_and_no_further(work: Path) -> None:
    (work.joinpath(*["d"] * 100)).mkdir(parents=True)
    with pytest.raises(MisbehaviorError) as caught:
        save_submission(work)
    listed = json.loads(Path(str(caught.value.listing)).read_bytes())["listed"]
    assert listed[-1]["path"] == str(work) + "/d" * 64


def test_the_listing_is_bounded_and_follows_no_link(work: Path) -> None:
    (work / "way").symlink_to("/")
    for number in range(2000):
        os.mknod(work / f"f{number}")
    with pytest.raises(MisbehaviorError) as caught:
        save_submission(work)
    record = json.loads(Path(str(caught.value.listing)).read_bytes())
    assert record["cut"] is True
    assert len(record["listed"]) == 1000
    assert not any(entry["path"].startswith(f"{work}/way/") for entry in record["listed"])


# races


def swapped(work: Path, script: str, attempt: Callable[[], None]) -> None:
    """Try 150 times while another process renames without pause."""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=work, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for _ in range(150):
            attempt()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close() if process.stdout else None


EXCHANGE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print("ready", flush=True)
while True:
    if libc.renameat2(-100, b"one", -100, b"two", 2):
        raise OSError(ctypes.get_errno())
"""


@pytest.mark.parametrize("what", ["folder on the way", "file", "fifo", "folder in the tree"])
def test_nothing_leaks_while_names_are_swapped(work: Path, what: str) -> None:
    (work / "secret").mkdir()
    (work / "secret/report.txt").write_text("SECRET")
    out = work / "out"
    out.mkdir()
    if what == "file":
        (out / "one").write_text("fine")
        (out / "two").symlink_to(work / "secret/report.txt")
        source, copied = out / "one", "one"
    elif what == "fifo":
        (out / "one").write_text("fine")
        os.mkfifo(out / "two")
        source, copied = out / "one", "one"
    else:
        (out / "one").mkdir()
        (out / "one/report.txt").write_text("fine")
        (out / "two").symlink_to(work / "secret")
        source, copied = (out / "one/report.txt", "report.txt") if "way" in what else (out, "out/one/report.txt")
    verdicts: set[str] = set()

    def attempt() -> None:
        dest = work / "copy"
        dest.mkdir()
        try:
            save_submission(source, dest / source.name)
            found = dest.joinpath(copied)
            verdicts.add(found.read_text())
        except MisbehaviorError:
            verdicts.add("misbehaviour")
        finally:
            shutil.rmtree(dest)

    swapped(out, EXCHANGE, attempt)
    assert verdicts <= {"fine", "misbehaviour"}
    assert "misbehaviour" in verdicts


# what changes under our hands


class Meddling(Budget):
    """A budget that is asked between a file's opening and its reading, and lets somebody else act then."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    def take(self, *, size_bytes: int = 0, entries: int = 0) -> None:
        if not entries:
            self._act()


@pytest.mark.parametrize("text", ["longer than it was", "", "as long"])
def test_a_file_that_changes_while_it_is_copied_is_misbehaviour(work: Path, text: str) -> None:
    (work / "answer").write_text("Exactly"[: len("as long")])
    os.utime(work / "answer", ns=(1, 1))
    meddling = Meddling(lambda: (work / "answer").write_text(text))
    assert misbehaviour(work / "answer", budget=meddling) == f"{work}/answer changed while it was saved"


def test_a_file_that_never_ends_is_read_no_further_than_it_was_long(work: Path) -> None:
    """Each read finds more; only the size that was looked at bounds them."""
    (work / "answer").write_bytes(b"x" * 10)
    meddling = Meddling(lambda: os.truncate(work / "answer", 1024**4))
    assert misbehaviour(work / "answer", budget=meddling).endswith("changed while it was saved")


def test_a_file_that_is_longer_than_it_says_is_misbehaviour() -> None:
    status = Path(f"/proc/{os.getpid()}/status")
    assert status.stat().st_size == 0
    assert misbehaviour(status) == f"{status} changed while it was saved"


def swapped_after_the_look(work: Path, copy: Callable[[Copying, int, int], object]) -> str:
    """What is said of a name that held a file, or a folder, when it was looked at and holds something else now."""
    (work.parent / "copies").mkdir()
    source, target = os.open(work, os.O_RDONLY), os.open(work.parent / "copies", os.O_RDONLY)
    try:
        with pytest.raises(MisbehaviorError) as caught:
            copy(Copying(Terms(), str(work), str(work.parent / "copies"), None), source, target)
        assert os.listdir(target) == []
        return str(caught.value)
    finally:
        os.close(source)
        os.close(target)


@pytest.mark.parametrize(
    ("now", "said"),
    [("fifo", "is not a regular file"), ("link", "is a symlink"), ("folder", "is not a regular file"),
     ("socket", "is not a regular file"), ("gone", "changed while it was saved")],
)  # fmt: skip
def test_a_file_swapped_between_look_and_opening(
    work: Path, now: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work)
    if now == "fifo":
        os.mkfifo("it")
    elif now == "link":
        os.symlink("/etc/passwd", "it")
    elif now == "folder":
        os.mkdir("it")
    elif now == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("it")
    assert swapped_after_the_look(work, lambda c, s, t: c._file(s, "it", t, "it", "it")) == f"it {said}"  # noqa: SLF001


@pytest.mark.parametrize(("now", "said"), [("link", "changed while it was saved"), ("file", "changed while it was saved")])
def test_a_folder_swapped_between_look_and_opening(work: Path, now: str, said: str) -> None:
    if now == "link":
        (work / "it").symlink_to("/etc")
    else:
        (work / "it").write_text("")
    assert swapped_after_the_look(work, lambda c, s, t: c._tree(s, "it", t, "it")) == f"{work} {said}"  # noqa: SLF001
