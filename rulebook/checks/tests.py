"""`tests`: a declared test, a program run over the resulting repository."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.trial import ended
from rulebook.languages.fields import Duration, LiveArgv, RepositoryPath
from rulebook.languages.globs import GlobText
from rulebook.languages.types import Scope
from rulebook.languages.values import Named
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports

DEFAULT_TIMEOUT_S = 600.0


class Tests(Check, kind="tests"):
    """A program, run in a throw-away copy of the resulting repository, ends with exit status 0.

    Source: session-evals, `tests`.
    """

    category = "test"

    name: Named = Field(description="What the test is called; its finding is `tests[NAME]`.")
    argv: LiveArgv = Field(description="The program and its arguments, one word each. There is no shell.")
    timeout: Duration = Field(
        DEFAULT_TIMEOUT_S,
        description="How long it may run, such as `5m`; 10 minutes by default.",
        json_schema_extra={"default": "10m"},
    )
    take: Annotated[tuple[RepositoryPath, ...], Field(strict=False)] = Field(
        (),
        description="Run it in the base commit, with only these paths (such as `src/**`) taken over.",
    )

    @classmethod
    def item_name(cls, item: object) -> str:
        """The name of a test."""
        return item.name if isinstance(item, Tests) else str(item)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The words of the command, which see the parameters alone, and the patterns of `take`."""
        names = {name: kind for name, kind in scope.names.items() if name == "params"}
        for index, word in enumerate(self.argv):
            yield ("argv", index), word, Scope("a test's command", names)
        for index, pattern in enumerate(self.take):
            yield ("take", index), GlobText(pattern), scope

    def sentence(self) -> str:
        """What it asks for."""
        over = f", with only {', '.join(self.take)} taken over," if self.take else ""
        line = " ".join(word.text for word in self.argv)
        return f"The test `{self.name}` passes: `{line}`{over} ends with exit 0."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:  # noqa: ARG002
        """Ask how the test ended; it is run when it has not been yet. Raises what could not be had of it."""
        return ended(evidence.test(self.name), 0, self.timeout)
