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
from scorer_vectors import MODELS, OURS, VECTORS, names_of, near, of_result, written_out

from rulebook import EvaluationScorerResult, scorers

HERE = Path(__file__).parent
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
