"""`forbidden_paths`: paths that must not be there in the end."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.bundle import Evidence
from rulebook.languages.fields import RepositoryPath
from rulebook.languages.values import Several
from rulebook.outcome import Outcome, Seen, binary
from rulebook.ports import Ports
from rulebook.spelling import listed


class ForbiddenPaths(Check, kind="forbidden_paths"):
    """None of these paths is there in the resulting repository; a link that leads to nothing is there too.

    Source: session-evals, `forbidden_paths`.
    """

    short = "paths"
    category = "fixture"
    negative = True
    in_expect = True
    each = "paths"

    paths: Several[RepositoryPath] = Field(
        description="The paths, from the top of the repository, such as `conftest.py`."
    )

    def sentence(self) -> str:
        """What it asks for."""
        return f"The repository does not have {listed(self.paths)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:  # noqa: ARG002
        """Look every path up. Raises Missing in `fixture` when the repository cannot be read."""
        repository, record = evidence.repository, evidence.record
        found = [path for path in self.paths if repository.present(path)]
        reason = f"present: {listed(found)}" if found and len(self.paths) > 1 else ""
        return binary(
            not found,
            reason,
            expected="absent",
            actual="present" if found else "absent",
            seen=tuple(Seen(path=path) for path in found),
            vacuous=not found and record is not None and record.did_nothing,
        )
