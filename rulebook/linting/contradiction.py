"""RB806: the same thing required and forbidden."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files

_PAIRS = (("required_paths", "forbidden_paths"), ("required_events", "forbidden_events"))


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every path and event that `expect` both requires and forbids."""
    if not isinstance(loaded.content, Program):
        return
    ids = {expectation.id: expectation.rule for expectation in loaded.content.spec.expectations}
    for required, forbidden in _PAIRS:
        for name, rule in ids.items():
            if name.startswith(f"{forbidden}[") and name.replace(forbidden, required, 1) in ids:
                value = name[len(forbidden) + 1 : -1]
                loaded.readers[loaded.file].add("RB806", rule.path, value=value)
