"""Where something is written: spans of a rule file's text, and paths into its data."""

from typing import NamedTuple

Path = tuple[str | int, ...]
"""The way to a value inside a document: mapping keys and list positions, outermost first."""


class Span(NamedTuple):
    """A stretch of a rule file's text.

    `line` and `column` are 1-based and count characters; `end_line` and `end_column` lie one
    past the last character; `start` and `end` are 0-based character offsets into the text.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


def span_between(text: str, start: int, end: int) -> Span:
    """The span of `text[start:end]`, with lines and columns worked out from the text."""
    line, column = _line_and_column(text, start)
    end_line, end_column = _line_and_column(text, end)
    return Span(line, column, end_line, end_column, start, end)


def dotted(path: Path) -> str:
    """A path as people write it: `expect.files[2].path`; the empty path is the whole file."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            parts.append(f".{step}" if parts else step)
    return "".join(parts)


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    before = text.rfind("\n", 0, offset)
    return text.count("\n", 0, offset) + 1, offset - before
