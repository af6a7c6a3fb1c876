"""RB803: an intervention without its digest, or a digest without its intervention."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note a `provenance` that has one of the two."""
    if not isinstance(loaded.content, Program) or loaded.content.spec.head.provenance is None:
        return
    given = loaded.content.spec.head.provenance
    if (given.intervention is None) != (given.intervention_sha256 is None):
        missing = "intervention" if given.intervention is None else "intervention_sha256"
        loaded.readers[loaded.file].add_at_key("RB803", ("provenance",), key=missing)
