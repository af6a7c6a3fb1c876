"""What a scorer's handle and an evaluation take beyond the common: SQL called in place, datasets by name, yes and no of NumPy."""

import threading

import numpy as np
import pandas as pd
import pytest
from alone import alone  # noqa: F401

import rulebook
from rulebook import DatasetClient, Evaluation, EvaluationScorerResult, UnmeasuredError, scorers
from rulebook.api.functions import results_in
from rulebook.errors import DatasetError, UnfitKind, UnfitOption
from rulebook.measures.row_scores import MAX_MESSAGE, RowFailure

pytestmark = pytest.mark.usefixtures("alone")


def test_sql_is_called_in_place_with_the_columns_of_a_row() -> None:
    answered = scorers.sql("answered", """CASE WHEN "output" IS NOT NULL AND "output" <> '' THEN 1.0 ELSE 0.0 END""")
    assert answered(output="x", expected="y") == EvaluationScorerResult(1.0)
    assert [answered(output=each).score for each in ("", None)] == [0.0, 0.0]
    assert scorers.sql("price", '"price" * 2')(price=30).score == 60.0
    assert scorers.sql("either", 'coalesce("first", "second")')(first=None, second=2).score == 2.0


def test_sql_that_several_threads_ask_gives_each_its_own_row() -> None:
    double = scorers.sql("double", '"n" * 2.0')
    found: dict[int, float] = {}

    def ask(first: int) -> None:
        for n in range(first, first + 50):
            found[n] = double(n=n).score

    threads = [threading.Thread(target=ask, args=(place * 1_000,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(score == 2 * n for n, score in found.items())


def test_sql_without_a_number_is_unmeasured_and_fails_its_row_alone() -> None:
    share = scorers.sql("share", '1.0 / CAST("output" AS DOUBLE)')
    rows = [{"output": "2"}, {"output": "x"}, {"out": "2"}, {"output": "4"}]
    first, second, third, fourth = share.score_rows(rows)
    assert (first, fourth) == (EvaluationScorerResult(0.5), EvaluationScorerResult(0.25))
    for failed, words in ((second, "Could not convert string 'x' to DOUBLE"), (third, "There is no `output`")):
        assert isinstance(failed, RowFailure)
        assert (failed.type, words in failed.message) == ("UnmeasuredError", True)
    with pytest.raises(UnmeasuredError, match="Could not convert"):
        share(output="x")
    run = Evaluation.create("e", dataset=[{"output": "2"}, {"output": "x"}], scorers=[share]).run()
    assert [(told.row, told.type) for told in run.outcome.told] == [(2, "UnmeasuredError")]


def test_a_judge_that_a_function_asks_in_vain_leaves_its_row_unmeasured_under_one_name() -> None:
    @rulebook.function
    def own(output: str) -> float:
        raise UnmeasuredError("network", output * 3_000)

    run = Evaluation.create("e", dataset=[{"output": "x"}], scorers=[own]).run()
    assert [(told.type, told.message) for told in run.outcome.told] == [("UnmeasuredError", "x" * MAX_MESSAGE)]


def test_sql_takes_no_other_keyword() -> None:
    with pytest.raises(UnfitKind, match="`sql` does not know `inputs`. Choose one of `name`, `expression`"):
        scorers.sql("a", "1", inputs=("output",))


@pytest.mark.parametrize("text", ["length('a;b')", '"a;b"', "1 -- ;", "1 -- don't;\n", "/* ; */ 1", "length($$;$$)"])
def test_a_semicolon_in_a_text_or_a_comment_ends_nothing(text: str) -> None:
    assert scorers.sql("a", text).expression == text.strip()
    for more in ("; 1", ";", " -- x\n; 1"):
        with pytest.raises(UnfitOption, match="one expression and no statement"):
            scorers.sql("a", text.strip() + ("\n" if "--" in text else "") + more)


@pytest.mark.parametrize("yes", [True, np.True_, np.bool_(False)])
def test_a_yes_is_no_score_whoever_says_it(yes: object) -> None:
    for give in (EvaluationScorerResult, results_in):
        with pytest.raises(UnfitKind, match="must be a number, not"):
            give(yes)  # type: ignore[operator]
    assert EvaluationScorerResult(np.float32(0.5)).score == 0.5  # type: ignore[arg-type]


ROWS = [{"output": "a", "expected": "a"}, {"output": "b", "expected": "a"}]


def mean_over(dataset: object) -> object:
    return Evaluation.create("named", dataset=dataset, scorers=[scorers.exact_match()]).run().means()["exact-match"]


def test_a_dataset_is_named_by_an_object_or_a_mapping() -> None:
    old = DatasetClient().upload("pairs", ROWS[:1])
    new = DatasetClient().upload("pairs", ROWS)
    exact = {"dataset_id": old.dataset_id, "revision_id": old.revision_id}
    assert [mean_over(each) for each in (old, new, exact, {"dataset_name": "pairs"}, {"dataset_name": " pairs "})] == [1, 0.5, 1, 0.5, 0.5]
    assert DatasetClient().read({"dataset_name": "pairs"}).num_rows == 2


@pytest.mark.parametrize("named", [{"dataset_name": " "}, {"dataset_id": "ds-1"}, {"dataset_id": "", "revision_id": "1"}])
def test_a_dataset_that_is_not_named_whole_is_refused(named: object) -> None:
    with pytest.raises(UnfitOption, match="dataset"):
        mean_over(named)
    with pytest.raises(ValueError, match="dataset"):
        DatasetClient().read(named)


def test_columns_that_bear_such_names_are_data() -> None:
    columns = {"dataset_name": ["a", "b"], "revision_id": ["a", "c"]}
    scorer = scorers.exact_match(inputs=("dataset_name", "revision_id"))
    for data in (columns, pd.DataFrame(columns)):
        assert Evaluation.create("data", dataset=data, scorers=[scorer]).run().means() == {"exact-match": 0.5}


@pytest.mark.parametrize(("given", "error"), [([], UnfitOption), ("x", UnfitKind), (["x"], UnfitKind)])
def test_rescoring_needs_scorers_too(given: object, error: type[Exception]) -> None:
    run = Evaluation.create("once", dataset=ROWS, scorers=[scorers.exact_match()]).run()
    with pytest.raises(error, match="corer"):
        run.rescore(scorers=given)  # type: ignore[arg-type]


def test_a_keyword_that_nobody_knows_is_told_in_words() -> None:
    with pytest.raises(UnfitKind, match="`levenshtein` does not know `max_scaling`"):
        scorers.levenshtein(max_scaling=3)
    with pytest.raises(UnfitKind, match="`function` does not know `imag`. Did you mean `image`"):
        rulebook.function(imag="x")


def test_a_mapping_with_more_than_a_name_is_no_name() -> None:
    DatasetClient().upload("pairs", ROWS)
    with pytest.raises(DatasetError, match="The column `dataset_name` must be a list"):
        mean_over({"dataset_name": "pairs", "limit": 1})
