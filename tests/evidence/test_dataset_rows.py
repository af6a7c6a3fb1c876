"""Rows of JSONL, JSON and CSV files: what is read, what is damaged, and in which row and line."""

import json
import os
import resource
import subprocess
import sys

import pytest

from rulebook.errors import DatasetError
from rulebook.evidence import rows_csv, rows_json
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.evidence.rows_csv import csv_kinds, csv_rows
from rulebook.evidence.rows_json import json_rows, jsonl_rows, row_of_json
from rulebook.services.files import MachineFiles

FILES = MachineFiles()


def told(rows):
    return [(r.number, r.line, r.values if isinstance(r, Row) else r.reason) for r in rows]


def jsonl(folder, content):
    path = folder / "rows.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return told(jsonl_rows(str(path), FILES))


def whole(folder, content):
    path = folder / "rows.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return told(json_rows(str(path), FILES))


def csv(folder, content):
    path = folder / "rows.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    kinds = csv_kinds(str(path), FILES)
    return kinds, told(csv_rows(str(path), FILES, kinds))


def test_lines_of_json_are_rows_with_their_lines(tmp_path):
    text = '\ufeff{"a": 1, "b": "x"}\n\n  \n{"a": null, "b": {"c": [1, 2.5, true]}}\r\n{"a":9007199254740993}'
    assert jsonl(tmp_path, text) == [
        (1, 1, {"a": 1, "b": "x"}),
        (2, 4, {"a": None, "b": {"c": [1, 2.5, True]}}),
        (3, 5, {"a": 9007199254740993}),
    ]


DAMAGED = [
    ('{"a": 1', "not valid JSON"),
    ("[1, 2]", "a row is a mapping of columns"),
    ("7", "a row is a mapping of columns"),
    ('{"a": 1, "a": 2}', "the key `a` is in it twice"),
    ('{"a" : 1, "a": 2}', "the key `a` is in it twice"),
    ('{"b\\\\":1,"a":1,"a":2}', "the key `a` is in it twice"),
    ('{"a": {"b": 1, "b": 2}}', "the key `b` is in it twice"),
    ('{"a": "\\":", "a": 1, "c": 2}', "the key `a` is in it twice"),
    ('{"a": NaN}', "`NaN` is no number"),
    ('{"a": 1e999}', "too large for one"),
    ('{"a": ' + "9" * 500 + "}", "a number of 500 digits"),
    ('{"a": "\\ud800"}', "half a character"),
    ('{"\\udfff": 1}', "half a character"),
    ('{"a": ' + "[" * 70 + "]" * 70 + "}", "nested more than 64 deep"),
    ('{"a": ' + "[" * 100_000 + "}", "nested more than 64 deep"),
    ('{"a": "x\x00y"}', "not valid JSON"),
    (b'{"a": "\xff"}', "its byte 8 is no UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "reason"), DAMAGED)
def test_a_damaged_line_is_a_row_of_its_own(tmp_path, line, reason):
    raw = line if isinstance(line, bytes) else line.encode("utf-8")
    found = jsonl(tmp_path, b'{"a": 0}\n' + raw + b'\n{"a": 2}\n')
    assert found[0] == (1, 1, {"a": 0})
    assert found[2] == (3, 3, {"a": 2})
    assert found[1][:2] == (2, 2)
    assert reason in found[1][2]


def test_what_looks_odd_and_is_right_is_read(tmp_path):
    rows = [
        {"expected": '{"intent": "refund", "a": {"b": 1}}', "c": 'x":y'}, {"a\\": 1, "a": 2}, {"a": "\u0000"}, {"a": 10**30},
        {"a": 0.1 + 0.2, "b": 1e300, "c": -0.0, "d": 12345678901234567}, {"": 1}, {"😀": "😀"},
    ]  # fmt: skip
    text = "".join(json.dumps(row, ensure_ascii=bool(place % 2)) + "\n" for place, row in enumerate(rows))
    assert [row for _, _, row in jsonl(tmp_path, text)] == rows


def test_the_fast_reader_and_the_strict_one_agree():
    for text in ['{"a":1}', '{"a":"\\u00e9","b":[]}', '{"a":1.0}', '{"a":123456789012345678901234}', '{"a":0.1234567890123456789}']:
        assert repr(row_of_json(text)) == repr(json.loads(text))


@pytest.mark.parametrize("blank", [" ", "\t", "\r", "\n", " \n ", "\n\t", " \n"])
def test_a_key_given_twice_is_found_whatever_stands_before_its_colon(blank):
    with pytest.raises(ValueError, match="the key `a` is in it twice"):
        row_of_json(f'{{"a":1,"a"{blank}:2}}')


def test_a_line_of_a_gigabyte_costs_no_memory_and_is_one_damaged_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": 1}\n')
        file.truncate(1 << 30)
    with path.open("ab") as file:
        file.write(b'\n{"a": 2}\n')
    code = (
        "import resource, sys; from rulebook.evidence.rows_json import jsonl_rows;"
        "from rulebook.services.files import MachineFiles;"
        f"resource.setrlimit(resource.RLIMIT_AS, ({400 << 20}, {400 << 20}));"
        "print([(r.number, r.line, getattr(r, 'reason', '')) for r in jsonl_rows(sys.argv[1], MachineFiles())])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout == "[(1, 1, ''), (2, 2, 'it is larger than 16 MiB'), (3, 3, '')]\n", done.stderr
    assert resource.getrlimit(resource.RLIMIT_AS)


def test_a_list_of_rows_is_read_piece_by_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_json, "_CHUNK_BYTES", 7)
    text = '\ufeff [\n {"a": 1, "b": "ü]"},\n\n {"a": [1,\n {"x": "é😀"}]},\n 12345678 , {"a": 1, "a": 2}\n]\n '
    assert whole(tmp_path, text) == [
        (1, 2, {"a": 1, "b": "ü]"}),
        (2, 4, {"a": [1, {"x": "é😀"}]}),
        (3, 6, 'a row is a mapping of columns, such as `{"message": "hello"}`; this is none'),
        (4, 6, "the key `a` is in it twice"),
    ]
    assert whole(tmp_path, "[]") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: it does not start with `[`"),
        ('{"a": 1}', "rows that stand one a line belong in a `.jsonl` file"),
        ('[{"a": 1}', "line 1: it ends within the list"),
        ('[{"a": 1},\n{"a": ', "line 2: a row is not valid"),
        ('[{"a": 1}\n{"a": 2}]', "line 2: `,` or `]` is missing after a row"),
        ('[{"a": 1}] 7', "something follows the list"),
        ('[{"a": 1},]', "a row is not valid"),
        ("[" + "[" * 100_000, "nested more than 64 deep"),
        (b'[{"a": "\xff"}]', "is not text in UTF-8"),
    ],
)
def test_a_broken_list_is_told_with_its_line(tmp_path, text, words):
    with pytest.raises(DatasetError) as caught:
        whole(tmp_path, text)
    assert words in str(caught.value)


def test_a_row_of_a_list_that_never_ends_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_json, "MAX_ROW_BYTES", 1_000)
    monkeypatch.setattr(rows_json, "_CHUNK_BYTES", 100)
    with pytest.raises(DatasetError, match="a row is not valid, or it is larger"):
        whole(tmp_path, '[{"a": "' + "x" * 5_000 + '"}]')


def test_values_of_csv_have_the_kind_of_their_column(tmp_path):
    text = (
        "\ufeffid,price,ok,code,note,empty,big\r\n1,1.5,true,007,\"a, \"\"b\"\"\nc\",,9223372036854775807\r\n"
        "-2,3,False,12,null,NULL,1\r\n,,,,,,\r\n"
    )
    kinds, rows = csv(tmp_path, text)
    assert kinds == {
        "id": "whole number", "price": "number", "ok": "yes or no", "code": "text", "note": "text", "empty": "text", "big": "whole number",
    }  # fmt: skip
    assert rows == [
        (1, 2, {"id": 1, "price": 1.5, "ok": True, "code": "007", "note": 'a, "b"\nc', "empty": None, "big": 2**63 - 1}),
        (2, 4, {"id": -2, "price": 3.0, "ok": False, "code": "12", "note": None, "empty": None, "big": 1}),
        (3, 5, dict.fromkeys(kinds)),
    ]


@pytest.mark.parametrize("value", ["1_000", "t", "007", "+5", "0x1F", "nan", "inf", "1e999", "9223372036854775808", "1.", ".5", " 1", "1,5", "٣", "0.12345678901234567890", "1-1"])
def test_text_that_no_number_gives_back_stays_text(tmp_path, value):
    quoted = f'"{value}"' if "," in value else value
    kinds, rows = csv(tmp_path, f"a\n{quoted}\n{quoted}\n")
    assert kinds == {"a": "text"}
    assert rows[0][2] == {"a": value}


def test_damaged_rows_of_csv_are_rows(tmp_path):
    text = b'a,b\n1,2\n3\n4,5,6\n"x"y,1\nz,5" pipe,\xc3\xa9"\n7,8\n\n9,\xff\n10,"never\nclosed\n'
    _, rows = csv(tmp_path, text)
    assert [(number, line, value if isinstance(value, str) else sorted(value)) for number, line, value in rows] == [
        (1, 2, ["a", "b"]),
        (2, 3, "it has 1 values, and the header has 2 columns"),
        (3, 4, "it has 3 values, and the header has 2 columns"),
        (4, 5, "a quote in its value 1 is out of place or never closed"),
        (5, 6, "a quote in its value 2 is out of place or never closed"),
        (6, 7, ["a", "b"]),
        (7, 9, "its byte 3 is no UTF-8"),
        (8, 10, "a quote in its value 2 is out of place or never closed, and reaches to line 11"),
    ]


def test_a_quote_that_is_never_closed_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_csv, "MAX_ROW_BYTES", 100)
    _, rows = csv(tmp_path, 'a\n"' + "x\n" * 200 + '"\n1\n' + "y" * 500 + "\n2\n")
    assert [row for row in rows if isinstance(row[2], str)][0][:2] == (1, 2)
    assert "larger than" in rows[0][2]
    assert rows[-1][2] == {"a": "2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ('"a,b\n1,2\n', "The header of"),
        ('a,b,"a"\n1,2,3\n', "names the column `a` twice"),
    ],
)
def test_a_csv_file_without_a_header_is_refused(tmp_path, text, words):
    with pytest.raises(DatasetError, match=words):
        csv(tmp_path, text)


@pytest.mark.parametrize("read", [jsonl_rows, json_rows, csv_kinds])
def test_a_folder_or_a_fifo_in_the_files_place_is_refused_at_once(tmp_path, read):
    os.mkfifo(tmp_path / "fifo")
    for name in (".", "fifo", "nothing"):
        with pytest.raises(OSError):
            list(read(str(tmp_path / name), FILES))


def test_a_damaged_row_says_where_it_is():
    assert DamagedRow(3, "x", 7).place() == "row 3 (line 7)"
    assert Row(3, {}).place() == "row 3"
