"""The built-in scorer that compares meanings. Source: scorers, "Built-in scorers"."""

from collections.abc import Callable, Iterable, Sequence

from rulebook.api.model_scorer import Grade, Graded, ModelScorer, Values, model_scorer
from rulebook.api.own_machine import own_ports
from rulebook.api.secrets import Secret, endpoint_given, model_given
from rulebook.api.text_scorers import PAIR
from rulebook.errors import Missing
from rulebook.evidence.ballots import Ask
from rulebook.evidence.judge_answers import REQUEST_LIMIT_S
from rulebook.evidence.likeness import DEFAULT_MODEL, Embedder, likenesses
from rulebook.measures.texts import as_text
from rulebook.model_port import ModelFailure
from rulebook.ports import Ports


def embedding_similarity(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "embedding-similarity",
    model: str = DEFAULT_MODEL,
    base_url: str | None = None,
    api_key: Secret | None = None,
    **keywords: object,
) -> ModelScorer:
    """Two columns mean the same: the cosine of their vectors, cut to 0..1. Metadata: the raw `cosine`.

    `model` is an embedding model of the endpoint `base_url`, whose key `api_key` names (alone it means OpenAI), else of
    the default provider of `rulebook.toml`. Texts of many rows go in one request, and no text is sent twice. Equal
    columns are alike, and a column and an empty one are not, without asking.
    """
    embedder = Embedder(model_given("model", model), *endpoint_given(base_url, api_key))
    given = {"model": model, "base_url": base_url, "api_key": api_key}
    over = likeness_over(embedder, own_ports)
    return model_scorer("embedding_similarity", lambda _: over, 2, inputs, name, given, keywords)


def likeness_over(embedder: Embedder, at_hand: Callable[[], Ports]) -> Grade:
    """What says how alike the two columns of rows are."""

    def graded(rows: Sequence[tuple[Values, Ask]]) -> list[Graded | Exception]:
        pairs = [(as_text(ours), as_text(theirs)) for (ours, theirs), _ in rows]
        found, _spent = likenesses(pairs, embedder, at_hand().models, REQUEST_LIMIT_S)
        return [Missing(each.category, each.reason) if isinstance(each, ModelFailure) else each for each in found]

    return graded
