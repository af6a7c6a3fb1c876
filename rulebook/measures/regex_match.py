"""Whether a pattern is found in a text, and what its named groups hold."""

import re
from collections.abc import Mapping, Sequence

from rulebook.languages.pattern import SEARCH_LIMIT_S, Pattern
from rulebook.languages.pattern_compiled import compiled
from rulebook.ports import Patterns

_INLINE_FLAGS = re.compile(r"(?:(?:\s|#.*\n)*\(\?[aimsux]+\))+")
"""Flags at the beginning of a pattern, which may stand nowhere else; under `x` a comment may stand before them."""

_LENGTHS = tuple(1 << bits for bits in range(8, 21))


class Sought:
    """A pattern that is looked for in one text after another.

    `full_match`: it must cover the whole text. Raises re.error where Python does not read the pattern.
    """

    def __init__(self, pattern: Pattern, full_match: bool = False) -> None:
        self.written = pattern
        self.pattern = _covering(pattern) if full_match else pattern
        self.own = compiled(self.pattern.text, self.pattern.flags)
        self._quick_up_to = 0

    def find(self, text: str, patterns: Patterns, limit_s: float = SEARCH_LIMIT_S) -> re.Match[str] | None:
        """The first match. Raises TimeoutError after `limit_s` seconds."""
        if limit_s > 0 and self.is_quick_on(len(text)):
            return self.own.search(text)
        found = patterns.search(self.pattern, text, limit_s)
        # matching again where it is known to match takes no longer than finding it did
        return None if found is None else self.own.match(text, found[0])

    def is_quick_on(self, characters: int) -> bool:
        """Whether it is proved that no text of this length takes long; what was proved is kept."""
        if characters <= self._quick_up_to:
            return True
        length = next((length for length in _LENGTHS if length >= characters), characters)
        if not self.pattern.quick_on(length):
            return self.pattern.quick_on(characters)
        self._quick_up_to = length
        return True


def regex_match_score(candidate: str, sought: Sought, patterns: Patterns) -> tuple[float, Mapping[str, object]]:
    """The score, 1 or 0, the `match` and the named `groups`. A search that takes too long scores 0 with an `error`.

    Source: scorers, regex_match.
    """
    try:
        return score_of_match(sought.find(candidate, patterns))
    except TimeoutError:
        why = f"the search for `{sought.written.text}` did not end within {SEARCH_LIMIT_S:g} s"
        return 0.0, {"match": None, "groups": {}, "error": why}


def regex_match_scores(
    candidates: Sequence[str], sought: Sought, patterns: Patterns
) -> Sequence[tuple[float, Mapping[str, object]]]:
    """The same for each text of a column."""
    if not sought.is_quick_on(max(map(len, candidates), default=0)):
        return [regex_match_score(each, sought, patterns) for each in candidates]
    return list(map(score_of_match, map(sought.own.search, candidates)))


def score_of_match(found: re.Match[str] | None) -> tuple[float, dict[str, object]]:
    """What a match scores, and its metadata."""
    if found is None:
        return 0.0, {"match": None, "groups": {}}
    return 1.0, {"match": found[0], "groups": found.groupdict()}


def _covering(pattern: Pattern) -> Pattern:
    """The pattern that matches a text where `pattern` matches the whole of it."""
    inline = _INLINE_FLAGS.match(pattern.text)
    head, rest = ("", pattern.text) if inline is None else (inline[0], pattern.text[inline.end() :])
    # under `x` a comment at the pattern's end would swallow what follows it on the same line
    verbose = compiled(pattern.text, pattern.flags).flags & re.VERBOSE
    end = "\n" if verbose else ""
    return Pattern(rf"{head}\A(?:{rest}{end})\Z", pattern.flags)
