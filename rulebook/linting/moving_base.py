"""RB801: a base commit whose name can come to mean another commit."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note a `base_commit` that moves: HEAD, a branch, or something relative to one."""
    if not isinstance(loaded.content, Program):
        return
    value = loaded.content.spec.head.base_commit
    moves = value is not None and (
        value == "HEAD" or value.startswith(("HEAD~", "HEAD^", "refs/heads/", "origin/")) or value in ("main", "master")
    )
    if moves:
        loaded.readers[loaded.file].add("RB801", ("base_commit",), value=value)
