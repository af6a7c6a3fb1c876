"""The resulting repository: what stands there, links and all, and whose fault it is when that cannot be told."""

import os
from pathlib import Path

import pytest
from repositories import listing, repository

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.repository import Repository
from rulebook.ports import FileFacts
from rulebook.services.files import MachineFiles
from rulebook.services.ports import machine_ports


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repository(tmp_path / "root", {"src/a.py": "a\n", "b": "b\n"})
    return tmp_path / "root"


def over(root: Path, base: str | None = None, files: MachineFiles | None = None) -> Repository:
    ports = machine_ports()
    return Repository(str(root), "project", files or ports.files, ports.git, base)


class Refusing(MachineFiles):
    """Files that this machine may not look at."""

    def within(self, root: str, path: str) -> FileFacts | None:  # noqa: ARG002
        raise PermissionError(13, "Permission denied", path)


@pytest.mark.parametrize(
    ("links", "path", "absence", "present"),
    [
        ({}, "src/a.py", "", True),
        ({}, "src", "", True),
        ({}, "src/z.py", "it is not there", False),
        ({}, "b/z", "it is not there", False),
        ({"l": "src/a.py"}, "l", "", True),
        ({"l": "src"}, "l/a.py", "", True),
        ({"l": "src"}, "l/z.py", "`l` is a link that leads to nothing", False),
        ({"l": "gone"}, "l", "`l` is a link that leads to nothing", True),
        ({"l": "gone"}, "l/a.py", "`l` is a link that leads to nothing", False),
        ({"l": "."}, "l/l/l/b", "", True),
        ({"l": "src/../src/./a.py"}, "l", "", True),
        ({"l": "/etc/passwd"}, "l", "`l` is a link that leads out of the repository", True),
        ({"l": ".."}, "l", "`l` is a link that leads out of the repository", True),
        ({"l": ".."}, "l/root/b", "`l` is a link that leads out of the repository", True),
        ({"l": "m", "m": "/"}, "l/no/such", "`m` is a link that leads out of the repository", True),
        ({"l": "m", "m": "l"}, "l/x", "`l` is a link that leads to nothing", False),
        ({"src/up": "../../root/b"}, "src/up", "`src/up` is a link that leads out of the repository", True),
        ({"src/up": "../b"}, "src/up", "", True),
    ],
)
def test_links(root: Path, links: dict[str, str], path: str, absence: str, present: bool) -> None:
    for name, target in links.items():
        (root / name).symlink_to(target)
    assert over(root).absence(path) == absence
    assert over(root).present(path) is present


def test_a_pipe_is_present_and_no_part_of_the_repository(root: Path) -> None:
    os.mkfifo(root / "p")
    (root / "l").symlink_to("p")
    assert over(root).absence("p") == "it is a pipe, a socket or a device"
    assert over(root).absence("l") == "behind a link it is a pipe, a socket or a device"
    assert over(root).present("p")


def test_an_absolute_link_that_stays_inside(root: Path) -> None:
    (root / "l").symlink_to(root / "src")
    assert over(root).absence("l/a.py") == ""


@pytest.mark.parametrize(
    ("make", "path", "reason"),
    [
        (lambda _: None, "z", "`z` is not there"),
        (lambda _: None, "src", "`src` is not a regular file: it is a folder"),
        (lambda root: os.mkfifo(root / "p"), "p", "it is a pipe, a socket or a device"),
        (lambda root: (root / "l").symlink_to("b"), "l", "`l` is not a regular file: it is a link"),
        (lambda root: (root / "l").symlink_to("src"), "l/a.py", "`l` is a link"),
        (lambda root: (root / "big").write_text("x" * 11), "big", "`big` has 11 bytes; at most 10 are read"),
    ],
)
def test_what_cannot_be_read_is_the_students_fault(root: Path, make: object, path: str, reason: str) -> None:
    make(root)  # type: ignore[operator]
    with pytest.raises(NotHandedIn) as caught:
        over(root).read(path, 10)
    assert reason in caught.value.reason


def test_reading_up_to_the_limit(root: Path) -> None:
    (root / "ten").write_bytes(b"0123456789")
    assert over(root).read("ten", 10) == b"0123456789"


def test_a_machine_that_refuses_is_ours(root: Path) -> None:
    for ask in (Repository.present, Repository.absence, Repository.facts):
        with pytest.raises(Missing) as caught:
            ask(over(root, files=Refusing()), "b")
        assert caught.value.category == "fixture"
        assert "permission denied" in caught.value.reason
    with pytest.raises(Missing):
        over(root, files=Refusing()).read("b", 10)
    with pytest.raises(Missing):
        over(root / "gone").present("b")


def test_git_that_cannot_tell_is_ours(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for ask in (Repository.changes, Repository.tree, Repository.based):
        with pytest.raises(Missing, match="no base commit is known"):
            ask(over(root))
    for ask in (Repository.changes, Repository.tree, Repository.head, lambda r: r.diff(10)):
        with pytest.raises(Missing, match="is not a git repository") as caught:
            ask(over(tmp_path / "plain", "HEAD"))
        assert caught.value.category == "fixture"


def test_what_changed(root: Path) -> None:
    (root / "b").write_text("c\n")
    before = listing(root)
    repo = over(root, over(root).head())
    assert [change.path for change in repo.changes()] == ["b"]
    assert "+c" in repo.diff(1000)
    assert len(repo.tree()) == 40
    assert listing(root) == before
