"""`string_similarity`: how alike two texts are by a named measure."""

from typing import Literal

from pydantic import Field

from rulebook.checks.exact_match import Compared, shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.outcome import Measurement, Outcome, reaches, student_fault
from rulebook.ports import Ports


class StringSimilarity(Compared, kind="string_similarity"):
    """The text is like the expected one, by the measure that `method` names.

    Source: scorers, string_similarity.
    """

    short = "method"
    needs_threshold = True

    method: Literal["jaro_winkler", "jaccard", "token_set", "token_sort", "partial", "sequence"] = Field(
        description="The measure: `jaro_winkler`, `jaccard`, `token_set`, `token_sort`, `partial` or `sequence`."
    )
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")

    def sentence(self) -> str:
        """What it asks for."""
        source, expected = in_words(self.from_), self.expected_in_words()
        return f"The score is how alike {source} and {expected} are by `{self.method}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Measure how alike the two texts are."""
        from rulebook.measures.string_similarity import SimilarityOptions, string_similarity_score  # as in levenshtein

        text, expected = text_of(self.from_, evidence), self.expected_text(evidence)
        options = SimilarityOptions(self.method, self.case_insensitive)
        score, metadata = string_similarity_score(text, expected, options)
        if "error" in metadata:
            return student_fault(str(metadata["error"]), expected=shortened(expected), cause="excess")
        actual, seen = shortened(text), place_in(self.from_, evidence, text, 0)
        return Measurement(score, reaches(score, 1.0), "", shortened(expected), actual, metadata, seen=seen)
