"""A tree of many checks over a long session: the log is read once, whatever the number of checks."""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pairs import Ratio, ratio, rulebook

SCRIPT = """
import json, sys
seen = 0
for line in open(sys.argv[1], "rb"):
    seen += len(json.loads(line))
"""


def write_session(path: Path, events: int) -> None:
    """A chained log of so many events."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from logs import write_log

    lines: list[dict[str, object]] = [
        {"session.start": {"agent_kind": "main", "model_alias": "m", "parent_session": ""}}
    ]
    for number in range((events - 2) // 4):
        call = {"call_id": f"c{number}", "tool": "read_file", "arguments": '{"path": "a.py"}'}
        lines += [
            {"usage": {"input_tokens": 10, "output_tokens": number % 50, "cost": {"free": True}}},
            {"message": {"role": "assistant", "content": [{"text": f"step {number}"}, {"tool_use": call}]}},
            {"tool.call": call},
            {"tool.result": {"call_id": f"c{number}", "output": "text", "is_error": False, "truncated": False}},
        ]
    lines.append({"session.end": {"reason": "finished", "detail": ""}})
    write_log(path, lines)


def rules(count: int) -> str:
    """An eval with so many checks, of kinds that look at events, calls and counts."""
    kinds = (
        "event: {{name: tool.call, min: {n}}}",
        "event: {{name: usage, max: {n}}}",
        "expr: 'turns > {n}'",
        "forbidden_tools: ['browser_{n}']",
        "tool_calls: {{max: 0, calls: [{{name: browser_{n}, any_argument: {{contains: secret}}}}]}}",
        "sequence: {{never_after: {{once: browser_{n}, then: fetch_url}}}}",
    )
    checks = "".join(f"  check_{n}: {{{kinds[n % len(kinds)].format(n=n)}}}\n" for n in range(count))
    return f"schema: chock.eval\nversion: 1\nname: many\nchecks:\n{checks}"


def run(pairs: int) -> list[Ratio]:
    """Every ratio of this file."""
    with tempfile.TemporaryDirectory() as folder:
        log, few, many = Path(folder, "log.jsonl"), Path(folder, "few.yaml"), Path(folder, "many.yaml")
        write_session(log, 10_000)
        few.write_text(rules(10), encoding="utf-8")
        many.write_text(rules(1_000), encoding="utf-8")
        check = [
            rulebook("eval", "check", str(spec), "--session", str(log), "--format", "json") for spec in (many, few)
        ]
        loads = [sys.executable, "-c", SCRIPT, str(log)]
        return [
            ratio("1,000 checks / 10 checks, 10,000 events", check[0], check[1], 8, pairs=pairs, exits=(0, 3)),
            ratio("10 checks / json.loads of the same log", check[1], loads, 8, pairs=pairs, exits=(0, 3)),
        ]
