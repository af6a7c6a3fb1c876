"""A rubric of 20 criteria against an endpoint that takes a second for each answer: the whole process, by the clock."""

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.benchmarks.pairs import Ratio, rulebook
from tests.logs import write_log

ANSWER_S = 1.0
ANSWER = json.dumps({"choices": [{"message": {"content": "REASON: So.\nVERDICT: YES"}, "finish_reason": "stop"}]})


class Slow(BaseHTTPRequestHandler):
    """Takes its time."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(ANSWER_S)
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """Takes twenty connections at once."""

    request_queue_size = 128


def run(pairs: int) -> list[Ratio]:
    """The ratio of this file: our seconds to the endpoint's, of which 3 are allowed."""
    with tempfile.TemporaryDirectory() as folder, _endpoint() as url:
        spec, log = Path(folder, "rules.yaml"), Path(folder, "log.jsonl")
        criteria = "\n".join(f"        - {{criterion: It is good ({n})., weight: 0.05}}" for n in range(20))
        rubric = f"    rubric:\n      model: judge\n      base_url: {url}\n      criteria:\n{criteria}\n"
        spec.write_text(f"schema: chock.eval\nversion: 1\nname: x\nchecks:\n  a:\n{rubric}", encoding="utf-8")
        start = {"session.start": {"agent_kind": "main", "model_alias": "coder", "parent_session": ""}}
        message = {"message": {"role": "assistant", "content": [{"text": "Done."}]}}
        write_log(log, [start, message, {"session.end": {"reason": "finished", "detail": ""}}])
        found = []
        for number in range(min(pairs, 3)):
            environment = {**os.environ, "RULEBOOK_HOME": str(Path(folder, str(number))), "NO_PROXY": "127.0.0.1"}
            begun = time.monotonic()
            argv = [*rulebook("eval", "check", str(spec)), "--session", str(log)]
            subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, check=True)
            found.append(time.monotonic() - begun)
    seconds = sorted(found)[len(found) // 2]
    ratios = tuple(each / ANSWER_S for each in found)
    return [Ratio("rubric of 20 criteria / one answer of 1 s", ratios, seconds, ANSWER_S, 3)]


@contextmanager
def _endpoint() -> Iterator[str]:
    server = Server(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
