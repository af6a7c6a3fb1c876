"""`levenshtein`: how few characters must change to make one text of another."""

from pydantic import Field

from rulebook.checks.exact_match import Compared, shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.outcome import Measurement, Outcome, reaches, student_fault
from rulebook.ports import Ports


class Levenshtein(Compared, kind="levenshtein"):
    """The text is like the expected one: 1 minus the edit distance as a share of the longer text.

    Source: scorers, levenshtein.
    """

    short = "expected"
    needs_threshold = True

    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The score is how much of {in_words(self.from_)} need not change to become {self.expected_in_words()}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Count the characters that differ."""
        from rulebook.measures.levenshtein import DistanceOptions, levenshtein_score  # linting does without

        text, expected = text_of(self.from_, evidence), self.expected_text(evidence)
        score, metadata = levenshtein_score(text, expected, DistanceOptions(self.case_insensitive))
        if "error" in metadata:
            return student_fault(str(metadata["error"]), expected=shortened(expected), cause="excess")
        actual, seen = shortened(text), place_in(self.from_, evidence, text, 0)
        reason = "" if score == 1 else f"{metadata['distance']} characters differ"
        return Measurement(score, reaches(score, 1.0), reason, shortened(expected), actual, metadata, seen=seen)
