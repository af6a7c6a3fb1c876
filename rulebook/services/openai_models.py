"""Asking OpenAI-compatible endpoints: many questions at once, each with its own end in time."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar, cast

import httpx2
import openai
from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.model_port import Embedded, EmbeddingRequest, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent, spent_in_all
from rulebook.services.model_bodies import chat_body, embedding_body, refused_parameter
from rulebook.services.model_budget import ModelBudget
from rulebook.services.model_keys import key_blotted, key_fault, key_hidden, key_of
from rulebook.services.model_replies import UNKNOWN, Fault, at, fault_of_status, reply_in, shown
from rulebook.services.model_vectors import vectors_in
from rulebook.services.openai_client import Unfit, client_of
from rulebook.spec.providers import Chosen, Providers

_ATTEMPTS_TO_REACH = 4
_LONGEST_PAUSE_S = 60.0
_TURN_S = 0.01

Given = TypeVar("Given", ModelReply, Embedded)
Call = tuple[ModelRequest | EmbeddingRequest, Chosen]
Pause = Callable[[float], Awaitable[None]]


def _nobody(place: int, answer: object) -> None:
    """Tells nobody of an answer."""


class OpenAIModels:
    """A client of every endpoint that a run asks. `pause` waits between attempts; tests hand in one that does not."""

    def __init__(self, providers: Providers, budget: ModelBudget, pause: Pause = asyncio.sleep) -> None:
        self._providers, self._budget, self._pause = providers, budget, pause
        self._free = threading.BoundedSemaphore(providers.concurrency)
        self._left_out: dict[tuple[str, str], frozenset[str]] = {}

    def ask(
        self, calls: Sequence[tuple[ModelRequest, Chosen]], heard: Callable[[int, ModelReply], object] = _nobody
    ) -> list[ModelReply | ModelFailure]:
        """An answer for each call, in their order.

        `heard` is told the position of each call that is answered and the answer, before another question is asked in
        its place: what it keeps outlives this program, however that ends.
        """
        return self._together(calls, ModelReply, heard)

    def embed(
        self, calls: Sequence[tuple[EmbeddingRequest, Chosen]], heard: Callable[[int, Embedded], object] = _nobody
    ) -> list[Embedded | ModelFailure]:
        """The vectors of each call's texts, in their order; `heard` is as in `ask`."""
        return self._together(calls, Embedded, heard)

    async def one(
        self,
        request: ModelRequest,
        chosen: Chosen,
        clients: dict[tuple[str, str], openai.AsyncOpenAI],
        own: asyncio.Semaphore,
        heard: Callable[[ModelReply], object],
    ) -> ModelReply | ModelFailure:
        """The answer to one request, by a client among `clients`, which all belong to the loop that is running.

        `own` is the loop's; `heard` is told the answer before another question is asked in its place.
        """
        call = _Call(request, chosen, partial(_tell, lambda _, answer: heard(answer), 0, ModelReply))
        return cast("ModelReply | ModelFailure", await self._one(call, clients, own))

    def _together(
        self, calls: Sequence[Call], given: type[Given], heard: Callable[[int, Given], object]
    ) -> list[Given | ModelFailure]:
        """All calls at the same time.

        They run on an event loop in a thread of their own, so that it works inside a caller's event loop too, and so
        that the time limit ends whatever an endpoint does: an answer that trickles in byte by byte as well.
        """
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []
        pool = ThreadPoolExecutor(1, thread_name_prefix="rulebook-models")
        try:
            waiting = [_Call(*call, partial(_tell, heard, place, given)) for place, call in enumerate(calls)]
            found = pool.submit(asyncio.run, self._all(waiting, running)).result()
            return [each for each in found if isinstance(each, given | ModelFailure)]
        except BaseException:
            for loop, task in running:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
            raise
        finally:
            pool.shutdown(wait=True)

    async def _all(
        self, calls: Sequence["_Call"], running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]
    ) -> list[ModelReply | Embedded | ModelFailure]:
        task = asyncio.current_task()
        if task is not None:
            running.append((asyncio.get_running_loop(), task))
        clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}
        own = asyncio.Semaphore(self._providers.concurrency)
        try:
            return list(await asyncio.gather(*(self._one(call, clients, own) for call in calls)))
        finally:
            for client in clients.values():
                await client.close()

    async def _one(
        self, call: "_Call", clients: dict[tuple[str, str], openai.AsyncOpenAI], own: asyncio.Semaphore
    ) -> "_Answer":
        provider = call.chosen.provider
        no_key = key_fault(provider)
        if no_key is not None:
            return ModelFailure("harness", no_key)
        key = key_of(provider)
        where = provider.base_url, key
        if where not in clients:
            clients[where] = client_of(provider.base_url, key)
        try:
            async with asyncio.timeout(call.request.timeout_s) as call.limit:
                return await self._attempts(call, clients[where], key, own)
        except TimeoutError:
            reason = f"{at(call.chosen)} did not answer within {call.request.timeout_s:g} s"
            last = f" (before that: {call.last})" if call.last else ""
            lost = [UNKNOWN] if call.under_way else []
            for spent in lost:
                self._budget.paid(spent, call.chosen, call.request)
            return ModelFailure("harness", reason + last, spent_in_all([*call.spent, *lost]))

    async def _attempts(self, call: "_Call", client: openai.AsyncOpenAI, key: str, own: asyncio.Semaphore) -> "_Answer":
        attempt = 0
        while True:
            async with self._turn(call, own):
                refusal = self._budget.refusal(call.chosen)
                if refusal is not None:
                    return ModelFailure("budget", refusal, spent_in_all(call.spent))
                left_out = self._left_out.get(_named(call.chosen), frozenset())
                call.under_way = True
                found = await self._sent(call, client, left_out)
                call.under_way = False
                if not isinstance(found, Fault):
                    call.heard(found)
            call.spent.append(found.spent)
            self._budget.paid(found.spent, call.chosen, call.request)
            spent = spent_in_all(call.spent)
            if not isinstance(found, Fault):
                return replace(found, spent=spent)
            if self._is_told_less(call.chosen, found, left_out):
                continue
            attempt += 1
            call.last = key_hidden(found.reason, key)
            if attempt >= found.attempts:
                tried = f" (asked {attempt} times)" if attempt > 1 else ""
                return ModelFailure("harness", call.last + tried, spent, found.too_long)
            wait_s = min(_LONGEST_PAUSE_S, 2.0 ** (attempt - 1)) if found.after_s is None else found.after_s
            if wait_s > call.left_s():
                return ModelFailure("harness", f"{call.last}; it is not free again within {wait_s:g} s", spent)
            await self._pause(wait_s)

    def _is_told_less(self, chosen: Chosen, fault: Fault, left_out: frozenset[str]) -> bool:
        """Whether it fails by a parameter that the model does not take: it is left out from then on."""
        more = refused_parameter(fault, left_out)
        if more is None:
            return False
        self._left_out[_named(chosen)] = self._left_out.get(_named(chosen), frozenset()) | {more}
        return True

    @asynccontextmanager
    async def _turn(self, call: "_Call", own: asyncio.Semaphore) -> AsyncIterator[None]:
        """One of the calls that may be under way. A loop's own questions wait in `own`, which wakes them at once."""
        call.rests()
        async with own:
            # a semaphore of asyncio's belongs to one loop; judges that run in threads of their own share this one
            while not self._free.acquire(blocking=False):
                await asyncio.sleep(_TURN_S)
            try:
                call.goes_on()
                yield
            finally:
                self._free.release()

    async def _sent(self, call: "_Call", client: openai.AsyncOpenAI, left_out: frozenset[str]) -> "_Found":
        chosen = call.chosen
        try:
            async with asyncio.timeout(self._providers.timeout_s):
                return await _asked(call.request, chosen, client, left_out)
        except TimeoutError:
            reason = f"{at(chosen)} did not answer within {self._providers.timeout_s:g} s"
            return Fault(reason, _ATTEMPTS_TO_REACH, spent=UNKNOWN)
        except Unfit as unfit:
            return Fault(f"{at(chosen)} {unfit}", spent=UNKNOWN)
        except openai.APIStatusError as error:
            body = key_blotted(error.response.content, client.api_key)
            return fault_of_status(error.status_code, error.response.headers, body, chosen)
        except openai.APIConnectionError as error:
            reason = shown(str(error.__cause__ or error)) or "the connection was cut"
            return Fault(f"{at(chosen)} cannot be reached: {reason}", _ATTEMPTS_TO_REACH, spent=UNKNOWN)
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError) as error:
            return Fault(f"{at(chosen)} cannot be asked: {shown(str(error))}", spent=UNKNOWN)


_Answer = ModelReply | Embedded | ModelFailure
_Found = ModelReply | Embedded | Fault


def _named(chosen: Chosen) -> tuple[str, str]:
    return chosen.provider.base_url, chosen.model


async def _asked(
    request: ModelRequest | EmbeddingRequest, chosen: Chosen, client: openai.AsyncOpenAI, left_out: frozenset[str]
) -> _Found:
    # posted as it is: the client's own methods look at every field of a question again, 1 ms for each
    if isinstance(request, EmbeddingRequest):
        body = embedding_body(request, chosen.model)
        response = await client.post("/embeddings", cast_to=httpx2.Response, body=body)
        return vectors_in(response.content, chosen, len(request.texts))
    body = chat_body(request, chosen.model, left_out)
    response = await client.post("/chat/completions", cast_to=httpx2.Response, body=body)
    return reply_in(key_blotted(response.content, client.api_key), chosen)


def _tell(heard: Callable[[int, Given], object], place: int, given: type[Given], answer: ModelReply | Embedded) -> None:
    if isinstance(answer, given):
        heard(place, answer)


class _Call(Struct):
    """One question on its way: what its attempts came to so far, and when it ends."""

    request: ModelRequest | EmbeddingRequest
    chosen: Chosen
    heard: Callable[[ModelReply | Embedded], object]
    spent: list[Spent] = field(default_factory=list)
    last: str = ""
    under_way: bool = False
    limit: asyncio.Timeout | None = None
    rested_s: float | None = None

    def rests(self) -> None:
        """It waits for its turn, which takes none of its time where it is `queued`."""
        if isinstance(self.request, ModelRequest) and self.request.queued and self.limit is not None:
            self.rested_s = self.left_s()
            self.limit.reschedule(None)

    def goes_on(self) -> None:
        """Its turn has come."""
        if self.rested_s is not None and self.limit is not None:
            self.limit.reschedule(asyncio.get_running_loop().time() + self.rested_s)

    def left_s(self) -> float:
        """The seconds until its time is up."""
        ends_s = None if self.limit is None else self.limit.when()
        return self.request.timeout_s if ends_s is None else ends_s - asyncio.get_running_loop().time()
