"""The vectors recorded from the reference's scorers, and what is expected of us where we differ on purpose."""

import json
from pathlib import Path
from typing import Any

from rulebook import EvaluationScorerResult

HERE = Path(__file__).parent / "conformance"
MODELS = ("llm_judge", "jev", "embedding_similarity")
VECTORS = [json.loads(line) for line in (HERE / "scorers.jsonl").read_text(encoding="utf-8").splitlines()]
OURS = json.loads((HERE / "scorers_ours.json").read_text(encoding="utf-8"))

Outcome = dict[str, Any]


def of_result(result: EvaluationScorerResult) -> Outcome:
    json.dumps(result.metadata, allow_nan=False)
    return {"score": result.score, "metadata": result.metadata}


def names_of(error: Exception) -> list[str]:
    return [each.__name__ for each in type(error).__mro__]


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
