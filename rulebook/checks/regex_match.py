"""`regex_match`: a text matches a pattern, whose named groups are kept."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.checks.exact_match import shortened
from rulebook.checks.regex import FlaggedPattern, too_slow
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import SourceField
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import FinalMessage, in_words, texts_of, wants_of
from rulebook.languages.formula_search import safe_when_cut
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome, binary, student_fault
from rulebook.place import Path
from rulebook.ports import Ports


class RegexMatch(Check, kind="regex_match"):
    """The text holds the pattern, or is all of it; what its named groups hold is kept.

    Source: scorers, regex_match.
    """

    short = "pattern"

    flags: Annotated[tuple[Literal["i", "m", "s", "x"], ...], Field(strict=False)] = Field(
        (), description="Letters that change how the pattern is read."
    )
    pattern: FlaggedPattern = Field(description="What is looked for, in Python's regular expressions.")
    from_: SourceField = Field(FinalMessage(), alias="from", description="Where the text comes from.")
    full_match: bool = Field(False, description="The pattern must cover the whole text.")

    def wants(self) -> Wants:
        """What its source needs."""
        return wants_of(self.from_)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The pattern, and what its source holds."""
        yield ("pattern",), self.pattern, scope
        for path, text in texts_of(self.from_):
            yield ("from", *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        how = "is the whole of" if self.full_match else "is found in"
        return f"`{self.pattern.text}` {how} {in_words(self.from_)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Search for the pattern, for at most 2 s and in at most 1 MiB of text."""
        from rulebook.measures.regex_match import Sought, score_of_match  # linting does without

        text, limit_s = text_of(self.from_, evidence), ports.time_left(SEARCH_LIMIT_S)
        cut = len(text) > MAX_TEXT_CHARACTERS
        try:
            found = Sought(self.pattern, self.full_match).find(text[:MAX_TEXT_CHARACTERS], ports.patterns, limit_s)
        except TimeoutError:
            return too_slow(self.pattern, limit_s, self.pattern.text)
        if cut and (found is None or not safe_when_cut(self.pattern, found.end())):
            reason = f"the text is too large to be searched: only its first {MAX_TEXT_CHARACTERS} characters were"
            return student_fault(reason, expected=self.pattern.text, cause="excess")
        score, metadata = score_of_match(found)
        return binary(
            score == 1,
            expected=self.pattern.text,
            actual="no match" if found is None else shortened(found[0]),
            metadata=metadata,
            seen=() if found is None else place_in(self.from_, evidence, text, found.start()),
        )
