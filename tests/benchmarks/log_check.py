"""Checking a chained log (verify, parse and fold in one pass) against `json.loads` over the same lines.

    python tests/benchmarks/log_check.py [--mb 100] [--pairs 5]

Every run is a process of its own. Besides the ratio of CPU time, the peak memory must not grow with the log.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Ratio, cost_of, ratio

SESSION = "01M8XKQ4T6ZJ5W3N9B2C7D1E0F"
START_MS = 1796047200000
WORDS = [
    "the", "parser", "rejects", "empty", "input", "and", "every", "test", "passes", "when", "a", "file", "holds",
    "one", "value", "that", "nobody", "returned", "before", "src", "error", "line", "path", "expected", "actual",
    "build", "module", "fixed", "naïve", "'quoted'", '"double"', "back\\slash", "\n",
]  # fmt: skip

OURS = """
import sys
from rulebook.evidence.audit_log import read_log
from rulebook.services.files import MachineFiles
reading = read_log(sys.argv[1], MachineFiles())
counts = reading.events, reading.record.call_count
sys.exit(reading.verdict != "intact" or counts != (int(sys.argv[2]), int(sys.argv[3])))
"""
YARDSTICK = """
import json, sys
events = calls = 0
with open(sys.argv[1], "rb", buffering=1 << 20) as log:
    next(log)
    for line in log:
        events += 1
        calls += "tool.call" in json.loads(line)["event"]
sys.exit((events, calls) != (int(sys.argv[2]), int(sys.argv[3])))
"""


def run(pairs: int, mb: int = 100) -> list[Ratio]:
    """Both sides must count the same events and calls, else there is no ratio; and the memory of a log ten times
    as large as another over the other's.
    """
    with tempfile.TemporaryDirectory() as folder:
        log, events, calls = write_session(Path(folder) / "log.jsonl", mb)
        ours, theirs = ([sys.executable, "-c", side, str(log), str(events), str(calls)] for side in (OURS, YARDSTICK))
        found = ratio(f"check a {mb} MB log / json.loads", ours, theirs, 0.85, pairs=pairs)
        return [found, _memory(Path(folder))]


def _memory(folder: Path) -> Ratio:
    peaks = []
    for mb in (20, 200):
        log, events, calls = write_session(folder / f"{mb}.jsonl", mb)
        peaks.append(cost_of([sys.executable, "-c", OURS, str(log), str(events), str(calls)]).peak_mb)
    small, large = peaks
    name = f"memory: 200 MB log ({large:.0f} MB) / 20 MB log"
    return Ratio(name, (large / small,), large / 1000, small / 1000, 1.1)


def main() -> int:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--mb", type=int, default=100, help="the size of the log")
    asked.add_argument("--pairs", type=int, default=5, help="how many pairs are measured")
    given = asked.parse_args()
    print(f"load before: {os.getloadavg()[0]:.2f}")
    found = run(given.pairs, given.mb)
    for each in found:
        print(each.line())
    return 0 if all(each.median <= each.at_most for each in found) else 1


def write_session(path: Path, mb: int) -> tuple[Path, int, int]:
    """Write a chained log of one long session, the same bytes for the same size; gives its events and calls too."""
    last, size, calls = b'{"chock_log":1}', 16, 0
    with path.open("wb") as log:
        log.write(last + b"\n")
        for number, (kind, payload) in enumerate(session_events(random.Random(mb))):
            envelope = {
                "id": 0,
                "session": SESSION,
                "time_ms": START_MS + 250 * number,
                "event": {kind: payload},
                "version": 1,
                "prev": hashlib.sha256(last).hexdigest(),
            }
            last = json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
            log.write(last + b"\n")
            size += len(last) + 1
            calls += kind == "tool.call"
            if size >= mb * 1_000_000:
                break
    return path, number + 1, calls


def session_events(chance: random.Random) -> Iterator[tuple[str, dict[str, object]]]:
    """Turns without end: usage, a reply, one to three calls, each allowed by the policy, with its result."""
    yield "session.start", {"agent_kind": "main", "model_alias": "big", "parent_session": "", "spawn_chain": []}
    yield "session.config", {"config_hash": "0" * 64, "sandbox_hash": "1" * 64, "sandbox_driver": "native"}
    turn = 0
    while True:
        turn += 1
        yield "usage", usage_payload(chance)
        calls = [call_payload(chance, f"call_{turn}_{n}") for n in range(chance.randint(1, 3))]
        parts: list[object] = [{"text": prose(chance, 10, 60)}, *({"tool_use": call} for call in calls)]
        yield "message", {"role": "assistant", "content": parts, "model_alias": "big"}
        for call in calls:
            yield "tool.call", call
            allowed = {"request_id": 0, "decision": "allowed_by_policy", "responder": "policy"}
            about = {"action": f"tool.{call['tool']}", "tool_call_id": call["call_id"]}
            yield "approval.response", {**allowed, **about}
            answer = {"call_id": call["call_id"], "output": prose(chance, 5, 150), "is_error": chance.random() < 0.1}
            yield "tool.result", {**answer, "truncated": False}
            yield "message", {"role": "tool", "content": [{"tool_result": answer}]}


def usage_payload(chance: random.Random) -> dict[str, object]:
    """The tokens and the cost of one reply."""
    return {
        "input_tokens": chance.randint(1, 4000),
        "output_tokens": chance.randint(1, 900),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": chance.randint(0, 90000),
        "cost": {"known": {"value": round(chance.random() / 50, 6), "currency": "USD"}},
        "model": "big-2026-11",
    }


def call_payload(chance: random.Random, call_id: str) -> dict[str, str]:
    """A call of one of the usual tools."""
    tool = chance.choice(["read_file", "grep", "edit_file", "run_command"])
    arguments = {"path": f"src/{chance.choice(WORDS[:9])}.py", "text": prose(chance, 2, 30)}
    return {"call_id": call_id, "tool": tool, "arguments": json.dumps(arguments)}


def prose(chance: random.Random, least: int, most: int) -> str:
    """Some words, with the characters that real output has."""
    return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))


if __name__ == "__main__":
    raise SystemExit(main())
