"""`python`: a judge of the harness's own."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Wants
from rulebook.languages.faults import LanguageError, refused
from rulebook.languages.fields import read_class_name
from rulebook.outcome import Outcome
from rulebook.ports import Ports


def _names_a_class(text: str) -> str:
    try:
        return read_class_name(text)
    except LanguageError as error:
        raise refused(error) from error


class Python(Check, kind="python"):
    """A class of your own judges: a subclass of `rulebook.judges.Judge`.

    Source: scoring, "Writing your own judge".
    """

    short = "use"
    score_range = (-float("inf"), float("inf"))

    use: Annotated[str, AfterValidator(_names_a_class)] = Field(description="The class, as `module:Class`.")
    args: Mapping[str, object] = Field(default_factory=dict, description="What it is made with, by name.")

    def runs_code(self) -> bool:
        """It does nothing else."""
        return True

    def wants(self) -> Wants:
        """Every message, with its calls and their results."""
        return Wants(messages=True, tool_calls=True)

    def sentence(self) -> str:
        """What it asks for."""
        return f"The judge `{self.use}` passes it."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Make the judge and ask it. Raises Missing where code is not allowed, or cannot be had."""
        from rulebook.evidence.judging import asked_class, class_named, run_in  # lint runs no code

        return asked_class(class_named(self.use, ports), self.args, run_in(evidence))
