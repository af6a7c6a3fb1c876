"""Asking by the configuration: kept answers first, then whoever is to be asked."""

import threading
from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.model_budget import ModelBudget
from rulebook.services.model_cache import ModelCache, request_digest
from rulebook.services.scripted_models import ScriptedModels
from rulebook.spec.providers import Chosen, Providers

Answer = ModelReply | ModelFailure


Clients = dict[tuple[str, str], Any]
"""What the client of endpoints keeps for one event loop; each is to be closed in it."""


class Online(Protocol):
    """The client of endpoints."""

    async def one(self, request: ModelRequest, chosen: Chosen, clients: Clients) -> Answer:
        """The answer to one request."""
        ...

    def ask(self, calls: Sequence[tuple[ModelRequest, Chosen]]) -> list[Answer]:
        """An answer for each call, in their order."""
        ...

    def embed(self, calls: Sequence[tuple[EmbeddingRequest, Chosen]]) -> list[Embedded | ModelFailure]:
        """The vectors of each call's texts, in their order."""
        ...


class ModelDesk:
    """The providers, the run's budget, the kept answers and the client, each made when it is first needed."""

    def __init__(self, providers: Providers, cache: str | None = None) -> None:
        """`cache` is the folder of the kept answers, which are kept there even where the providers say otherwise."""
        self.providers = providers
        self.budget = ModelBudget(providers)
        self.cache = ModelCache(cache) if providers.cache or cache is not None else None
        self.scripts: dict[str, ScriptedModels] = {}
        self._online: Online | None = None
        self.turn = threading.Lock()

    def ask(self, requests: Sequence[ModelRequest]) -> list[Answer]:
        """An answer for each request, in their order."""
        found: dict[int, Answer] = {}
        waiting: dict[int, Waiting] = {}
        for index, request in enumerate(requests):
            known = self.known(request)
            if isinstance(known, Waiting):
                waiting[index] = known
            else:
                found[index] = known
        if waiting:
            calls = [(each.request, each.chosen) for each in waiting.values()]
            for (index, each), answer in zip(waiting.items(), self.online().ask(calls), strict=True):
                found[index] = answer
                self.keep(each, answer)
        return [found[index] for index in range(len(requests))]

    def known(self, request: ModelRequest) -> "Answer | Waiting":
        """The answer that is there without asking an endpoint, or what is to be asked."""
        try:
            chosen = self.providers.chosen(request.model, request.base_url, request.api_key_env)
            if chosen.provider.kind == "scripted":
                return self._scripted(request, chosen)
        except UsageError as error:
            return ModelFailure("harness", str(error))
        digest = request_digest(request, chosen)
        kept = self.cache.find(digest) if self.cache else None
        if kept is None:
            return Waiting(request, chosen, digest)
        return ModelReply(kept.text, kept.model, "stop", Spent(cached=1))

    def keep(self, asked: "Waiting", answer: Answer) -> None:
        """Keep an answer for later runs, when it is whole."""
        if self.cache and isinstance(answer, ModelReply) and answer.finish == "stop" and answer.text.strip():
            self.cache.keep(asked.digest, answer)

    def _scripted(self, request: ModelRequest, chosen: Chosen) -> Answer:
        refusal = self.budget.refusal(chosen)
        if refusal is not None:
            return ModelFailure("budget", refusal)
        with self.turn:
            if chosen.provider.name not in self.scripts:
                self.scripts[chosen.provider.name] = ScriptedModels(chosen.provider.answers)
        return self.scripts[chosen.provider.name].answer(request, chosen.model)

    def online(self) -> Online:
        """The client of endpoints."""
        with self.turn:
            if self._online is None:
                from rulebook.services.openai_models import OpenAIModels  # half a second, at the first question

                self._online = OpenAIModels(self.providers, self.budget)
            return self._online


class Waiting(Struct, frozen=True):
    """A request that only an endpoint can answer."""

    request: ModelRequest
    chosen: Chosen
    digest: str
