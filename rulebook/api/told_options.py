"""The options of a scorer as its run keeps them, so that another run can say in what its scorers differ."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from rulebook.api.scorer_handle import Scorer
from rulebook.api.sql_scorer import SqlScorer
from rulebook.report.plain_json import plain
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.scorer_kinds import SCORERS
from rulebook.spec.scorer_options import MarkedKeys

MOST_CHARACTERS = 300
"""An option that is written in more is kept as its digest, and so is a mapping: it may hold what nobody should read."""

_NO_OPTIONS = ("name", "threshold", "card")


def spec_options(spec: ScorerSpec, asks: Sequence[str] = ()) -> dict[str, object]:
    """Those of a scorer in a rule file, with the usual ones for what it does not say, and the models that it `asks`."""
    model = SCORERS[spec.kind]
    fields = model.model_fields.items()
    usual = {key: field.default for key, field in fields if not field.is_required() and key not in _NO_OPTIONS}
    models: dict[str, object] = {"asks": asks} if asks else {}
    if not issubclass(model, MarkedKeys):  # then `threshold` is no pass mark, but says how sure a model must be
        models["threshold"] = getattr(spec.keys, "threshold", None)
    return _kept({"kind": spec.kind, **usual, "inputs": spec.inputs, **spec.options, **models})


def told_options(handle: object) -> dict[str, object] | None:
    """Those of a scorer that was made in Python; None where it keeps them to itself."""
    if isinstance(handle, Scorer):
        return _kept({"kind": handle.kind, "inputs": handle.inputs, **handle.options})
    if isinstance(handle, SqlScorer):
        return _kept({"kind": "sql", "inputs": None, "expression": handle.expression})
    return None


def _kept(options: Mapping[str, object]) -> dict[str, object]:
    return {key: _short(plain(value)) for key, value in options.items()}


def _short(value: object) -> object:
    text = json.dumps(value, sort_keys=True)
    if len(text) <= MOST_CHARACTERS and not isinstance(value, dict):
        return value
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()[:16]}"
