"""The cases in `recorded/`: what karotte 3.0.100 gives, and, where ours is another on purpose, what and why."""

import json
from pathlib import Path

import pytest
from recorded.shared import Case

from rulebook.schemas.transcript import Transcript

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(path.stem for path in RECORDED.glob("*.jsonl"))


def cases(name: str) -> list[Case]:
    """The cases of one file."""
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def replayed(name: str) -> pytest.MarkDecorator:
    """Run a test with every case of one file."""
    return pytest.mark.parametrize("case", cases(name), ids=lambda case: case["name"])


def case_of(file: str, name: str) -> Case:
    """One case by its name."""
    return next(case for case in cases(file) if case["name"] == name)


def wanted(case: Case) -> Case:
    """What ours gives."""
    found: Case = case.get("ours", case["karotte"])
    return found


def run_of(given: Case) -> Transcript:
    """The run of a case: its messages, then its other events."""
    added = [{"type": "message_added", "message": message} for message in given.get("messages", [])]
    return Transcript.from_bytes(json.dumps({"run_id": "r", "events": added + given.get("events", [])}).encode())
