"""Scorers reference: "Writing your own scorer" and "Scorer results", sentence by sentence."""

import json
import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from alone import alone  # noqa: F401

import rulebook
from rulebook import Evaluation, EvaluationScorerResult
from rulebook.errors import UnfitKind, UnfitOption

pytestmark = pytest.mark.usefixtures("alone")

ROWS = [{"question": "ab", "expected": "AB", "weight": 1}, {"question": "c", "expected": "x", "weight": 0}]


@rulebook.function
def answer(question: str) -> str:
    return question.upper()


def run_of(*scorers: Any) -> Any:
    return Evaluation.create("own", dataset=ROWS, task=answer, scorers=scorers).run().wait()


def test_a_scorer_is_written_as_a_task_is_and_its_parameters_are_columns() -> None:
    seen: list[dict[str, object]] = []

    @rulebook.function
    def weighed(weight: int, output: str, question: str) -> float:
        seen.append({"weight": weight, "output": output, "question": question})
        return float(weight)

    assert run_of(weighed).means() == {"weighed": 0.5}
    assert seen == [{"weight": 1, "output": "AB", "question": "ab"}, {"weight": 0, "output": "C", "question": "c"}]
    assert type(weighed) is type(answer)
    assert weighed(1, "AB", "ab") == 1.0


def test_output_is_what_the_task_returned_for_that_row() -> None:
    @rulebook.function
    def same(output: str, expected: str) -> float:
        return 1.0 if output == expected else 0.0

    run = run_of(same)
    assert [list(record.results[0]) for record in run.rows()] == [[(1.0, None)], [(0.0, None)]]
    assert [record.output for record in run.rows()] == ["AB", "C"]


def test_a_column_that_no_row_has_is_refused_before_the_task_runs() -> None:
    @rulebook.function
    def reads(output: str, expcted: str) -> float:  # noqa: ARG001
        return 1.0

    with pytest.raises(UnfitOption, match="reads the column `expcted`, and no row has it. Did you mean `expected`"):
        run_of(reads)


def test_a_scorer_returns_a_number_a_result_or_a_list_of_results() -> None:
    @rulebook.function
    def number(output: str) -> float:
        return 0.5 if output == "AB" else 1

    @rulebook.function
    def result(output: str) -> EvaluationScorerResult:  # noqa: ARG001
        return EvaluationScorerResult(0.25, {"why": "so"})

    @rulebook.function
    def axes(output: str) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(share, {"axis": name}) for name, share in (("a", 0.0), ("b", 0.5), ("c", 1.0))][: len(output) + 1]

    run = run_of(number, result, axes)
    assert run.means() == {"number": 0.75, "result": 0.25, "axes": pytest.approx(2.0 / 5)}
    assert [(each.scores, each.rows) for each in run.table()] == [(2, 2), (2, 2), (5, 2)]
    assert "5 in 2 rows" in str(run.table())


def test_an_empty_list_is_no_score_for_that_row_and_no_failure() -> None:
    @rulebook.function
    def some(output: str) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(1.0)] if output == "C" else []

    line = run_of(some).table()["some"]
    assert (line.mean, line.scores, line.rows, line.empty, line.failed) == (1.0, 1, 1, 1, 0)


@pytest.mark.parametrize("score", [True, False, None, "x", [1], {}])
def test_a_score_that_is_no_number_raises_type_error(score: Any) -> None:
    with pytest.raises(TypeError, match="`score` must be a number"):
        EvaluationScorerResult(score)


@pytest.mark.parametrize("score", [1.0000001, -1e-9, math.nan, math.inf, -math.inf, 10**400, "2"])
def test_a_score_outside_0_to_1_raises_value_error(score: Any) -> None:
    with pytest.raises(ValueError, match="`score` must"):
        EvaluationScorerResult(score=score)


def test_both_ends_belong_to_the_range_and_metadata_may_be_left_out() -> None:
    for score in (0, 1, 0.5, "0.5"):
        found = EvaluationScorerResult(score=score)  # type: ignore[arg-type]
        assert (found.score, found.metadata) == (float(score), None)
    assert EvaluationScorerResult(1, {}).metadata == {}
    assert EvaluationScorerResult(1, {}).metadata_json() == "{}"


@pytest.mark.parametrize("metadata", [{"a": math.nan}, {"a": {"b": [math.inf]}}, {1: "a"}, {"a": object()}, ["a"], "a"])
def test_metadata_that_json_cannot_hold_raises_type_error(metadata: Any) -> None:
    with pytest.raises(TypeError, match="etadata"):
        EvaluationScorerResult(1.0, metadata)


def test_the_score_is_looked_at_before_the_metadata() -> None:
    with pytest.raises(ValueError, match="`score`"):
        EvaluationScorerResult(2, ["no mapping"])  # type: ignore[arg-type]


def test_what_makes_no_result_fails_its_row_alone() -> None:
    @rulebook.function
    def length(output: str) -> EvaluationScorerResult:
        return EvaluationScorerResult(len(output) / 1.0)

    run = run_of(length)
    assert run.means() == {"length": 1.0}
    failed = next(run.rows()).failed(0)
    assert (failed.type, failed.message) == ("UnfitOption", "`score` must lie between 0 and 1; this is 2.0.")


def test_a_bare_number_is_not_bound_to_the_range_but_finite() -> None:
    @rulebook.function
    def length(output: str) -> float:
        return len(output) if output == "AB" else math.inf

    run = run_of(length)
    assert (run.means(), run.table()["length"].failed) == ({"length": 2.0}, 1)


def test_metadata_is_kept_for_each_row_beside_the_score() -> None:
    @rulebook.function
    def told(output: str) -> EvaluationScorerResult:
        return EvaluationScorerResult(1.0, {"z": [1, None], "a": output})

    run = run_of(told)
    assert list(next(run.rows()).results[0]) == [(1.0, {"z": [1, None], "a": "AB"})]
    table = pyarrow.parquet.read_table(run.to_parquet())
    assert table.column("told_metadata").to_pylist() == ['{"a":"AB","z":[1,null]}', '{"a":"C","z":[1,null]}']


def test_the_annotation_says_what_comes_back_and_results_have_columns_of_their_own() -> None:
    @rulebook.function
    def bare(output: str) -> float:
        return float(len(output) == 2)

    @rulebook.function
    def one(output: str) -> EvaluationScorerResult:
        return EvaluationScorerResult(float(len(output) == 2))

    @rulebook.function
    def many(output: str) -> list[EvaluationScorerResult]:
        return [EvaluationScorerResult(float(letter == "A"), {"letter": letter}) for letter in output]

    assert [each.returns for each in (bare, one, many)] == ["number", "result", "results"]
    table = pyarrow.parquet.read_table(run_of(bare, one, many).to_parquet())
    for name in ("bare", "one", "many"):
        kinds = [table.schema.field(f"{name}_{what}").type for what in ("value", "error", "metadata")]
        assert kinds == [pa.string() if name == "many" else pa.float64(), pa.string(), pa.string()]
    assert json.loads(table.column("many_metadata").to_pylist()[0]) == [{"letter": "A"}, {"letter": "B"}]
    assert table.column("many_value").to_pylist() == ["[1.0,0.0]", "[0.0]"]


@pytest.mark.parametrize("returned", [{"score": 1.0}, {"score": 1.0, "metadata": {}}, [{"score": 1.0}]])
def test_a_plain_dictionary_is_no_result(returned: object) -> None:
    @rulebook.function
    def gives(output: str) -> object:  # noqa: ARG001
        return returned

    run = run_of(gives)
    assert (run.means(), run.table()["gives"].failed) == ({"gives": None}, 2)
    assert "EvaluationScorerResult" in next(run.rows()).failed(0).message
    with pytest.raises(UnfitKind, match="EvaluationScorerResult"):
        gives.scores_of_row({"output": "a"})
