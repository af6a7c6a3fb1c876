"""Judge models that nobody asks."""

from collections.abc import Sequence

from rulebook.ports import ModelFailure, ModelReply, ModelRequest


class UnaskedModels:
    """Answers no question: what only a model can tell is unmeasured."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        """The same failure for every request; it costs nothing."""
        return [ModelFailure("harness", self._reason) for _ in requests]
