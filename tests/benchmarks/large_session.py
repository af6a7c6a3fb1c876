"""A Claude Code session of a gigabyte is read in the memory of its places: none of its texts stays.

    python tests/benchmarks/large_session.py [--mb 1000]
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.log_check import prose
from tests.benchmarks.pairs import Ratio, cost_of, rulebook

RULES = """
schema: chock.eval
version: 1
name: large
expect:
  forbidden_tools: [browser]
checks:
  says: {contains: {from: final_message, expected: Done}}
  few_tokens: {expr: 'usage.output_tokens >= 0'}
"""


def run(mb: int = 200) -> list[Ratio]:
    """How much of each further megabyte a session of `mb` keeps in memory beyond one of a quarter of that."""
    with tempfile.TemporaryDirectory() as place:
        spec = Path(place, "rules.yaml")
        spec.write_text(RULES, encoding="utf-8")
        peaks = []
        for size in (mb // 4, mb):
            path = write_session(Path(place, f"{size}.jsonl"), size)
            peaks.append(cost_of(rulebook("eval", "check", str(spec), "--session", str(path)), exits=(0, 3)).peak_mb)
            path.unlink()
        small, large = peaks
        further = mb - mb // 4
        name = f"memory: {mb} MB Claude Code, {large:.0f} MB: further / MB"
        return [Ratio(name, ((large - small) / further,), (large - small) / 1000, further / 1000, 0.2)]


def write_session(path: Path, mb: int) -> Path:
    """Write a session as Claude Code does, the same bytes for the same size."""
    chance, size, parent = random.Random(mb), 0, None
    with path.open("wb") as file:
        for number, record in enumerate(records(chance)):
            uuid = f"{chance.getrandbits(128):032x}"
            envelope = {"parentUuid": parent, "isSidechain": False, "sessionId": "s-1", "version": "2.1.0", "uuid": uuid}
            stamp = f"2026-10-{1 + number // 86400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.5Z"
            line = json.dumps({**envelope, **record, "timestamp": stamp}, ensure_ascii=False).encode() + b"\n"
            file.write(line)
            size += len(line)
            parent = uuid
            if size >= mb * 1_000_000:
                break
        file.write(json.dumps({**envelope, "uuid": "last", "type": "assistant", "message": reply("last", [text("Done.")])}).encode())
    return path


def records(chance: random.Random) -> Iterator[dict[str, object]]:
    """A prompt, and then replies with a call each and its result, some of them long."""
    yield {"type": "user", "message": {"role": "user", "content": "Mend everything."}}
    words = prose(random.Random(1), 4000, 4000)
    for turn in range(10**9):
        name = chance.choice(["Read", "Bash", "Edit"])
        call = {"type": "tool_use", "id": f"toolu_{turn:08}", "name": name, "input": {"path": f"src/{turn}.py"}}
        yield {"type": "assistant", "message": reply(f"msg_{turn:08}", [text(prose(chance, 5, 40)), call])}
        start = chance.randrange(1000)
        result = words[start : start + chance.choice([300, 2000, 8000, 24000])]
        content = {"type": "tool_result", "tool_use_id": call["id"], "content": result, "is_error": False}
        copy = {"stdout": result, "stderr": "", "interrupted": False}
        yield {"type": "user", "message": {"role": "user", "content": [content]}, "toolUseResult": copy}


def reply(name: str, content: list[dict[str, object]]) -> dict[str, object]:
    """One reply of the model."""
    usage = {"input_tokens": 9, "output_tokens": 120, "cache_read_input_tokens": 5000}
    return {"id": name, "role": "assistant", "model": "large-1", "content": content, "stop_reason": "end_turn", "usage": usage}


def text(words: str) -> dict[str, object]:
    """A text block."""
    return {"type": "text", "text": words}


def main() -> int:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--mb", type=int, default=1000, help="the size of the larger session")
    found = run(asked.parse_args().mb)
    for each in found:
        print(each.line())
    return 0 if all(each.median <= each.at_most for each in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
