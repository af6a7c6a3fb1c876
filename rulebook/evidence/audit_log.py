"""An audit log, read once: the chain is verified while the events are folded into the session's facts.

Source: session-evals, the audit log. The hash of a line is that of its bytes on disk, and lines end at the
newline byte alone. Memory: a block, the line at hand, and what the caller's `Wants` keeps.
"""

from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct

from rulebook.evidence.log_events import HEADER, Undecodable, decoded, fault_of
from rulebook.evidence.log_fold import LogFold
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.transcript import Transcript
from rulebook.ports import ByteStream, Files

Verdict = Literal["intact", "imported", "unchained", "partly_chained", "broken", "torn", "undecodable", "unreadable"]
"""What the chain says of a log. Only `broken` means that it was edited; `torn` is what a crash leaves."""

LINE_LIMIT_BYTES = 64 * 1024 * 1024
"""A longer line is undecodable, and nothing after it is looked at: no line can take more memory than this."""

COUNTS_ONLY = Wants()


class LogReading(Struct, frozen=True):
    """What one pass over a log found; `reason` says the verdict in words.

    `at` is the byte offset of the line that the verdict is about and `after` of the line before it (0: the
    header); None where it is about no line. `events` counts the lines that were decoded, `chained` those among
    them with a `prev`. `sha256` is that of the whole file, `head` that of the last whole line, which the chain
    does not cover; both are empty for an unreadable log. `transcript` is that of a session which was imported.
    """

    verdict: Verdict
    record: Record
    events: int = 0
    chained: int = 0
    at: int | None = None
    after: int | None = None
    sha256: str = ""
    head: str = ""
    size_bytes: int = 0
    reason: str = ""
    transcript: Transcript | None = None


def read_log(path: str, files: Files, wants: Wants = COUNTS_ONLY, *, session_id: str | None = None) -> LogReading:
    """Verify and fold the log at `path`. It never raises for what the log is or holds: the verdict says it.

    `session_id` is the session that the log should be of; None takes the first event's.
    """
    scan = _Scan(LogFold(wants, session_id))
    try:
        with files.open(path) as stream:
            block = stream.read(_BLOCK_BYTES)
            header, newline, _ = block.partition(b"\n")
            if header != HEADER or not newline:
                return _unreadable(wants, _header_fault(header))
            scan.read(block, stream)
    except OSError as fault:
        return _unreadable(wants, f"it cannot be read: {fault.strerror or fault}")
    except ValueError:
        return _unreadable(wants, "it cannot be read: no file can have this name")
    return scan.reading()


_BLOCK_BYTES = 64 * 1024
"""Larger blocks are slower: their lines no longer fit in the processor's cache."""


class _Scan:
    """The pass itself: what it has seen so far of the chain, and the fold that it feeds."""

    def __init__(self, fold: LogFold) -> None:
        self._fold = fold
        self._whole = sha256()
        self._head = sha256(HEADER).hexdigest()
        self._at, self._after = len(HEADER) + 1, 0
        self._events = self._unchained = self._size = 0
        self._torn = False
        self._broken: tuple[int, int] | None = None
        self._undecodable: tuple[int, int, str] | None = None

    def read(self, block: bytes, stream: ByteStream) -> None:
        """Take all lines, from the `block` that the header stands in on. A break of the chain does not stop it."""
        parts: list[bytes] = []
        start, taking = len(HEADER) + 1, True
        while block:
            self._whole.update(block)
            self._size += len(block)
            if taking:
                lines = block[start:].split(b"\n")
                if len(lines) > 1:
                    lines[0] = b"".join((*parts, lines[0]))
                    parts = [lines.pop()]
                    self._take(lines)
                else:
                    parts += lines
                    taking = len(parts) * _BLOCK_BYTES <= LINE_LIMIT_BYTES
            start = 0
            block = stream.read(_BLOCK_BYTES)
        self._torn = any(parts)
        if not taking:
            self._faulty(f"it is longer than {LINE_LIMIT_BYTES} bytes", self._at, self._after)

    def reading(self) -> LogReading:
        """The result of the pass."""
        verdict, place, reason = self._verdict()
        at, after = place or (None, None)
        record = self._fold.finish()
        record.sha256 = self._whole.hexdigest()
        return LogReading(
            verdict,
            record,
            self._events,
            self._events - self._unchained,
            at,
            after,
            record.sha256,
            self._head,
            self._size,
            reason,
            self._fold.transcript(),
        )

    def _take(self, lines: list[bytes]) -> None:
        """Take whole lines. Envelopes are taken apart right here: this loop is what checking a log costs."""
        fold, tallies, owner, expected = self._fold, self._fold.tallies, self._fold.owner, self._head
        at, after, events = self._at, self._after, self._events
        digests = [sha256(line).hexdigest() for line in lines]
        for line, envelope, digest in zip(lines, decoded(lines), digests, strict=True):
            try:
                session, time_ms, event = envelope["session"], envelope["time_ms"], envelope["event"]
                (kind,) = event
                payload, prev = event[kind], envelope.get("prev", "")
                if type(time_ms) is not int or type(envelope["id"]) is not int:
                    raise TypeError
                if session != owner:
                    owner = fold.other_session(session, at)
                tally = tallies[kind] if kind in tallies else fold.tally(kind, at, session, time_ms)
                tally.take(payload, at, time_ms)
                if prev != expected:
                    self._unlinked(prev, at, after)
                tally.count += 1
                events += 1
                last_ms = time_ms
            except (Undecodable, LookupError, TypeError, ValueError, AttributeError) as problem:
                self._faulty(str(problem) if isinstance(problem, Undecodable) else fault_of(envelope), at, after)
            expected = digest
            after, at = at, at + len(line) + 1
        if events > self._events:
            fold.until(last_ms)
        self._at, self._after, self._head, self._events = at, after, expected, events

    def _unlinked(self, prev: Any, at: int, after: int) -> None:
        """A line that does not name the hash of the line before it: not chained, or the place of an edit."""
        if type(prev) is not str:
            raise TypeError
        if not prev:
            self._unchained += 1
        elif self._broken is None:
            self._broken = at, after

    def _faulty(self, fault: str, at: int, after: int) -> None:
        if self._undecodable is None:
            self._undecodable = at, after, fault

    def _verdict(self) -> tuple[Verdict, tuple[int, int] | None, str]:
        """The verdict in order of gravity, the place it is about, and its reason."""
        if self._broken is not None:
            at, after = self._broken
            before = f"the line at byte {after}" if after else "the header"
            said = f"the event at byte {at} does not follow from {before}"
            return "broken", self._broken, f"{said}: something there was changed, moved or removed"
        if self._undecodable is not None:
            at, after, fault = self._undecodable
            return "undecodable", (at, after), f"the line at byte {at} is no event: {fault}"
        if self._torn:
            reason = f"the line at byte {self._at} was never finished, as after a crash"
            return "torn", (self._at, self._after), reason
        if self._unchained:
            chained = self._events - self._unchained
            if chained:
                return "partly_chained", None, f"{chained} of {self._events} events are chained"
            return "unchained", None, "no event is chained: an edit would not be noticed"
        if self._fold.is_import:
            return "imported", None, "the chain begins at the import: what is older is the source's word"
        return "intact", None, "every event follows from the one before it"


def _unreadable(wants: Wants, reason: str) -> LogReading:
    return LogReading("unreadable", Record(wants=wants), reason=reason)


def _header_fault(header: bytes) -> str:
    if header.startswith(b'{"chock_log":'):
        return "its first line is cut, or names a version of the log that is not known here"
    return f"its first line is not `{HEADER.decode()}`: another agent's session is first brought in by `session import`"
