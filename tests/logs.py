"""Valid chained audit logs for tests, written byte by byte without the product's own writer."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

SESSION = "01M8XKQ4T6ZJ5W3N9B2C7D1E0F"
START_MS = 1796047200000
HEADER = b'{"chock_log":1}'


def log_lines(
    events: Iterable[Mapping[str, object]],
    *,
    session: str = SESSION,
    start_ms: int = START_MS,
    chained: bool = True,
) -> list[bytes]:
    """The log's lines without their newlines, the header first; one event a second from `start_ms` on.

    An event is `{kind: payload}`. A key `_time_ms` or `_session` beside the kind replaces that line's time or session.
    """
    lines = [HEADER]
    for number, given in enumerate(events):
        event = {kind: payload for kind, payload in given.items() if kind not in ("_time_ms", "_session")}
        envelope: dict[str, object] = {
            "id": 0,
            "session": given.get("_session", session),
            "time_ms": given.get("_time_ms", start_ms + 1000 * number),
            "event": event,
            "version": 1,
        }
        if chained:
            envelope["prev"] = hashlib.sha256(lines[-1]).hexdigest()
        lines.append(json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode("utf-8"))
    return lines


def write_log(
    path: Path,
    events: list[dict[str, object]],
    *,
    session: str = SESSION,
    start_ms: int = START_MS,
    chained: bool = True,
) -> Path:
    """Write a valid log of `events` to `path` (its folders are made) and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = log_lines(events, session=session, start_ms=start_ms, chained=chained)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def rechained(lines: Iterable[bytes]) -> list[bytes]:
    """The same events with every `prev` worked out anew, as by someone who edits a log and covers it up."""
    result: list[bytes] = []
    for line in lines:
        if result:
            envelope = json.loads(line)
            envelope["prev"] = hashlib.sha256(result[-1]).hexdigest()
            line = json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        result.append(line)
    return result


def offsets(lines: Iterable[bytes]) -> list[int]:
    """The byte offset of each line of a log, the header's 0 first."""
    result, at = [], 0
    for line in lines:
        result.append(at)
        at += len(line) + 1
    return result
