"""Session files come from strangers: whatever bytes they hold, reading ends, in our own errors alone."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sessions_read import OWN, check_invariants, read

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import session_formats
from rulebook.evidence.transcript_record import record_of

SEEDS = sorted(
    path for path in OWN.glob("*/**/*") if path.is_file() and path.name not in ("expected.yaml", "refused.yaml")
)
PIECES = st.sampled_from(
    [
        b"", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"null", b"true", b"-1", b"1e999", b"NaN",
        b'"\\ud800"', b"[]", b"{}", b'"tool_use"', b'"assistant"', b"\xff", b"\x00", b'""', b"&a", b"*a",
        b"9" * 5000,
    ]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """One of our sessions with pieces of it cut out, doubled or replaced."""
    data = draw(st.sampled_from(SEEDS)).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        fresh = draw(st.one_of(PIECES, st.just(data[start:end] * 2), st.binary(max_size=8)))
        data = data[:start] + fresh + data[end:]
    return data


@settings(max_examples=400, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated(), name=st.sampled_from([None, *session_formats()]))
def test_mutated_sessions_are_read_or_refused(data: bytes, name: str | None, tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(data)
    try:
        transcript = read(path, name)
    except UnknownFormat:
        return
    check_invariants(transcript, path)
    record_of(transcript)


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
