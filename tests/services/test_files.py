"""Reading files: regular ones only, nothing created, no link followed below a root."""

import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from repositories import listing

from rulebook.services.files import MachineFiles

FILES = MachineFiles()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_bytes(b"one\ntwo\xff")
    (root / "run").write_text("#!")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("src/a.py")
    (root / "folder").symlink_to("src")
    (root / "dangling").symlink_to("nowhere")
    (root / "outside").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    (tmp_path / "secret").write_text("secret")
    return root


def test_reads_no_more_than_one_byte_past_the_limit(tree: Path) -> None:
    assert FILES.read(str(tree / "src/a.py")) == b"one\ntwo\xff"
    assert FILES.read(str(tree / "src/a.py"), 3) == b"one\n"
    assert FILES.read_within(str(tree), "src/a.py", 0) == b"o"
    assert FILES.read_within(str(tree), "src/a.py", 100) == b"one\ntwo\xff"


def test_splits_lines_at_newline_bytes_only(tree: Path) -> None:
    (tree / "lines").write_bytes(b"a\r\xe2\x80\xa8b\nc\n\nd")
    with FILES.lines(str(tree / "lines")) as lines:
        assert list(lines) == [b"a\r\xe2\x80\xa8b\n", b"c\n", b"\n", b"d"]
    with FILES.open(str(tree / "lines")) as stream:
        assert stream.readline(3) == b"a\r\xe2"


@pytest.mark.parametrize("name", ["pipe", "src", "missing", "dangling"])
def test_refuses_what_is_no_regular_file(tree: Path, name: str) -> None:
    with pytest.raises(OSError):
        FILES.read(str(tree / name))
    with pytest.raises(OSError), FILES.lines(str(tree / name)):
        pass
    with pytest.raises(OSError):
        FILES.read_within(str(tree), name, 100)


def test_a_device_does_not_go_on_for_ever() -> None:
    with pytest.raises(OSError, match="not a regular file"):
        FILES.read("/dev/zero", 10)


def test_says_what_stands_there(tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tree)  # a socket's path must be short
        server.bind("s")
        assert FILES.within(str(tree), "s").kind == "other"
    facts = FILES.within(str(tree), "run")
    assert (facts.kind, facts.size_bytes, facts.mode) == ("file", 2, 0o755)
    assert FILES.within(str(tree), "src").kind == "folder"
    assert FILES.within(str(tree), "pipe").kind == "other"
    assert FILES.within(str(tree), "missing") is None
    assert FILES.within(str(tree), "run/below") is None
    assert FILES.within(str(tree), "x" * 5000) is None


@pytest.mark.parametrize(
    ("path", "link"),
    [("link", "link"), ("dangling", "dangling"), ("folder/a.py", "folder"), ("outside/secret", "outside")],
)
def test_stops_at_the_first_link(tree: Path, path: str, link: str) -> None:
    facts = FILES.within(str(tree), path)
    assert (facts.kind, facts.link) == ("link", link)
    with pytest.raises(OSError):
        FILES.read_within(str(tree), path, 100)


def test_tells_what_a_link_says_without_going_there(tree: Path) -> None:
    assert FILES.link_within(str(tree), "dangling") == "nowhere"
    with pytest.raises(OSError):
        FILES.link_within(str(tree), "run")
    with pytest.raises(OSError):
        FILES.link_within(str(tree), "folder/link")


def test_the_root_itself_may_be_a_link(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tree)
    assert FILES.read_within(str(tmp_path / "alias"), "run", 10) == b"#!"


def test_a_root_that_is_gone_is_not_an_empty_one(tree: Path) -> None:
    with pytest.raises(OSError):
        FILES.within(str(tree / "gone"), "a")


def test_a_name_that_is_not_utf8(tree: Path) -> None:
    name = os.fsdecode(b"\xff\xfe")
    (tree / name).write_text("odd")
    assert FILES.read_within(str(tree), name, 10) == b"odd"


def test_stands_and_lies_within(tree: Path, tmp_path: Path) -> None:
    assert FILES.stands(str(tree / "link"), folder=False)
    assert FILES.stands(str(tree / "folder"), folder=True)
    assert not FILES.stands(str(tree / "run"), folder=True)
    assert not FILES.stands(str(tree / "pipe"), folder=False)
    assert FILES.lies_within(str(tmp_path), str(tree))
    assert not FILES.lies_within(str(tree), str(tree))
    assert not FILES.lies_within(str(tree), str(tree / "outside" / "elsewhere"))
    assert not FILES.lies_within(str(tree), str(tree) + "er")


def test_reading_touches_nothing(tree: Path) -> None:
    before = listing(tree)
    for path in ("src/a.py", "link", "missing", "folder/a.py", "pipe", "no/such"):
        FILES.within(str(tree), path)
        for read in (lambda p=path: FILES.read_within(str(tree), p, 10), lambda p=path: FILES.read(str(tree / p))):
            with suppress(OSError):
                read()
    assert listing(tree) == before


def test_no_descriptor_is_left_open(tree: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    test_reading_touches_nothing(tree)
    assert len(os.listdir("/proc/self/fd")) == before
