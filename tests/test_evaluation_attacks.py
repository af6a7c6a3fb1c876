"""Functions and data that mean no good, or are only careless: whatever they do stays in their row, and is told."""

import asyncio
import enum
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import rulebook
from rulebook import Evaluation, EvaluationScorerResult, scorers
from rulebook.cli.main import main
from rulebook.errors import DatasetError, UnfitKind, UsageError
from rulebook.evidence.row_records import RowRecord
from rulebook.report.evaluation_gates import verdicts_of
from rulebook.report.evaluation_tally import Summary
from rulebook.services.dataset_digest import files_digest
from rulebook.services.evaluation_journal import Journal, JournalHead, read_head, read_records
from rulebook.services.evaluation_runs import list_runs
from rulebook.spec.gate_parts import Bounds, Gate

ROWS = [{"question": word, "expected": "refund", "tags": ["a", {"b": ["c"]}]} for word in ("one", "two", "three")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it says nothing")


@pytest.mark.parametrize("error", [Mute(), GeneratorExit(), asyncio.CancelledError("late"), BaseException("base")])
@pytest.mark.parametrize("concurrency", [1, 2])
def test_whatever_a_function_raises_fails_its_row_alone(error: BaseException, concurrency: int) -> None:
    @rulebook.function(concurrency=concurrency)
    def task(question: str) -> str:
        if question == "two":
            raise error
        return "refund"

    @rulebook.function
    def own(question: str) -> float:
        if question == "three":
            raise error
        return 1.0

    run = Evaluation.create("raises", dataset=ROWS, task=task, scorers=[own]).run()
    assert [(each.rows, each.failed) for each in run.table()] == [(1, 2)]
    first, second, third = run.rows()
    assert (first.failed(0), second.end and second.end.type) == (None, type(error).__name__)
    found = third.failed(0)
    assert found is not None
    assert (found.type, found.message) == (type(error).__name__, "it does not say why" if isinstance(error, Mute) else str(error))


def test_ctrl_c_in_a_function_ends_the_run() -> None:
    @rulebook.function
    def own(question: str) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Evaluation.create("ends", dataset=ROWS, scorers=[own]).run()
    with pytest.raises(KeyboardInterrupt):
        Evaluation.create("ends", dataset=ROWS, task=own, scorers=[scorers.json_valid()]).run()


class Intent(str, enum.Enum):  # noqa: UP042 - as people write it, and no StrEnum
    REFUND = "refund"


class Loud(str):
    def __str__(self) -> str:
        return "LOUD"


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        (Intent.REFUND, "refund"),
        (Loud("refund"), "refund"),
        ((1, (2,)), [1, [2]]),
        ({1: Intent.REFUND, None: 2.5}, {"1": "refund", "null": 2.5}),
    ],
)
def test_scorers_see_the_output_that_is_kept(output: object, kept: object) -> None:
    seen: list[object] = []

    @rulebook.function
    def task(question: str) -> object:
        return output

    @rulebook.function
    def sees(output: object) -> float:
        seen.append(output)
        return 1.0

    run = Evaluation.create("kept", dataset=ROWS[:1], task=task, scorers=[sees, scorers.exact_match()]).run()
    assert [record.output for record in run.rows()] == seen == [kept]
    assert type(seen[0]) is type(kept)
    assert run.means()["exact-match"] == float(kept == "refund")
    assert run.rescore().means() == run.means()


def deep(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("output", "said"), [({1: "a", "1": "b"}, "the key `1` is in it twice"), (deep(65), "nested more than 64 deep")]
)
def test_an_output_of_which_something_would_be_lost_is_an_error_of_its_row(output: object, said: str) -> None:
    @rulebook.function
    def task(question: str) -> object:
        return output

    run = Evaluation.create("lost", dataset=ROWS[:1], task=task, scorers=[scorers.json_valid()]).run()
    (record,) = run.rows()
    assert record.end is not None
    assert (record.end.type, said in record.end.message, run.means()) == ("UnfitKind", True, {"json-valid": None})


def test_what_a_function_does_to_its_row_reaches_nobody_else() -> None:
    def spoil(tags: Any) -> None:
        tags[1]["b"].append("d")
        tags.clear()

    @rulebook.function
    def task(question: str, tags: object) -> object:
        spoil(tags)
        return {"a": ["b"]}

    @rulebook.function
    def spoils(tags: object, output: Any) -> float:
        output["a"].clear()
        spoil(tags)
        return 1.0

    @rulebook.function
    def whole(**row: object) -> float:
        return float(row["tags"] == ["a", {"b": ["c"]}] and row["output"] == {"a": ["b"]})

    run = Evaluation.create("spoiled", dataset=ROWS, task=task, scorers=[spoils, whole]).run()
    assert run.means() == {"spoils": 1.0, "whole": 1.0}


def test_metadata_are_what_they_were_when_the_result_was_made() -> None:
    seen: list[str] = []

    @rulebook.function
    def own(question: str) -> EvaluationScorerResult:
        seen.append(question)
        return EvaluationScorerResult(1.0, {"seen": seen, "in": {"it": seen}})

    run = Evaluation.create("seen", dataset=ROWS, scorers=[own]).run()
    told = [record.scores(0)[0][1] for record in run.rows()]  # type: ignore[index]
    assert told == [{"seen": each, "in": {"it": each}} for each in (["one"], ["one", "two"], ["one", "two", "three"])]


def test_metadata_are_no_deeper_than_rows() -> None:
    with pytest.raises(UnfitKind, match="`metadata` cannot be written as JSON: it is nested more than 64 deep"):
        EvaluationScorerResult(1.0, {"a": deep(65)})
    assert EvaluationScorerResult(1.0, {"a": deep(64)}).metadata == {"a": deep(64)}


@pytest.mark.parametrize(
    ("output", "kept"), [("half \ud800", "half \\ud800"), ({"half": "\ud800"}, '{"half":"\\ud800"}')], ids=["text", "data"]
)
def test_half_a_character_costs_nobody_the_table(output: object, kept: str) -> None:
    @rulebook.function
    def task(question: str) -> object:
        return output

    @rulebook.function
    def fails(question: str) -> float:
        raise ValueError("\udfff")

    run = Evaluation.create("half", dataset=ROWS[:1], task=task, scorers=[fails]).run()
    (row,) = pyarrow.parquet.read_table(run.to_parquet()).to_pylist()
    assert (row["output"], row["fails_error"]) == (kept, "ValueError: \\udfff")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.jsonl", "\n", "none.jsonl` has no rows."),
        ("head.csv", "output,expected\n", "head.csv` has no rows."),
        ("list.json", "[]", "list.json` has no rows."),
        ("torn.jsonl", '\n{"output": NaN}\n{"output": 1', "torn.jsonl` can be read. The first, row 1 (line 2): `NaN` is no number."),
    ],
)  # fmt: skip
def test_rows_that_nobody_can_read_are_told_as_such(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError) as raised:
        Evaluation.create("none", dataset=tmp_path / name, scorers=[scorers.exact_match()])
    assert said in str(raised.value)


FILE = """\
schema: rulebook.evaluation
version: 1
name: numbers
dataset: {rows: [{output: a, expected: a}, {output: b, expected: a}]}
scorers: [exact_match: {name: same}, json_valid: {name: valid}]
gates: {same: {mean: {min: 0.5}}}
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line.replace("1.0", "NaN"), "is damaged at line 2"),
        (lambda line: line.replace("1.0", "1e999"), "is damaged at line 2"),
        (lambda line: line.replace('{"matched":true}', "[" * 20_000 + "]" * 20_000), "is damaged at line 2"),
        (lambda _: "[" * 200_000 + "\n", "is damaged at line 2"),
        (lambda _: '{"row":1,"results":[[[1.0,null]]]}\n', "row 1 has no result for each scorer"),
        (lambda _: '{"row":1}\n', "row 1 has no result for each scorer"),
    ],
    ids=["no number", "too large", "deep", "very deep", "one result", "no result"],
)
def test_a_run_goes_on_from_no_line_that_it_cannot_have_written(
    change: Callable[[str], str], said: str, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert main(["evaluation", "run", str(file)]) == 0
    (journal,) = home.rglob("journal.jsonl")
    head, first, *rest = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join([head, change(first), *rest]), encoding="utf-8")
    capsys.readouterr()
    assert main(["evaluation", "run", str(file), "--resume"]) == 1
    assert said in capsys.readouterr().err


def test_a_head_without_an_end_is_no_run(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "numbers.yaml"
    file.write_text(FILE, encoding="utf-8")
    assert main(["evaluation", "run", str(file)]) == 0
    for part in ("journal.jsonl", "report.json"):
        (found,) = home.rglob(part)
        found.write_text('{"x":' + "[" * 200_000 + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["evaluation", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == []


def test_a_figure_that_is_no_number_meets_no_gate() -> None:
    summary = Summary("same", 2, 2, 0, 0, 1.0, mean=math.nan)
    for bounds in (Bounds(min=0.0), Bounds(max=1.0), Bounds(min=0.0, max=1.0)):
        mean, unmeasured = verdicts_of([Gate("same", {"mean": bounds})], [summary])
        assert (mean.is_met, mean.words, unmeasured.is_met) == (False, "it is no number", True)


def test_a_command_that_a_signal_ended_has_no_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE.replace("dataset:", "task: {argv: [sh, -c, 'echo why >&2; kill -9 $$']}\ndataset:")
    (tmp_path / "numbers.yaml").write_text(text, encoding="utf-8")
    assert main(["evaluation", "run", str(tmp_path / "numbers.yaml"), "--format", "json"]) == 3
    messages = {each["message"] for each in json.loads(capsys.readouterr().out)["failures"]}
    assert messages == {"it was ended by signal 9: why"}


TAKEN = """\
schema: rulebook.evaluation
version: 1
name: taken
dataset: rows.jsonl
task: {argv: [sh, -c, 'read row; case "$row" in *two*) exit 3;; esac; echo one']}
scorers: [exact_match: {name: same}, json_valid: {name: valid}]
"""


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write an evaluation whose rows have these columns beside `word` and `expected`, and go there."""

    def write(**columns: object) -> Path:
        rows = [{"word": word, "expected": word, **columns} for word in ("one", "two")]
        (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        (tmp_path / "taken.yaml").write_text(TAKEN, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return write


@pytest.mark.parametrize("own", ["old", 7, {"a": 1}], ids=["text", "number", "mapping"])
def test_an_output_of_the_rows_own_is_never_told_as_the_tasks(own: object, taken: Callable[..., Path]) -> None:
    place = taken(output=own)
    assert main(["evaluation", "run", "taken.yaml", "--table", "t.parquet"]) == 0
    rows = pyarrow.parquet.read_table(place / "t.parquet").to_pylist()
    assert [(row["output"], row["output_error"], row["same_value"]) for row in rows] == [
        ("one", None, 1.0),
        (None, "CommandError: it ended with exit status 3", None),
    ]


@pytest.mark.parametrize("table", ["t.parquet", "t.csv", "t.jsonl"])
@pytest.mark.parametrize("name", ["same_value", "valid_error", "same_metadata", "output_error"])
def test_a_column_of_the_rows_never_stands_in_for_a_score(
    name: str, table: str, taken: Callable[..., Path], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = taken(**{name: "0.77"})
    assert main(["evaluation", "run", "taken.yaml", "--table", table]) == 1
    assert f"The rows have a column `{name}`, which in the table of the results" in capsys.readouterr().err
    assert not (place / table).exists()
    assert not home.exists()  # nothing was run that would have no table in the end
    found = rulebook.load("taken.yaml").run()
    with pytest.raises(UsageError, match=f"The rows have a column `{name}`"):
        found.to_table(table)


@pytest.mark.parametrize("option", ["--table", "--output"])
def test_no_result_is_written_over_the_rows(
    option: str, taken: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = taken() / "rows.jsonl"
    before = rows.read_bytes()
    assert main(["evaluation", "run", "taken.yaml", option, "rows.jsonl"]) == 1
    assert "`rows.jsonl` is what is being checked, and was not touched." in capsys.readouterr().err
    assert rows.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_in_words(home: Path, taken: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    taken()
    home.mkdir()
    head = JournalHead("run", "taken", ["same"], "same rows")
    with Journal(str(home), head) as journal:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, journal._file)
        os.close(full)
        with pytest.raises(UsageError, match="no space left on device. Make room there, or name another folder"):
            journal.append([RowRecord(1, "one", None, [[(1.0, None)]])])


def test_a_place_where_no_run_can_be_kept_is_told_in_words(
    home: Path, taken: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    taken()
    home.write_text("", encoding="utf-8")
    assert main(["evaluation", "run", "taken.yaml"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"rulebook: The run can't be kept in `{home}")
    assert said.endswith(": not a directory. Make room there, or name another folder in `RULEBOOK_HOME`.\n")


def test_what_is_no_file_keeps_nobody_waiting(taken: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    place = taken()
    for part in ("rows.jsonl", "journal.jsonl", "report.json"):
        (place / part).unlink(missing_ok=True)
        os.mkfifo(place / part)
    assert list_runs() == []
    assert read_head(str(place)) is None
    with pytest.raises(UsageError, match="it is not a regular file"):
        list(read_records(str(place)))
    with pytest.raises(DatasetError, match="it is not a regular file"):
        files_digest([str(place / "rows.jsonl")])
    assert main(["evaluation", "compare", str(place), str(place)]) == 1


def test_a_fifo_among_the_runs_keeps_nobody_waiting(
    home: Path, taken: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    taken()
    for _ in range(2):
        assert main(["evaluation", "run", "taken.yaml"]) == 0
    first, second = sorted(home.rglob("01*"))
    for path in (first / "journal.jsonl", second / "report.json"):
        path.unlink()
        os.mkfifo(path)
    capsys.readouterr()
    assert main(["evaluation", "list", "--format", "json"]) == 0
    assert [(each["run"], each["rows"]) for each in json.loads(capsys.readouterr().out)["runs"]] == [(second.name, None)]


def test_a_run_may_have_long_instructions(home: Path) -> None:
    head = JournalHead("run", "long", ["judge"], "same", None, {"judge": {"instructions": "x" * 2_000_000}})
    for _ in range(2):
        with Journal(str(home), head):
            pass
    assert read_head(str(home)) == head


def test_scores_of_any_size_keep_the_report_narrow() -> None:
    @rulebook.function
    def own(question: str) -> float:
        return {"one": 1e308, "two": -1e308, "three": 123456789.25}[question]

    run = Evaluation.create("large", dataset=ROWS, scorers=[own]).run()
    assert max(map(len, str(run).splitlines())) <= 100
    assert "1.23457e+08" in str(run)


@pytest.mark.parametrize("kind", ["file", "rows"])
def test_scores_never_stand_beside_rows_that_are_others_by_now(kind: str, tmp_path: Path) -> None:
    @rulebook.function
    def task(question: str) -> str:
        return "refund"

    file, rows = tmp_path / "rows.jsonl", [dict(row) for row in ROWS]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    dataset: object = rows if kind == "rows" else file
    run = Evaluation.create("others", dataset=dataset, task=task, scorers=[scorers.exact_match()]).run()
    assert run.rescore().means() == run.means() == {"exact-match": 1.0}
    run.to_parquet()
    run.to_table(tmp_path / "t.csv")
    rows[1]["expected"] = "other"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for late in (run.rescore, run.to_parquet, lambda: run.to_table(tmp_path / "t.csv")):
        with pytest.raises(DatasetError, match=f"is not what it was when the run `{run.id}` was made"):
            late()
    Path(run.folder, "journal.jsonl").unlink()
    with pytest.raises(UsageError, match="has no journal any more"):
        run.rescore()
