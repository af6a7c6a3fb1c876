"""`contains`: a text holds what is expected of it."""

from typing import Literal, Self

from pydantic import Field, model_validator

from rulebook.checks.exact_match import Compared, shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import SourceField
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import AssistantText, in_words
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.outcome import Measurement, Outcome, Seen, reaches
from rulebook.ports import Ports

_SEEN_AT_MOST = 20


class Contains(Compared, kind="contains"):
    """The text holds what is expected: one text, or those of a JSON list.

    Source: scorers, contains.
    """

    short = "expected"

    from_: SourceField = Field(AssistantText(), alias="from", description="Where the text comes from.")
    mode: Literal["all", "any", "fraction"] = Field(
        "all", description="How much of a list must be there: `all`, `any` one, or score the `fraction`."
    )
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.expected is not None and not self.expected.live and _asks_nothing(self.expected.text):
            words = {
                "key": "expected",
                "why": "its list asks for nothing. Write the texts that are expected.",
            }
            raise refused(LanguageError(Fault("RB216", words, path=("expected",))))
        return self

    def sentence(self) -> str:
        """What it asks for."""
        expected, source = self.expected_in_words(), in_words(self.from_)
        if self.mode == "fraction":
            return f"The score is the share of {expected} that stands in {source}."
        return f"{'One text of ' if self.mode == 'any' else ''}{expected} stands in {source}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look for every text that is asked for."""
        from rulebook.measures.contains import ContainsOptions, contains_score  # linting does without

        text, expected = text_of(self.from_, evidence), self.expected_text(evidence)
        score, metadata = contains_score(text, expected, ContainsOptions(self.mode, self.case_insensitive))
        matched, missing = metadata["matched"], metadata["missing"]
        asked = len(matched) + len(missing)
        actual = f"{len(matched)} of {asked} present" if asked > 1 else "present" if matched else "absent"
        reason = f"absent: {', '.join(map(shortened, missing))}" if missing and asked > 1 else ""
        seen = self._places(text, matched, evidence)
        return Measurement(score, reaches(score, 1.0), reason, shortened(expected), actual, metadata, seen=seen)

    def _places(self, text: str, matched: list[str], evidence: Evidence) -> tuple[Seen, ...]:
        """Where the texts that were found stand first; nowhere where folding moved the characters."""
        folded = text.casefold() if self.case_insensitive else text
        if len(folded) != len(text):
            return ()
        starts = (folded.find(each.casefold() if self.case_insensitive else each) for each in matched[:_SEEN_AT_MOST])
        places = (place for at in starts if at >= 0 for place in place_in(self.from_, evidence, text, at))
        return tuple(dict.fromkeys(places))

    def is_empty(self, expected: str) -> bool:
        """Whether it asks for nothing: a list of empty texts does."""
        return _asks_nothing(expected)


def _asks_nothing(expected: str) -> bool:
    text = expected.strip()
    if not text.startswith("["):
        return not text
    from rulebook.measures.contains import needles  # only a list has to be read

    return not needles(text)
