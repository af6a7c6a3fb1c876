"""Datasets of every source: the same rows from each, their columns, drift in words, and what is refused."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from rulebook import DatasetClient
from rulebook.errors import DatasetError
from rulebook.evidence.row_columns import ColumnScan
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.services import datasets
from rulebook.services.dataset_digest import files_digest, rows_digest
from rulebook.services.datasets import MOST_DAMAGED, open_dataset

ROWS = [{"id": 1, "text": "a,\n\"b\"", "score": 0.5, "ok": True}, {"id": 2, "text": None, "score": None, "ok": False}]
KINDS = {"id": "whole number", "text": "text", "score": "number", "ok": "yes or no"}


def sources(folder):
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    table = pa.table(columns)
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "a.json").write_text(json.dumps(ROWS, indent=1))
    (folder / "a.csv").write_text('id,text,score,ok\n1,"a,\n""b""",0.5,true\n2,,,false\n')
    pq.write_table(table, folder / "a.parquet")
    feather.write_feather(table, folder / "a.feather")
    with pa.ipc.new_stream(str(folder / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    yield from (folder / name for name in ("a.jsonl", "a.json", "a.csv", "a.parquet", "a.feather", "a.arrow"))
    yield from (ROWS, tuple(ROWS), columns, table, table.to_batches()[0], pl.DataFrame(columns))
    yield pd.DataFrame(columns).astype({"text": "string", "score": "float64"})
    yield {name: np.array(values) if name in ("id", "ok") else values for name, values in columns.items()}


@pytest.mark.parametrize("place", range(14))
def test_every_source_gives_the_same_rows(tmp_path, place):
    data = list(sources(tmp_path))[place]
    dataset = open_dataset(data)
    assert dataset.columns == KINDS
    assert dataset.drift == ()
    assert [row.values for row in dataset.rows()] == ROWS
    assert [row.number for row in dataset.rows()] == [1, 2]
    assert dataset.row_count == 2


def test_drift_is_told_and_nothing_is_dropped():
    rows = [{"a": 1, "b": "x"}, {"a": "two", "b": "y", "c": 1}, {"a": 3.5, "c": 2}, {"a": None, "b": "z", "c": 3}]
    dataset = open_dataset(rows)
    assert dataset.columns == {"a": "json", "b": "text", "c": "whole number"}
    assert dataset.drift == (
        "`a` changes its kind: whole number in 1 (first in row 1), text in 1 (first in row 2), number in 1 (first in row 3). "
        "Its values are kept as JSON.",
        "`b` is left out by 1 of 4 rows; it is empty there.",
        "`c` first appears in row 2; the rows before it have no such column.",
    )


def test_whole_numbers_and_decimals_are_numbers_and_no_drift():
    dataset = open_dataset([{"a": 1}, {"a": 2.5}, {"a": None}])
    assert (dataset.columns, dataset.drift) == ({"a": "number"}, ())


def test_a_number_too_large_for_a_column_is_kept_exactly():
    assert open_dataset([{"a": 10**30}]).columns == {"a": "json"}


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Decimal("1.5"), 1.5),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (datetime.date(2026, 1, 2), datetime.date(2026, 1, 2)),
        (datetime.datetime(2026, 1, 2, 3), datetime.datetime(2026, 1, 2, 3)),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), "2026-01-02T00:00:00+00:00"),
        (datetime.timedelta(minutes=1), 60.0),
        ((1, {"b": (2,)}), [1, {"b": [2]}]),
    ],
)
def test_values_of_python_become_plain_data(value, kept):
    (row,) = open_dataset([{"a": value}]).rows()
    assert row.values == {"a": kept}
    assert type(row.values["a"]) is type(kept)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"a": float("nan")}, "no number that a table keeps"),
        ({"a": b"x"}, "which is no data"),
        ({"a": {1: 2}}, "has a name that is no text"),
        ({1: 2}, "has a name that is no text"),
        ({"a": "\ud800"}, "half a character"),
        ([1], "a row is a mapping of columns"),
        (None, "a row is a mapping of columns"),
    ],
)
def test_a_row_that_no_table_holds_is_damaged_and_counts(row, reason):
    dataset = open_dataset([{"a": 1}, row, {"a": 2}])
    found = list(dataset.rows())
    assert [type(each) for each in found] == [Row, DamagedRow, Row]
    assert reason in found[1].reason
    assert dataset.damaged == (found[1],)
    assert dataset.row_count == 3


def test_rows_that_cannot_be_read_are_counted_and_not_kept_however_many():
    dataset = open_dataset([{"a": 1}, *[1] * (MOST_DAMAGED + 7)])
    assert (dataset.row_count, dataset.damaged_count, len(dataset.damaged)) == (MOST_DAMAGED + 8, MOST_DAMAGED + 7, MOST_DAMAGED)
    with pytest.raises(DatasetError, match=f"; and {MOST_DAMAGED + 4} more"):
        DatasetClient("nowhere").upload("x", [{"a": 1}, *[1] * (MOST_DAMAGED + 7)])


def test_a_nested_value_without_an_end_is_damaged():
    endless: list = []
    endless.append(endless)
    (row,) = open_dataset([{"a": endless}]).rows()
    assert "nested more than 64 deep" in row.reason


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"": 1}], "a column has an empty name"),
        ([{"a\u200b": 1}], "a sign that nobody can see"),
        ([{"x" * 201: 1}], "a name of 201 characters"),
        ([{}], "have no column"),
        ([{f"c{n}": 1 for n in range(2_001)}], "more than 2000 columns"),
        ({"a": [1], "b": [1, 2]}, "different lengths: `a` has 1, `b` has 2"),
        ({"a": "xyz"}, "`a` must be a list"),
        (pa.table({"a": [b"x"]}), "`a` holds bytes"),
        (pa.table([[1], [2]], names=["a", "a"]), "Two columns are called `a`"),
        ("rows.txt", "has no ending that says what it is"),
        ("nothing.jsonl", "no such file"),
        (7, "A dataset is a path, a list of rows"),
        (b"x", "A dataset is a path, a list of rows"),
    ],
)
def test_what_is_no_dataset_is_refused_in_words(rows, words):
    with pytest.raises(DatasetError) as caught:
        _ = open_dataset(rows).columns
    assert words.lower() in str(caught.value).lower()


def test_rows_that_can_be_read_only_once_are_refused():
    with pytest.raises(TypeError, match="Pass a list of rows"):
        open_dataset(row for row in ROWS)


def test_several_files_are_one_dataset_when_their_columns_agree(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": broken}\n')
    (tmp_path / "b.csv").write_text("a\n3\n")
    (tmp_path / "c.csv").write_text("b\n3\n")
    dataset = open_dataset([tmp_path / "a.jsonl", tmp_path / "b.csv"])
    assert [(row.number, row.line) for row in dataset.rows()] == [(1, 1), (2, 2), (3, 2)]
    with pytest.raises(DatasetError, match=r"has the columns `b`, and `.*a.jsonl` has `a`"):
        open_dataset([tmp_path / "a.jsonl", tmp_path / "c.csv"])


def test_a_file_that_changes_between_two_passes_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n')
    dataset = open_dataset(path)
    assert dataset.columns == {"a": "whole number"}
    path.write_text('{"a": 1, "b": 22}\n')
    with pytest.raises(DatasetError, match="was changed while it was read"):
        list(dataset.rows())


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
def test_a_damaged_file_is_told(tmp_path, name):
    whole = next(path for path in list(sources(tmp_path))[:6] if path.name == name)
    raw = whole.read_bytes()
    for broken in (b"", raw[: len(raw) // 2], b"\x00" * 100):
        whole.write_bytes(broken)
        with pytest.raises(DatasetError, match="can't be read as"):
            list(open_dataset(whole).rows())


def test_moments_of_nanoseconds_are_read():
    frame = pd.DataFrame({"at": pd.to_datetime(["2026-01-02T03:04:05.123456789"])})
    (row,) = open_dataset(frame).rows()
    assert row.values == {"at": datetime.datetime(2026, 1, 2, 3, 4, 5, 123456)}


def test_rows_of_a_file_stream(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 10_000)
    rows = open_dataset(path).rows()
    assert next(rows).number == 1
    assert datasets.MAX_COLUMNS == 2_000
    assert sum(1 for _ in rows) == 9_999


def test_many_shapes_of_rows_are_counted_right(monkeypatch):
    monkeypatch.setattr("rulebook.evidence.row_columns._MOST_SHAPES", 3)
    rows = [{f"c{n % 7}": n, "a": n if n % 3 else str(n)} for n in range(1, 50)] + [{"a": 2**70}]
    dataset = open_dataset(rows)
    assert dataset.columns == {"c1": "whole number", "a": "json"} | {f"c{n}": "whole number" for n in (2, 3, 4, 5, 6, 0)}
    assert list(dataset.columns) == ["c1", "a", "c2", "c3", "c4", "c5", "c6", "c0"]
    assert "`c1` is left out by 43 of 50 rows; it is empty there." in dataset.drift
    assert "`c0` first appears in row 7; the rows before it have no such column." in dataset.drift
    (told,) = [sentence for sentence in dataset.drift if "changes its kind" in sentence]
    assert "whole number in 33 (first in row 1), text in 16 (first in row 3), huge number in 1 (first in row 50)" in told


def test_shapes_without_an_end_cost_no_memory(monkeypatch):
    monkeypatch.setattr("rulebook.evidence.row_columns._MOST_SHAPES", 3)
    scan = ColumnScan()
    for n in range(20):
        scan.add(Row(n + 1, {f"c{n % 10}": n, f"d{n % 7}": "x"}))
        assert len(scan._shapes) <= 3
    assert len(scan.columns()) == 17


def test_columns_are_looked_for_no_further_than_they_are_found():
    read = []

    def rows():
        for number, values in enumerate([{"a": 1}, {"b": 2}, {"c": 3}], start=1):
            read.append(number)
            yield Row(number, values)

    dataset = datasets.Dataset("the rows", rows)
    assert not dataset.lacks(["a", "b"])
    assert read == [1, 2]
    assert dataset.lacks(["a", "d"])
    assert not dataset.lacks(["c"])


def test_a_pass_that_takes_every_row_finds_the_columns_too():
    passes = []

    def rows():
        passes.append(len(passes))
        yield from (Row(1, {"a": 1}), DamagedRow(2, "broken"), Row(3, {"a": "x"}))

    dataset = datasets.Dataset("the rows", rows)
    assert [row.number for row in dataset.scanned_rows()] == [1, 2, 3]
    assert (dataset.columns, dataset.row_count, len(dataset.damaged)) == ({"a": "json"}, 3, 1)
    assert dataset.drift
    assert passes == [0]
    other = datasets.Dataset("the rows", rows)
    next(other.scanned_rows())
    assert other.columns == {"a": "json"}
    assert passes == [0, 1, 2]


def test_a_line_that_moves_from_one_file_to_the_next_makes_other_rows(tmp_path):
    digests = set()
    for first, second in (("a\n1\n2\n", "a\n3\n"), ("a\n1\n", "2\na\n3\n"), ("a\n1\n", "a\n2\n3\n")):
        (tmp_path / "1.csv").write_text(first)
        (tmp_path / "2.csv").write_text(second)
        digests.add(files_digest([str(tmp_path / "1.csv"), str(tmp_path / "2.csv")]))
    assert len(digests) == 3
    with pytest.raises(DatasetError, match="can't be read: no such file or directory"):
        files_digest([str(tmp_path / "3.csv")])


def test_any_value_of_a_row_counts_in_its_digest():
    values = (1, 1.0, "1", True, None, 2**70, "\ud800", "\ud801", [1], {"b": 1, "a": 2}, datetime.date(2026, 1, 2))
    digests = {rows_digest([Row(1, {"a": value})]) for value in values}
    assert len(digests) == len(values)
    assert rows_digest([Row(1, {"a": {"b": 1, "a": 2}})]) == rows_digest([Row(7, {"a": {"a": 2, "b": 1}})])
    assert rows_digest([DamagedRow(1, "torn")]) != rows_digest([DamagedRow(1, "bent")])


def test_a_value_that_python_cannot_hold_damages_its_row_alone(tmp_path):
    text = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffc")])
    far = {"day": pa.date64(), "moment": pa.timestamp("us"), "while": pa.duration("s"), "days": pa.list_(pa.date64())}
    table = pa.table(
        {"text": text, **{name: pa.array([[0], None, [2**61]] if name == "days" else [0, None, 2**61], kind) for name, kind in far.items()}}
    )
    pq.write_table(table, tmp_path / "far.parquet")
    first, second, third = open_dataset(tmp_path / "far.parquet").rows()
    assert (first.values["text"], first.values["day"]) == ("a", datetime.date(1970, 1, 1))
    assert (second.reason, third.reason) == ("it holds a text that is no UTF-8", "it holds a date or a time that lies too far away")
