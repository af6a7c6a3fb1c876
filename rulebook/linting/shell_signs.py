"""RB502: signs of a shell in a command that no shell reads."""

from rulebook.checks import Check
from rulebook.expression.nodes import Leaf, Node, parts_of
from rulebook.expression.program import Loaded
from rulebook.languages.fields import shell_signs
from rulebook.languages.template import Template
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.spec.reader import Reader


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every pipe, redirection, variable and the like in the command of a test or of a `command`."""
    for item in loaded.items:
        _walk(loaded, item.node)


def _walk(loaded: Loaded, node: Node) -> None:
    if isinstance(node, Leaf):
        reader = loaded.readers[node.common.file]
        for index, sign in shell_signs([word.text for word in _argv(node.check)]):
            reader.add("RB502", _word(reader, node.common.path, node.common.kind, index), sign=sign)
    for part in parts_of(node):
        _walk(loaded, part)


def _argv(check: Check) -> tuple[Template, ...]:
    """The command of a kind that runs one. Whether a kind does is asked of its key, lest both be imported for it."""
    return getattr(check, "argv", ()) if check.kind in ("command", "tests") else ()


def _word(reader: Reader, rule: Path, kind: str, index: int) -> Path:
    """Where a word of the command stands: in the short form, in the full one, or in a test."""
    for path in ((*rule, kind, index), (*rule, kind, "argv", index), (*rule, "argv", index)):
        if path in reader.document.values:
            return path
    return rule
