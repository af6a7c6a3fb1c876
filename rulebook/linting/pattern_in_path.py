"""RB313: a path that looks like a pattern, where paths are taken literally."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files

_KINDS = ("required_paths", "forbidden_paths", "files")


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note a `*` or a leading `~` in a path of `expect`: neither is expanded, so the rule would ask for an odd file."""
    if not isinstance(loaded.content, Program):
        return
    reader = loaded.readers[loaded.file]
    for expectation in loaded.content.spec.expectations:
        kind, _, rest = expectation.id.partition("[")
        value = rest.removesuffix("]")
        if kind in _KINDS and ("*" in value or value.startswith("~")):
            what = "`*`" if "*" in value else "`~`"
            reader.add("RB313", expectation.rule.path, value=value, what=what)
