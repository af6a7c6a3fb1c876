"""A real HTTP server on loopback that answers as an OpenAI-compatible endpoint is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["Handler"], None]


class Endpoint(ThreadingHTTPServer):
    """Acts `acts` in the order in which requests come, the last one for all that follow."""

    daemon_threads = False
    request_queue_size = 128  # a connection that is not taken at once is tried again after a second

    def __init__(self, acts: list[Act], handler: type["Handler"] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.acts, self.turn = list(acts), threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault of the server's."""


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    body: dict[str, Any]

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        self.body = json.loads(raw)
        with self.server.turn:
            self.server.bodies.append(self.body)
            self.server.paths.append(self.path.removeprefix("/v1"))
            self.server.headers.append({key.lower(): value for key, value in self.headers.items()})
            act = self.server.acts.pop(0) if len(self.server.acts) > 1 else self.server.acts[0]
        act(self)

    def give(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Lasting(Handler):
    """Takes one question after another on a connection, as real endpoints do, and keeps none of them: for thousands."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        self.close_connection = False
        while not self.close_connection and self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            self.body = json.loads(self.rfile.read(length))
            self.server.acts[0](self)

    def give(self, status: int, body: bytes, **headers: str) -> None:  # noqa: ARG002
        head = f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)


@contextmanager
def endpoint(*acts: Act, handler: type[Handler] | None = None) -> Iterator[Endpoint]:
    server = Endpoint(list(acts), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(text: Any, finish: str = "stop", usage: tuple[int, int] | None = (100, 20), **message: Any) -> Act:
    data: dict[str, Any] = {
        "choices": [{"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}]
    }
    if usage is not None:
        data["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return lambda handler: handler.give(200, json.dumps(data).encode())


def gives(status: int, body: Any, **headers: str) -> Act:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler: handler.give(status, raw, **headers)


def cuts(handler: Handler) -> None:
    """Announce an answer, and hang up in its middle."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def pours(status: int, size: int) -> Act:
    """Send so many bytes, as far as anyone takes them; the server knows how many that were."""

    def act(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(size))
        handler.end_headers()
        chunk = b" " * 65536
        for _ in range(size // len(chunk)):
            handler.wfile.write(chunk)
            handler.server.sent += len(chunk)

    return act


def waits(event: threading.Event) -> Act:
    """Answer nothing until the event is set."""

    def act(handler: Handler) -> None:
        event.wait(20)

    return act


def trickles(event: threading.Event) -> Act:
    """Send a byte of a header now and then, for as long as the event is not set."""

    def act(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not event.wait(0.02):
            handler.wfile.write(b"a")

    return act
