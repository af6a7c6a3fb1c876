"""Strict fakes of the ports that judge models need: what is not scripted fails, and so does a script not played out."""

from collections.abc import Mapping, Sequence
from typing import Any

from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent

COST = Spent(calls=1, input_tokens=10, output_tokens=2)


class Counting:
    """Chance that counts."""

    def __init__(self) -> None:
        self.drawn = 0

    def token(self) -> str:
        self.drawn += 1
        return f"{self.drawn:032x}"


class ScriptedModels:
    """Plays `answers`: for every text that a question about a criterion holds, the replies to it, in order.

    A reply is a text, `{text, finish}`, or `{fails, category, too_long}`. `vectors` has a vector for each text that may
    be embedded, or `{fails, category}`.
    """

    def __init__(self, answers: Mapping[str, Any], vectors: Mapping[str, Any] | None = None) -> None:
        self.vectors = dict(vectors or {})
        self.embedded: list[EmbeddingRequest] = []
        self.left = {text: list(said) if isinstance(said, list) else [said] for text, said in answers.items()}
        self.asked: list[ModelRequest] = []

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        self.asked += requests
        return [self._answer(request) for request in requests]

    def forget(self, request: ModelRequest) -> None:
        assert request in self.asked

    def embed(self, request: EmbeddingRequest) -> Embedded:
        self.embedded.append(request)
        said = [self.vectors.pop(text) for text in request.texts]
        vectors = [
            ModelFailure(each.get("category", "harness"), each["fails"]) if isinstance(each, dict) else tuple(each)
            for each in said
        ]
        return Embedded(vectors, COST)

    def _answer(self, request: ModelRequest) -> ModelReply | ModelFailure:
        criterion = request.user.rpartition(request.fence)[2]
        (key,) = [text for text in self.left if text in criterion]
        assert self.left[key], f"nothing is left to answer about {key!r}"
        said = self.left[key].pop(0)
        if isinstance(said, str):
            return ModelReply(said, "judge", "stop", COST)
        if "fails" in said:
            return ModelFailure(said.get("category", "harness"), said["fails"], COST, said.get("too_long", False))
        return ModelReply(said["text"], "judge", said.get("finish", "stop"), COST)

    def agree(self, expect: Mapping[str, Any]) -> None:
        """Whether all was asked that the script has answers to, and with the words that are expected."""
        assert not any(self.left.values()), f"never asked for: {self.left}"
        assert self.vectors == {}, f"never embedded: {self.vectors}"
        calls = len(self.asked) + len(self.embedded)
        assert expect.get("calls", calls) == calls
        for text in expect.get("asked", []):
            assert all(text in request.user for request in self.asked), [request.user for request in self.asked]
        for text in expect.get("not_asked", []):
            assert not any(text in request.user for request in self.asked)
