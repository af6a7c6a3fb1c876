"""Endpoints that break, lie and stall, on a real server on loopback: each is a labelled outcome, and nothing hangs."""

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

import pytest
from model_server import Act, Handler, endpoint, gives, says

from rulebook.evidence.verdict import verdict_of
from rulebook.model_port import ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent
from rulebook.services.model_budget import ModelBudget
from rulebook.services.openai_client import MAX_BODY_BYTES
from rulebook.services.openai_models import OpenAIModels
from rulebook.spec.providers import Chosen, Provider, Providers


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def asked(url: str, timeout_s: float = 20.0) -> tuple[ModelReply | ModelFailure, list[float]]:
    """The answer to a question, and the pauses that were asked for and not waited for."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    models = OpenAIModels(Providers(), ModelBudget(Providers()), pause)
    chosen = Chosen(Provider("here", base_url=url), "judge-1")
    (answer,) = models.ask([(ModelRequest("", "?", timeout_s=timeout_s), chosen)])
    return answer, pauses


def failed(url: str, timeout_s: float = 20.0) -> ModelFailure:
    answer, _ = asked(url, timeout_s)
    assert isinstance(answer, ModelFailure)
    assert answer.category == "harness"
    return answer


def raw(data: bytes) -> Act:
    """Send these bytes in place of an answer, and hang up."""

    def act(handler: Handler) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    return act


def resets(handler: Handler) -> None:
    """Begin an answer, and break the connection off so that the client sees a reset."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def endless(begin: bytes, again: bytes) -> Callable[[threading.Event], Act]:
    """Send `begin`, then `again` and again until the event is set."""

    def made(event: threading.Event) -> Act:
        def act(handler: Handler) -> None:
            handler.wfile.write(begin)
            while not event.wait(0.01):
                handler.wfile.write(again)

        return act

    return made


BOMB = gzip.compress(b"\0" * (64 * 1024 * 1024), 9)

NO_ANSWERS: dict[str, tuple[Act, str]] = {
    "an empty body": (gives(200, b""), "not JSON"),
    "no content": (gives(204, b""), "not JSON"),
    "half of it": (gives(200, b'{"choices": [{"message": {"content": "VERDICT: YES'), "not JSON"),
    "two of them": (gives(200, b'{"choices": []}{"choices": []}'), "not JSON"),
    "a stream of events": (gives(200, b'data: {"choices": []}\n\ndata: [DONE]\n\n', Content_Type="text/event-stream"), "not JSON"),
    "a page that says so": (gives(200, b"<html>VERDICT: YES</html>", Content_Type="text/html"), "not JSON"),
    "a text": (gives(200, b'"VERDICT: YES"'), "without a choice"),
    "null": (gives(200, b"null"), "without a choice"),
    "choices that are none": (gives(200, {"choices": {"0": {"message": {"content": "YES"}}}}), "without a choice"),
    "a choice that is null": (gives(200, {"choices": [None]}), "without a choice"),
    "an error with status 200": (gives(200, {"error": "try later"}), "without a choice: try later"),
    "an error in another form": (gives(200, {"error": {"message": ["x"]}, "detail": {"a": 1}}), "without a choice"),
    "a bomb": (gives(200, BOMB, Content_Encoding="gzip"), "compressed"),
    "a bomb in a bomb": (gives(200, gzip.compress(BOMB), Content_Encoding="gzip, gzip"), "compressed"),
    "another program": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "cannot be reached"),
    "nothing at all": (raw(b""), "cannot be reached"),
    "a header without an end": (raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 500_000), "cannot be reached"),
    "two lengths": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}"), "cannot be reached"),
    "a length below 0": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"), "cannot be reached"),
    "a chunk that is none": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), "cannot be reached"),
    "a reset": (resets, "cannot be reached"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_no_verdict(name: str) -> None:
    act, told = NO_ANSWERS[name]
    with endpoint(act) as server:
        assert told in failed(server.url).reason


ENDLESS = {
    "headers": endless(b"HTTP/1.1 200 OK\r\n", b"X-Slow: a\r\n"),
    "a body": endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
    "chunks": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "early hints": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    "the body of an error": endless(b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(name: str) -> None:
    done = threading.Event()
    with endpoint(ENDLESS[name](done)) as server:
        failure = failed(server.url, timeout_s=0.4)
        done.set()
    assert failure.spent.uncounted >= 1
    assert "did not answer within 0.4 s" in failure.reason or "cannot be reached" in failure.reason


def test_a_flood_of_chunks_is_not_kept() -> None:
    done = threading.Event()

    def act(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not done.is_set():
            handler.wfile.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
            handler.server.sent += 65536

    with endpoint(act) as server:
        assert "sent more than" in failed(server.url).reason
        done.set()
    assert server.sent < 4 * MAX_BODY_BYTES


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with endpoint(gives(status, b"", Location="/v1/chat/completions")) as server:
        assert f"status {status}" in failed(server.url).reason
        assert len(server.bodies) == 1


RETRY_AFTER = {
    "0": 0.0, "3": 3.0, "2.5": 2.5, "-5": 1.0, "nan": 1.0, "inf": 1.0, "1e99": 1.0, "9" * 400: 1.0, "soon": 1.0,
    "": 1.0, "0x10": 1.0, "Wed, 21 Oct 2015 07:28:00 GMT": 0.0, "Wed, 99 Foo 2015": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("header", RETRY_AFTER, ids=[each[:30] for each in RETRY_AFTER])
def test_how_long_to_wait_is_believed_where_it_is_a_time(header: str) -> None:
    def busy(handler: Handler) -> None:
        head = b"HTTP/1.1 429 Busy\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: " + header.encode() + b"\r\n\r\n"
        handler.wfile.write(head)

    with endpoint(busy, says("VERDICT: YES")) as server:
        answer, pauses = asked(server.url)
    assert isinstance(answer, ModelReply)
    assert pauses == [RETRY_AFTER[header]]
    assert answer.spent == Spent(2, 0, 100, 20, unpriced=1)


def test_a_wait_that_is_too_long_is_no_wait() -> None:
    with endpoint(gives(429, {}, Retry_After="900000000")) as server:
        answer, pauses = asked(server.url)
    assert isinstance(answer, ModelFailure)
    assert "not free again within 9e+08 s" in answer.reason
    assert pauses == []


def message(**fields: Any) -> Act:
    return gives(200, {"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": fields.get("finish", "stop")}]})


CALL = {"id": "c", "type": "function", "function": {"name": "verdict", "arguments": json.dumps({"verdict": "VERDICT: YES"})}}

UNREAD: dict[str, Act] = {
    "no content": message(content=None),
    "no message": gives(200, {"choices": [{"finish_reason": "stop", "text": "VERDICT: YES"}]}),
    "a call in place of text": message(content=None, tool_calls=[CALL]),
    "a call with an empty text": message(content="", tool_calls=[CALL]),
    "thoughts alone": message(content="", reasoning_content="VERDICT: YES"),
    "a refusal": message(content=None, refusal="VERDICT: YES I will not."),
    "a refusal by a filter": says("VERDICT: YES", "content_filter"),
    "cut short": says("YES, the report na", "length"),
    "content of another kind": message(content={"text": "VERDICT: YES"}),
    "parts without text": message(content=[{"type": "image_url"}, 5, {"type": "text", "text": None}]),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_said_is_not_decided(name: str) -> None:
    with endpoint(UNREAD[name]) as server:
        answer, _ = asked(server.url)
    assert isinstance(answer, ModelReply)
    assert verdict_of(answer).met is None


def test_attack_what_comes_behind_an_answer_is_no_answer_to_the_next_question() -> None:
    def answer(text: str) -> bytes:
        body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    class Twice(Handler):
        def give(self, status: int, body: bytes, **headers: str) -> None:  # noqa: ARG002
            own = answer(f"about {self.body['messages'][0]['content']}")
            self.wfile.write(own + answer("about another"))
            self.close_connection = False

    providers = Providers(concurrency=1)
    with endpoint(gives(200, b""), handler=Twice) as server:
        chosen = Chosen(Provider("here", base_url=server.url), "judge-1")
        asked = [(ModelRequest("", question), chosen) for question in ("a", "b", "c")]
        found = OpenAIModels(providers, ModelBudget(providers)).ask(asked)
    assert [each.text for each in found if isinstance(each, ModelReply)] == ["about a", "about b", "about c"]


def test_half_a_character_in_an_answer_is_written_out() -> None:
    with endpoint(message(content="a \ud800 b")) as server:
        answer, _ = asked(server.url)
    assert isinstance(answer, ModelReply)
    assert answer.text == "a \\ud800 b"
