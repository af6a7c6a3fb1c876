"""How large a rule file may be, and the message for one that is larger."""

import re
from typing import Any

from rulebook.diagnostic import Diagnostic, problem
from rulebook.place import Span

MAX_BYTES = 1024 * 1024
MAX_NODES = 50_000
MAX_LEVELS = 64
MAX_KEY_CHARACTERS = 128
LEVELS: dict[str, Any] = {
    "count": f"more than {MAX_LEVELS}",
    "parts": "levels of lists and mappings inside one another",
    "limit": MAX_LEVELS,
}
"""The blanks of RB119's sentence for a file that is too deep."""

LEVELS_HELP = "Name the inner rules under `checks:` and use their names."

_BROKEN = "[\ud800-\udfff]"


def too_many_nodes(file: str, span: Span) -> Diagnostic:
    """The complaint about the first key or value past the limit."""
    return problem(
        "RB119",
        file,
        span,
        count=f"more than {MAX_NODES:,}",
        parts="keys and values",
        limit=f"{MAX_NODES:,}",
        help="Split the file into smaller ones.",
    )


def too_deep(file: str, span: Span) -> Diagnostic:
    """The complaint about the first list or mapping below the deepest level."""
    return problem("RB119", file, span, help=LEVELS_HELP, **LEVELS)


def long_key(file: str, span: Span, length: int) -> Diagnostic:
    """The complaint about a key that is really a text."""
    return problem(
        "RB119",
        file,
        span,
        count="a key of",
        parts=f"{length:,} characters",
        limit=MAX_KEY_CHARACTERS,
        help="Write a short key, and the text as its value.",
    )


def too_many_bytes(file: str, size_bytes: int | None) -> Diagnostic:
    """The complaint about a file above the size limit; a size of None is unknown, but above it."""
    count = f"{size_bytes:,}" if size_bytes is not None else f"more than {MAX_BYTES:,}"
    return problem(
        "RB119",
        file,
        None,
        count=count,
        parts="bytes",
        limit=f"{MAX_BYTES:,} (1 MiB)",
        help="Keep data in a file of its own, and name it in the rule.",
    )


def is_too_large(text: str) -> bool:
    """Whether the text, as UTF-8, is above the size limit."""
    if len(text) > MAX_BYTES:
        return True
    return len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES


def broken_character(text: str) -> int | None:
    """The offset of the first half of a character, which no UTF-8 file can hold, or None."""
    found = None if text.isascii() else re.search(_BROKEN, text)
    return found.start() if found else None
