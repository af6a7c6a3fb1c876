"""The options of a scorer as its run keeps them, so that another run can say in what its scorers differ."""

import json
from collections.abc import Mapping
from hashlib import sha256

from rulebook.api.scorer_handle import Scorer
from rulebook.api.sql_scorer import SqlScorer
from rulebook.report.plain_json import plain

MOST_CHARACTERS = 300
"""An option that is written in more is kept as its digest, and so is a mapping: it may hold what nobody should read."""


def told_options(handle: object) -> dict[str, object] | None:
    """Those of a scorer that was made in Python; None where it keeps them to itself."""
    if isinstance(handle, Scorer):
        return kept_options({"kind": handle.kind, "inputs": handle.inputs, **handle.options})
    if isinstance(handle, SqlScorer):
        return kept_options({"kind": "sql", "inputs": None, "expression": handle.expression})
    return None


def kept_options(options: Mapping[str, object]) -> dict[str, object]:
    """These options as a journal keeps them."""
    return {key: _short(plain(value)) for key, value in options.items()}


def _short(value: object) -> object:
    text = json.dumps(value, sort_keys=True)
    if len(text) <= MOST_CHARACTERS and not isinstance(value, dict):
        return value
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()[:16]}"
