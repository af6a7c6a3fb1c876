"""Questions that are put one by one: no more under way than may be, kept as they come, and given up at the end."""

import asyncio
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from rulebook.errors import UsageError
from rulebook.model_port import ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.model_desk import ModelDesk
from rulebook.services.model_stream import ModelStream
from rulebook.spec.providers import Provider, Providers

LOCAL = Providers({"local": Provider("local", base_url="http://127.0.0.1:1/v1")}, cache=False)


class Held:
    """A client whose answers are held back until they are let go; it knows which questions have reached it."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.cancelled: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def one(self, request: ModelRequest, chosen: Any, clients: Any, own: Any, heard: Any) -> ModelReply:  # noqa: ARG002
        self.reached.append(request.user)
        gate = self.gates.setdefault(request.user, asyncio.Event())
        try:
            await gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(request.user)
            raise
        return ModelReply(f"about {request.user}", "m", "stop", Spent(calls=1))


def stream_of(held: Held, at_once: int, providers: Providers = LOCAL, cache: Path | None = None) -> ModelStream:
    desk = ModelDesk(providers, None if cache is None else str(cache))
    desk._online = held  # type: ignore[assignment]
    return ModelStream(desk, at_once)


def settled(stream: ModelStream) -> None:
    """Wait until whatever can go on, on the stream's loop, has gone on."""

    async def turns() -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    asyncio.run_coroutine_threadsafe(turns(), stream._loop).result(60)


def test_no_more_are_under_way_than_may_be_and_each_gets_its_own_answer() -> None:
    held = Held()
    stream = stream_of(held, 2)
    futures = [stream.begin(ModelRequest("", str(n), model="m")) for n in range(5)]
    settled(stream)
    assert held.reached == ["0", "1"]
    stream._loop.call_soon_threadsafe(held.gates["1"].set)
    answer = futures[1].result(60)
    assert isinstance(answer, ModelReply)
    assert answer.text == "about 1"
    settled(stream)
    assert held.reached == ["0", "1", "2"]
    stream.end()
    assert (sorted(held.cancelled), stream._thread.is_alive()) == (["0", "2"], False)
    for place in (0, 2, 3, 4):
        with pytest.raises(CancelledError):
            futures[place].result(60)


def test_the_same_question_is_asked_once_for_all_that_have_it(tmp_path: Path) -> None:
    held = Held()
    stream = stream_of(held, 2, Providers(LOCAL.by_name), tmp_path)
    futures = [stream.begin(ModelRequest("", text, model="m")) for text in ("a", "a", "b", "a")]
    settled(stream)
    assert held.reached == ["a", "b"]
    for gate in ("a", "b"):
        stream._loop.call_soon_threadsafe(held.gates[gate].set)
    answers = [future.result(60) for future in futures]
    stream.end()
    assert [(each.spent.calls, each.spent.cached) for each in answers] == [(1, 0), (0, 1), (1, 0), (0, 1)]


def test_where_nobody_can_be_asked_it_is_said_at_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    providers = Providers({"a": Provider("a", base_url="http://127.0.0.1:1", api_key_env="NO_SUCH_KEY")}, cache=False)
    stream = stream_of(Held(), 2, providers)
    with pytest.raises(UsageError, match="The key of `a` is missing: the variable `NO_SUCH_KEY` is not set."):
        stream.begin(ModelRequest("", "x", model="m"))
    with pytest.raises(UsageError, match="no model is named"):
        stream.begin(ModelRequest("", "x"))
    stream.end()


def test_a_scripted_model_answers_at_once() -> None:
    stream = stream_of(Held(), 2, Providers({"s": Provider("s", kind="scripted")}, cache=False))
    answer = stream.begin(ModelRequest("", "x", model="m")).result(60)
    stream.end()
    assert isinstance(answer, ModelFailure)
