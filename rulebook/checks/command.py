"""`command`: a program run over the resulting repository."""

from collections.abc import Iterable

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.errors import OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.trial import ended, run_over
from rulebook.languages.fields import Duration, LiveArgv
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports

DEFAULT_TIMEOUT_S = 600.0


class Command(Check, kind="command"):
    """A program, run in a throw-away copy of the resulting repository, ends with this exit status."""

    short = "argv"
    category = "test"

    argv: LiveArgv = Field(description="The program and its arguments, one word each; templates. There is no shell.")
    exit: int = Field(0, ge=0, le=255, description="The exit status that passes.")
    timeout: Duration = Field(
        DEFAULT_TIMEOUT_S,
        description="How long it may run, such as `30s`; 10 minutes by default.",
        json_schema_extra={"default": "10m"},
    )

    def wants(self) -> Wants:
        """What the templates among its words need."""
        return wants_of_names(frozenset().union(*(word.names() for word in self.argv)))

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The words of the command."""
        for index, word in enumerate(self.argv):
            yield ("argv", index), word, scope

    def sentence(self) -> str:
        """What it asks for."""
        return f"`{' '.join(word.text for word in self.argv)}` ends with exit {self.exit}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Copy the repository and run the program in the copy.

        Raises NotHandedIn or Missing when it cannot be started, OutOfTime when the rule's time ends first.
        """
        repository = evidence.repository
        argv = [filled(word, evidence) for word in self.argv]
        left_s = ports.time_left(self.timeout)
        done = run_over(repository, argv, left_s, (), ports)
        if done.timed_out and left_s < self.timeout:
            raise OutOfTime(left_s, material=True)
        return ended(done, self.exit, self.timeout)
