"""Judge models that nobody asks."""

from collections.abc import Sequence

from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent


class UnaskedModels:
    """Answers no question: what only a model can tell is unmeasured."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        """The same failure for every request; it costs nothing."""
        return [ModelFailure("harness", self._reason) for _ in requests]

    def embed(self, request: EmbeddingRequest) -> Embedded:
        """The same failure for every text; it costs nothing."""
        return Embedded([ModelFailure("harness", self._reason) for _ in request.texts], Spent())
