"""Every exception that Rulebook raises, in one tree.

    RulebookError
    ├── UsageError            the command line, or what a Python caller passed, is not valid
    │   ├── UnknownFormat     a session file that no reader knows, or that more than one could read
    │   │   └── SeveralSessions   a file of several sessions, and nothing says which of them is meant
    │   ├── UnfitPath         no submission can lie at that path
    │   ├── DestinationTaken  something stands already where a copy should go
    │   ├── UnfitScoring      a score that is no number, or metadata that is no data
    │   ├── UnfitOption       an option or a result of a scorer whose value cannot be
    │   ├── UnfitKind         one that is of the wrong kind, missing or unknown
    │   ├── DatasetError      a dataset that cannot be read, stored or found
    │   ├── NotComparable     two runs that say nothing about each other
    │   └── NotAllowedHere    killing or deleting for a user whom, or a place where, we must not
    ├── RuleFileError         a rule file is not valid; carries every diagnostic
    ├── AuditGapError         a log or a capture cannot be verified
    └── EvidenceError         raised while evidence is read
        ├── Missing           our side did not supply it: becomes Unmeasured
        ├── NotHandedIn       the student did not supply it, or spoiled it: becomes a student fault
        ├── MisbehaviorError  the student did something dubious: becomes Misbehavior
        │   ├── MissingParentError      the folder that should hold a submission is not there
        │   ├── UnreapableCohortError   its processes could not all be ended
        │   └── ReclaimError            its files could not all be removed
        └── OutOfTime         a rule's `timeout` ran out while it was read or run

Any other exception that leaves a public function is a fault of ours. `Stopped`, which is no error, ends the program in
order when a signal asks for it.
"""

from collections.abc import Mapping

from rulebook.diagnostic import Diagnostic
from rulebook.outcome import CATEGORIES, Category, FaultCause


class RulebookError(Exception):
    """The root of the tree: catch it to catch everything that Rulebook raises on purpose."""


class Stopped(SystemExit):
    """A signal asked the program to end: what catches the `SystemExit` of somebody else's code lets this one go on."""


class UsageError(RulebookError):
    """What was asked for cannot be understood; the message says what to write instead."""


class UnknownFormat(UsageError):
    """A session file that is of no known format, of more than one, or broken; the message says what was seen."""


class SeveralSessions(UnknownFormat):
    """A file that holds several sessions where one was asked for; the message names them."""


class UnfitPath(UsageError, ValueError):
    """A path at which no submission can lie."""


class DestinationTaken(UsageError, FileExistsError):
    """Something stands already where a copy should go; it was not touched."""


class UnfitScoring(UsageError, ValueError):
    """A `Scoring` whose score, metadata or `continue_task` nobody could write down and read again."""


class UnfitOption(UsageError, ValueError):
    """An option of a scorer, or a result that a scorer gave, whose value cannot be."""


class UnfitKind(UsageError, TypeError):
    """An option, a column or a result of a scorer that is of the wrong kind, missing or unknown."""


class DatasetError(UsageError):
    """A dataset that cannot be read, stored or found; the message says which row and line, and what to do."""


class NotComparable(UsageError):
    """Two runs of evaluations that were found, and say nothing about each other."""


class NotAllowedHere(UsageError, RuntimeError):
    """What kills or deletes was asked for in a place, or for a user, where it could hit others than the student."""


class RuleFileError(RulebookError):
    """A rule file that cannot be loaded. `diagnostics` holds every problem, errors first in the file's order."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        first = next((d for d in diagnostics if d.severity == "error"), diagnostics[0])
        more = len(diagnostics) - 1
        super().__init__(f"{first} (and {more} more)" if more else str(first))


class AuditGapError(RulebookError):
    """A log or a capture that cannot be verified; `verdict` is the word that `session verify` prints."""

    def __init__(self, verdict: str, reason: str) -> None:
        self.verdict = verdict
        super().__init__(reason)


class EvidenceError(RulebookError):
    """Something a rule asked of the evidence is not there, or cannot be told."""


class Missing(EvidenceError):
    """Our side could not tell; `category` is whose failure that is, `metadata` what had been found before.

    Raises UsageError for a category that there is not.
    """

    def __init__(self, category: Category, reason: str, *, metadata: Mapping[str, object] | None = None) -> None:
        if category not in CATEGORIES:
            raise UsageError(f"`{category}` isn't a category. Write one of {', '.join(CATEGORIES)}.")
        self.category: Category = category
        self.reason = reason
        self.metadata = metadata or {}
        super().__init__(reason)


class NotHandedIn(EvidenceError):
    """The student wrote nothing there, or what it wrote cannot be used; `cause` says which."""

    def __init__(self, reason: str, *, cause: FaultCause = "unfit") -> None:
        self.reason = reason
        self.cause: FaultCause = cause
        super().__init__(reason)


class MisbehaviorError(EvidenceError):
    """The student tried to cheat or to break the judge.

    `listing` is the path of a file that lists what stood there then, None where nothing was listed; `metadata` is what
    had been found before.
    """

    def __init__(
        self, reason: str, *, listing: str | None = None, metadata: Mapping[str, object] | None = None
    ) -> None:
        self.reason = reason
        self.listing = listing
        self.metadata = metadata or {}
        super().__init__(reason)


class MissingParentError(MisbehaviorError):
    """The folder that should hold a submission is not there."""


class UnreapableCohortError(MisbehaviorError, RuntimeError):
    """The student's processes could not all be ended in time."""


class ReclaimError(MisbehaviorError):
    """The student's files could not all be removed."""


class OutOfTime(EvidenceError):
    """A time limit ran out. `material` says whose material was at work: the student's, or ours."""

    def __init__(self, limit_s: float, *, material: bool) -> None:
        self.limit_s = limit_s
        self.material = material
        super().__init__(f"ran out of time after {limit_s:g} s")
