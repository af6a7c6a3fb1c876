"""RB701: something shaped like a real credential in a rule file."""

import re

from rulebook.expression.program import Loaded
from rulebook.place import span_between
from rulebook.ports import Files

_SHAPES: tuple[tuple[str, str, str], ...] = (
    ("an AWS access key", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("a GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36}\b"),
    ("a GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{40,90}\b"),
    ("an API key", "sk-", r"\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,200}\b"),
    ("a Google API key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("a Slack token", "xox", r"\bxox[abprs]-[0-9A-Za-z-]{10,80}\b"),
    ("a private key", "PRIVATE KEY", r"-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY-----"),
)
"""What it is, a text that every one of them holds (looking for it first is cheap), and its whole shape."""


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every credential-shaped text, comments included."""
    reader = loaded.readers[loaded.file]
    for what, part, shape in _SHAPES:
        for found in re.finditer(shape, loaded.text) if part in loaded.text else ():
            reader.add("RB701", (), span_between(loaded.text, found.start(), found.end()), what=what)
