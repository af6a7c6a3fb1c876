"""`python`: a judge of the harness's own."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Wants
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.outcome import Outcome
from rulebook.ports import Ports


def _names_a_class(text: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", text):
        return text
    words = {"value": text, "what": "a class", "example": "`my_package.judges:PoliteJudge`"}
    raise refused(LanguageError(Fault("RB214", words)))


class Python(Check, kind="python"):
    """A class of your own judges: a subclass of `rulebook.judges.Judge`.

    Source: scoring, "Writing your own judge".
    """

    short = "use"
    score_range = (-float("inf"), float("inf"))

    use: Annotated[str, AfterValidator(_names_a_class)] = Field(description="The class, as `module:Class`.")
    args: Mapping[str, object] = Field(default_factory=dict, description="What it is made with, by name.")

    def wants(self) -> Wants:
        """Every message, with its calls and their results."""
        return Wants(messages=True, tool_calls=True)

    def sentence(self) -> str:
        """What it asks for."""
        return f"The judge `{self.use}` passes it."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Make the judge and ask it. Raises Missing where code is not allowed, or cannot be had."""
        from rulebook.evidence.judging import asked_class, run_of  # lint runs no code

        if ports.code is None:
            allow = "pass `--allow-python`, or `allow_python=True`"
            raise Missing("harness", f"`{self.use}` is code of your own, which runs only where you allow it: {allow}")
        made = ports.code.load(self.use)
        transcript = evidence.run if evidence.run is not None else run_of(evidence.session)
        return asked_class(made, self.args, transcript)
