"""How alike the meanings of texts are, by the vectors that an embedding model makes of them."""

from collections.abc import Sequence

from msgspec import Struct

from rulebook.measures.cosine import cosine_score
from rulebook.model_port import EmbeddingRequest, ModelFailure, Models, Vector
from rulebook.outcome import Spent

DEFAULT_MODEL = "text-embedding-3-small"


class Embedder(Struct, frozen=True):
    """The embedding model, as in `ModelRequest`."""

    model: str | None = DEFAULT_MODEL
    base_url: str | None = None
    api_key_env: str | None = None


Likeness = tuple[float, dict[str, float]]
"""A score in 0..1, and the `cosine` it comes from, in -1..1."""


def likenesses(
    pairs: Sequence[tuple[str, str]], embedder: Embedder, models: Models, limit_s: float
) -> tuple[list[Likeness | ModelFailure], Spent]:
    """The likeness of each pair, and what they cost together; all texts are asked for at once.

    White space at the ends is left out. Equal texts are alike, and a text and none are not, without asking.
    Source: scorers, embedding_similarity.
    """
    trimmed = [(ours.strip(), theirs.strip()) for ours, theirs in pairs]
    unclear = [pair for pair in trimmed if pair[0] != pair[1] and all(pair)]
    texts = tuple(dict.fromkeys(text for pair in unclear for text in pair))
    if not texts:
        return [_plain(*pair) for pair in trimmed], Spent()
    request = EmbeddingRequest(texts, embedder.model, embedder.base_url, embedder.api_key_env, limit_s)
    answer = models.embed(request)
    vectors = dict(zip(texts, answer.vectors, strict=True))
    found = [
        _compared(vectors[ours], vectors[theirs]) if ours in vectors and theirs in vectors and ours != theirs
        else _plain(ours, theirs)
        for ours, theirs in trimmed
    ]  # fmt: skip
    return found, answer.spent


def _plain(ours: str, theirs: str) -> Likeness:
    same = 1.0 if ours == theirs else 0.0
    return same, {"cosine": same}


def _compared(ours: Vector | ModelFailure, theirs: Vector | ModelFailure) -> Likeness | ModelFailure:
    if isinstance(ours, ModelFailure):
        return ours
    if isinstance(theirs, ModelFailure):
        return theirs
    if len(ours) != len(theirs):  # one of them may be kept from when the model was another behind the same name
        return ModelFailure("harness", f"the model gave vectors of {len(ours)} and of {len(theirs)} numbers")
    return cosine_score(ours, theirs)
