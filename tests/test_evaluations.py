"""Evaluations from Python: the reference's examples, row errors, scores and their aggregates, rescoring."""

import asyncio
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import rulebook
from rulebook import Evaluation, EvaluationScorerResult, scorers
from rulebook.errors import DatasetError, Stopped, UnfitKind, UnfitOption, UsageError

HERE = Path(__file__).parent
HEAD = (HERE / "conformance" / "scorers_quickstart.txt").read_text(encoding="utf-8")
"""How every example of the reference begins."""

FOUR_SCORERS = '''
scorers = [
    chalkcompute.scorers.json_valid(inputs=("output",), name="valid-json"),
    chalkcompute.scorers.json_match(inputs=("output", "expected"), name="full-match"),
    chalkcompute.scorers.json_match(
        inputs=("output", "expected"), paths=["intent"], name="intent-match"
    ),
    chalkcompute.scorers.contains(inputs=("output", "expected_intent"), name="mentions-intent"),
]
'''
ANSWERED = """
answered = chalkcompute.scorers.sql(
    "answered",
    '''CASE WHEN "output" IS NOT NULL AND "output" <> '' THEN 1.0 ELSE 0.0 END''',
)
scorers = [answered]
"""
PLAUSIBLE = """
@chalkcompute.function
def amount_is_plausible(message: str, output: str) -> float:
    import json
    try:
        amount = json.loads(output)["amount"]
    except Exception:
        return 0.0
    return 1.0 if amount == 0.0 or str(amount).rstrip("0").rstrip(".") in message else 0.0
scorers = [amount_is_plausible]
"""
PER_FIELD = """
@chalkcompute.function
def per_field(output: str, expected: str) -> list[chalkcompute.EvaluationScorerResult]:
    import json
    try:
        got, want = json.loads(output), json.loads(expected)
    except ValueError:
        return []
    return [
        chalkcompute.EvaluationScorerResult(
            score=1.0 if got.get(field) == value else 0.0,
            metadata={"field": field},
        )
        for field, value in want.items()
    ]
scorers = [per_field]
"""
CREATE = '''
if __name__ == "__main__":
    evaluation = chalkcompute.Evaluation.create(
        "support-triage",
        dataset=dataset,
        task=triage,
        scorers=scorers,
    )
'''
TOLD = """
    import json
    run = evaluation.run().wait()
    print(json.dumps([run.means(), [[each.scores, each.rows, each.empty] for each in run.table()]]))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("RULEBOOK_HOME", str(folder))
    return folder


def run_reference(example: str, folder: Path) -> Any:
    """What an example of the reference prints when its import alone is changed."""
    text = (HEAD + example + CREATE).replace("import chalkcompute", "import rulebook as chalkcompute", 1) + TOLD
    path = folder / "quickstart.py"
    path.write_text(text, encoding="utf-8")
    root = os.path.dirname(os.path.dirname(rulebook.__file__))
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("example", "means", "counts"),
    [
        (
            FOUR_SCORERS,
            {"valid-json": 0.75, "full-match": 0.25, "intent-match": 0.5, "mentions-intent": 0.5},
            [[4, 4, 0]] * 4,
        ),
        (ANSWERED, {"answered": 1.0}, [[4, 4, 0]]),
        (PLAUSIBLE, {"amount-is-plausible": 0.75}, [[4, 4, 0]]),
        (PER_FIELD, {"per-field": 0.5}, [[6, 3, 1]]),
    ],
    ids=["quick start", "sql", "own scorer", "list of results"],
)
def test_an_example_of_the_reference_runs(
    example: str, means: dict[str, float], counts: list[list[int]], tmp_path: Path
) -> None:
    assert run_reference(example, tmp_path) == [means, counts]


def test_the_example_is_the_references() -> None:
    reference = os.environ.get("RULEBOOK_SHARED", HERE.parents[1] / "shared")
    page = Path(reference) / "reference" / "scorers.txt"
    if not page.is_file():
        pytest.skip(f"the reference is not here: looked for {page}")
    text = page.read_text(encoding="utf-8")
    for part in (HEAD, FOUR_SCORERS, CREATE, *(each.rpartition("scorers =")[0] for each in (ANSWERED, PLAUSIBLE))):
        assert part.strip() in text


ROWS = [
    {"question": "one", "expected": "1"},
    {"question": "two", "expected": "2"},
    {"question": "three", "expected": "3"},
]


@rulebook.function
def answer(question: str) -> str:
    if question == "three":
        raise LookupError("nobody knows three")
    return {"one": "1", "two": "zwei"}[question]


def test_a_task_that_fails_leaves_its_row_unmeasured_for_every_scorer() -> None:
    @rulebook.function
    def length(output: str) -> float:
        return len(output) / 4

    run = Evaluation.create("numbers", dataset=ROWS, task=answer, scorers=[scorers.exact_match(), length]).run()
    assert run.means() == {"exact-match": 0.5, "length": 0.625}
    assert [(each.rows, each.failed) for each in run.table()] == [(2, 1), (2, 1)]
    last = list(run.rows())[2]
    assert (last.end.stage, last.end.type, last.end.message) == ("task", "LookupError", "nobody knows three")
    assert "for 1 the task failed" in str(run)
    assert run.report()["rows"] == {"count": 3, "damaged": 0, "task_failed": 1}


def test_a_scorer_that_fails_fails_its_row_alone() -> None:
    @rulebook.function
    def share(output: str, expected: str) -> float:
        return int(expected) / int(output)

    rows = [{"output": each, "expected": "1"} for each in ("1", "0", "2", "x")]
    run = Evaluation.create("shares", dataset=rows, scorers=[share, scorers.exact_match()]).run()
    assert run.means() == {"share": 0.75, "exact-match": 0.25}
    assert [(each.rows, each.failed) for each in run.table()] == [(2, 2), (4, 0)]
    failed = [record.failed(0) for record in run.rows()]
    assert [each and each.type for each in failed] == [None, "ZeroDivisionError", None, "ValueError"]


def test_where_nothing_is_measured_there_is_no_mean() -> None:
    @rulebook.function
    def broken(output: str) -> float:
        raise RuntimeError(output)

    run = Evaluation.create("none", dataset=[{"output": "x"}], scorers=[broken]).run()
    assert run.means() == {"broken": None}
    found = run.table()["broken"]
    assert (found.mean, found.pass_rate, found.interval, set(found.percentiles)) == (None, None, None, {None})


def test_a_row_that_cannot_be_read_counts_and_has_no_score(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"output": "{}"}\n{"output": \n{"output": "x"}\n', encoding="utf-8")
    run = Evaluation.create("damaged", dataset=file, scorers=[scorers.json_valid()]).run()
    assert run.means() == {"json-valid": 0.5}
    assert (run.table()["json-valid"].failed, run.report()["rows"]) == (1, {"count": 3, "damaged": 1, "task_failed": 0})
    assert [record.end and record.end.stage for record in run.rows()] == [None, "row", None]


def test_a_row_without_the_column_fails_for_that_scorer_alone() -> None:
    rows = [{"output": "a", "expected": "a"}, {"output": "a"}]
    run = Evaluation.create("gap", dataset=rows, scorers=[scorers.exact_match(), scorers.json_valid()]).run()
    assert [(each.mean, each.failed) for each in run.table()] == [(1.0, 1), (0.0, 0)]
    assert "no column `expected`" in str(list(run.rows())[1].failed(0))


@pytest.mark.parametrize("output", [math.nan, {1, 2}, {"a": math.inf}, object()], ids=["nan", "set", "inf", "object"])
def test_an_output_that_is_no_data_is_an_error_of_its_row(output: object) -> None:
    task = rulebook.function(_named(lambda question: "fine" if question == "one" else output))
    run = Evaluation.create("outputs", dataset=ROWS[:2], task=task, scorers=[scorers.json_valid()]).run()
    assert [record.end and record.end.type for record in run.rows()] == [None, "UnfitKind"]


@pytest.mark.parametrize("output", ["half \ud800", {"n": 2**70}, None, [1, {"a": None}]], ids=["half", "huge", "none", "list"])
def test_an_output_is_kept_as_it_was(output: object) -> None:
    task = rulebook.function(_named(lambda question: output))  # noqa: ARG005
    run = Evaluation.create("outputs", dataset=ROWS[:1], task=task, scorers=[scorers.json_valid()]).run()
    (record,) = run.rows()
    assert record.output == output


def _named(body: Any) -> Any:
    body.__name__ = "given"
    return body


def test_a_function_is_tried_again_as_often_as_it_says() -> None:
    seen: list[str] = []

    @rulebook.function(retries=2)
    def shaky(output: str) -> float:
        seen.append(output)
        if seen.count(output) < 3:
            raise ConnectionError(output)
        return 1.0

    @rulebook.function(retries=1)
    def never(output: str) -> float:
        seen.append("never")
        raise ConnectionError(output)

    run = Evaluation.create("again", dataset=[{"output": "a"}], scorers=[shaky, never]).run()
    assert (run.means(), seen) == ({"shaky": 1.0, "never": None}, ["a", "a", "a", "never", "never"])


def test_a_task_is_tried_again_as_often_as_it_says() -> None:
    seen: list[str] = []

    @rulebook.function(retries=1)
    def shaky(question: str) -> str:
        seen.append(question)
        if seen.count(question) < 2:
            raise ConnectionError(question)
        return "1"

    run = Evaluation.create("again", dataset=ROWS[:1], task=shaky, scorers=[scorers.exact_match()]).run()
    assert (run.means(), len(seen)) == ({"exact-match": 1.0}, 2)


def test_a_function_that_ends_the_program_fails_its_row_alone() -> None:
    @rulebook.function
    def ends(question: str) -> str:
        return sys.exit("enough") if question == "two" else question

    @rulebook.function
    def graded(output: str) -> float:
        return sys.exit("enough") if output == "three" else 1.0

    run = Evaluation.create("ends", dataset=ROWS, task=ends, scorers=[graded]).run()
    assert run.means() == {"graded": 1.0}
    failed = [record.failed(0) for record in run.rows()]
    assert [each and each.type for each in failed] == [None, "SystemExit", "SystemExit"]


def test_whatever_a_function_raises_fails_its_row_alone() -> None:
    @rulebook.function
    def cancels(question: str) -> str:
        if question == "two":
            raise asyncio.CancelledError
        return question

    @rulebook.function
    def ends(output: str) -> float:
        if output == "three":
            raise GeneratorExit
        return 1.0

    run = Evaluation.create("ends", dataset=ROWS, task=cancels, scorers=[ends]).run()
    failed = [record.failed(0) for record in run.rows()]
    assert [each and each.type for each in failed] == [None, "CancelledError", "GeneratorExit"]


@pytest.mark.parametrize("signal", [KeyboardInterrupt, Stopped])
def test_an_interrupt_within_a_function_ends_the_run(signal: type[BaseException]) -> None:
    @rulebook.function
    def interrupted(output: str) -> float:
        raise signal

    @rulebook.function
    def cut(question: str) -> str:
        raise signal

    for task, scorer in ((None, interrupted), (cut, scorers.exact_match())):
        rows = [{"question": "", "output": "", "expected": ""}]
        evaluation = Evaluation.create("ends", dataset=rows, task=task, scorers=[scorer])
        with pytest.raises(signal):
            evaluation.run()


def test_half_a_character_is_written_out_in_the_table() -> None:
    @rulebook.function
    def half(question: str) -> str:
        return "\ud800" if question == "two" else question

    run = Evaluation.create("half", dataset=ROWS, task=half, scorers=[scorers.exact_match()]).run()
    table = pyarrow.parquet.read_table(run.to_parquet())
    assert table.column("output").to_pylist() == ["one", "\\ud800", "three"]


def test_a_function_may_ask_for_a_trace() -> None:
    @rulebook.function
    def traced(output: str, trace: object) -> float:  # noqa: ARG001
        return 1.0 if trace is None else 0.0

    assert Evaluation.create("t", dataset=[{"output": "a"}], scorers=[traced]).run().means() == {"traced": 1.0}


def test_rescoring_runs_no_task() -> None:
    seen: list[str] = []

    @rulebook.function
    def counted(question: str) -> str:
        seen.append(question)
        return answer(question)

    run = Evaluation.create("numbers", dataset=ROWS, task=counted, scorers=[scorers.exact_match()]).run()
    again = run.rescore(scorers=[scorers.contains(), scorers.levenshtein()])
    assert seen == ["one", "two", "three"]
    assert again.means() == {"contains": 0.5, "levenshtein": 0.5}
    assert [each.failed for each in again.table()] == [1, 1]
    assert (again.evaluation.name, again.id != run.id) == ("numbers (rescored)", True)
    assert run.rescore().means() == run.means()
    with pytest.raises(UnfitOption):
        run.rescore(name="x")
    with pytest.raises(UnfitOption):
        run.rescore(scorers=[scorers.contains()], evaluation=run.evaluation)


def test_rescoring_keeps_the_outputs_and_errors_in_their_rows() -> None:
    rows = [ROWS[2], ROWS[0], ROWS[2], ROWS[1]]
    run = Evaluation.create("numbers", dataset=rows, task=answer, scorers=[scorers.exact_match()]).run()
    again = list(run.rescore(scorers=[scorers.contains()]).rows())
    assert [record.end and record.end.type for record in again] == ["LookupError", None, "LookupError", None]
    assert [record.output for record in again if record.end is None] == ["1", "zwei"]


def test_a_run_leaves_its_report_and_its_rows_on_the_disk(home: Path) -> None:
    run = Evaluation.create("a / strange name", dataset=ROWS, task=answer, scorers=[scorers.exact_match()]).run()
    folder = Path(run.folder)
    assert (home / "evaluations") in folder.parents
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == run.report()
    assert len((folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_scores_of_sql_need_not_be_shares_and_a_row_without_one_is_no_zero() -> None:
    rows = [{"output": "a", "price": 12.5}, {"output": "b", "price": None}, {"output": "c", "price": -3.5}]
    run = Evaluation.create("prices", dataset=rows, scorers=[scorers.sql("price", '"price"')]).run()
    found = run.table()["price"]
    assert (found.mean, found.rows, found.failed, found.least, found.most) == (4.5, 2, 1, -3.5, 12.5)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"scorers": []}, UnfitOption, "needs scorers"),
        ({"scorers": [len]}, UnfitKind, "Write `@rulebook.function` above it"),
        ({"scorers": ["exact"]}, UnfitKind, "A scorer is made by"),
        ({"scorers": [scorers.exact_match(), scorers.exact_match()]}, UnfitOption, "Two scorers are called `exact"),
        ({"scorers": [scorers.contains(inputs=("output", "expect"))]}, UnfitOption, "Did you mean `expected`?"),
        ({"task": len}, UnfitKind, "A task is a function"),
        ({"task": None}, UnfitOption, "reads `output`: give a task"),
        ({"task": rulebook.function(_named(lambda query: query))}, UnfitOption, "reads the column `query`"),
        ({"metadata": {"a": object()}}, UnfitKind, "`metadata` cannot be written"),
        ({"scorers": [scorers.sql("s", '"nothing" + 1')]}, UsageError, "nothing"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_when_it_is_declared(
    change: Mapping[str, Any], kind: type[Exception], words: str
) -> None:
    given = {"dataset": ROWS, "task": answer, "scorers": [scorers.exact_match()], **change}
    with pytest.raises(kind, match=words.replace("?", r"\?")):
        Evaluation.create("wrong", **given)


def test_an_evaluation_needs_a_name() -> None:
    with pytest.raises(UnfitOption, match="needs a name"):
        Evaluation.create(" ", dataset=ROWS, task=answer, scorers=[scorers.exact_match()])


def test_several_scores_a_row_are_counted_and_said() -> None:
    @rulebook.function
    def both(output: str) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(score) for score in ([0.0, 1.0, 1.0] if output == "a" else [])]

    run = Evaluation.create("both", dataset=[{"output": "a"}, {"output": "b"}], scorers=[both]).run()
    found = run.table()["both"]
    assert (found.scores, found.rows, found.empty, found.failed) == (3, 1, 1, 0)
    assert "  3 in 1 of 2 rows  " in str(run.table())
    alone = Evaluation.create("both", dataset=[{"output": "a"}], scorers=[both]).run()
    assert "  3 in 1 row  " in str(alone.table())


def test_a_run_is_one_table_with_every_score_and_error(tmp_path: Path) -> None:
    @rulebook.function
    def per_letter(output: str) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(1.0, {"letter": letter}) for letter in output]

    given = [scorers.exact_match(), per_letter]
    run = Evaluation.create("numbers", dataset=ROWS, task=answer, scorers=given).run()
    path = run.to_parquet()
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == [
        *("question", "expected", "output", "output_error"),
        *(f"{name}_{what}" for name in ("exact-match", "per-letter") for what in ("value", "error", "metadata")),
    ]
    first, second, third = table.to_pylist()
    assert (first["output"], first["exact-match_value"], first["per-letter_value"]) == ("1", 1.0, "[1.0]")
    assert first["exact-match_metadata"] == '{"matched":true}'
    assert json.loads(second["per-letter_metadata"])[3] == {"letter": "i"}
    assert (second["exact-match_value"], second["output_error"]) == (0.0, None)
    assert json.loads(second["per-letter_value"]) == [1.0] * len(second["output"])
    assert (third["output"], third["output_error"]) == (None, "LookupError: nobody knows three")
    assert {third[f"exact-match_{what}"] for what in ("value", "error", "metadata")} == {None}


def test_annotations_give_the_columns_of_a_table_their_types() -> None:
    @rulebook.function
    def half(n: int) -> float:
        return n / 2

    @rulebook.function
    def whole(n: int) -> int:
        return n

    @rulebook.function
    def said(n: int):  # type: ignore[no-untyped-def]
        return n

    @rulebook.function
    def untrue(n: int) -> float:
        return "text"  # type: ignore[return-value]

    @rulebook.function
    def some(output: object) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(1.0), EvaluationScorerResult(0.5, {"a": 1})] if output else []

    @rulebook.function
    def unsaid(output: object):  # type: ignore[no-untyped-def]
        return [EvaluationScorerResult(1.0), EvaluationScorerResult(0.5)]

    def table(task: object) -> pyarrow.Table:
        run = Evaluation.create("typed", dataset=[{"n": 2}, {"n": 0}], task=task, scorers=[some, unsaid]).run()
        return pyarrow.parquet.read_table(run.to_parquet())

    types = [str(table(task).schema.field("output").type) for task in (half, whole, said, untrue)]
    assert types == ["double", "int64", "string", "string"]
    found = table(half)
    assert found.column("some_value").to_pylist() == ["[1.0,0.5]", "[]"]
    assert found.column("some_metadata").to_pylist() == ['[null,{"a":1}]', "[]"]
    # without an annotation nobody knows that there will be lists
    assert str(found.schema.field("unsaid_value").type) == "double"
    assert found.column("unsaid_value").to_pylist() == [None, None]
    assert json.loads(found.column("unsaid_metadata")[0].as_py())[1] == {"score": 0.5, "metadata": None}


def test_a_table_that_cannot_be_written_whole_leaves_nothing(tmp_path: Path) -> None:
    rows, table, other = tmp_path / "rows.jsonl", tmp_path / "t.parquet", tmp_path / "t.parquet.part"
    rows.write_text('{"output": "a", "expected": "a"}\n', encoding="utf-8")
    run = Evaluation.create("numbers", dataset=rows, scorers=[scorers.exact_match()]).run()
    table.write_text("of before", encoding="utf-8")
    other.write_text("mine", encoding="utf-8")
    rows.write_text('{"output": "a"}\n', encoding="utf-8")
    with pytest.raises(DatasetError, match="is not what it was"):
        run.to_parquet(table)
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == ["rows.jsonl", "t.parquet", "t.parquet.part"]
    assert (table.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("of before", "mine")


def test_a_table_has_the_rows_that_could_not_be_read_and_scorers_that_failed(tmp_path: Path) -> None:
    @rulebook.function
    def fails(output: object) -> float:
        raise ValueError(output)

    file = tmp_path / "rows.jsonl"
    file.write_text('{"output": {"a": 1}}\n{"output": \n{"output": "x"}\n', encoding="utf-8")
    run = Evaluation.create("damaged", dataset=file, scorers=[fails]).run()
    rows = pyarrow.parquet.read_table(run.to_parquet()).to_pylist()
    assert [row["output"] for row in rows] == ['{"a":1}', None, '"x"']
    assert [bool(row["output_error"]) for row in rows] == [False, True, False]
    assert [row["fails_error"] for row in rows] == ["ValueError: {'a': 1}", None, "ValueError: x"]


class Grader:
    """A handle with its own way of taking many rows, as a model's is."""

    name = "grader"
    inputs = ("output",)

    def __init__(self, said: list[Any]) -> None:
        self.said, self.asked = said, 0

    def score_rows(self, rows: Any) -> Any:
        for _ in rows:
            said = self.said[self.asked]
            self.asked += 1
            if isinstance(said, Exception):
                raise said
            if said is not None:
                yield said


def test_a_handle_that_takes_many_rows_is_a_scorer() -> None:
    failed = rulebook.scorers.RowFailure("Timeout", "no reply")
    grader = Grader([EvaluationScorerResult(0.25, {"a": 1}), failed, EvaluationScorerResult(0.75)])
    run = Evaluation.create("graded", dataset=[{"output": "a"}] * 3, scorers=[grader, scorers.json_valid()]).run()
    assert run.means() == {"grader": 0.5, "json-valid": 0.0}
    assert [record.failed(0) for record in run.rows()] == [None, failed, None]


@pytest.mark.parametrize("said", [OSError("gone"), None], ids=["breaks", "says nothing"])
def test_a_handle_that_breaks_leaves_its_rows_unmeasured(said: Any) -> None:
    grader = Grader([EvaluationScorerResult(1.0), said, said])
    run = Evaluation.create("graded", dataset=[{"output": "a"}] * 3, scorers=[grader]).run()
    assert (run.means(), run.table()["grader"].failed) == ({"grader": 1.0}, 2)


def test_a_path_that_no_row_has_is_noted_only_where_rows_were_measured(tmp_path: Path) -> None:
    @rulebook.function
    def parts(way: str) -> str:
        if way == "fails":
            raise LookupError(way)
        return f'{{"{way}": 1}}'

    def notes(*ways: str) -> list[str]:
        rows = [{"way": way, "expected": '{"there": 1}' if way == "there" else "{}"} for way in ways]
        given = [scorers.json_valid(), scorers.json_match(paths=["there", "made"])]
        run = Evaluation.create("paths", dataset=rows, task=parts, scorers=given).run()
        return [note.partition(",")[0] for note in run.outcome.notes]

    assert notes("fails", "fails") == []
    assert notes("fails", "other") == ["`json-match` looks at `there`", "`json-match` looks at `made`"]
    assert notes("fails", "other", "there") == ["`json-match` looks at `made`"]
    assert notes("there", "fails", "made") == []


@pytest.mark.parametrize("raised", [SystemExit(0), GeneratorExit(), RuntimeError("broken")])
def test_a_handle_that_ends_the_program_fails_the_rows_that_it_said_nothing_of(raised: BaseException) -> None:
    class Ending:
        name, inputs = "ending", ("output",)

        def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult]:
            yield EvaluationScorerResult(1.0)
            raise raised

    run = Evaluation.create("ends", dataset=[{"output": "a"}, {"output": "b"}], scorers=[Ending()]).run()
    found = run.table()["ending"]
    assert (found.mean, found.scores, found.failed) == (1.0, 1, 1)


def test_an_interrupt_within_a_handle_is_an_interrupt() -> None:
    class Interrupted:
        name, inputs = "interrupted", ("output",)

        def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult]:
            raise KeyboardInterrupt
            yield

    evaluation = Evaluation.create("ends", dataset=[{"output": "a"}], scorers=[Interrupted()])
    with pytest.raises(KeyboardInterrupt):
        evaluation.run()
