"""An evaluation that is run again is not read again, and means the same; a changed file is read."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rulebook.api import evaluation_files
from rulebook.cli.main import main
from rulebook.services import kept_rules
from rulebook.services.files import MachineFiles
from rulebook.services.kept_rules import KeptRules

FILE = """\
schema: rulebook.evaluation
version: 1
name: kept
dataset: {rows: [{output: '{"a": 1}', expected: '{"a": 1.0}', n: 1.5, many: [1, {b: null}]}, {output: x, expected: '2', n: -3}]}
scorers:
  - exact_match: {normalize_whitespace: true, threshold: 0.5}
  - contains: {mode: fraction, case_insensitive: true, name: shares}
  - regex_match: 'a+'
  - levenshtein: {case_insensitive: true}
  - string_similarity: {method: token_set}
  - json_valid
  - json_match: {paths: [a, b.c]}
  - numeric_close: {inputs: [n, expected], tolerance: 0.5, relative: true}
  - sql: {name: length, expression: 'length("output") / 10.0'}
gates: {exact-match: {mean: {min: 0}}, levenshtein: {p50: {max: 1}, unmeasured: {max: 1}}}
""".replace("  - json_valid\n", "  - json_valid: {}\n")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "kept.yaml").write_text(FILE)
    return tmp_path


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file that is read as rules, in order."""
    found: list[str] = []
    read = evaluation_files.load_rules

    def told(path: str, files: MachineFiles) -> object:
        found.append(path)
        return read(path, files)

    monkeypatch.setattr(evaluation_files, "load_rules", told)
    return found


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    def run(*argv: str, status: int = 0) -> dict[str, object]:
        assert main(["evaluation", "run", *argv, "--format", "json"]) == status
        said = capsys.readouterr()
        return {key: value for key, value in json.loads(said.out).items() if key != "run"} if status != 1 else {"": said.err}

    return run


def entry(place: Path) -> Path:
    (found,) = (place / "home" / "cache" / "rules").iterdir()
    return found


def test_the_second_run_says_the_same_and_reads_nothing(readings, ran, place):
    first = ran("kept.yaml")
    assert ran("kept.yaml") == first
    assert readings == ["kept.yaml"]
    assert [each["name"] for each in first["scorers"]] == [
        "exact-match", "shares", "regex-match", "levenshtein", "token-set", "json-valid", "json-match", "numeric-close", "length",
    ]  # fmt: skip


def test_both_runs_keep_the_same_journal_but_for_their_ids(ran, place):
    ran("kept.yaml")
    ran("kept.yaml")
    heads, rows = [], []
    for journal in (place / "home" / "evaluations").rglob("journal.jsonl"):
        head, *lines = journal.read_text().splitlines()
        heads.append({key: value for key, value in json.loads(head).items() if key != "run"})
        rows.append(lines)
    assert heads[0] == heads[1]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 2


def test_a_run_that_was_begun_is_gone_on_with_by_what_was_kept(ran, place):
    first = ran("kept.yaml", "--resume")
    assert ran("kept.yaml", "--resume") == first
    assert len(list((place / "home" / "evaluations").rglob("journal.jsonl"))) == 1


def test_a_changed_file_is_read_again(readings, ran, place):
    ran("kept.yaml")
    (place / "kept.yaml").write_text(FILE.replace("min: 0}", "min: 0.9}"))
    assert ran("kept.yaml", status=3)["gates_met"] is False
    assert ran("kept.yaml", status=3)["gates_met"] is False
    assert len(readings) == 2


def test_a_mistake_is_found_whatever_was_kept(ran, place):
    ran("kept.yaml")
    (place / "kept.yaml").write_text(FILE.replace("mode: fraction", "mode: some"))
    assert "RB204" in str(ran("kept.yaml", status=1))


def test_another_program_reads_the_file_itself(readings, ran, monkeypatch):
    ran("kept.yaml")
    monkeypatch.setattr(kept_rules, "__version__", "99")
    kept_rules._program.cache_clear()
    ran("kept.yaml")
    kept_rules._program.cache_clear()
    assert len(readings) == 2


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_text("[]"),
        lambda path: path.write_bytes(b"\xff"),
        lambda path: path.write_text(path.read_text().replace('"key":"', '"key":"0')),
        lambda path: path.chmod(0o666),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), os.mkfifo(path, 0o600)),
        lambda path: path.write_text("[" * 100_000),
        lambda path: os.chown(path, 12345, 12345),
    ],
)
def test_what_is_not_surely_ours_and_whole_is_not_believed(harm, readings, ran, place):
    first = ran("kept.yaml")
    harm(entry(place))
    assert ran("kept.yaml") == first
    assert len(readings) == 2


def test_odd_values_of_rows_are_kept_as_they_are(readings, ran, place):
    (place / "kept.yaml").write_text(FILE.replace("n: 1.5", "n: -0.0, p: 1e-320"))
    first = ran("kept.yaml")
    assert ran("kept.yaml") == first


def test_a_file_that_changes_while_it_is_read_is_not_kept(place):
    kept = KeptRules("kept.yaml", MachineFiles())
    ready = evaluation_files.ready(evaluation_files.evaluation_in("kept.yaml", evaluation_ports()))
    assert ready is not None
    kept.keep(ready, FILE + "\n# later\n")
    assert kept.find() is None
    kept.keep(ready, FILE)
    assert kept.find() == ready


@pytest.mark.parametrize(
    "more",
    [
        "task: {argv: [cat]}\n",
        "task: {python: 'a:b'}\n",
        "params: {n: {type: integer, default: 1}}\n",
    ],
)
def test_what_runs_something_or_takes_parameters_is_read_each_time(more, place):
    (place / "kept.yaml").write_text(FILE + more)
    assert evaluation_files.ready(evaluation_files.evaluation_in("kept.yaml", evaluation_ports())) is None


def test_a_run_without_a_home_to_write_in_goes_on(ran, place, monkeypatch):
    ran("kept.yaml")
    (place / "home" / "cache" / "rules").rename(place / "gone")
    (place / "home" / "cache" / "rules").write_text("in the way")
    ran("kept.yaml")


def evaluation_ports():
    from rulebook.services.ports import machine_ports

    return machine_ports("kept.yaml")
