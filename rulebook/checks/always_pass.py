"""`always_pass`: passes whatever happened."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from rulebook.checks import Check
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import said
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


def _nothing_is_yes(written: object) -> object:
    """`always_pass: {}` reads like the reference's `AlwaysPassJudge()`."""
    return True if written == {} else written


class AlwaysPass(Check, kind="always_pass"):
    """Scores 1 and passes: for a step that only sets something up, or as a placeholder.

    Source: scoring, AlwaysPassJudge.
    """

    short = "wanted"
    score_range = (1.0, 1.0)

    wanted: Annotated[bool, BeforeValidator(_nothing_is_yes), AfterValidator(said("always_pass"))] = Field(
        True, description="Write `true`."
    )

    def sentence(self) -> str:
        """What it asks for."""
        return "It always passes."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Pass."""
        return binary(True)
