"""`required_paths`: paths that must be there in the end."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.bundle import Evidence
from rulebook.languages.fields import RepositoryPath
from rulebook.languages.values import Several
from rulebook.outcome import Outcome, Seen, binary
from rulebook.ports import Ports
from rulebook.spelling import listed


class RequiredPaths(Check, kind="required_paths"):
    """Each of these paths is there in the end: a file, a folder, or a link that stays inside.

    Source: session-evals, `required_paths`.
    """

    short = "paths"
    category = "fixture"
    in_expect = True
    each = "paths"

    paths: Several[RepositoryPath] = Field(
        description="The paths, from the top of the repository, such as `src/parser.py`."
    )

    def sentence(self) -> str:
        """What it asks for."""
        return f"The repository has {listed(self.paths)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:  # noqa: ARG002
        """Look every path up. Raises Missing in `fixture` when the repository cannot be read."""
        repository = evidence.repository
        absent = {path: why for path in self.paths if (why := repository.absence(path))}
        one = len(self.paths) == 1
        reason = "; ".join(why if one else f"`{path}`: {why}" for path, why in absent.items())
        return binary(
            not absent,
            reason,
            expected="present",
            actual="absent" if absent else "present",
            seen=tuple(Seen(path=path) for path in absent or self.paths),
        )
