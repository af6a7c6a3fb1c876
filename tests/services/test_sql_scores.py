"""SQL scorers over rows: the reference's example, failures that stay in their row, whole files, and bounds."""

import math
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulebook.errors import DatasetError, UsageError
from rulebook.languages import sql_tree
from rulebook.services import sql_scores, tables
from rulebook.services.dataset_store import DatasetStore
from rulebook.services.datasets import open_dataset
from rulebook.services.sql_scores import SqlScorer, score_parquet, score_rows, sql_types

ANSWERED = """CASE WHEN "output" IS NOT NULL AND "output" <> '' THEN 1.0 ELSE 0.0 END"""


def scored(expression, rows, **columns):
    scorer = SqlScorer(expression, sql_types(columns))
    try:
        return score_rows(scorer, rows, columns)
    finally:
        scorer.close()


def test_the_example_of_the_reference_gives_its_numbers():
    outputs = ['{"intent": "refund", "amount": 1182.0}', '{"intent": "status", "amount": 0.0}', "unclassified", "", None]
    found = scored(ANSWERED, [{"output": output} for output in outputs], output="text")
    assert found.scores == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert found.faults == {}


def test_a_score_need_not_lie_in_0_1():
    rows = [{"output": '{"amount": 49.99}'}, {"output": '{"amount": -3}'}]
    found = scored("CAST(json_extract_string(output, '$.amount') AS DOUBLE)", rows, output="text")
    assert found.scores == [49.99, -3.0]


def test_a_failure_stays_in_its_row_with_its_reason():
    rows = [{"a": "1"}, {"a": "x"}, {"a": None}, {"a": "0"}, {"a": "5"}]
    found = scored("10.0 / CAST(a AS DOUBLE)", rows, a="text")
    assert found.scores[0] == 10.0
    assert found.scores[4] == 2.0
    assert found.scores[1:4] == [None, None, None]
    assert "Could not convert string 'x' to DOUBLE" in found.faults[1]
    assert found.faults[2] == "the expression gave nothing (NULL)"
    assert set(found.faults) == {1, 2, 3}


@pytest.mark.parametrize(
    ("expression", "value", "words"),
    [
        ("9223372036854775807 + n", 1, "Overflow"),
        ("n // 0", 1, "Division by zero"),
        ("1.0 / (n - 1)", 1, "Division by zero"),
        ("CASE WHEN 0.0 / (n - 1) >= 0.8 THEN 1.0 ELSE 0.0 END", 1, "Division by zero"),
        ("ln(0 * n)", 1, "cannot take logarithm of zero"),
        ("sqrt(-1 * n)", 1, "cannot take square root of a negative number"),
        ("exp(1000 * n)", 1, "the expression gave no finite number"),
        ("CAST(n AS TINYINT)", 1000, "out of range"),
        ("CASE WHEN n = 2 THEN 1 END", 1, "the expression gave nothing (NULL)"),
    ],
)
def test_what_is_no_finite_number_is_no_score(expression, value, words):
    found = scored(expression, [{"n": value}], n="whole number")
    assert found.scores in ([None], (None,))
    assert words in found.faults[0]


def test_a_division_that_is_not_reached_is_no_fault():
    found = scored("CASE WHEN n = 0 THEN 0.5 ELSE 1.0 / n END", [{"n": 0}, {"n": 4}], n="whole number")
    assert list(found.scores) == [0.5, 0.25]


def test_json_that_is_broken_is_the_fault_of_its_row():
    rows = [{"output": '{"a": 1}'}, {"output": "{broken"}]
    found = scored("CAST(json_extract_string(output, '$.a') AS DOUBLE)", rows, output="text")
    assert found.scores == [1.0, None]
    assert "Malformed JSON" in found.faults[1]


def test_a_column_of_json_keeps_its_values():
    rows = [{"doc": {"a": [1, 2]}}, {"doc": "text"}, {"doc": 7}, {"doc": None}]
    found = scored("coalesce(json_array_length(doc, '$.a'), 0)", rows, doc="json")
    assert found.scores == [2.0, 0.0, 0.0, 0.0]


def test_an_expression_without_columns_scores_every_row():
    assert scored("1", [{"a": 1}, {"a": 2}], a="whole number").scores == [1.0, 1.0]
    assert scored("1", [], a="whole number").scores == ()


def test_names_that_sql_would_stumble_over_can_be_quoted():
    rows = [{'select "x"; --': 2, "output": "a"}]
    assert scored('"select ""x""; --" + 1', rows, **{'select "x"; --': "whole number", "output": "text"}).scores == [3.0]


def test_large_rows_are_given_to_the_engine_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(sql_scores, "MAX_BATCH_BYTES", 1_000)
    sizes, given = [], SqlScorer._scored
    monkeypatch.setattr(SqlScorer, "_scored", lambda scorer, table: sizes.append(table.nbytes) or given(scorer, table))
    rows = [{"a": "y" * (300 if n % 7 else 5_000)} for n in range(50)] + [{"a": "x"}]
    assert scored("length(a)", rows, a="text").scores == tuple([300.0 if n % 7 else 5_000.0 for n in range(50)] + [1.0])
    assert max(sizes) < 5_100
    assert len(sizes) >= 20


def test_only_so_many_failing_rows_are_asked_for_their_own_reason(monkeypatch):
    monkeypatch.setattr(sql_scores, "MAX_TOLD", 3)
    found = scored("CAST(a AS DOUBLE)", [{"a": f"x{place}"} for place in range(6)], a="text")
    assert [("'x" in found.faults[place]) for place in range(6)] == [True, True, True, False, False, False]
    assert found.faults[5] == "the expression can't be worked out for this row, as for 3 before it"


def test_an_expression_that_takes_too_long_is_stopped_and_its_rows_have_no_score(monkeypatch):
    rows = [{"a": "ab" * 200_000} for _ in range(64)]
    slow = " + ".join(f"length(regexp_replace(a, '(a|b|ab)*c{{1,{n}}}', '', 'g'))" for n in range(50, 70))
    scorer = SqlScorer(slow, {"a": "VARCHAR"}, limit_s=0.05)
    # one batch costs one limit: nobody tries its rows again
    monkeypatch.delattr(SqlScorer, "_row_by_row")
    found = score_rows(scorer, rows, {"a": "text"})
    assert set(found.scores) == {None}
    assert found.faults[63] == "the expression took longer than 0.05 s over these rows"
    scorer.close()


def test_a_row_too_large_for_the_engine_spoils_no_other(monkeypatch):
    monkeypatch.setitem(tables._BOUNDS, "memory_limit", "8MiB")
    rows = [{"a": "x"}, {"a": "y" * (1 << 20)}, {"a": "zz"}]
    found = scored("length(list_max(list_sort(string_split(a, ''))))", rows, a="text")
    assert list(found.scores) == [1.0, None, 1.0]
    assert found.faults == {1: "the expression needs more memory than 8MiB over this row"}


def test_a_row_that_breaks_the_engine_spoils_no_other(monkeypatch):
    """`concat_ws` is refused for this; whatever else breaks the engine must not take the rows behind it along."""
    monkeypatch.setattr(sql_tree, "FUNCTIONS", sql_tree.FUNCTIONS | {"concat_ws"})
    text, nothing = "output", ", ''" * 60
    for _ in range(3):
        text = f"concat_ws({text}{nothing})"
    scorer = SqlScorer(f"length({text})", {"output": "VARCHAR"})
    found = score_rows(scorer, [{"output": ""}, {"output": "a" * 21_500}, {"output": ""}], {"output": "text"})
    assert list(found.scores) == [0.0, None, 0.0]
    assert found.faults == {1: "the SQL engine broke over this row"}
    assert score_rows(scorer, [{"output": ""}], {"output": "text"}).scores == [0.0]
    scorer.close()


def parquet(folder, **columns):
    path = folder / "rows [1] *.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1_000)
    return str(path)


def test_a_whole_file_is_scored_in_its_order(tmp_path):
    path = parquet(tmp_path, n=list(range(150_000)), output=["x"] * 150_000)
    scores = [score for batch in score_parquet(path, "n * 2") for score in batch.scores]
    assert scores == [2.0 * n for n in range(150_000)]


@pytest.mark.parametrize("failing", [(7, 100_001), (140_000,), (5, 65_535, 65_536)])
def test_a_whole_file_with_failing_rows_gives_every_row_once(tmp_path, failing):
    values = [None if n == 5 and n not in failing else "x" if n in failing else str(n) for n in range(150_000)]
    path = parquet(tmp_path, a=values)
    scores, faults = [], {}
    for batch in score_parquet(path, "CAST(a AS DOUBLE)"):
        faults |= {len(scores) + place: reason for place, reason in batch.faults.items()}
        scores += batch.scores
    assert scores == [None if n in (5, *failing) else float(n) for n in range(150_000)]
    assert set(faults) == {5, *failing}
    assert "Could not convert string 'x'" in faults[failing[-1]]


def test_nested_columns_of_a_file_can_be_reached(tmp_path):
    path = parquet(tmp_path, doc=[{"a": 1, "b": ["x", "y"]}, {"a": 2, "b": []}])
    (batch,) = score_parquet(path, "doc.a + len(doc.b)")
    assert batch.scores == [3.0, 2.0]


def test_a_file_that_is_no_parquet_is_told(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 no PAR1")
    with pytest.raises(DatasetError, match="This can't be read as Parquet"):
        list(score_parquet(str(path), "1"))


@pytest.mark.parametrize("name", [".", "fifo", "nothing.parquet"])
def test_what_is_no_regular_file_is_told_at_once(tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(DatasetError, match="can't be read"):
        list(score_parquet(str(tmp_path / name), "1"))


def test_a_stored_revision_is_scored_where_it_lies(tmp_path):
    store = DatasetStore(str(tmp_path))
    entry = store.upload("a", open_dataset([{"n": 1, "doc": {"a": 2}}, {"n": 3, "doc": {"a": 4}}]))
    (batch,) = score_parquet(store.path(entry), "n + CAST(doc->>'$.a' AS INTEGER)")
    assert batch.scores == [3.0, 7.0]


def test_an_expression_that_does_not_fit_the_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="There is no `outptu`"):
        list(score_parquet(parquet(tmp_path, output=["x"]), "length(outptu)"))


def test_scores_are_finite_or_none():
    found = sql_scores.finite([1.0, math.nan, None, 1e308, 1e308])
    assert found.scores == [1.0, None, None, 1e308, 1e308]
    assert set(found.faults) == {1, 2}
    assert sql_scores.finite([1e308, 1e308]).faults == {}
