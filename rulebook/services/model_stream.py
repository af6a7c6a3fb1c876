"""Questions that are put one by one, many of them under way at the same time."""

import asyncio
import threading
from concurrent.futures import Future

from rulebook.errors import UsageError
from rulebook.model_port import ModelRequest
from rulebook.services.later import made_later
from rulebook.services.model_desk import Answer, Clients, ModelDesk, Waiting, same
from rulebook.services.model_keys import key_fault
from rulebook.services.undisturbed import undisturbed
from rulebook.spec.providers import Provider


class ModelStream:
    """Asks by the configuration, kept answers first; implements `ports.Asking`.

    The questions are on an event loop in a thread of its own, so that whoever waits for an answer can be interrupted.
    An answer is kept for later runs as soon as it is there.
    """

    def __init__(self, desk: ModelDesk, at_once: int) -> None:
        self.at_once = at_once
        self._desk = desk
        self._clients: Clients = {}
        self._room, self._own = asyncio.Semaphore(at_once), asyncio.Semaphore(at_once)
        self._begun: dict[str, Future[Answer]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rulebook-models", daemon=True)
        self._thread.start()

    def begin(self, request: ModelRequest) -> Future[Answer]:
        """What will be the answer. Raises UsageError where nobody can be asked, however often."""
        self._desk.providers.chosen(request.model, request.base_url, request.api_key_env)
        known = self._desk.known(request)
        if isinstance(known, Waiting):
            _need_key(known.chosen.provider)
            return self._put(known)
        found: Future[Answer] = Future()
        found.set_result(known)
        return found

    def _put(self, waiting: Waiting) -> Future[Answer]:
        """Ask, or wait for the answer of one who has asked the same a moment ago."""
        before = self._begun.get(waiting.digest) if self._desk.cache else None
        if before is None or before.done():
            self._begun[waiting.digest] = begun = asyncio.run_coroutine_threadsafe(self._asked(waiting), self._loop)
            begun.add_done_callback(lambda _: self._begun.pop(waiting.digest, None))
            return begun
        return made_later(before, same)

    def end(self) -> None:
        """Give up whatever is under way, and let the connections go."""
        with undisturbed():
            asyncio.run_coroutine_threadsafe(self._given_up(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _asked(self, waiting: Waiting) -> Answer:
        async with self._room:  # the time of a question begins when it is its turn
            return await self._desk.online().one(
                waiting.request,
                waiting.chosen,
                self._clients,
                self._own,
                lambda answer: self._desk.keep(waiting.digest, answer),
            )

    async def _given_up(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in self._clients.values():
            await client.close()


def _need_key(provider: Provider) -> None:
    fault = key_fault(provider)
    if fault is not None:
        raise UsageError(f"{fault[0].upper()}{fault[1:]}.")
