"""Files in which a name that readers look up (a type, a role, a status) is no text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sessions_read import OWN, check_invariants
from test_formats_fuzz import SEEDS

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_sessions, session_formats
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

NAMES = ("type", "role", "status", "source", "subtype", "kind", "name", "id", "call_id", "stop_reason", "finish_reason")


def _lines(path: Path) -> list[Any] | None:
    """The values of a file of JSON, one or one a line; None for a file of anything else."""
    text = path.read_bytes().decode("utf-8", "replace")
    for parts in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            return [json.loads(part) for part in parts]
        except ValueError:
            continue
    return None


JSON_SEEDS = {path.relative_to(OWN).as_posix(): lines for path in SEEDS if (lines := _lines(path))}


def _spoiled(value: Any, name: str, fresh: object, nth: list[int]) -> Any:
    """A copy in which the nth value of that name is another."""
    if isinstance(value, list):
        return [_spoiled(part, name, fresh, nth) for part in value]
    if not isinstance(value, dict):
        return value
    copy = {}
    for key, part in value.items():
        nth[0] -= key == name
        copy[key] = fresh if key == name and nth[0] == 0 else _spoiled(part, name, fresh, nth)
    return copy


def _copies(lines: list[Any]) -> Iterator[str]:
    for name in NAMES:
        for fresh in ({"a": 1}, [1]):
            for nth in range(1, 7):
                counter = [nth]
                spoiled = [_spoiled(line, name, fresh, counter) for line in lines]
                if counter[0] > 0:
                    break
                yield "".join(json.dumps(line) + "\n" for line in spoiled)


@pytest.mark.parametrize("seed", JSON_SEEDS)
def test_a_name_that_is_no_text_is_no_name(seed: str, tmp_path: Path) -> None:
    path = tmp_path / "session"
    own = seed.partition("/")[0]
    for text in _copies(JSON_SEEDS[seed]):
        path.write_text(text, encoding="utf-8")
        for format_name in [None, *([own] if own in session_formats() else [])]:
            try:
                for transcript in read_sessions(str(path), MachineFiles(), format_name):
                    check_invariants(transcript, path)
                    record_of(transcript)
            except UnknownFormat:
                continue
