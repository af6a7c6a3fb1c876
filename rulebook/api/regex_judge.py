"""Patterns that the assistant's messages must match, as a judge. Source: scoring, RegexJudge."""

import re
from collections.abc import Sequence

from rulebook.api.judges import Judge
from rulebook.api.own_machine import own_ports
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.languages.formula_search import safe_when_cut
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S, Pattern
from rulebook.languages.pattern_given import pattern_given


class RegexJudge(Judge):
    """Every pattern is found in the assistant's messages, joined by blank lines: score 1, else 0.

    System messages, instructions, tool results, reasoning, the arguments of calls and parts that are no text do not
    count; what the assistant said in earlier steps does. A search takes at most 2 s, whatever the pattern.
    """

    def __init__(self, expected: Sequence[re.Pattern[str]]) -> None:
        """Raises ValueError for an empty list, TypeError for what is no compiled pattern."""
        if not expected:
            raise ValueError("A judge without patterns would pass whatever happened. Give it one or more.")
        for pattern in expected:
            if not isinstance(pattern, re.Pattern) or not isinstance(pattern.pattern, str):
                raise TypeError(f"A pattern is written `re.compile(r'answer: 42')`; this is {pattern!r:.80}.")
        self.expected = tuple(expected)
        self._patterns = tuple(pattern_given(pattern.pattern, pattern.flags) for pattern in expected)

    def evaluate(self, transcript: Transcript) -> Scoring:
        """Search for every pattern. The metadata has those that were not found, and why."""
        text = said(transcript)
        unmatched = {}
        for place, pattern in enumerate(self._patterns):
            why = _missing(pattern, text)
            if why:
                unmatched[self._key(place)] = why
        return Scoring(float(not unmatched), unmatched, not unmatched)

    def _key(self, place: int) -> str:
        """The pattern's text; with its flags where another has the same text."""
        text = self.expected[place].pattern
        same = sum(other.pattern == text for other in self.expected) > 1
        return f"{text} (flags: {self._patterns[place].flags or 'none'})" if same else text


def said(transcript: Transcript) -> str:
    """What the assistant said, all messages joined by blank lines."""
    texts = (message.text for message in transcript.messages if message.role == "assistant")
    return "\n\n".join(text for text in texts if text)


def _missing(pattern: Pattern, text: str) -> str:
    """Why the pattern was not found; empty when it was."""
    if not text.strip():
        return "The assistant wrote nothing."
    try:
        found = own_ports().patterns.search(pattern, text[:MAX_TEXT_CHARACTERS], SEARCH_LIMIT_S)
    except TimeoutError:
        return f"The search did not end within {SEARCH_LIMIT_S:g} s on this text."
    cut = len(text) > MAX_TEXT_CHARACTERS
    if found is not None and (not cut or safe_when_cut(pattern, found[1])):
        return ""
    if cut:
        return f"Only the first {MAX_TEXT_CHARACTERS} characters were searched."
    return "Transcript contains no match."
