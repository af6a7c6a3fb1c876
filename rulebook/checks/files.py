"""`files`: files whose bytes must be exactly these in the end."""

from hashlib import sha256

from pydantic import BaseModel, ConfigDict, Field

from rulebook.checks import Check
from rulebook.errors import NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.languages.fields import RepositoryPath
from rulebook.languages.values import Several, Sha256
from rulebook.outcome import Measurement, Outcome, Seen
from rulebook.ports import Ports
from rulebook.spelling import listed

MOST_BYTES = 256 * 1024 * 1024
"""Larger files are not hashed."""


class PinnedFile(BaseModel):
    """One file and the digest of its bytes."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    path: RepositoryPath = Field(description="The path of the file, from the top of the repository.")
    sha256: Sha256 = Field(description="The SHA-256 of the file's bytes, in small hexadecimal letters.")


class Files(Check, kind="files"):
    """Each of these files has exactly the bytes that its digest was made from.

    Source: session-evals, `files`.
    """

    short = "files"
    category = "fixture"
    in_expect = True
    each = "files"

    files: Several[PinnedFile] = Field(description="The files: for each its `path` and its `sha256`.")

    @classmethod
    def item_name(cls, item: object) -> str:
        """The path of a file."""
        return item.path if isinstance(item, PinnedFile) else str(item)

    def sentence(self) -> str:
        """What it asks for."""
        return f"These files have exactly the expected bytes: {listed(pin.path for pin in self.files)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:  # noqa: ARG002
        """Hash every file. One that is no regular file, or is too large to hash, is the student's fault.

        Raises Missing in `fixture` when the repository cannot be read.
        """
        repository = evidence.repository
        reasons: dict[str, str] = {}
        actual: dict[str, str] = {}
        absent = False
        for pin in self.files:
            try:
                actual[pin.path] = sha256(repository.read(pin.path, MOST_BYTES)).hexdigest()
            except NotHandedIn as error:
                absent, reasons[pin.path] = True, error.reason
                continue
            if actual[pin.path] != pin.sha256:
                reasons[pin.path] = f"`{pin.path}` has other bytes"
        shown = next((pin for pin in self.files if pin.path in reasons), self.files[0])
        return Measurement(
            score=0.0 if reasons else 1.0,
            passed=not reasons,
            reason="; ".join(reasons.values()),
            expected=shown.sha256,
            actual=actual.get(shown.path, "absent"),
            student_fault=absent,
            seen=tuple(Seen(path=path) for path in reasons or (pin.path for pin in self.files)),
        )
