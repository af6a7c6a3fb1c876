"""Session files come from strangers: whatever bytes they hold, reading ends, in our own errors alone, and never as a
clean success where a call that the whole file tells of is told no more."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from session_mutations import Damaged, damaged
from sessions_read import OWN, check_invariants, read

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_sessions, session_formats
from rulebook.evidence.record import Record
from rulebook.evidence.transcript import ToolCall, Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

SEEDS = sorted(
    path for path in OWN.glob("*/**/*") if path.is_file() and path.name not in ("expected.yaml", "refused.yaml")
)
TOLD = {
    path.parent / name
    for path in OWN.glob("*/expected.yaml")
    for name in yaml.safe_load(path.read_text(encoding="utf-8"))
}
LONGEST_S = 20


class Known(NamedTuple):
    """What the whole file tells: each call with the texts that are evidence of it, and how often it warns of what."""

    calls: list[tuple[ToolCall, list[bytes]]]
    warnings: Counter[tuple[str, int | None]]
    uncarried: bool


def test_damaged_sessions_are_read_or_refused_and_never_a_clean_success(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Every seed in turn, `--mutations` copies in all. A failure says which copy of which file: `damaged(path, n)`."""
    known = {seed: _known(seed) for seed in SEEDS}
    wrong: list[str] = []
    for number in range(request.config.getoption("--mutations")):
        seed = SEEDS[number % len(SEEDS)]
        copy = damaged(seed, number // len(SEEDS))
        fault = _fault(copy, known[seed], seed, number, tmp_path)
        if fault is not None:
            wrong.append(f"{seed.parent.name}/{seed.name} #{number // len(SEEDS)} ({copy.done[:200]}): {fault}")
    assert not wrong, f"{len(wrong)} copies:\n" + "\n".join(wrong[:30])


def _fault(copy: Damaged, known: Known | None, seed: Path, number: int, tmp_path: Path) -> str | None:
    path = tmp_path / "session"
    path.write_bytes(copy.data)
    own = seed.parent.name if number % 3 == 0 and seed.parent.name in session_formats() else None
    try:
        with _in_time():
            read_ = list(read_sessions(str(path), MachineFiles(), own))
            for transcript in read_:
                check_invariants(transcript, path)
            records = [record_of(transcript) for transcript in read_]
    except UnknownFormat:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if known is None or known.uncarried else _clean_success(copy, known, read_, records)


def _clean_success(copy: Damaged, known: Known, read_: list[Transcript], records: list[Record]) -> str | None:
    """A call of which the file still holds evidence, of which no reading tells, and no reading doubts itself."""
    warned = Counter((warning.code, warning.where) for transcript in read_ for warning in transcript.warnings)
    doubts = bool(warned - known.warnings) or any("tool_calls" not in record.carries for record in records)
    if doubts or all(record.did_nothing for record in records):
        return None
    told = [call for transcript in read_ for call in _calls(transcript)]
    names, ids = {call.name for call in told}, {call.id.partition("~")[0] for call in told if call.name}
    for call, evidence in known.calls:
        hidden = call.name not in names and call.id.partition("~")[0] not in ids
        if hidden and any(text in copy.data for text in evidence):
            return f"the call `{call.id}` of `{call.name}` is hidden"
    return None


def _known(seed: Path) -> Known | None:
    if seed not in TOLD:
        return None
    data = seed.read_bytes()
    read_ = list(read_sessions(str(seed), MachineFiles()))
    calls = [(call, _evidence(call, data)) for transcript in read_ for call in _calls(transcript)]
    warnings = Counter((warning.code, warning.where) for transcript in read_ for warning in transcript.warnings)
    uncarried = any("tool_calls" not in record_of(transcript).carries for transcript in read_)
    return Known([(call, evidence) for call, evidence in calls if evidence], warnings, uncarried)


def _calls(transcript: Transcript) -> list[ToolCall]:
    threads = [transcript.messages, *(thread.messages for thread in transcript.threads)]
    return [call for messages in threads for message in messages for call in message.tool_calls]


def _evidence(call: ToolCall, data: bytes) -> list[bytes]:
    """Its id, where the file states one; else the longest text among its arguments, where that stands in one place."""
    own = json.dumps(call.id).encode()
    if own in data:
        return [own]
    texts = [value for value in (call.args or {}).values() if isinstance(value, str) and len(value) > 9]
    longest = [json.dumps(text)[1:-1].encode() for text in sorted(texts, key=len)[-1:]]
    return [text for text in longest if data.count(text) == 1]


@contextmanager
def _in_time() -> Iterator[None]:
    """Turns a reading that does not end into a failure."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"it takes longer than {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


HOSTILE = {
    "deep_json": b'{"messages": ' + b"[" * 100_000,
    "deep_line": b'{"type":"user","sessionId":"s","uuid":"u","message":{"content":'
    + b"[" * 5000
    + b"]" * 5000
    + b"}}\n",
    "deep_arguments": b'[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"'
    + b"[" * 5000
    + b'"}}]}]',
    "deep_yaml": b"interactions: " + b"[" * 100_000,
    "aliases": b"interactions:\n"
    + b"\n".join(b"- &a%d [%s]" % (n, b", ".join([b"*a%d" % (n - 1)] * 9) if n else b"x") for n in range(12)),
    "merges": b"interactions:\n- &a0 {k: v}\n"
    + b"\n".join(b"- &a%d {<<: [%s]}" % (n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)),
    "own_alias": b"interactions: &a [*a]\n",
    "an_object": b"interactions:\n- !!python/object/apply:os.system [echo]\n",
    "long_number": b'[{"role": "user", "content": ' + b"9" * 100_000 + b"}]",
    "nothing_but_brackets": b"[[" * 40_000,
    "half_a_character": b'[{"role": "user", "content": "\\ud83d"}]',
    "many_spaces": b'{"messages": [' + b" " * 60_000 + b'{"role": "user", "content": "x"}]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(HOSTILE[name])
    try:
        transcript = read(path)
    except UnknownFormat:
        return
    check_invariants(transcript, path)
