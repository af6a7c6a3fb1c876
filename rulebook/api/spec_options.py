"""The options of a scorer in a rule file as its run keeps them, so that another run can say in what they differ."""

from collections.abc import Sequence

from rulebook.api.told_options import kept_options
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.scorer_kinds import SCORERS
from rulebook.spec.scorer_options import MarkedKeys

_NO_OPTIONS = ("name", "threshold", "card")


def spec_options(spec: ScorerSpec, asks: Sequence[str] = ()) -> dict[str, object]:
    """Those of a scorer in a rule file, with the usual ones for what it does not say, and the models that it `asks`."""
    model = SCORERS[spec.kind]
    fields = model.model_fields.items()
    usual = {key: field.default for key, field in fields if not field.is_required() and key not in _NO_OPTIONS}
    models: dict[str, object] = {"asks": asks} if asks else {}
    if not issubclass(model, MarkedKeys):  # then `threshold` is no pass mark, but says how sure a model must be
        models["threshold"] = getattr(spec.keys, "threshold", None)
    return kept_options({"kind": spec.kind, **usual, "inputs": spec.inputs, **spec.options, **models})
