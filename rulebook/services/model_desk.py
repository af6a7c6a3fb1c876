"""Asking by the configuration: kept answers first, then whoever is to be asked."""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from rulebook.errors import UsageError
from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.model_budget import ModelBudget
from rulebook.services.model_cache import ModelCache, request_digest
from rulebook.services.scripted_models import ScriptedModels
from rulebook.spec.providers import Chosen, Providers

Answer = ModelReply | ModelFailure


class Online(Protocol):
    """The client of endpoints."""

    def ask(
        self, calls: Sequence[tuple[ModelRequest, Chosen]], heard: Callable[[int, ModelReply], object]
    ) -> list[Answer]:
        """An answer for each call, in their order; `heard` is told each of them as soon as it is there."""
        ...

    def embed(
        self, calls: Sequence[tuple[EmbeddingRequest, Chosen]], heard: Callable[[int, Embedded], object]
    ) -> list[Embedded | ModelFailure]:
        """The vectors of each call's texts, in their order; `heard` is as in `ask`."""
        ...


class ModelDesk:
    """The providers, the run's budget, the kept answers and the client, each made when it is first needed."""

    def __init__(self, providers: Providers) -> None:
        self.providers = providers
        self.budget = ModelBudget(providers)
        self.cache = ModelCache() if providers.cache else None
        self.scripts: dict[str, ScriptedModels] = {}
        self._online: Online | None = None
        self.turn = threading.Lock()

    def ask(self, requests: Sequence[ModelRequest]) -> list[Answer]:
        """An answer for each request, in their order."""
        found: dict[int, Answer] = {}
        waiting: dict[str, _Waiting] = {}
        for index, request in enumerate(requests):
            try:
                chosen = self.providers.chosen(request.model, request.base_url, request.api_key_env)
                if chosen.provider.kind == "scripted":
                    found[index] = self._scripted(request, chosen)
                    continue
            except UsageError as error:
                found[index] = ModelFailure("harness", str(error))
                continue
            digest = request_digest(request, chosen)
            kept = self.cache.find(digest) if self.cache else None
            if kept is not None:
                found[index] = ModelReply(kept.text, kept.model, "stop", Spent(cached=1))
            elif self.cache and digest in waiting:
                waiting[digest].places.append(index)
            else:
                waiting[digest if self.cache else f"{index}"] = _Waiting(request, chosen, digest, [index])
        for each, answer in zip(waiting.values(), self._answers(list(waiting.values())), strict=True):
            found |= dict.fromkeys(each.places[1:], _same(answer))
            found[each.places[0]] = answer
        return [found[index] for index in range(len(requests))]

    def _answers(self, waiting: "Sequence[_Waiting]") -> list[Answer]:
        """What is asked of endpoints. An answer is kept as soon as it is there: a kill loses none that arrived."""

        def keep(place: int, answer: ModelReply) -> None:
            if self.cache and answer.finish == "stop" and answer.text.strip():
                self.cache.keep(waiting[place].digest, answer)

        return self.online().ask([(each.request, each.chosen) for each in waiting], keep) if waiting else []

    def _scripted(self, request: ModelRequest, chosen: Chosen) -> Answer:
        refusal = self.budget.refusal(chosen)
        if refusal is not None:
            return ModelFailure("budget", refusal)
        return self.script(chosen).answer(request, chosen.model)

    def script(self, chosen: Chosen) -> ScriptedModels:
        """The file of a scripted provider. Raises UsageError where it cannot be read."""
        with self.turn:
            if chosen.provider.name not in self.scripts:
                self.scripts[chosen.provider.name] = ScriptedModels(chosen.provider.answers)
            return self.scripts[chosen.provider.name]

    def online(self) -> Online:
        """The client of endpoints."""
        with self.turn:
            if self._online is None:
                from rulebook.services.openai_models import OpenAIModels  # half a second, at the first question

                self._online = OpenAIModels(self.providers, self.budget)
            return self._online


class _Waiting(Struct):
    """A question that is to be asked once for all `places` at which it stands."""

    request: ModelRequest
    chosen: Chosen
    digest: str
    places: list[int]


def _same(answer: Answer) -> Answer:
    """The answer for one who asked the same: it costs nothing more."""
    return replace(answer, spent=Spent(cached=1) if isinstance(answer, ModelReply) else Spent())
