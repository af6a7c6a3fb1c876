"""Verifying sessions: what the chain of each log says, and the exit status that follows."""

from collections.abc import Iterable

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.evidence.audit_log import Verdict, read_log
from rulebook.ports import Files
from rulebook.services.store import find_session, is_session_id

PASSING: frozenset[Verdict] = frozenset(("intact", "imported"))
WITHOUT_CHAIN: frozenset[Verdict] = frozenset(("unchained", "partly_chained"))

DONE, UNKNOWN, AUDIT_GAP = 0, 1, 9


class Verified(Struct, frozen=True):
    """What verifying one session said. `asked` is the word it was asked by; `path` is None when there is no such log.

    `at` is the byte offset of the line where the log broke, `after` that of the line before it. `accepted` says
    whether the verdict is good enough for what was asked.
    """

    asked: str
    path: str | None
    verdict: Verdict | None
    accepted: bool
    reason: str
    session: str | None = None
    events: int = 0
    chained: int = 0
    at: int | None = None
    after: int | None = None
    sha256: str | None = None
    head: str | None = None
    size_bytes: int = 0


class Verification(Struct, frozen=True):
    """What verifying several sessions said, in the order they were asked for."""

    sessions: tuple[Verified, ...]

    @property
    def exit_status(self) -> int:
        """9 when a log cannot be verified, else 1 when a session is unknown, else 0."""
        if any(one.verdict is not None and not one.accepted for one in self.sessions):
            return AUDIT_GAP
        return DONE if all(one.accepted for one in self.sessions) else UNKNOWN


def verify_sessions(words: Iterable[str], files: Files, *, allow_unchained: bool = False) -> Verification:
    """Verify each session that `words` name, by id or by path. It writes nothing and raises for none of them."""
    passing = PASSING | WITHOUT_CHAIN if allow_unchained else PASSING
    return Verification(tuple(_verified(word, files, passing) for word in words))


def verification_lines(verification: Verification) -> list[str]:
    """The result for people, a line a session."""
    return [_line(one) for one in verification.sessions]


def verification_json(verification: Verification) -> dict[str, object]:
    """The result for programs: `rulebook.session-verification` version 1."""
    return {
        "schema": "rulebook.session-verification",
        "version": 1,
        "passed": verification.exit_status == DONE,
        "sessions": [
            {name: getattr(one, name) for name in sorted(one.__struct_fields__)} for one in verification.sessions
        ],
    }


def _verified(word: str, files: Files, passing: frozenset[Verdict]) -> Verified:
    try:
        path = find_session(word)
    except UsageError as fault:
        return Verified(word, None, None, False, str(fault))
    asked = word if is_session_id(word) and path != word else None
    reading = read_log(path, files, session_id=asked)
    accepted, reason = reading.verdict in passing, reading.reason
    if accepted and reading.record.stranger is not None:
        other, offset = reading.record.stranger
        accepted, reason = False, f"the line at byte {offset} is of another session, `{other}`"
    return Verified(
        word,
        path,
        reading.verdict,
        accepted,
        reason,
        reading.record.session_id,
        reading.events,
        reading.chained,
        reading.at,
        reading.after,
        reading.sha256 or None,
        reading.head or None,
        reading.size_bytes,
    )


def _line(one: Verified) -> str:
    if one.verdict is None:
        return one.reason
    events = "1 event" if one.events == 1 else f"{one.events:,} events"
    said = one.verdict.replace("_", " ")
    if one.accepted and one.verdict == "intact":
        return f"{one.asked}: {said}, {events}"
    return f"{one.asked}: {said}, {events}: {one.reason}"
