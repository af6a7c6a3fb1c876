"""A path of `json_match` that no row of a run has is told with its table: the score of 1 that it gives says nothing."""

import json
from pathlib import Path

import pytest

import rulebook
from rulebook import Evaluation, scorers

NOTE = "`json-match` looks at `intnet`, and no row has it: both sides lack it, and so agree, in every row."


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path


def noted(*rows: tuple[object, object]) -> list[str]:
    given = [{"output": output, "expected": expected} for output, expected in rows]
    scorer = scorers.json_match(paths=["intent", "intnet"])
    return list(Evaluation.create("e", dataset=given, scorers=[scorer]).run().outcome.notes)


def test_a_slip_of_the_pen_is_told_with_the_table() -> None:
    rows = [('{"intent": "a"}', '{"intent": "b"}'), ("no json", '{"intent": "b"}')]
    (note,) = noted(*rows)
    assert note.startswith(NOTE)


@pytest.mark.parametrize(
    "rows",
    [
        [('{"intent": 1, "intnet": null}', '{"intent": 1}'), ('{"intent": 1}', '{"intent": 1}')],
        [('{"intent": 1}', '{"intent": 1}'), ('{"intent": 1}', '{"intent": 1, "intnet": 2}')],
        [("no json", '{"a": 1}'), ('{"a": 1}', "none")],
    ],
    ids=["in one output", "in one that is expected", "nothing is compared"],
)
def test_nothing_is_told_of(rows: list[tuple[object, object]]) -> None:
    assert noted(*rows) == []


def test_an_output_of_the_task_is_looked_at(place: Path) -> None:
    @rulebook.function
    def task(message: str) -> str:
        return json.dumps({message: 1})

    def notes(message: str) -> int:
        rows = [{"message": message, "expected": "{}"}]
        run = Evaluation.create("e", dataset=rows, task=task, scorers=[scorers.json_match(paths=["intent"])]).run()
        again = run.rescore(scorers=[scorers.json_match(paths=["intent"])])
        assert again.outcome.notes == run.outcome.notes
        return len(run.outcome.notes)

    assert (notes("intent"), notes("other")) == (0, 1)


def test_a_file_and_a_run_that_goes_on_say_the_same(place: Path) -> None:
    rows = [{"output": '{"intent": 1}', "expected": '{"intent": 1}'}] * 3
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    head = "schema: rulebook.evaluation\nversion: 1\nname: e\ndataset: rows.jsonl\nscorers:\n"
    (place / "e.yaml").write_text(head + "  - json_match: {paths: [intnet, intent]}\n", encoding="utf-8")
    rules = rulebook.load("e.yaml")
    run = rules.run()
    (note,) = run.outcome.notes
    assert note.startswith(NOTE)
    assert rules.run(resume=True).outcome.notes == run.outcome.notes
    assert "looks at `intnet`" in str(run)
