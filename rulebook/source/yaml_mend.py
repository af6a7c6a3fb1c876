"""A syntax error of YAML as the parser sees it, and as the author should hear of it."""

from typing import Any

from msgspec import Struct, field

from rulebook.diagnostic import Edit
from rulebook.source.yaml_quoting import quoted


class SyntaxFault(Struct, frozen=True):
    """Where a YAML parser gave up, in its own words. `context` is where the thing begins that it read."""

    problem: str
    position: int
    context: int

    def says(self, *words: str) -> bool:
        """Whether the parser's sentence holds one of `words`; its two builds word some things differently."""
        return any(word in self.problem for word in words)


class Mend(Struct, frozen=True):
    """One fault named, and the edits after which the parser gets past it (none: it cannot be got past).

    `mended` is the line or value as it should be. Places and edits are those of the text that was parsed.
    """

    code: str
    start: int
    end: int
    words: dict[str, Any] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    mended: str = ""
    safe: bool = False
    help: str = ""


def quoting(code: str, text: str, start: int, end: int, at: tuple[int, int] | None = None, **words: Any) -> Mend:
    """The fault that `text[start:end]` has no quotes, shown at the offsets `at` (the whole by default)."""
    whole = quoted(text[start:end])
    shown = at or (start, end)
    words = {"quoted": whole, **words}
    return Mend(code, *shown, words, (Edit(start, end, whole),), whole, safe=True)


def sentence(text: str, start: int, end: int, edits: tuple[Edit, ...] = (), mended: str = "") -> Mend:
    """A fault that no code but the general one names."""
    return Mend("RB124", start, end, {"sentence": text}, edits, mended)
