"""Language models, as the configuration names them."""

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from rulebook.errors import UsageError
from rulebook.model_port import Asking, Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent, spent_in_all
from rulebook.ports import Files
from rulebook.services.model_desk import ModelDesk
from rulebook.services.model_embedding import embedded
from rulebook.services.model_meter import tell_meter
from rulebook.spec.provider_files import config_files, read_providers


class MachineModels:
    """Asks models; implements `ports.Models`. Nothing is read, and no client loaded, before the first question.

    `folder` is where the configuration is looked for from, upward: that of the rule file. `cache` is the folder for
    kept answers, None the usual one, where the configuration lets them be kept.
    """

    def __init__(self, folder: str, files: Files, cache: str | None = None) -> None:
        self._folder, self._files, self._cache = folder, files, cache
        self._turn = threading.Lock()
        self._desk: ModelDesk | None = None

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[ModelReply | ModelFailure]:
        """An answer for each request, in their order; those not kept from an earlier run are under way together."""
        try:
            desk = self._ready()
        except UsageError as error:
            return [ModelFailure("harness", str(error))] * len(requests)
        answers = desk.ask(requests)
        tell_meter(spent_in_all([answer.spent for answer in answers]))
        return answers

    def forget(self, request: ModelRequest) -> None:
        """Keep the answer to this request for no later run."""
        with suppress(UsageError):  # who cannot be asked has answered nothing
            self._ready().forget(request)

    def embed(self, request: EmbeddingRequest) -> Embedded:
        """The vectors of texts, those that are not kept from an earlier run from the endpoint."""
        try:
            desk = self._ready()
        except UsageError as error:
            return Embedded([ModelFailure("harness", str(error))] * len(request.texts), Spent())
        answer = embedded(request, desk)
        tell_meter(answer.spent)
        return answer

    def asking(self, at_once: int | None = None) -> Asking:
        """A way to put questions one by one. Raises UsageError."""
        from rulebook.services.model_stream import ModelStream  # an event loop, where questions are put so

        desk = self._ready()
        return ModelStream(desk, min(at_once or sys.maxsize, desk.providers.concurrency))

    def _ready(self) -> ModelDesk:
        """What stands ready once the configuration is read. Raises UsageError."""
        with self._turn:
            if self._desk is None:
                paths = _own(config_files(self._folder, self._files))
                self._desk = ModelDesk(read_providers(paths, self._files), self._cache)
            return self._desk


def _own(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The configuration files, none of which anyone but us and root can have put there.

    Raises UsageError: one in a folder above that everybody can write to would name the endpoint that judges.
    """
    for path in paths:
        if os.stat(path).st_uid not in (os.geteuid(), 0):
            raise UsageError(f"`{path}` belongs to another user, so it is not read: it could name any endpoint.")
    return paths
