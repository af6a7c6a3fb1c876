"""Spans by path, worked out from two offsets when someone asks for them."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from rulebook.place import Path, Span
from rulebook.source.located import line_starts


class Lines:
    """Turns offsets into spans, with the line starts found once, at the first question."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    def span(self, start: int, end: int) -> Span:
        """The span of the characters `start:end`."""
        starts = self.starts
        first = bisect_right(starts, start) - 1
        last = first if end == start else bisect_right(starts, end, first) - 1
        return Span(first + 1, start - starts[first] + 1, last + 1, end - starts[last] + 1, start, end)

    @property
    def starts(self) -> list[int]:
        """The offset at which each line starts."""
        if self._starts is None:
            self._starts = line_starts(self.text)
        return self._starts

    def number(self, offset: int) -> int:
        """The 1-based line that holds the character at `offset`."""
        return bisect_right(self.starts, offset)

    def bounds(self, offset: int) -> tuple[int, int]:
        """Where the line that holds `offset` starts and ends, its line break left out."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        end = len(self.text) if end < 0 else end
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        return start, end


class Places(Mapping[Path, Span]):
    """The span at each path. Most are never looked at, so only offsets are kept."""

    def __init__(self, lines: Lines, offsets: dict[Path, tuple[int, int]]) -> None:
        self._lines = lines
        self._offsets = offsets

    def __getitem__(self, path: Path) -> Span:
        return self._lines.span(*self._offsets[path])

    def __contains__(self, path: object) -> bool:
        return path in self._offsets

    def __iter__(self) -> Iterator[Path]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)
