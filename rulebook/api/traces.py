"""The session of a row, as its column `trace` names it. Source: scorers-facts §9."""

import os
import sys
from collections.abc import Iterable

from rulebook.errors import AuditGapError, Missing, UnfitKind, UnfitOption, UnknownFormat, UsageError

TRACE = "trace"
"""The column that names the session of a row. A function and a judge may ask for it where no row has it."""


def session_of(value: object, folder: str = "") -> object:
    """The session that a row's `trace` names, as a `Transcript`; None for a row that names none.

    `value` is the path of a session file in `folder`, of any program whose sessions are read (`FILE#NAME` for one of
    several), a stored session's id, or a `Transcript`, which is given back. Raises UnfitKind for anything else, and
    UnfitOption for a session that is not there, is damaged, or has no messages.
    """
    from rulebook.evidence.run_transcript import Transcript  # the models of its events are for who reads one

    if value is None or isinstance(value, Transcript):
        return value
    if not isinstance(value, str) or not value.strip():
        raise UnfitKind(f"`trace` names a session by its file or its id; this is {value!r:.80}.")
    try:
        return _read(_found(value, folder))
    except (UsageError, Missing, AuditGapError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnfitOption(f"`trace` names a session that cannot be read: `{value:.200}`: {reason}") from error


def sessions_among(columns: Iterable[str]) -> frozenset[str]:
    """Those of the columns of a judge that name a session; a row may be without them."""
    return frozenset({TRACE}.intersection(columns))


def is_session(hint: object) -> bool:
    """Whether an annotation asks for a `Transcript`: whoever wrote one has imported it."""
    module = sys.modules.get("rulebook.evidence.run_transcript")
    return module is not None and (hint is module.Transcript or module.Transcript in getattr(hint, "__args__", ()))


def _found(value: str, folder: str) -> str:
    """The file beside the rules, where there is one; else what the store or the working folder has under that name."""
    beside = os.path.join(folder, value)
    return beside if os.path.lexists(beside) or os.path.lexists(beside.rpartition("#")[0]) else value


def _read(word: str) -> object:
    from rulebook.api.own_machine import own_ports
    from rulebook.api.transcripts import read_transcript
    from rulebook.evidence.judging import run_of
    from rulebook.evidence.record import Wants
    from rulebook.session.opening import open_session

    try:
        return read_transcript(word)  # one of a run keeps every event
    except (UnknownFormat, OSError):
        opened = open_session(word, Wants(messages=True, tool_calls=True), own_ports().files)
    if not opened.audit.accepted:
        raise AuditGapError(opened.audit.verdict, opened.audit.reason or f"its log is {opened.audit.verdict}")
    return run_of(opened.record)
