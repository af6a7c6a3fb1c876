"""`exact_match` and `contains` against the vectors recorded from the reference, those without a quirk."""

import json
from pathlib import Path
from typing import Any

import pytest

from rulebook.checks.contains import contains_score
from rulebook.checks.exact_match import MatchOptions, exact_match_score

VECTORS = [
    json.loads(line) for line in (Path(__file__).parent / "conformance" / "scorers_text.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector: dict[str, Any]) -> None:
    options = dict(vector["options"])
    options.pop("name", None)
    output, expected = (vector["row"][column] for column in options.pop("inputs", ("output", "expected")))
    if vector["scorer"] == "exact_match":
        score, metadata = exact_match_score(output, expected, MatchOptions(**options))
    else:
        mode, case_insensitive = options.get("mode", "all"), options.get("case_insensitive", False)
        score, metadata = contains_score(output, expected, mode, case_insensitive)
    assert score == vector["score"]
    assert metadata == vector["metadata"]
