"""Judge models that nobody asks."""

from collections.abc import Sequence

from rulebook.errors import UsageError
from rulebook.model_port import Asking, Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent


class UnaskedModels:
    """Answers no question: what only a model can tell is unmeasured."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        """The same failure for every request; it costs nothing."""
        return [ModelFailure("harness", self._reason) for _ in requests]

    def forget(self, request: ModelRequest) -> None:
        """Nothing is kept."""

    def asking(self, at_once: int | None = None) -> Asking:  # noqa: ARG002
        """Never: nobody is asked one by one where nobody is asked. Raises UsageError."""
        raise UsageError(f"No model is asked here: {self._reason}.")

    def embed(self, request: EmbeddingRequest) -> Embedded:
        """The same failure for every text; it costs nothing."""
        return Embedded([ModelFailure("harness", self._reason) for _ in request.texts], Spent())
