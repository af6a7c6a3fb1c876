"""Language models, as the configuration names them: kept answers first, then whoever is to be asked."""

import os
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.outcome import Spent
from rulebook.ports import Files, ModelFailure, ModelReply, ModelRequest
from rulebook.services.model_budget import ModelBudget
from rulebook.services.model_cache import ModelCache, request_digest
from rulebook.services.scripted_models import ScriptedModels
from rulebook.spec.provider_files import config_files, read_providers
from rulebook.spec.providers import Chosen, Providers

Answer = ModelReply | ModelFailure
Call = tuple[ModelRequest, Chosen]
Asking = Callable[[Sequence[Call]], list[Answer]]


class MachineModels:
    """Asks models; implements `ports.Models`. Nothing is read, and no client loaded, before the first question.

    `folder` is where the configuration is looked for from, upward: that of the rule file.
    """

    def __init__(self, folder: str, files: Files) -> None:
        self._folder, self._files = folder, files
        self._turn = threading.Lock()
        self._desk: _Desk | None = None

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[Answer]:
        """An answer for each request, in their order; those not kept from an earlier run are under way together."""
        try:
            with self._turn:
                if self._desk is None:
                    self._desk = _Desk(read_providers(_own(config_files(self._folder, self._files)), self._files))
                desk = self._desk
        except UsageError as error:
            return [ModelFailure("harness", str(error))] * len(requests)
        return desk.ask(requests)


class _Desk:
    """What stands ready once the configuration is read."""

    def __init__(self, providers: Providers) -> None:
        self.providers = providers
        self.budget = ModelBudget(providers)
        self.cache = ModelCache() if providers.cache else None
        self.scripts: dict[str, ScriptedModels] = {}
        self.online: Asking | None = None
        self.turn = threading.Lock()

    def ask(self, requests: Sequence[ModelRequest]) -> list[Answer]:
        found: dict[int, Answer] = {}
        waiting: dict[int, _Waiting] = {}
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
            if kept is None:
                waiting[index] = _Waiting(request, chosen, digest)
            else:
                found[index] = ModelReply(kept.text, kept.model, "stop", Spent(cached=1))
        if waiting:
            calls = [(each.request, each.chosen) for each in waiting.values()]
            for (index, each), answer in zip(waiting.items(), self._client()(calls), strict=True):
                found[index] = answer
                if self.cache and isinstance(answer, ModelReply) and answer.finish == "stop" and answer.text.strip():
                    self.cache.keep(each.digest, answer)
        return [found[index] for index in range(len(requests))]

    def _scripted(self, request: ModelRequest, chosen: Chosen) -> Answer:
        refusal = self.budget.refusal(chosen)
        if refusal is not None:
            return ModelFailure("budget", refusal)
        with self.turn:
            if chosen.provider.name not in self.scripts:
                self.scripts[chosen.provider.name] = ScriptedModels(chosen.provider.answers)
        return self.scripts[chosen.provider.name].answer(request, chosen.model)

    def _client(self) -> Asking:
        with self.turn:
            if self.online is None:
                from rulebook.services.openai_models import OpenAIModels  # half a second, at the first question

                self.online = OpenAIModels(self.providers, self.budget).ask
            return self.online


class _Waiting(Struct):
    request: ModelRequest
    chosen: Chosen
    digest: str


def _own(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The configuration files, none of which anyone but us and root can have put there.

    Raises UsageError: one in a folder above that everybody can write to would name the endpoint that judges.
    """
    for path in paths:
        if os.stat(path).st_uid not in (os.geteuid(), 0):
            raise UsageError(f"`{path}` belongs to another user, so it is not read: it could name any endpoint.")
    return paths
