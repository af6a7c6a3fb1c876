"""Regular expressions: a pattern, its flags, and whose meaning it has."""

from typing import Literal

from msgspec import Struct

from rulebook.languages.faults import Fault, LanguageError, Shown
from rulebook.languages.types import Scope

Engine = Literal["python", "re2"]
SEARCH_LIMIT_S = 2.0
"""A search stops after this long whatever the pattern."""

MAX_TEXT_CHARACTERS = 1024 * 1024
"""A search looks at no more than this much text, and the finding says so."""

MAX_PATTERN_CHARACTERS = 10_000
QUICK_STEPS = 5_000_000
"""A search proved to take fewer steps than this needs no time limit: a tenth of a second or so."""

_SIGNS = frozenset("\\.^$*+?{}[]()|")
"""What does not stand for itself in a pattern."""


class Pattern(Struct, frozen=True):
    """A pattern that has been read. `flags` are letters of `imsx`."""

    text: str
    flags: str = ""
    engine: Engine = "python"

    @property
    def literal(self) -> bool:
        """Whether every sign in it stands for itself, so that nothing in it can be wrong or slow."""
        return self.text != "" and "x" not in self.flags and _SIGNS.isdisjoint(self.text)

    @property
    def harmless(self) -> bool:
        """Whether it is proved that no search takes more than linear time."""
        if self.engine == "re2" or self.literal:
            return True
        from rulebook.languages.pattern_faults import is_linear  # 7 ms: a pattern without signs never pays for it

        return is_linear(self.text, self.flags)

    def quick_on(self, characters: int) -> bool:
        """Whether it is proved that no text of this length takes long."""
        if self.harmless:
            return True
        from rulebook.languages.pattern_faults import most_steps  # as above

        steps = most_steps(self.text, self.flags, characters)
        return steps is not None and steps <= QUICK_STEPS

    def faults(self, scope: Scope | None = None) -> tuple[Fault, ...]:  # noqa: ARG002
        """What works and is likely not what was meant: RB126, RB421, RB422, RB423, RB426, RB705.

        A pattern reads no names, so `scope` changes nothing; it is taken so that patterns are asked like
        other languages.
        """
        if self.literal and self.text[0] != "/" and self.text[-1] != "\n":
            return ()
        from rulebook.languages.pattern_faults import warnings_of  # as above

        return warnings_of(self.text, self.flags, self.engine)


def read_pattern(text: str, flags: str = "", engine: Engine = "python") -> Pattern:
    """Parse a pattern.

    Raises LanguageError for a mistake in it (RB420, RB424), for one that can take forever (RB704), and for one that
    is too long or too deep (RB706).
    """
    if len(text) > MAX_PATTERN_CHARACTERS:
        words = {"what": "pattern", "count": len(text), "parts": "characters", "limit": MAX_PATTERN_CHARACTERS}
        raise LanguageError(Fault("RB706", words))
    pattern = Pattern(text, "".join(sorted(set(flags))), engine)
    if pattern.literal:
        return pattern
    from rulebook.languages.pattern_faults import errors_of  # as above

    faults = errors_of(pattern.text, pattern.flags, engine)
    if faults:
        raise LanguageError(*faults)
    return pattern


def list_for_pattern(inside: str) -> Fault:
    """RB127: a list of the one text `inside` stands where a pattern is wanted."""
    return Fault("RB127", {"list": Shown([inside]), "pattern": Shown(f"[{inside}]"), "text": Shown(inside)})
