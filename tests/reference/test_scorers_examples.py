"""Scorers reference: its examples, each run as it stands there with only its import changed, models on loopback."""

import json
import runpy
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from alone import alone  # noqa: F401
from model_server import Endpoint, Handler, endpoint, says
from reference_text import piece_of_code

import rulebook
from rulebook import DatasetClient

pytestmark = pytest.mark.usefixtures("alone")

HEAD = "def triage(message: str) -> str:"
FOUR = "scorers = ["
TRACE_QUALITY = "class TraceQuality(BaseModel):"
INTENT_JUDGE = "intent_judge = chalkcompute.scorers.jev("
ANSWERED = "answered = chalkcompute.scorers.sql("
PLAUSIBLE = "def amount_is_plausible(message: str, output: str) -> float:"
PER_FIELD = "def per_field(output: str, expected: str) -> list[chalkcompute.EvaluationScorerResult]:"


def run_file(folder: Path, *lines: str, name: str = "__main__", pydantic: str = "pydantic") -> dict[str, Any]:
    """What a file of these examples, each named by a line of it, has defined when it was run under that name."""
    path = folder / "example.py"
    text = "\n\n".join(piece_of_code("scorers.txt", line) for line in lines) + "\n"
    path.write_text(text.replace("from pydantic import", f"from {pydantic} import"), encoding="utf-8")
    return runpy.run_path(str(path), run_name=name)


def of_quick_start(found: dict[str, Any], *scorers: str) -> Any:
    """A run of these scorers over the task and the dataset of the Quick start."""
    given = {"dataset": found["dataset"], "task": found["triage"], "scorers": [found[name] for name in scorers]}
    return rulebook.Evaluation.create("support-triage", **given).run().wait()


def each_score(run: Any, place: int = 0) -> list[list[float]]:
    return [[score for score, _ in record.results[place]] for record in run.rows()]


def gateway(server: Endpoint, folder: Path) -> None:
    """Make the server the one provider: it calls its models by their makers."""
    models = '{"openai/gpt-5" = "openai/gpt-5", "openai/gpt-5-mini" = "openai/gpt-5-mini"}'
    text = f'[[providers]]\nname = "gateway"\nbase_url = "{server.url}"\nmodels = {models}\n'
    (folder / "rulebook.toml").write_text(text, encoding="utf-8")


def test_the_four_scorers_of_the_quick_start(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, FOUR)
    run = found["evaluation"].run().wait()
    assert run.means() == {"valid-json": 0.75, "full-match": 0.25, "intent-match": 0.5, "mentions-intent": 0.5}
    assert each_score(run, 1) == [[0.0], [1.0], [0.0], [0.0]]
    first = next(run.rows())
    assert first.results[1][0][1] == {"mismatched": ["amount"]}
    assert (first.results[2][0], first.results[3][0][0]) == ((1.0, {"mismatched": []}), 1.0)


def test_a_file_that_is_only_imported_declares_and_runs_nothing(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, FOUR, name="example")
    assert [scorer.name for scorer in found["scorers"]] == ["valid-json", "full-match", "intent-match", "mentions-intent"]
    assert "dataset" not in found
    assert "evaluation" not in found
    assert DatasetClient().list() == ()
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("version", ["pydantic", "pydantic.v1"])
def test_the_judge_of_a_trace(tmp_path: Path, version: str) -> None:
    found = run_file(tmp_path, TRACE_QUALITY, pydantic=version)
    assert found["BaseModel"].__module__.startswith("pydantic.v1") == (version == "pydantic.v1")
    judge = found["trace_quality"]
    assert (judge.name, judge.inputs) == ("trace-quality", ("output",))
    good = {"score": 0.75, "directness": 1, "task_correctness": 2, "reason": "a detour"}

    def act(handler: Handler) -> None:
        shown = handler.body["messages"][-1]["content"]
        says(json.dumps({**good, "directness": 3} if "at a loss" in shown else good))(handler)

    rows = [{"output": "typed the password twice"}, {"output": "at a loss"}, {"output": "logged in"}]
    with endpoint(act) as server:
        gateway(server, tmp_path)
        run = rulebook.Evaluation.create("logins", dataset=rows, scorers=[judge]).run().wait()
        bodies, headers, paths = list(server.bodies), list(server.headers), list(server.paths)
    assert run.means() == {"trace-quality": 0.75}
    assert (run.table()["trace-quality"].rows, run.table()["trace-quality"].failed) == (2, 1)
    first, second, _ = run.rows()
    assert list(first.results[0]) == [(0.75, {"directness": 1, "task_correctness": 2, "reason": "a detour"})]
    assert "`directness`" in second.failed(0).message
    assert {body["model"] for body in bodies} == {"openai/gpt-5"}
    assert (set(paths), {header["authorization"] for header in headers}) == ({"/chat/completions"}, {"Bearer none"})
    system, asked = bodies[0]["messages"]
    assert system == {"role": "system", "content": "You are grading a browser agent's login attempt."}
    assert "Was the task actually completed?" in asked["content"]
    schema = bodies[0]["response_format"]["json_schema"]["schema"]
    assert {key: schema["properties"]["directness"][key] for key in ("minimum", "maximum")} == {"minimum": 0, "maximum": 2}


def grade(choice: str, *shares: float) -> str:
    labels = ("correct", "partial", "wrong")
    weights = [{"label": label, "probability": share} for label, share in zip(labels, shares, strict=True)]
    return json.dumps({"choice": choice, "rationale": "because", "probabilities": weights})


def by_row(handler: Handler) -> None:
    """The first model is sure of the refund and of what was left unclassified, the second one never quite."""
    shown = handler.body["messages"][-1]["content"]
    if handler.body["model"] == "openai/gpt-5":
        says(grade("correct", 0.8, 0.1, 0.1))(handler)
    elif "1182" in shown:
        says(grade("correct", 95, 4, 1))(handler)
    else:
        says(grade("Wrong.", 0.05, 0.05, 0.9) if "unclassified" in shown else grade("partial", 0.3, 0.6, 0.1))(handler)


def test_the_judge_that_goes_on_to_a_second_model(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, INTENT_JUDGE)
    judge = found["intent_judge"]
    assert (judge.name, judge.inputs, judge.options["threshold"]) == ("intent-judge", ("message", "output"), 0.9)
    with endpoint(by_row) as server:
        gateway(server, tmp_path)
        run = found["evaluation"].run().wait()
        asked = [(body["model"], body["messages"][-1]["content"]) for body in server.bodies]
    assert run.means() == {"intent-judge": 0.75}
    told = [record.results[0][0] for record in run.rows()]
    assert [score for score, _ in told] == [1.0, 1.0, 1.0, 0.0]
    assert [metadata["escalated"] for _, metadata in told] == [False, True, True, False]
    assert told[0][1] == {
        "choice": "correct", "rationale": "because", "confidence": 0.95, "escalated": False, "judge_model": "openai/gpt-5-mini",
        "probabilities": {"CORRECT": 0.95, "PARTIAL": 0.04, "WRONG": 0.01}, "primary_confidence": 0.95,
    }  # fmt: skip
    assert [(each["judge_model"], each["confidence"], each["primary_confidence"]) for _, each in told[1:3]] == [
        ("openai/gpt-5", pytest.approx(0.8), pytest.approx(0.6))
    ] * 2
    assert told[3][1]["choice"] == "Wrong."
    assert sorted(model for model, _ in asked) == ["openai/gpt-5"] * 2 + ["openai/gpt-5-mini"] * 4
    first = {model: shown for model, shown in asked if "It was due Tuesday." in shown}
    assert first.keys() == {"openai/gpt-5", "openai/gpt-5-mini"}
    assert "partial: the intent is close" in first["openai/gpt-5-mini"]


def test_the_sql_scorer(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, ANSWERED)
    run = of_quick_start(found, "answered")
    assert (run.means(), each_score(run)) == ({"answered": 1.0}, [[1.0]] * 4)
    answered = found["answered"]
    assert [answered(output=each).score for each in ("x", " ", "", None)] == [1.0, 1.0, 0.0, 0.0]


def test_the_scorer_of_ones_own(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, PLAUSIBLE)
    run = of_quick_start(found, "amount_is_plausible")
    assert (run.means(), each_score(run)) == ({"amount-is-plausible": 0.75}, [[1.0], [1.0], [1.0], [0.0]])
    assert found["amount_is_plausible"]("refund 12 please", '{"amount": 12.0}') == 1.0
    assert found["amount_is_plausible"]("refund 12 please", '{"amount": 13.0}') == 0.0


def test_the_scorer_that_gives_a_list(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, PER_FIELD)
    run = of_quick_start(found, "per_field")
    assert each_score(run) == [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], []]
    assert next(run.rows()).results[0][1] == (0.0, {"field": "amount"})
    line = run.table()["per-field"]
    assert (line.mean, line.scores, line.rows, line.empty, line.failed) == (0.5, 6, 3, 1, 0)


def test_all_of_the_page_in_one_evaluation(tmp_path: Path) -> None:
    found = run_file(tmp_path, HEAD, FOUR, INTENT_JUDGE, ANSWERED, PLAUSIBLE, PER_FIELD)
    mixed = [*found["scorers"], *(found[name] for name in ("intent_judge", "answered", "amount_is_plausible", "per_field"))]
    with endpoint(by_row) as server:
        gateway(server, tmp_path)
        run = rulebook.Evaluation.create("support-triage", dataset=found["dataset"], task=found["triage"], scorers=mixed).run()
    assert run.means() == {
        "valid-json": 0.75, "full-match": 0.25, "intent-match": 0.5, "mentions-intent": 0.5, "intent-judge": 0.75, "answered": 1.0,
        "amount-is-plausible": 0.75, "per-field": 0.5,
    }  # fmt: skip
    names = [name for name in pyarrow.parquet.read_schema(run.to_parquet()).names if name.endswith("_value")]
    assert [name.removesuffix("_value") for name in names] == list(run.means())
