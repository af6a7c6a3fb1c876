"""Checking many stored transcripts against six rules: reading, judging and reporting, the whole process.

    python tests/benchmarks/transcripts.py [--pairs 5] [--karotte PYTHON]

PYTHON is that of an environment with karotte 3.0.100: see karotte_judges.py beside this file.
Yardsticks: karotte 3.0.100 itself (its loader and six judges joined with `&`), in an environment of its own; and
`json.loads` of every file with six passes over it. Every run is a process of its own and prints how many transcripts
pass; runs that do not agree are void.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.log_check import prose
from tests.benchmarks.pairs import Ratio, ratio, rulebook, run_alone

Event = dict[str, object]

MESSAGES = 200
INPUT_PRICE, OUTPUT_PRICE = 3e-06, 15e-06
PHRASE, PATTERN = "All tests pass", r"release v(\d+)\.(\d+)\.(\d+)"

PLAIN = f"""
import json, os, re, sys
folder = sys.argv[1]
runs = []
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name), "rb") as file:
        runs.append(json.loads(file.read()))

def added(run):
    return [event["message"] for event in run["events"] if event["type"] == "message_added"]

def calls(messages):
    return [call["function"]["name"] for m in messages if m["tool_calls"] for call in m["tool_calls"]]

def replies(messages):
    return [m["content"] for m in messages if m["role"] == "assistant"]

def no_browser(run, messages):
    return "browser" not in calls(messages)

def in_order(run, messages):
    wanted = iter(calls(messages))
    return all(name in wanted for name in ("read_file", "write_file", "run_tests"))

def final_says(run, messages):
    return "{PHRASE}" in replies(messages)[-1]

def released(run, messages):
    return re.search(r"{PATTERN}", "\\n\\n".join(replies(messages))) is not None

def short(run, messages):
    return len(replies(messages)) <= 100

def cheap(run, messages):
    spent = [event for event in run["events"] if event["type"] == "token_usage"]
    into, out = sum(e["input_tokens"] for e in spent), sum(e["output_tokens"] for e in spent)
    return into * {INPUT_PRICE} + out * {OUTPUT_PRICE} <= 1.0

messages = list(map(added, runs))
rules = (no_browser, in_order, final_says, released, short, cheap)
passed = [[rule(*both) for both in zip(runs, messages)] for rule in rules]
print(sum(map(all, zip(*passed))), "of", len(runs), "pass")
"""
KAROTTE = Path(__file__).parent / "karotte_judges.py"
RULES = f"""
schema: chock.eval
version: 1
name: release
expect:
  forbidden_tools: [browser]
  max_turns: 100
checks:
  in_order: {{tool_calls: [read_file, write_file, run_tests]}}
  final_says: {{contains: {{from: final_message, expected: {PHRASE}}}}}
  released: {{regex: ['{PATTERN}']}}
  cheap: {{expr: 'usage.input_tokens * {INPUT_PRICE:f} + usage.output_tokens * {OUTPUT_PRICE:f} <= 1.0'}}
"""
FURTHER = (
    "expr: 'turns > {n}'",
    "contains: {{from: final_message, expected: {phrase}}}",
    "regex: ['release v(\\d+)\\.(\\d+)\\.(\\d+)|part {n}']",
    "forbidden_tools: ['browser_{n}']",
    "max_turns: {m}",
    "expr: 'usage.input_tokens + {n} < 10000000'",
)


def run(pairs: int, karotte: str | None = None) -> list[Ratio]:
    """Every ratio of this file; the one against karotte only where `karotte`, a Python that has it, is given."""
    with tempfile.TemporaryDirectory() as place:
        few, many = Path(place, "few.yaml"), Path(place, "many.yaml")
        few.write_text(RULES, encoding="utf-8")
        many.write_text(RULES + further(54), encoding="utf-8")
        hundred, thousand = (write_transcripts(Path(place, str(count)), count) for count in (100, 1000))
        plain = [sys.executable, "-c", PLAIN]
        found = [
            agreed("100 transcripts x 6 rules / karotte", few, hundred, [karotte, str(KAROTTE)], 0.14, pairs)
            for karotte in ([karotte] if karotte else [])
        ]
        found.append(agreed("1,000 transcripts x 6 rules / json.loads", few, thousand, plain, 0.45, pairs))
        name = "1,000 transcripts: 60 rules / 6 rules"
        found.append(ratio(name, checked(many, thousand), checked(few, thousand), 2, pairs=pairs, exits=(0, 3)))
        return found


def agreed(name: str, rules: Path, folder: Path, theirs: Sequence[str], at_most: float, pairs: int) -> Ratio:
    """The ratio, once both sides have said that as many transcripts pass. Raises RuntimeError where they do not."""
    command = [*theirs, str(folder)]
    said = [_passing(argv) for argv in (checked(rules, folder), command)]
    if said[0] != said[1]:
        raise RuntimeError(f"{name} is void: {said[0]} transcripts pass on our side, {said[1]} on theirs")
    return ratio(name, checked(rules, folder), command, at_most, pairs=pairs, exits=(0, 3))


def checked(rules: Path, folder: Path) -> list[str]:
    """The command that a user types."""
    return rulebook("eval", "check", str(rules), "--session", str(folder))


def further(count: int) -> str:
    """More rules, of the kinds that look at texts, calls and counts."""
    kinds = [kind.format(n=n, m=200 + n, phrase=PHRASE) for n, kind in zip(range(count), cycle(FURTHER), strict=False)]
    return "".join(f"  further_{n}: {{{kind}}}\n" for n, kind in enumerate(kinds))


def _passing(argv: Sequence[str]) -> str:
    said = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+) of \d+ pass|(\d+) passed", said)
    return "no" if found is None else found[1] or found[2]


def main() -> int:
    """Measure and print."""
    return 0 if run_alone(__doc__, run, 5) else 1


def write_transcripts(folder: Path, count: int) -> Path:
    """A folder of so many transcripts as karotte writes them, the same bytes for the same count."""
    folder.mkdir()
    for number in range(count):
        text = json.dumps(transcript(random.Random(number)), ensure_ascii=False, separators=(",", ":"))
        (folder / f"run_{number:04}.json").write_text(text, encoding="utf-8")
    return folder


def transcript(chance: random.Random) -> dict[str, object]:
    """200 messages with about 100 tool calls, 144 KB; each of the six rules is broken by one in ten."""
    browses, skips, silent, unreleased, long, dear = (chance.random() < 0.1 for _ in range(6))
    tools = ["read_file", "grep", "run_tests"] if skips else ["read_file", "grep", "write_file", "run_tests"]
    replies = 101 if long else 99
    results = MESSAGES - 1 - replies
    doubled = set(chance.sample(range(replies - 1), results - (replies - 1))) if results >= replies else set()
    names = [*tools, *chance.choices(tools, k=results - len(tools))][:results]
    names[chance.randrange(20, results)] = "browser" if browses else "grep"
    events: list[Event] = [
        {"type": "task_started", "run_id": "r", "task_id": "release", "model": "big", "n_steps": 1},
        {"type": "step_started", "step": 0},
        message("user", prose(chance, 40, 80)),
    ]
    waiting = iter(enumerate(names))
    for turn in range(replies - 1):
        calls = [call(chance, *next(waiting)) for _ in range(1 + (turn in doubled))] if turn < results else []
        text = prose(chance, 5, 25) + ("" if unreleased or turn != replies // 2 else " release v1.12.3 is out")
        events.append(message("assistant", text, tool_calls=calls))
        events.append(usage(chance, 2 if dear else 1))
        events += (event for given in calls for event in carried_out(chance, given))
    events.append(message("assistant", prose(chance, 10, 30) + (" Done." if silent else f" {PHRASE}.")))
    events += [
        usage(chance, 1),
        {"type": "scoring", "scoring": {"score": 1.0, "metadata": {}, "continue_task": True}},
        {"type": "step_completed", "step": 0},
        {"type": "task_completed", "status": "passed"},
    ]
    started = datetime(2026, 10, 1, 9, tzinfo=UTC)
    timed = [{"timestamp": _stamp(started + timedelta(milliseconds=777 * n)), **e} for n, e in enumerate(events)]
    return {"run_id": "r", "events": timed}


def message(role: str, content: object, **fields: object) -> Event:
    """A message as it is written, the fields that it does not use too."""
    unused = {"reasoning_content": None, "thinking_blocks": None, "reasoning_items": None, "tool_call_id": None}
    given = {"content": content, "role": role, "tool_calls": None, **unused, **fields}
    return {"type": "message_added", "message": given, "finish_reason": None, "raw": None}


def call(chance: random.Random, number: int, name: str) -> Event:
    """A call of a tool."""
    arguments = {"path": f"src/part_{number}.py", "text": prose(chance, 2, 8)}
    return {"id": f"call_{number}", "function": {"name": name, "arguments": json.dumps(arguments)}, "type": "function"}


def carried_out(chance: random.Random, given: Event) -> Iterator[Event]:
    """A call as it goes to its tool and comes back, and the message that the model reads."""
    part = {"type": "text", "text": prose(chance, 3, 18)}
    result = {"meta": None, "content": [{**part, "annotations": None}], "structuredContent": None, "isError": False}
    yield {"type": "tool_call_started", "tool_call": given}
    yield {"type": "tool_call_completed", "tool_call_id": given["id"], "result": result}
    yield message("tool", [part], tool_call_id=given["id"])


def usage(chance: random.Random, times: int) -> Event:
    """The tokens of one reply."""
    told = {"input_tokens": times * chance.randint(1500, 2500), "output_tokens": times * chance.randint(80, 120)}
    return {"type": "token_usage", **told, "cache_read_tokens": 900, "cache_write_tokens": None, "estimated": False}


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    raise SystemExit(main())
