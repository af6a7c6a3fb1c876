"""Asking by the configuration: kept answers first, then whoever is to be asked."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

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


Clients = dict[tuple[str, str], Any]
"""What the client of endpoints keeps for one event loop; each is to be closed in it."""


class Online(Protocol):
    """The client of endpoints."""

    async def one(
        self, request: ModelRequest, chosen: Chosen, clients: Clients, own: Any, heard: Callable[[ModelReply], object]
    ) -> Answer:
        """The answer to one request, within the event loop that is running."""
        ...

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
        waiting: dict[str, _Places] = {}
        for index, request in enumerate(requests):
            known = self.known(request)
            if not isinstance(known, Waiting):
                found[index] = known
            elif self.cache and known.digest in waiting:
                waiting[known.digest].places.append(index)
            else:
                waiting[known.digest if self.cache else f"{index}"] = _Places(known, [index])
        for each, answer in zip(waiting.values(), self._answers(list(waiting.values())), strict=True):
            found |= dict.fromkeys(each.places[1:], same(answer))
            found[each.places[0]] = answer
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
        return (
            Waiting(request, chosen, digest)
            if kept is None
            else ModelReply(kept.text, kept.model, "stop", Spent(cached=1))
        )

    def keep(self, digest: str, answer: ModelReply) -> None:
        """Keep an answer for later runs, when it is whole."""
        if self.cache and answer.finish == "stop" and answer.text.strip():
            self.cache.keep(digest, answer)

    def forget(self, request: ModelRequest) -> None:
        """Keep the answer to this request no longer. Raises UsageError where nobody could have given one."""
        if self.cache:
            chosen = self.providers.chosen(request.model, request.base_url, request.api_key_env)
            self.cache.forget(request_digest(request, chosen))

    def _answers(self, places: "Sequence[_Places]") -> list[Answer]:
        """What is asked of endpoints. An answer is kept as soon as it is there: a kill loses none that arrived."""

        def keep(place: int, answer: ModelReply) -> None:
            self.keep(places[place].waiting.digest, answer)

        calls = [(each.waiting.request, each.waiting.chosen) for each in places]
        return self.online().ask(calls, keep) if calls else []

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


class Waiting(Struct, frozen=True):
    """A request that only an endpoint can answer."""

    request: ModelRequest
    chosen: Chosen
    digest: str


class _Places(Struct):
    """A question that is to be asked once for all `places` at which it stands."""

    waiting: Waiting
    places: list[int]


def same(answer: Answer) -> Answer:
    """The answer for one who asked the same: it costs nothing more."""
    return replace(answer, spent=Spent(cached=1) if isinstance(answer, ModelReply) else Spent())
