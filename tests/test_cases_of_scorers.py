"""Inputs that broke other tools, through the scorers: called in place, over rows, and in the run of an evaluation file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from alone import alone  # noqa: F401
from model_server import endpoint, says

import rulebook
from rulebook import Evaluation, EvaluationScorerResult, UnmeasuredError, scorers
from rulebook.api.evaluation_loading import load_evaluation
from rulebook.api.own_machine import own_ports
from rulebook.services.evaluation_journal import read_records
from rulebook.services.evaluation_runs import runs_folder

pytestmark = pytest.mark.usefixtures("alone")

Told = tuple[float, Mapping[str, object]]


def by_every_way(kind: str, options: Mapping[str, object], rows: Sequence[Mapping[str, object]], folder: Path) -> list[Told]:
    """What a scorer says of each row: called, over rows, in an evaluation from Python and in one from a file, all the same."""
    method = {"string_similarity": "method"}.get(kind)
    given = {key: value for key, value in options.items() if key != method}
    scorer = getattr(scorers, kind)(*([options[method]] if method else []), **given)
    called = [scorer(**row) for row in rows]
    assert list(scorer.score_rows(rows)) == called
    told = [(each.score, each.metadata) for each in called]
    run = Evaluation.create("case", dataset=list(rows), scorers=[scorer]).run()
    assert [tuple(record.results[0][0]) for record in run.rows()] == told
    assert told == from_a_file(kind, options, rows, folder)
    return told


def from_a_file(kind: str, options: Mapping[str, object], rows: Sequence[Mapping[str, object]], folder: Path) -> list[Told]:
    head = {"schema": "rulebook.evaluation", "version": 1, "name": "case", "dataset": {"rows": list(rows)}}
    path = folder / "case.yaml"
    path.write_text(yaml.safe_dump({**head, "scorers": [{kind: {**options, "name": "case"}}]}, sort_keys=False), encoding="utf-8")
    load_evaluation(str(path), own_ports()).run()
    (latest,) = sorted(Path(runs_folder(str(path))).iterdir())[-1:]
    return [tuple(record.results[0][0]) for record in read_records(str(latest))]  # type: ignore[misc, index]


O1 = [
    ("711", "11", 0, False), ("149", "49", 0, False), ("5", "-5", 0, False), ("33.14", "3.14", 0, False), ("1e2", "100", 1, False),
    (" 42 ", "42.0", 1, False), ("42!", "42", 0, True), ("20%", "20", 0, True), ("nan", "nan", 0, True), ("", "0", 0, True),
]  # fmt: skip


def test_o1_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    rows = [{"output": ours, "expected": theirs} for ours, theirs, _, _ in O1]
    found = by_every_way("numeric_close", {"tolerance": 0}, rows, tmp_path)
    assert [(score, "error" in metadata) for score, metadata in found] == [(score, error) for _, _, score, error in O1]
    rows = [{"output": "90", "expected": "100"}, {"output": "89", "expected": "100"}]
    near = by_every_way("numeric_close", {"tolerance": 0.1, "relative": True}, rows, tmp_path)
    assert near == [(1.0, {"difference": -10.0}), (0.0, {"difference": -11.0})]


@pytest.mark.parametrize(
    ("choice", "then", "score", "asked"),
    [("A", None, 1.0, ["small"]), ("AB", None, 0.0, ["small"]), ("a.", None, 1.0, ["small"]), ("Answer", "a", 1.0, ["small", "large"]),
     ("Answer", "ab", 0.0, ["small", "large"]), ("Answer", "Answer", None, ["small", "large"])],
)  # fmt: skip
def test_o4_a_label_is_never_chosen_by_its_beginning(choice: str, then: str | None, score: float | None, asked: list[str]) -> None:
    def reply(word: str | None) -> Any:
        sure = (1, 0) if (word or "").lower().startswith("a") and not (word or "").lower().startswith("ab") else (0, 1)
        weights = [{"label": label, "probability": share} for label, share in zip(("a", "ab"), sure, strict=True)]
        return says(json.dumps({"choice": word, "rationale": "r", "probabilities": weights}))

    with endpoint(reply(choice), reply(then)) as server:
        labels = {"a": 1.0, "ab": 0.0}
        judge = scorers.jev(labels=labels, rubric="r", model="small", fallback_model="large", base_url=server.url)
        if score is None:
            with pytest.raises(UnmeasuredError):
                judge(output="x")
        else:
            assert judge(output="x").score == score
        assert [body["model"] for body in server.bodies] == asked
        run = Evaluation.create("o4", dataset=[{"output": "x"}], scorers=[judge]).run()
    assert run.means() == {"jev": score}
    assert run.table()["jev"].failed == (score is None)


def test_o6_a_path_that_neither_side_has_agrees_in_its_row(tmp_path: Path) -> None:
    rows = [{"output": '{"a": 1, "b": 3}', "expected": '{"a": 1, "b": 2}'}]
    ((score, metadata),) = by_every_way("json_match", {"paths": ["a", "b", "c"]}, rows, tmp_path)
    assert (score, metadata) == (pytest.approx(2 / 3), {"mismatched": ["b"]})


O6_SCORER = """\
from rulebook import EvaluationScorerResult


def some(score: float | None) -> list[EvaluationScorerResult]:
    return [] if score is None else [EvaluationScorerResult(score)]
"""
O6_FILE = """\
schema: rulebook.evaluation
version: 1
name: o6
dataset: {rows: [{score: 1.0}, {score: null}, {score: 0.0}]}
scorers:
  - python: {name: some, function: 'scorer_of_o6:some'}
  - sql: {name: share, expression: '"score"'}
gates: {some: {mean: {min: 0.5, max: 0.5}}}
"""


def test_o6_a_row_without_a_score_is_in_no_mean_and_the_table_says_how_many_rows_it_covers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "scorer_of_o6.py").write_text(O6_SCORER, encoding="utf-8")
    (tmp_path / "o6.yaml").write_text(O6_FILE, encoding="utf-8")
    found = load_evaluation(str(tmp_path / "o6.yaml"), own_ports(), allow_python=True).run()
    some, share = found.outcome.scorers
    assert (some.mean, some.scores, some.rows, some.empty, some.failed) == (0.5, 2, 2, 1, 0)
    assert (share.mean, share.rows, share.empty, share.failed) == (0.5, 2, 0, 1)
    own = rulebook.function(__import__("scorer_of_o6").some)
    run = Evaluation.create("o6", dataset=[{"score": 1.0}, {"score": None}, {"score": 0.0}], scorers=[own]).run()
    assert (run.means(), run.table()["some"].rows, run.table()["some"].empty) == ({"some": 0.5}, 2, 1)
    line = str(run.table()).splitlines()[1].split()
    assert line[:6] == ["some", "0.5", "2", "of", "3", "0"]
    assert run.report()["rows"]["count"] == 3  # type: ignore[index]


PAIRS = [("", ""), ("   ", ""), ("abc", ""), (None, ""), (None, None), ("[]", "[]")]
ALIKE = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
SIMILARITIES = ("jaccard", "jaro_winkler", "token_set", "token_sort", "partial", "sequence")
O7: list[tuple[str, dict[str, object], list[float]]] = [
    ("levenshtein", {}, ALIKE),
    *(("string_similarity", {"method": method}, ALIKE) for method in SIMILARITIES),
    ("exact_match", {}, ALIKE),
    ("contains", {"mode": "all"}, [1.0] * 6),
    ("contains", {"mode": "any"}, [0.0] * 6),
    ("contains", {"mode": "fraction"}, [0.0] * 6),
    ("json_match", {}, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    ("numeric_close", {}, [0.0] * 6),
]


@pytest.mark.parametrize(("kind", "options", "wanted"), O7, ids=[f"{kind} {' '.join(map(str, given.values()))}" for kind, given, _ in O7])
def test_o7_nothing_on_both_sides(kind: str, options: dict[str, object], wanted: list[float], tmp_path: Path) -> None:
    rows = [{"output": ours, "expected": theirs} for ours, theirs in PAIRS]
    found = by_every_way(kind, options, rows, tmp_path)
    assert [score for score, _ in found] == wanted
    for (score, metadata), (ours, theirs) in zip(found, PAIRS, strict=True):
        if kind == "json_match" and score == 0.0:
            assert str(metadata["error"]).startswith("output: ")
        if kind == "numeric_close":
            assert str(metadata["error"]).startswith(("output: ", "expected: ")), (ours, theirs)
        json.dumps(metadata, allow_nan=False)


def test_o7_empty_texts_mean_the_same_without_asking_a_model() -> None:
    with endpoint(says("never asked")) as server:
        meaning = scorers.embedding_similarity(base_url=server.url)
        found = list(meaning.score_rows({"output": ours, "expected": theirs} for ours, theirs in PAIRS))
        assert server.bodies == []
    assert [each.score for each in found if isinstance(each, EvaluationScorerResult)] == ALIKE
