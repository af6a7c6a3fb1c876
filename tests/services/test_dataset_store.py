"""The dataset store: revisions by content, readers, two processes at once, and kills at any moment."""

import os
import signal
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rulebook
from rulebook.errors import DatasetError
from rulebook.services import dataset_store
from rulebook.services.dataset_store import DatasetStore

ROOT = Path(rulebook.__file__).parent.parent
TRIAGE = [
    {"message": "I was charged twice for order 1182, please refund", "expected": '{"intent": "refund", "amount": 49.99}'},
    {"message": "Where is my order? It was due Tuesday.", "expected": '{"intent": "status", "amount": 0.0}'},
]


@pytest.fixture
def client(tmp_path):
    return rulebook.DatasetClient(str(tmp_path / "store"))


def test_rows_come_back_as_they_were(client):
    reference = client.upload(" support-triage ", TRIAGE)
    assert reference.dataset_name == "support-triage"
    assert reference.row_count == 2
    assert reference.columns == {"message": "text", "expected": "text"}
    assert client.read(reference).to_pylist() == TRIAGE
    assert list(client.rows(reference.revision_id)) == TRIAGE
    assert client.list() == (reference,)
    assert client.get("support-triage") == reference


def test_every_way_to_name_a_revision(client):
    first = client.upload("a", [{"n": 1}])
    second = client.upload("a", [{"n": 2}])
    assert first.dataset_id == second.dataset_id
    assert client.read({"dataset_id": first.dataset_id, "revision_id": first.revision_id}).to_pylist() == [{"n": 1}]
    assert client.read({"dataset_name": "a"}).to_pylist() == [{"n": 2}]
    assert client.revisions("a") == (first, second)
    for wrong in ({}, {"dataset_name": "a", "dataset_id": "x"}, {"dataset_name": " "}, "", {"revision_id": 7}, 7):
        with pytest.raises(ValueError):
            client.read(wrong)


def test_the_same_rows_are_the_same_revision_whatever_the_source(client, tmp_path):
    rows = [{"a": 1, "b": "x", "c": 0.5}, {"a": 2, "b": None, "c": 2.0}]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    (tmp_path / "r.csv").write_text("a,b,c\n1,x,0.5\n2,,2\n")
    (tmp_path / "r.jsonl").write_text('{"c":5e-1,"b":"x","a":1}\n{"a" : 2, "c": 2}\n')
    pq.write_table(pa.table(columns), tmp_path / "r.parquet", row_group_size=1)
    narrow = pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array(["x", None], pa.large_string()), "c": pa.array([0.5, 2.0])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rulebook.DatasetDriftWarning)
        found = [
            client.upload(f"d{place}", data).revision_id
            for place, data in enumerate(
                [rows, columns, pd.DataFrame(columns), pl.DataFrame(columns), narrow, tmp_path / "r.csv", tmp_path / "r.jsonl", tmp_path / "r.parquet"]
            )
        ]
    assert len(set(found)) == 1
    assert len(found[0]) == 64


@pytest.mark.parametrize(
    "other",
    [
        [{"a": 2}, {"a": 1}], [{"a": 1}], [{"a": 1}, {"a": 2}, {"a": 2}], [{"b": 1}, {"b": 2}], [{"a": "1"}, {"a": "2"}],
        [{"a": 1.0}, {"a": 2.0}], [{"a": 1, "b": None}, {"a": 2, "b": None}], [{"a": [1]}, {"a": [2]}],
    ],
)  # fmt: skip
def test_other_rows_are_another_revision(client, other):
    assert client.upload("a", [{"a": 1}, {"a": 2}]).revision_id != client.upload("a", other).revision_id


def test_an_upload_again_adds_nothing_and_an_old_one_becomes_the_latest(client):
    first, same = client.upload("a", [{"n": 1}]), client.upload("a", [{"n": 1}])
    assert first == same
    client.upload("a", [{"n": 2}])
    client.upload("a", [{"n": 1}])
    assert [reference.revision_id for reference in client.revisions("a")].count(first.revision_id) == 2
    assert client.get("a") == first


def test_drift_is_warned_of_and_kept_whole(client):
    with pytest.warns(rulebook.DatasetDriftWarning, match="`b` first appears in row 2") as caught:
        reference = client.upload("a", [{"a": 1}, {"a": "x", "b": 2}])
    assert caught[0].filename == __file__
    assert "changes its kind" in reference.drift[0]
    assert list(client.rows(reference)) == [{"a": 1, "b": None}, {"a": "x", "b": 2}]


def test_nested_values_come_back_as_they_were(client):
    rows = [{"a": {"x": [1, {"y": None}]}, "n": 10**30}, {"a": [], "n": -(10**30)}]
    assert list(client.rows(client.upload("a", rows))) == rows


@pytest.mark.parametrize("name", ["", "  ", None, 7])
def test_a_dataset_needs_a_name(client, name):
    with pytest.raises(ValueError, match="needs a name"):
        client.upload(name, TRIAGE)


def test_a_damaged_row_keeps_everything_out(client, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 1\n{"a": 2}\n' + "x\n" * 9)
    with pytest.raises(DatasetError) as caught:
        client.upload("a", path)
    assert "row 2 (line 2): " in str(caught.value)
    assert "; and 7 more." in str(caught.value)
    assert not (tmp_path / "store").exists()


def test_no_rows_are_no_dataset(client):
    with pytest.raises(DatasetError, match="has no rows"):
        client.upload("a", [])
    with pytest.raises(TypeError, match="read more than once"):
        client.upload("a", (row for row in TRIAGE))


def test_what_is_not_there_is_told_with_the_nearest_name(client):
    with pytest.raises(DatasetError, match="is empty"):
        client.get("support-triage")
    client.upload("support-triage", TRIAGE)
    with pytest.raises(DatasetError, match="There is no dataset `suport-triage` in .* Did you mean `support-triage`?"):
        client.get("suport-triage")
    with pytest.raises(DatasetError, match="There is no revision `0000`"):
        client.read("0000")


def test_looking_creates_nothing(client, tmp_path):
    assert client.list() == ()
    assert client.revisions("a") == ()
    assert not (tmp_path / "store").exists()


def test_a_damaged_revision_is_told_and_never_read_as_other_rows(client, tmp_path):
    reference = client.upload("a", [{"text": f"row {n}"} for n in range(5_000)])
    (path,) = (tmp_path / "store" / "rows").glob("*.parquet")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3] ^= 1
    path.write_bytes(raw)
    for read in (client.read, lambda each: list(client.rows(each))):
        with pytest.raises(DatasetError):
            read(reference)
    path.unlink()
    with pytest.raises(DatasetError, match="can't be read: no such file"):
        client.read(reference)


def test_a_damaged_catalogue_is_told(client, tmp_path):
    client.upload("a", TRIAGE)
    (tmp_path / "store" / "catalogue.sqlite").write_bytes(b"no catalogue at all" * 100)
    with pytest.raises(DatasetError, match="The list of datasets"):
        client.list()


def test_the_home_decides_where_datasets_lie(tmp_path, monkeypatch):
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    reference = rulebook.DatasetClient().upload("a", TRIAGE)
    assert (tmp_path / "home" / "datasets" / "rows" / f"{reference.revision_id}.parquet").is_file()


def upload_in_another(folder, code):
    script = f"import sys; import rulebook; from rulebook.services import dataset_store; client = rulebook.DatasetClient(sys.argv[1])\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_two_processes_that_upload_at_once_lose_nothing(tmp_path):
    code = "for n in range(15): client.upload(f'{PREFIX}-{n}', [{'n': n}]); client.upload('shared', [{'n': n, 'who': PREFIX}])"
    runs = [upload_in_another(tmp_path, f"PREFIX = {prefix!r}\n{code}") for prefix in ("a", "b")]
    for run in runs:
        run.communicate(timeout=120)
        assert run.returncode == 0
    client = rulebook.DatasetClient(str(tmp_path))
    assert len(client.list()) == 31
    assert len(client.revisions("shared")) == 30
    for reference in client.list():
        assert client.read(reference).num_rows == 1
    assert [name for name in os.listdir(tmp_path / "rows") if not name.endswith(".parquet")] == []


KILLED = {
    "while rows are written": "dataset_store.table_of = stop",
    "before the rows have their name": "dataset_store.os.fsync = stop",
    "before the catalogue knows": "dataset_store.Catalogue.add = stop",
}


@pytest.mark.parametrize("moment", KILLED)
def test_a_kill_leaves_the_store_as_it_was(tmp_path, moment):
    client = rulebook.DatasetClient(str(tmp_path))
    before = client.upload("a", [{"n": 1}])
    stop = "def stop(*_, **__):\n    print('now', flush=True)\n    sys.stdin.read()\n"
    run = upload_in_another(tmp_path, f"{stop}\n{KILLED[moment]}\nclient.upload('a', [{{'n': 2}}])")
    assert run.stdout is not None
    assert run.stdout.readline() == "now\n"
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=60)
    assert client.list() == (before,)
    assert client.read(before).to_pylist() == [{"n": 1}]
    after = client.upload("a", [{"n": 2}])
    assert client.read(after).to_pylist() == [{"n": 2}]
    assert [name for name in os.listdir(tmp_path / "rows") if name.endswith(".part")] == []


def test_a_draft_whose_writer_lives_is_left_alone(tmp_path, monkeypatch):
    client = rulebook.DatasetClient(str(tmp_path))
    inner = []
    table_of = dataset_store.table_of

    def meanwhile(*args, **keywords):
        monkeypatch.setattr(dataset_store, "table_of", table_of)
        inner.append(rulebook.DatasetClient(str(tmp_path)).upload("b", [{"n": 2}]))
        return table_of(*args, **keywords)

    monkeypatch.setattr(dataset_store, "table_of", meanwhile)
    outer = client.upload("a", [{"n": 1}])
    assert client.read(outer).to_pylist() == [{"n": 1}]
    assert client.read(inner[0]).to_pylist() == [{"n": 2}]


def test_a_draft_that_is_swept_before_it_is_locked_is_begun_anew(tmp_path, monkeypatch):
    flock, swept = dataset_store.fcntl.flock, []

    def sweep_first(file, how):
        if not swept and how == dataset_store.fcntl.LOCK_EX:
            swept.append(os.readlink(f"/proc/self/fd/{file.fileno()}"))
            os.unlink(swept[0])
        flock(file, how)

    monkeypatch.setattr(dataset_store.fcntl, "flock", sweep_first)
    client = rulebook.DatasetClient(str(tmp_path))
    assert client.read(client.upload("a", [{"n": 1}])).to_pylist() == [{"n": 1}]
    assert len(swept) == 1


def test_a_store_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="can't be kept in"):
        rulebook.DatasetClient(str(tmp_path / "file")).upload("a", TRIAGE)


def test_the_catalogue_is_plain_sqlite(client, tmp_path):
    client.upload("a", TRIAGE)
    connection = sqlite3.connect(tmp_path / "store" / "catalogue.sqlite")
    assert connection.execute("SELECT name, row_count FROM revisions").fetchall() == [("a", 2)]
    connection.close()
    assert DatasetStore(str(tmp_path / "store")).entries("a")[0].uploaded_ms > 0
