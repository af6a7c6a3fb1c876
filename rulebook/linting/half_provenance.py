"""RB803: an intervention without its digest, or a digest without its intervention."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note a `provenance` that has one of the two."""
    if not isinstance(loaded.content, Program):
        return
    given = loaded.content.spec.provenance
    if ("intervention" in given) != ("intervention_sha256" in given):
        missing = "intervention_sha256" if "intervention" in given else "intervention"
        loaded.readers[loaded.file].add_at_key("RB803", ("provenance",), key=missing)
