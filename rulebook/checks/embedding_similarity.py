"""`embedding_similarity`: how alike two texts are in meaning."""

from typing import Annotated

from pydantic import Field

from rulebook.checks.exact_match import Compared, shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.model_port import ModelFailure
from rulebook.outcome import Measurement, Outcome, Unmeasured, reaches
from rulebook.ports import Ports

_LIMIT_S = 600.0


class EmbeddingSimilarity(Compared, kind="embedding_similarity"):
    """The text means what is expected: the cosine of the vectors that an embedding model makes of both.

    Source: scorers, embedding_similarity.
    """

    short = "expected"
    needs_threshold = True

    model: Annotated[str, Field(min_length=1)] = Field(
        "text-embedding-3-small", description="Which embedding model is asked: an alias or `provider/model`."
    )
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")

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
