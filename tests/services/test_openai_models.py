"""The client of OpenAI-compatible endpoints, against a real server on loopback that behaves and misbehaves."""

import asyncio
import email.utils
import os
import threading
import time
from typing import Any

import pytest
from model_server import Act, Handler, cuts, endpoint, gives, pours, says, trickles, waits

from rulebook.model_port import ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.model_budget import ModelBudget
from rulebook.services.openai_client import MAX_BODY_BYTES
from rulebook.services.openai_models import OpenAIModels
from rulebook.spec.providers import Chosen, Price, Provider, Providers

UNKNOWN = Spent(calls=1, uncounted=1, unpriced=1)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUDGE_KEY", "sk-test-0123456789")


class Client:
    """The door, a provider at a server, and pauses that are written down and not waited for."""

    def __init__(self, url: str, prices: bool = False, key: str | None = "JUDGE_KEY", **settings: Any) -> None:
        self.pauses: list[float] = []
        price = {"judge-1": Price(2.0, 10.0)} if prices else {}
        self.chosen = Chosen(Provider("here", base_url=url, api_key_env=key, prices=price), "judge-1")
        providers = Providers(**settings)
        self.models = OpenAIModels(providers, ModelBudget(providers), self._pause)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def ask(self, *requests: ModelRequest) -> list[ModelReply | ModelFailure]:
        return self.models.ask([(request, self.chosen) for request in requests])

    def one(self, **wanted: Any) -> Any:
        (answer,) = self.ask(ModelRequest("Judge.", "Is it so?", **wanted))
        return answer


def test_a_reply_with_its_tokens_and_their_price() -> None:
    with endpoint(says("VERDICT: YES")) as server:
        reply = Client(server.url, prices=True).one(temperature=0.5, max_tokens=50)
        assert reply == ModelReply("VERDICT: YES", "judge-1", "stop", Spent(1, 0, 100, 20, costs={"USD": 0.0004}))
        assert server.bodies == [
            {
                "model": "judge-1",
                "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Is it so?"}],
                "max_tokens": 50,
                "temperature": 0.5,
            }
        ]
        assert server.headers[0]["authorization"] == "Bearer sk-test-0123456789"


def test_an_unknown_price_is_not_0() -> None:
    with endpoint(says("x")) as server:
        assert Client(server.url).one().spent == Spent(1, 0, 100, 20, unpriced=1)


def test_tokens_that_are_not_told_are_not_0() -> None:
    with endpoint(says("x", usage=None)) as server:
        assert Client(server.url, prices=True).one().spent == UNKNOWN


@pytest.mark.parametrize(
    ("act", "text", "finish"),
    [
        (says("cut", "length"), "cut", "length"),
        (says("", "content_filter"), "", "refused"),
        (says(None, refusal="I will not."), "", "refused"),
        (says("half", "model_length"), "half", "length"),
        (says("half", "MAX_TOKENS"), "half", "length"),
        (says("half", "insufficient_system_resource"), "half", "length"),
        (says("half", "error"), "half", "length"),
        (says("no", "SAFETY"), "no", "refused"),
        (says("all", "eos_token"), "all", "stop"),
        (says(None), "", "stop"),
        (says([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]), "one\ntwo", "stop"),
    ],
    ids=[
        "cut short", "filtered", "refused", "cut by the context", "cut in capitals", "ended for want of machines",
        "broken", "unsafe", "of a name of its own", "empty", "in parts",
    ],
)
def test_how_a_reply_ended(act: Act, text: str, finish: str) -> None:
    with endpoint(act) as server:
        reply = Client(server.url).one()
        assert (reply.text, reply.finish) == (text, finish)


def test_a_busy_endpoint_is_asked_again_when_it_says() -> None:
    busy = gives(429, {"error": {"message": "slow down"}}, Retry_After="7")
    with endpoint(busy, busy, says("x")) as server:
        client = Client(server.url)
        assert client.one().spent.calls == 3
        assert client.pauses == [7.0, 7.0]


def test_retry_after_may_be_a_date() -> None:
    moment = email.utils.formatdate(time.time() + 100, usegmt=True)
    with endpoint(gives(503, {}, Retry_After=moment), says("x")) as server:
        client = Client(server.url)
        client.one()
        assert client.pauses == [pytest.approx(100, abs=5)]


def test_without_retry_after_the_pauses_double() -> None:
    with endpoint(gives(500, {"error": "broken"}), gives(502, b"<html>"), gives(429, {}, Retry_After="soon"), says("x")) as server:
        client = Client(server.url)
        assert client.one().text == "x"
        assert client.pauses == [1.0, 2.0, 4.0]


def test_a_broken_endpoint_is_given_up_and_what_it_cost_is_kept() -> None:
    with endpoint(gives(500, {"error": {"message": "it is\x1b[31m broken"}})) as server:
        failure = Client(server.url).one()
        assert failure.category == "harness"
        assert failure.reason == "`judge-1` at `here` answered with status 500: it is [31m broken (asked 8 times)"
        assert failure.spent == Spent(calls=8)
        assert len(server.bodies) == 8


def test_a_pause_beyond_the_time_that_is_left_is_not_waited_for() -> None:
    with endpoint(gives(429, {}, Retry_After="300")) as server:
        client = Client(server.url)
        assert "not free again within 300 s" in client.one(timeout_s=20).reason
        assert client.pauses == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 302])
def test_what_would_fail_again_is_asked_once(status: int) -> None:
    with endpoint(gives(status, {"error": {"message": "no"}}, Location="http://127.0.0.1:9/")) as server:
        assert f"status {status}: no" in Client(server.url).one().reason
        assert len(server.bodies) == 1


def test_an_empty_purse_is_asked_once() -> None:
    with endpoint(gives(429, {"error": {"message": "pay", "code": "insufficient_quota"}})) as server:
        assert isinstance(Client(server.url).one(), ModelFailure)
        assert len(server.bodies) == 1


def test_a_connection_that_is_cut_is_made_again() -> None:
    with endpoint(cuts, says("x")) as server:
        assert Client(server.url).one().spent == Spent(2, 0, 100, 20, uncounted=1, unpriced=2)


def test_one_that_is_always_cut_is_given_up() -> None:
    with endpoint(cuts) as server:
        failure = Client(server.url).one()
        assert "cannot be reached" in failure.reason
        assert failure.spent == Spent(calls=4, uncounted=4, unpriced=4)


def test_an_endpoint_that_is_down() -> None:
    with endpoint(says("x")) as server:
        url = server.url
    client = Client(url)
    failure = client.one()
    assert isinstance(failure, ModelFailure)
    assert "cannot be reached" in failure.reason
    assert client.pauses == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>Sign in</html>", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"{}", "without a choice"),
        (b"[]", "without a choice"),
        (b'{"choices": []}', "without a choice"),
        (b'{"choices": [1]}', "without a choice"),
        (b'{"error": {"message": "overloaded"}}', "without a choice: overloaded"),
    ],
    ids=range(8),
)
def test_an_answer_that_is_none(body: bytes, told: str) -> None:
    with endpoint(gives(200, body)) as server:
        assert told in Client(server.url).one().reason


@pytest.mark.parametrize("body", [b'{"choices": [{"message": 1}]}', b'{"choices": [{"message": {"content": 5}, "finish_reason": []}], "usage": {"prompt_tokens": "a", "completion_tokens": -1}}'])
def test_odd_fields_are_passed_over(body: bytes) -> None:
    with endpoint(gives(200, body)) as server:
        assert Client(server.url).one() == ModelReply("", "judge-1", "stop", UNKNOWN)


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_of_100_mb_is_not_read(status: int) -> None:
    with endpoint(pours(status, 100 * 1024 * 1024)) as server:
        assert f"sent more than {MAX_BODY_BYTES} bytes" in Client(server.url).one().reason
    assert server.sent < 4 * MAX_BODY_BYTES
    assert len(server.bodies) == 1


def test_a_compressed_answer_is_not_unpacked() -> None:
    with endpoint(gives(200, b"\x1f\x8b", Content_Encoding="gzip")) as server:
        assert "compressed" in Client(server.url).one().reason
        assert server.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("slow", [waits, trickles])
def test_the_time_limit_ends_whatever_an_endpoint_does(slow: Any) -> None:
    done = threading.Event()
    with endpoint(slow(done)) as server:
        failure = Client(server.url).one(timeout_s=0.3)
        done.set()
    assert failure == ModelFailure("harness", "`judge-1` at `here` did not answer within 0.3 s", UNKNOWN)


def test_one_attempt_has_a_limit_of_its_own() -> None:
    done = threading.Event()
    with endpoint(waits(done), says("x")) as server:
        reply = Client(server.url, timeout_s=0.3).one()
        done.set()
    assert (reply.text, reply.spent.calls, reply.spent.uncounted) == ("x", 2, 1)


def test_a_parameter_that_the_model_does_not_take_is_left_out_from_then_on() -> None:
    def act(handler: Handler) -> None:
        for name, instead in (("max_tokens", "'max_completion_tokens'"), ("temperature", "the default")):
            if name in handler.body:
                told = f"Unsupported parameter: '{name}' is not supported with this model. Use {instead} instead."
                handler.give(400, b'{"error": {"message": "%s"}}' % told.encode())
                return
        says("x")(handler)

    with endpoint(act) as server:
        client = Client(server.url)
        assert client.one(temperature=0.0, max_tokens=9).text == "x"
        assert client.one(temperature=0.0, max_tokens=9).text == "x"
        assert len(server.bodies) == 4
        assert server.bodies[-1]["max_completion_tokens"] == 9


def refuses_one_after_another(handler: Handler) -> None:
    for name in ("response_format", "temperature", "max_tokens"):
        if name in handler.body:
            handler.give(400, b'{"error": {"message": "Unsupported: \'%s\'"}}' % name.encode())
            return
    says("x")(handler)


def test_a_question_that_a_parameter_was_refused_of_is_a_call() -> None:
    with endpoint(refuses_one_after_another) as server:
        answer = Client(server.url).one(temperature=0.0, schema=SCHEMA)
        assert answer.spent.calls == len(server.bodies) == 4


def test_attack_an_endpoint_that_refuses_parameters_passes_no_limit_of_calls() -> None:
    with endpoint(refuses_one_after_another) as server:
        answer = Client(server.url, max_calls=2).one(temperature=0.0, schema=SCHEMA)
        assert (answer.category, answer.spent.calls, len(server.bodies)) == ("budget", 2, 2)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "no", "code": "context_length_exceeded"},
        {"message": "This model's maximum context length is 8192 tokens."},
        {"message": "Prompt is too long"},
        {"message": "Please reduce the length of the messages."},
    ],
    ids=range(4),
)
def test_a_context_that_is_too_long_is_told_apart(error: dict[str, str]) -> None:
    with endpoint(gives(400, {"error": error})) as server:
        assert Client(server.url).one().too_long is True


def test_another_refusal_is_not_taken_for_one() -> None:
    with endpoint(gives(400, {"error": {"message": "unknown model"}})) as server:
        assert Client(server.url).one().too_long is False


def test_a_key_that_is_not_set_makes_no_call() -> None:
    with endpoint(says("x")) as server:
        failure = Client(server.url, key="NO_SUCH_KEY").one()
        assert failure == ModelFailure("harness", "the key of `here` is missing: the variable `NO_SUCH_KEY` is not set")
        assert server.bodies == []


def test_attack_an_endpoint_that_repeats_the_key_does_not_get_it_into_a_report() -> None:
    with endpoint(gives(401, {"error": {"message": "Incorrect API key: sk-test-0123456789."}})) as server:
        assert Client(server.url).one().reason.endswith("Incorrect API key: ….")


KEY = "sk-test-0123456789"
ECHOES = {
    "where a message is cut": gives(401, {"error": {"message": "x" * 290 + KEY}}),
    "where a message of an answer is cut": gives(200, {"error": "x" * 290 + KEY}),
    "in an answer": says(f"You sent {KEY}."),
}


@pytest.mark.parametrize("where", ECHOES)
def test_attack_no_part_of_the_key_comes_back(where: str) -> None:
    with endpoint(ECHOES[where]) as server:
        assert "sk-" not in str(Client(server.url).one())


def test_attack_a_key_that_json_writes_in_another_way_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", 'sk/test"0123456789')
    with endpoint(gives(200, b'{"choices": [{"message": {"content": "sk\\/test\\"0123456789"}}]}')) as server:
        assert Client(server.url).one().text == "…"


@pytest.mark.parametrize("key", ["sk-test-0123456789\n", " sk-test-0123456789", "sk-test-\u2026", "sk-\0-test"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {**os.environ, "JUDGE_KEY": key})
    with endpoint(says("x")) as server:
        reason = Client(server.url).one().reason
        assert reason.startswith("the key of `here` cannot be sent: the variable `JUDGE_KEY` holds ")
        assert "sk-" not in reason
        assert server.bodies == []


def test_what_is_sent_in_place_of_a_key_is_no_secret() -> None:
    with endpoint(gives(400, {"error": "there is none"})) as server:
        assert Client(server.url, key=None).one().reason.endswith("status 400: there is none")


def test_an_endpoint_without_a_key() -> None:
    with endpoint(says("x")) as server:
        assert Client(server.url, key=None).one().text == "x"


def test_half_a_pair_of_surrogates_can_be_sent() -> None:
    with endpoint(says("x")) as server:
        Client(server.url).ask(ModelRequest("Judge.", "odd \udcff name"))
        assert server.bodies[0]["messages"][1]["content"] == "odd \\udcff name"


def test_twenty_questions_are_under_way_together() -> None:
    together = threading.Barrier(20)

    def act(handler: Handler) -> None:
        together.wait(20)
        says(handler.body["messages"][1]["content"])(handler)

    with endpoint(act) as server:
        found = Client(server.url).ask(*(ModelRequest("Judge.", str(number)) for number in range(20)))
    assert [answer.text for answer in found if isinstance(answer, ModelReply)] == [str(number) for number in range(20)]


def test_no_more_than_the_limit_are_under_way_whoever_asks() -> None:
    gate, turn = threading.Barrier(3), threading.Lock()
    now, most = [0], [0]

    def act(handler: Handler) -> None:
        with turn:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait(20)
        with turn:
            now[0] -= 1
        says("x")(handler)

    with endpoint(act) as server:
        client = Client(server.url, concurrency=3)
        askers = [threading.Thread(target=client.ask, args=[ModelRequest("", "?")] * 3) for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        assert len(server.bodies) == 12
    assert most == [3]


def test_it_works_inside_a_running_event_loop() -> None:
    async def harness() -> Any:
        return Client(server.url).one()

    with endpoint(says("x")) as server:
        assert asyncio.run(harness()).text == "x"


def test_calls_beyond_the_budget_are_not_made() -> None:
    with endpoint(says("x")) as server:
        client = Client(server.url, max_calls=2, concurrency=1)
        found = client.ask(*[ModelRequest("", "?")] * 3)
        assert [type(answer) for answer in found] == [ModelReply, ModelReply, ModelFailure]
        assert isinstance(found[2], ModelFailure)
        assert (found[2].category, found[2].spent) == ("budget", Spent())
        assert "2 calls of models are used up" in found[2].reason
        assert len(server.bodies) == 2


def test_money_is_added_up_over_very_many_calls() -> None:
    chosen = Chosen(Provider("here", prices={"judge-1": Price(1.0, 0.0)}), "judge-1")
    budget = ModelBudget(Providers(max_cost=2.5))
    paid = 0
    while budget.refusal(chosen) is None and paid < 3_000:
        budget.paid(Spent(calls=1, costs={"USD": 0.001}), chosen, ModelRequest("", "?"))
        paid += 1
    assert paid == 2_500


def test_money_beyond_the_budget_is_not_spent() -> None:
    with endpoint(says("x")) as server:
        client = Client(server.url, prices=True, max_cost=0.0008)
        assert [client.one().spent.costs for _ in range(2)] == [{"USD": 0.0004}, {"USD": 0.0004}]
        failure = client.one()
        assert failure.category == "budget"
        assert "0.0008 USD" in failure.reason


def test_money_that_nobody_knows_the_amount_of_is_not_nothing() -> None:
    """16 bytes at 2 USD and 40 tokens at 10 USD a million come to 0.000432 USD at most: the second passes the limit."""
    with endpoint(says("x", usage=None)) as server:
        client = Client(server.url, prices=True, max_cost=0.00082)
        asked = [client.ask(ModelRequest("Judge.", "So, now?!?", max_tokens=40))[0] for _ in range(3)]
        assert [type(answer) for answer in asked] == [ModelReply, ModelReply, ModelFailure]
        assert asked[0].spent == UNKNOWN
        assert len(server.bodies) == 2


def test_an_attempt_that_was_given_up_is_not_free() -> None:
    done = threading.Event()
    with endpoint(waits(done), says("x")) as server:
        client = Client(server.url, prices=True, max_cost=0.1)
        assert client.one(timeout_s=0.3, max_tokens=10_000).spent == UNKNOWN
        done.set()
        assert client.one().category == "budget"


@pytest.mark.parametrize("tokens", [10**30, 10**400, -1, True, 1.5, "5", None])
def test_a_count_of_tokens_that_is_none_is_not_known(tokens: Any) -> None:
    with endpoint(says("x", usage=(tokens, 1)), says("x", usage=(1, tokens))) as server:
        client = Client(server.url, prices=True)
        assert client.one().spent == client.one().spent == UNKNOWN


def test_a_budget_in_money_needs_a_price() -> None:
    with endpoint(says("x")) as server:
        failure = Client(server.url, max_cost=1.0).one()
        assert "the price of `judge-1` in USD is not known" in failure.reason
        assert server.bodies == []


def test_nothing_is_left_running() -> None:
    with endpoint(says("x")) as server:
        Client(server.url).one()
        assert [t for t in threading.enumerate() if t.name.startswith("rulebook-models")] == []


SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}}


def test_a_schema_and_further_parameters_are_sent() -> None:
    with endpoint(says("{}")) as server:
        Client(server.url).one(schema=SCHEMA, more={"seed": 7, "top_k": 3})
        body = server.bodies[0]
        assert body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}
        assert (body["seed"], body["top_k"]) == (7, 3)


@pytest.mark.parametrize(
    "told", ["This model does not support response_format", "'json_schema' is not allowed", "structured outputs: no"]
)
def test_an_endpoint_without_structured_outputs_is_asked_in_plain_text(told: str) -> None:
    with endpoint(gives(400, {"error": {"message": told}}), says("{}")) as server:
        client = Client(server.url)
        assert client.one(schema=SCHEMA).text == "{}"
        assert client.one(schema=SCHEMA).text == "{}"
        assert ["response_format" in body for body in server.bodies] == [True, False, False]


def test_an_empty_system_message_is_none() -> None:
    with endpoint(says("x")) as server:
        Client(server.url).ask(ModelRequest("", "Is it so?"))
        assert [message["role"] for message in server.bodies[0]["messages"]] == ["user"]


@pytest.mark.parametrize(("queued", "category"), [(False, "harness"), (True, "budget")])
def test_a_question_of_many_spends_no_time_on_waiting_for_its_turn(queued: bool, category: str) -> None:
    """The second one's turn comes long after its 0.05 s are over; nothing is left for it then, which is said at once."""

    def slow(handler: Handler) -> None:
        threading.Event().wait(0.3)
        says("x")(handler)

    with endpoint(slow) as server:
        first = ModelRequest("Judge.", "first")
        second = ModelRequest("Judge.", "second", timeout_s=0.05, queued=queued)
        _, failure = Client(server.url, concurrency=1, max_calls=1).ask(first, second)
        assert isinstance(failure, ModelFailure)
        assert failure.category == category


def test_a_queued_question_still_ends_in_time() -> None:
    event = threading.Event()
    with endpoint(waits(event)) as server:
        failure = Client(server.url).one(timeout_s=0.05, queued=True)
        event.set()
        assert failure.reason == "`judge-1` at `here` did not answer within 0.05 s"
