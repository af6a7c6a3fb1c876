"""One file that a rule asks about: of the repository, of a submission, or the submission itself."""

from msgspec import Struct

from rulebook.evidence.bundle import Evidence
from rulebook.evidence.lfs import is_pointer
from rulebook.evidence.repository import in_words
from rulebook.evidence.submission import Submission
from rulebook.outcome import Seen
from rulebook.ports import FileFacts


class OneFile(Struct, frozen=True):
    """The file at `path`: in the repository, or where `submission` says so in a folder that was handed in.

    An empty `path` is the submission itself.
    """

    evidence: Evidence
    path: str
    submission: str | None = None

    @property
    def called(self) -> str:
        """How messages name it."""
        return f"`{self.path}`" if self.submission is None else self._handed_in.called(self.path)

    def facts(self) -> FileFacts | None:
        """What stands there, without following links; None when nothing does. Raises Missing when nobody can tell."""
        if self.submission is None:
            return self.evidence.repository.facts(self.path)
        return self._handed_in.facts(self.path)

    def present(self) -> bool:
        """Whether anything stands there, a link that leads to nothing too."""
        if self.submission is None:
            return self.evidence.repository.present(self.path)
        return self._handed_in.facts(self.path) is not None

    def absence(self) -> str:
        """Why it does not count as being there; empty when it does."""
        if self.submission is None:
            return self.evidence.repository.absence(self.path)
        facts = self._handed_in.facts(self.path)
        if facts is None:
            return "it was not handed in"
        return in_words(facts, self.path) if facts.kind in ("link", "other") else ""

    def read(self, limit_bytes: int) -> bytes:
        """Its bytes. Raises NotHandedIn when it is not there, no regular file, or larger than the limit."""
        if self.submission is None:
            return self.evidence.repository.read(self.path, limit_bytes)
        return self._handed_in.read(self.path, limit_bytes)

    def pointer(self) -> str:
        """What to say when it is a pointer of Git LFS, which stands for the content; else empty."""
        found = self.submission is None and is_pointer(self.evidence.repository, self.path)
        return "it is a Git LFS pointer, not the content" if found else ""

    def seen(self, line: int | None = None, note: str = "") -> Seen:
        """The place of a finding in it."""
        if self.submission is None:
            return Seen(path=self.path, line=line, note=note or None)
        where = f"submission {self.submission}{'/' if self.path else ''}{self.path}"
        return Seen(note=where if line is None else f"{where}, line {line}")

    @property
    def _handed_in(self) -> Submission:
        return self.evidence.submission(self.submission or "")
