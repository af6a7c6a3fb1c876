"""RB604: a reward in which a broken log or grader counts."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note reward weights under which `harness` counts; where none are written nobody has asked for a reward."""
    if not isinstance(loaded.content, Program) or not loaded.content.spec.weights:
        return
    weights = loaded.content.spec.weights
    weight = weights.get("harness", 1.0)
    if weight > 0:
        reader = loaded.readers[loaded.file]
        path = ("reward_weights", "harness") if "harness" in weights else ("reward_weights",)
        reader.add_at_key("RB604", path, weight=f"{weight:g}")
