"""RB602: reward weights under which nothing counts."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note reward weights that are 0 for every category that a finding of this file can have."""
    if not isinstance(loaded.content, Program) or not loaded.content.spec.weights:
        return
    weights = loaded.content.spec.weights
    present = {item.category for item in loaded.content.items} | {"harness"}
    if all(weights.get(category, 1.0) == 0 for category in present):
        loaded.readers[loaded.file].add_at_key("RB602", ("reward_weights",), what="reward")
