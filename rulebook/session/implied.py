"""The findings that no file writes: that the session ended, and that it began where it should have."""

from msgspec import Struct

from rulebook.evidence.record import Record
from rulebook.outcome import Outcome, Unmeasured, binary


class BaseCommit(Struct, frozen=True):
    """The commit from which a session is said to have started.

    `asked` is the name in the spec, `resolved` its full object id in the repository (None: `reason` says why there is
    none), `logged` what the log recorded when the workspace was opened. `own`: it was looked up in the very repository
    that is judged, where the student could move a tag or a branch.
    """

    asked: str
    resolved: str | None = None
    logged: str | None = None
    reason: str = ""
    own: bool = False

    @property
    def known(self) -> str | None:
        """The commit to compare with; None where nothing that the student could not move names it."""
        if self.logged is not None:
            return self.logged
        return None if self.own and self.asked != self.resolved else self.resolved

    @property
    def unknown(self) -> str:
        """Why there is no commit to compare with."""
        if self.resolved is not None and self.known is None:
            return f"`{self.asked}` is a name in the student's own repository and can be moved: pin the full commit id"
        return self.reason or "no base commit is known"


def session_ended(record: Record) -> Outcome:
    """Whether the log reaches the session's end: a cut log is our fault, and proves nothing about the model."""
    if "end" not in record.carries:
        return Unmeasured("harness", f"{record.title} does not say whether it ended")
    if record.end is None:
        return binary(False, expected="a `session.end`", actual="none", reason="the log stops before the session ended")
    if record.end.end.reason == "unknown":
        return Unmeasured("harness", "the file does not say how the session ended")
    end = record.end.end
    return binary(True, expected="a `session.end`", actual=end.reason, seen=(record.end.seen,))


def began_at(base: BaseCommit, record: Record) -> Outcome:
    """Whether the spec's base commit is the one that the log recorded.

    A foreign format records none: there the commit's being in the repository is all that can be asked.
    """
    if base.resolved is None:
        return Unmeasured("fixture", base.reason, expected=base.asked)
    if base.known is None:
        return Unmeasured("fixture", base.unknown, expected=base.asked)
    if base.logged is None and "workspace" in record.carries:
        return Unmeasured("fixture", "the log has no `workspace.open`, so it does not say where the session started")
    if base.logged is None:
        return binary(True, expected=base.resolved, actual="in the repository; the session file does not name it")
    reason = "" if base.logged == base.resolved else "the session started at another commit"
    return binary(base.logged == base.resolved, reason, expected=base.resolved, actual=base.logged)
