"""Checking many stored transcripts against six rules: reading, judging and reporting, the whole process.

    python tests/benchmarks/transcripts.py [--pairs 5] [--karotte PYTHON]

Yardsticks: karotte 3.0.100 itself (its loader and six judges joined with `&`), in an environment of its own; and
`json.loads` of every file with six passes over it. Every run is a process of its own and prints how many transcripts
pass; runs that do not agree are void.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.log_check import prose
from tests.benchmarks.pairs import Ratio, ratio, rulebook

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

def messages(run):
    return [event["message"] for event in run["events"] if event["type"] == "message_added"]

def said(message):
    content = message.get("content")
    if isinstance(content, list):
        return "\\n\\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""

def calls(run):
    return [call["function"]["name"] for m in messages(run) for call in m.get("tool_calls") or ()]

def no_browser(run):
    return "browser" not in calls(run)

def in_order(run):
    wanted = iter(calls(run))
    return all(name in wanted for name in ("read_file", "write_file", "run_tests"))

def final_says(run):
    return "{PHRASE}" in [said(m) for m in messages(run) if m["role"] == "assistant" and said(m)][-1]

def released(run):
    text = "\\n\\n".join(said(m) for m in messages(run) if m["role"] == "assistant" and said(m))
    return re.search(r"{PATTERN}", text) is not None

def short(run):
    return sum(m["role"] == "assistant" for m in messages(run)) <= 100

def cheap(run):
    spent = [event for event in run["events"] if event["type"] == "token_usage"]
    into, out = (sum(e[side] for e in spent) for side in ("input_tokens", "output_tokens"))
    return into * {INPUT_PRICE} + out * {OUTPUT_PRICE} <= 1.0

rules = (no_browser, in_order, final_says, released, short, cheap)
passed = [[rule(run) for run in runs] for rule in rules]
print(sum(map(all, zip(*passed))), "of", len(runs), "pass")
"""


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
