"""The scorers against the vectors recorded from the reference.

`scorers.jsonl` holds the vectors, `scorers_ours.json` what is expected of us where we differ on purpose: only vectors
with a quirk, and only quirks that `docs/scorers.md` says are changed.
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model

from rulebook import EvaluationScorerResult, scorers
from rulebook.api.model_scorer_options import jev_options, judge_options
from rulebook.api.scorer_options import columns_read, keywords_of, label
from rulebook.errors import UnfitKind, UnfitOption

HERE = Path(__file__).parent
MODELS = ("llm_judge", "jev", "embedding_similarity")
VECTORS = [json.loads(line) for line in (HERE / "scorers.jsonl").read_text(encoding="utf-8").splitlines()]
OURS = json.loads((HERE / "scorers_ours.json").read_text(encoding="utf-8"))
DETERMINISTIC = [vector for vector in VECTORS if vector["scorer"] not in MODELS]
GROUPS: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
for _vector in DETERMINISTIC:
    GROUPS[_vector["scorer"], _vector.get("quirk", "plain")].append(_vector)

Outcome = dict[str, Any]


@pytest.mark.parametrize(("scorer", "quirk"), sorted(GROUPS), ids="-".join)
def test_vectors(scorer: str, quirk: str) -> None:
    wrong = []
    for vector in GROUPS[scorer, quirk]:
        got, want = outcome_of(vector), OURS.get(vector["id"], vector)
        if not agree(got, want, vector.get("error_mentions", ())):
            wrong.append((vector["id"], str(got)[:300], str({key: want.get(key) for key in got})[:300]))
    assert wrong == []


def test_only_quirks_differ_and_none_of_them_without_need() -> None:
    by_id = {vector["id"]: vector for vector in VECTORS}
    for key, want in OURS.items():
        assert "quirk" in by_id[key]
        assert not agree(want, by_id[key], ()), f"{key} does not differ"


def test_the_document_says_which_quirks_are_kept() -> None:
    page = (HERE.parent.parent / "docs" / "scorers.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `([\w-]+)` \| (kept|changed)", page, re.M))
    quirks = {vector["quirk"] for vector in DETERMINISTIC if "quirk" in vector}
    assert quirks <= set(said)
    changed = {vector["quirk"] for vector in DETERMINISTIC if vector["id"] in OURS}
    assert changed <= {quirk for quirk, word in said.items() if word == "changed"} | {"json-bool-number"}
    assert {quirk for quirk in quirks if said[quirk] == "changed"} <= changed | {"declare-raw-python-error"}


def test_rows_in_a_batch_score_as_rows_alone() -> None:
    batches: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for vector in DETERMINISTIC:
        if "row" in vector and "score" in OURS.get(vector["id"], vector):
            batches[vector["scorer"] + json.dumps(vector["options"])].append(vector)
    for batch in batches.values():
        scorer = declare(batch[0])
        rows = [{**written_out(vector["row"]), "another_column": 1} for vector in batch]
        for vector, result in zip(batch, scorer.score_rows(rows), strict=True):
            assert agree(of_result(result), OURS.get(vector["id"], vector), ()), vector["id"]


NEEDED = {"llm_judge": {"response_model", "model"}, "jev": {"labels", "rubric", "model", "fallback_model"}}
DECLARED = [
    vector
    for vector in VECTORS
    if vector["scorer"] in MODELS and "row" not in vector and "quirk" not in vector
    # what the signature has no default for is no option that could be checked
    and NEEDED.get(vector["scorer"], set()) <= set(vector["options"])
]  # fmt: skip


@pytest.mark.parametrize("vector", DECLARED, ids=lambda vector: vector["id"])
def test_declarations_of_scorers_that_ask_models(vector: dict[str, Any]) -> None:
    options = written_out(vector["options"])
    if "error" in vector:
        error = {"TypeError": UnfitKind, "ValueError": UnfitOption}[vector["error"]["type"]]
        with pytest.raises(error, match=r"\.$"):
            declared_with_models(vector["scorer"], options)
    else:
        name, inputs = declared_with_models(vector["scorer"], options)
        assert vector["declared"] == {"name": name, "inputs": list(inputs)}


def declared_with_models(scorer: str, options: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    known = {"inputs", "name", "completion_kwargs"}
    beside = {"labels", "rubric", "threshold", "response_model", "model", "fallback_model", "instructions"}
    keywords_of(scorer, {key: value for key, value in options.items() if key not in known | beside})
    given = {key: value for key, value in options.items() if key in known}
    if scorer == "embedding_similarity":
        inputs = columns_read(options.get("inputs", ("output", "expected")), 2, scorer)
        return label(options.get("name", "embedding-similarity")), inputs
    given.setdefault("inputs", ("output",))
    if scorer == "llm_judge":
        judge = judge_options(model_of(options["response_model"]), **{"name": None, **given})
    else:
        bound = options.get("threshold", 0.9)
        judge = jev_options(options["labels"], options["rubric"], threshold=bound, **{"name": "jev", **given}).judge
    return judge.name, judge.inputs


def model_of(described: Any) -> Any:
    """A model of pydantic from the vectors' small language of fields; anything else stands for itself."""
    if not isinstance(described, dict):
        return described
    fields: dict[str, Any] = dict.fromkeys(described["fields"], (float, ...))
    return create_model(described["name"], **fields)


def outcome_of(vector: dict[str, Any]) -> Outcome:
    """What comes of a vector: an error and when it was raised, what was declared, or a score and its metadata."""
    try:
        if vector["scorer"] == "scorer_result":
            return of_result(EvaluationScorerResult(**written_out(vector["options"])))
        scorer = declare(vector)
    except Exception as error:
        return {"error": {"type": names_of(error), "raised_at": "declare"}}
    if "row" not in vector:
        given = {"inputs": list(scorer.inputs)} if vector["scorer"] != "sql" else {"expression": scorer.expression}
        return {"declared": {"name": scorer.name, **given}}
    row = {column: value for column, value in written_out(vector["row"]).items() if column in scorer.inputs}
    try:
        return of_result(scorer(**row))
    except Exception as error:
        return {"error": {"type": names_of(error), "raised_at": "row"}}


def declare(vector: dict[str, Any]) -> Any:
    return getattr(scorers, vector["scorer"])(**written_out(vector["options"]))


def of_result(result: EvaluationScorerResult) -> Outcome:
    json.dumps(result.metadata, allow_nan=False)
    return {"score": result.score, "metadata": result.metadata}


def names_of(error: Exception) -> list[str]:
    return [each.__name__ for each in type(error).__mro__]


def agree(got: Outcome, want: dict[str, Any], mentions: Any) -> bool:
    if "error" in got:
        # a result is made while a row is scored, and here it is made alone
        at = "row" if want.get("error", {}).get("raised_at") == "row" and "row" not in want else None
        return "error" in want and want["error"]["type"] in got["error"]["type"] and (
            at is not None or got["error"]["raised_at"] == want["error"]["raised_at"]
        )  # fmt: skip
    if "declared" in got:
        return got["declared"] == want.get("declared")
    if "score" not in want or abs(got["score"] - want["score"]) > 1e-9:
        return False
    ours, theirs = got["metadata"], written_out(want["metadata"])
    if theirs and "error" in theirs:
        return bool(ours.get("error")) and all(word in ours["error"] for word in mentions)
    return near(ours, theirs)


def near(ours: object, theirs: object) -> bool:
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and ours.keys() == theirs.keys() and all(near(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, float) and isinstance(ours, float):
        return abs(ours - theirs) <= 1e-9 or ours == theirs
    return ours == theirs


def written_out(value: Any) -> Any:
    """The vector's value, with the numbers that JSON does not have."""
    if isinstance(value, dict):
        if "$float" in value:
            return float(value["$float"])
        if "$int_pow10" in value:
            return 10 ** value["$int_pow10"]
        return {key: written_out(inner) for key, inner in value.items()}
    return [written_out(inner) for inner in value] if isinstance(value, list) else value
