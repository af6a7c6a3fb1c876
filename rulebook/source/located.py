"""A rule file as plain data in which every key and value knows its place."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from rulebook.diagnostic import Diagnostic
from rulebook.place import Path, Span, span_between

Language = Literal["yaml", "zon"]
Style = Literal["plain", "single", "double", "literal", "folded", "zon-string", "zon-lines", "zon-name", "other"]
"""How a value was written. `zon-name` is an enum literal such as `.train`; `other` is not text."""


Offsets = Callable[["Located", Path], Sequence[int] | None]
"""Where each character of the text value at a path stands: one source offset a character, then that of
the first character past the value; None where the value is not text or cannot be mapped."""


class EmptyZon(dict[str, object]):
    """ZON's `.{}`: an empty mapping or an empty list, whichever the place calls for."""


class Located(Struct, frozen=True):
    """A rule file's data (mappings with text keys, lists, text, numbers, true/false, None) and where each part stands.

    `file` is the name as people know it, `text` the decoded text without a byte order mark. `values`
    has the span of every value, `keys` that of every mapping key, both by path; `styles` how each text
    value was written. `offsets` maps the characters of a text value to the source, worked out when asked.
    """

    file: str
    text: str
    language: Language
    data: object
    values: Mapping[Path, Span]
    keys: Mapping[Path, Span]
    styles: Mapping[Path, Style]
    offsets: Offsets
    notes: tuple[Diagnostic, ...] = ()

    def span(self, path: Path) -> Span:
        """Where the value at `path` stands, or the nearest value around it that stands in the file."""
        while path not in self.values and path:
            path = path[:-1]
        return self.values.get(path) or span_between(self.text, 0, 0)

    def key_span(self, path: Path) -> Span:
        """Where the key that ends `path` stands; the value's own place when it has no key."""
        return self.keys.get(path) or self.span(path)

    def within(self, path: Path, start: int, end: int) -> Span:
        """Where the characters `start:end` of the text value at `path` stand in the file."""
        span = self.span(path)
        offsets = self.offsets(self, path)
        if offsets is None:
            return span
        last = len(offsets) - 1
        start, end = min(max(start, 0), last), min(max(end, 0), last)
        first = offsets[start]
        past = offsets[end - 1] + 1 if end > start else first
        return span_between(self.text, first, max(past, first))

    def texts(self) -> Iterator[tuple[Path, str]]:
        """Every text value below the top with its path, in no order."""
        waiting: list[tuple[Path, object]] = [((), self.data)]
        while waiting:
            path, value = waiting.pop()
            entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for step, inner in entries:
                if isinstance(inner, str):
                    yield (*path, step), inner
                elif isinstance(inner, (dict, list)):
                    waiting.append(((*path, step), inner))

    def at(self, path: Path) -> object:
        """The value at `path`. Raises KeyError when there is none."""
        value: Any = self.data
        try:
            for step in path:
                if isinstance(value, str):  # the only value but a mapping or a list that could be indexed
                    raise KeyError(path)
                value = value[step]
        except (LookupError, TypeError):
            raise KeyError(path) from None
        return value


class Reading(Struct, frozen=True):
    """What came of reading a rule file: the document, unless an error kept it from being one, and every message."""

    document: Located | None
    diagnostics: tuple[Diagnostic, ...] = ()


def line_starts(text: str) -> list[int]:
    """The offset at which each line starts, for turning many offsets into lines at once."""
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return starts


def span_by_lines(starts: list[int], start: int, end: int) -> Span:
    """Like `span_between`, from line starts worked out before."""
    first, last = bisect_right(starts, start) - 1, bisect_right(starts, end) - 1
    return Span(first + 1, start - starts[first] + 1, last + 1, end - starts[last] + 1, start, end)
