"""Which tree is judged and against which commit, and how declared tests run over it."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from repositories import commit, git, listing, repository

from rulebook.checks import kind_named
from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.record import Record, WorkspaceOpened
from rulebook.evidence.repository import Repository
from rulebook.evidence.trial import run_over
from rulebook.ports import Command, Completed
from rulebook.services.ports import machine_ports
from rulebook.session.resulting import Resulting, base_of, resulting_repository
from rulebook.session.testing import test_runs as declared

PORTS = machine_ports()
TESTS = kind_named("tests")
SESSION = "01M8ABCDEF"


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    repository(tmp_path / "fixture", {"where": "fixture\n", "src/a": "old\n", "check.sh": "grep -q new src/a\n"})
    return tmp_path / "fixture"


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def session(workspace: Path | None = None, base: str = "") -> Record:
    opened = [WorkspaceOpened(str(workspace or "/nowhere"), base)] if workspace or base else []
    return Record(session_id=SESSION, workspaces=opened)


def where(found: Resulting) -> str:
    assert found.repository is not None, found.reason
    return f"{found.repository.origin}: {Path(found.repository.root, 'where').read_text().strip()}"


def test_the_order(fixture: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    work, project = store / "work", tmp_path / "project"
    store.mkdir()
    git(fixture, "worktree", "add", "--quiet", "--detach", str(work))
    commit(work, {"where": "workspace\n"})
    git(fixture, "worktree", "add", "--quiet", "--detach", str(tmp_path / "parked"))
    parked = commit(tmp_path / "parked", {"where": "parked\n"})
    git(fixture, "update-ref", f"refs/chock/{SESSION}", parked)
    repository(project, {"where": "project\n"})
    before = listing(fixture)

    def found(project: Path | None, record: Record) -> str:
        given = str(project) if project else None
        with resulting_repository(given, record, str(fixture), None, str(store), PORTS) as resulting:
            return where(resulting)

    assert found(project, session(work)) == "project: project"
    assert found(None, session(work)) == "workspace: workspace"
    assert found(None, session(store / "gone")) == "session ref: parked"
    assert found(None, session(project)) == "session ref: parked"
    assert listing(fixture) == before
    git(fixture, "update-ref", "-d", f"refs/chock/{SESSION}")
    assert found(None, session()) == "fixture: fixture"


def test_a_parked_commit_can_be_compared_with_its_base(fixture: Path, tmp_path: Path) -> None:
    base = head(fixture)
    git(fixture, "worktree", "add", "--quiet", "--detach", str(tmp_path / "parked"))
    git(fixture, "update-ref", f"refs/chock/{SESSION}", commit(tmp_path / "parked", {"src/a": "new\n"}))
    with resulting_repository(None, session(base=base), str(fixture), None, str(tmp_path / "store"), PORTS) as found:
        assert found.repository is not None
        assert [change.path for change in found.repository.changes()] == ["src/a"]
        root = found.repository.root
    assert not Path(root).exists()


@pytest.mark.parametrize(
    ("project", "given", "reason"),
    [
        ("gone", None, "gone` is not there"),
        (None, "gone", "gone` is not there"),
        (None, None, "no repository was given"),
    ],
)
def test_no_tree(tmp_path: Path, project: str | None, given: str | None, reason: str) -> None:
    folders = [str(tmp_path / name) if name else None for name in (project, given)]
    with resulting_repository(folders[0], session(), folders[1], None, "/store", PORTS) as found:
        assert found.repository is None
        assert reason in found.reason


def test_a_plain_folder_can_be_looked_at_but_not_compared(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/where").write_text("plain\n")
    with resulting_repository(None, session(), str(tmp_path / "plain"), None, "/store", PORTS) as found:
        assert where(found) == "fixture: plain"
        assert "is not a git repository" in found.base.reason
        assert found.repository is not None
        with pytest.raises(Missing, match="is not a git repository"):
            found.repository.changes()


def test_a_fixture_that_git_cannot_read_is_not_passed_over(fixture: Path) -> None:
    git(fixture, "update-ref", f"refs/chock/{SESSION}", "HEAD")
    for item in (fixture / ".git/objects").glob("??/*"):
        item.chmod(0o644)
        item.write_bytes(b"junk")
    with resulting_repository(None, session(), str(fixture), None, "/store", PORTS) as found:
        assert found.repository is None
        assert "broken or missing objects" in found.reason


def test_a_session_id_is_no_way_out_of_its_refs(fixture: Path) -> None:
    git(fixture, "update-ref", f"refs/chock/{SESSION}", "HEAD")
    record = Record(session_id=f"{SESSION}~0")
    with resulting_repository(None, record, str(fixture), None, "/store", PORTS) as found:
        assert where(found) == "fixture: fixture"


def test_the_base_commit(fixture: Path, tmp_path: Path) -> None:
    first = head(fixture)
    git(fixture, "tag", "start")
    second = commit(fixture, {"b": "b"})
    place = str(fixture)
    assert base_of(session(), None, place, PORTS).resolved == second
    assert base_of(session(base=first), None, place, PORTS).resolved == first
    pinned = base_of(session(base=second), "start", place, PORTS)
    assert (pinned.asked, pinned.resolved, pinned.logged) == ("start", first, second)
    unknown = base_of(session(base=second), "nope", place, PORTS)
    assert (unknown.resolved, unknown.logged) == (None, second)
    assert "`nope` names no commit" in unknown.reason
    with resulting_repository(None, session(base=second), place, "start", "/store", PORTS) as found:
        assert found.repository is not None
        assert found.repository.base == second
    assert "is gone" in base_of(session(), None, str(tmp_path / "gone"), PORTS).reason
    assert "no repository was given" in base_of(session(), None, None, PORTS).reason


def test_the_first_workspace_says_where_a_resumed_session_began(fixture: Path) -> None:
    first, second = head(fixture), commit(fixture, {"b": "b"})
    record = Record(workspaces=[WorkspaceOpened("/a", first), WorkspaceOpened("/b", second)])
    assert base_of(record, None, str(fixture), PORTS).resolved == first


def runs_over(root: Path, base: str | None, params: dict[str, object] | None = None, **test: object) -> dict:
    check = TESTS.model_validate({"name": "unit", **test})
    tree = Repository(str(root), "project", PORTS.files, PORTS.git, base)
    return dict(declared([check], tree, "", params or {}, PORTS))


def test_a_test_runs_once_and_in_a_copy(fixture: Path, tmp_path: Path) -> None:
    (fixture / "src/a").write_text("new\n")
    (fixture / "untracked").write_text("u\n")
    script = f"echo x >> {tmp_path}/count; test -f untracked && sh check.sh && rm -rf src .git untracked"
    before = listing(fixture)
    runs = runs_over(fixture, head(fixture), argv=["sh", "-c", script])
    first = runs["unit"]()
    assert first.exit == 0
    assert runs["unit"]() is first
    assert (tmp_path / "count").read_text() == "x\n"
    assert listing(fixture) == before


def test_a_test_in_a_worktree_cannot_reach_the_original(fixture: Path, tmp_path: Path) -> None:
    git(fixture, "worktree", "add", "--quiet", "--detach", str(tmp_path / "work"))
    before = listing(fixture, borrowed=True), listing(tmp_path / "work")
    commit_all = "git -c user.name=x -c user.email=x@y commit --quiet --allow-empty --message=evil"
    script = f"{commit_all} && git branch --force main && rm src/a && git add --all"
    assert runs_over(tmp_path / "work", None, argv=["sh", "-c", script])["unit"]().exit == 0
    assert (listing(fixture, borrowed=True), listing(tmp_path / "work")) == before


def test_with_take_nothing_else_can_steer_it(fixture: Path) -> None:
    base = head(fixture)
    (fixture / "check.sh").write_text("exit 0\n")
    (fixture / "conftest.py").write_text("evil\n")
    assert runs_over(fixture, base, argv=["sh", "check.sh"])["unit"]().exit == 0
    assert runs_over(fixture, base, argv=["sh", "check.sh"], take=["src/**"])["unit"]().exit == 1
    (fixture / "src/a").write_text("new\n")
    (fixture / "src/.hidden").write_text("h\n")
    script = "sh check.sh && test ! -e conftest.py && test -f src/.hidden"
    assert runs_over(fixture, base, argv=["sh", "-c", script], take=["src/**"])["unit"]().exit == 0
    assert runs_over(fixture, base, argv=["sh", "-c", script], take=["src"])["unit"]().exit == 0
    (fixture / "src/a").unlink()
    assert runs_over(fixture, base, argv=["test", "-e", "src/a"], take=["src/**"])["unit"]().exit == 1


def test_attack_conftest_turns_failures_into_success(tmp_path: Path) -> None:
    root = tmp_path / "python"
    base = repository(
        root, {"src/m.py": "def one():\n    return 2\n", "check.py": "import src.m\nassert src.m.one() == 1\n"}
    )
    (root / "sitecustomize.py").write_text("import os\nos._exit(0)\n")
    argv = ["sh", "-c", 'PYTHONPATH=. "$0" check.py', "python3"]
    assert runs_over(root, base, argv=argv)["unit"]().exit == 0
    assert runs_over(root, base, argv=argv, take=["src/**"])["unit"]().exit == 1


def test_whose_fault_it_is_that_a_test_cannot_run(fixture: Path, tmp_path: Path) -> None:
    base = head(fixture)

    def fault(root: Path, base: str | None, **test: object) -> str:
        runs = runs_over(root, base, **test)
        for _ in range(2):
            with pytest.raises((Missing, NotHandedIn)) as caught:
                runs["unit"]()
        error = caught.value
        return f"{error.category if isinstance(error, Missing) else 'student'}: {error.reason}"

    assert fault(fixture, base, argv=["no-such-program"]).startswith("harness: `no-such-program` is not installed")
    assert fault(fixture, base, argv=["./run"]) == "student: `./run` is not there"
    assert fault(fixture, base, argv=["src/run"], take=["src/**"]) == "student: `src/run` is not there"
    assert fault(fixture, base, argv=["./run"], take=["src/**"]) == "fixture: in the base commit `./run` is not there"
    assert fault(fixture, None, argv=["true"], take=["src/**"]) == "fixture: no base commit is known"
    assert fault(fixture, "a" * 40, argv=["true"], take=["src/**"]).startswith("fixture: the base commit cannot be")
    assert fault(tmp_path / "gone", base, argv=["true"]).startswith("fixture: the repository cannot be copied")


class Spent:
    """A machine that can start nothing any more."""

    def run(self, command: Command) -> Completed:
        """Fail."""
        return Completed(None, "", "", 0.0, failure=f"`{command.argv[0]}`: no more processes", machine_failed=True)


def test_a_machine_in_trouble_is_no_fault_of_the_students_own_program(fixture: Path) -> None:
    tree = Repository(str(fixture), "project", PORTS.files, PORTS.git, head(fixture))
    for take in ((), ("src/**",)):
        with pytest.raises(Missing) as caught:
            run_over(tree, ["./run"], 10, take, replace(PORTS, processes=Spent()))
        assert (caught.value.category, caught.value.reason) == ("harness", "`./run`: no more processes")


def test_words_are_filled_in_from_the_parameters(fixture: Path) -> None:
    runs = runs_over(fixture, None, {"word": "a b"}, argv=["test", "{{ params.word }}", "=", "a b"])
    assert runs["unit"]().exit == 0
    with pytest.raises(Missing) as caught:
        runs_over(fixture, None, {}, argv=["test", "{{ params.word }}"])["unit"]()
    assert caught.value.category == "harness"


def test_without_a_repository() -> None:
    check = TESTS.model_validate({"name": "unit", "argv": ["true"]})
    with pytest.raises(Missing, match="nowhere"):
        declared([check], None, "nowhere", {}, PORTS)["unit"]()
