"""`embedding_similarity`: how alike two texts are in meaning."""

from rulebook.checks.exact_match import Compared, shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.embedding_options import EmbeddingOptions
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.model_port import ModelFailure
from rulebook.outcome import Measurement, Outcome, Unmeasured, reaches
from rulebook.ports import Ports

_LIMIT_S = 600.0


class EmbeddingSimilarity(Compared, EmbeddingOptions, kind="embedding_similarity"):
    """The text means what is expected: the cosine of the vectors that an embedding model makes of both.

    Source: scorers, embedding_similarity.
    """

    short = "expected"
    needs_threshold = True

    def sentence(self) -> str:
        """What it asks for."""
        return f"The score is how much {in_words(self.from_)} means the same as {self.expected_in_words()}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the two texts: one call for both, none for texts that are equal or known from before."""
        from rulebook.evidence.likeness import Embedder, likenesses  # linting does without

        text, expected = text_of(self.from_, evidence), self.expected_text(evidence)
        embedder = Embedder(self.model, self.base_url, self.api_key_env)
        left_s = ports.time_left(_LIMIT_S)
        if left_s <= 0:
            return Unmeasured("harness", "the rule's time ran out before the model was asked", shortened(expected))
        (found,), spent = likenesses([(text, expected)], embedder, ports.models, left_s)
        if isinstance(found, ModelFailure):
            return Unmeasured(found.category, found.reason, shortened(expected), spent=spent)
        score, metadata = found
        return Measurement(
            score,
            reaches(score, 1.0),
            "" if score == 1 else f"the cosine is {metadata['cosine']:.3f}",
            shortened(expected),
            shortened(text),
            metadata,
            seen=place_in(self.from_, evidence, text, 0),
            spent=spent,
        )
