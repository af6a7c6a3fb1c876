"""`sql`: an SQL expression over the columns of a row gives the score."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.languages.faults import LanguageError, refused
from rulebook.languages.sql import read_sql
from rulebook.outcome import Measurement, Outcome, reaches
from rulebook.ports import Ports

_SHOWN = 60


def _expression(text: str) -> str:
    try:
        return read_sql(text)
    except LanguageError as error:
        raise refused(error) from None


class Sql(Check, kind="sql"):
    """The score is what an SQL expression gives for the row. It is any number; a row that gives none is unmeasured.

    Source: scorers, "SQL expression scorers".
    """

    short = "expression"
    score_range: ClassVar[tuple[float, float]] = (-float("inf"), float("inf"))
    needs_threshold = True
    for_rows = True

    expression: Annotated[str, AfterValidator(_expression)] = Field(
        description="One value in SQL, worked out from the row's columns and `output`."
    )

    def sentence(self) -> str:
        """What it asks for."""
        line = " ".join(self.expression.split())
        return f"The score is what this SQL gives: `{line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Work the expression out for the row."""
        if evidence.row is None:
            raise Missing("harness", "no row was given: `sql` scores the rows of an evaluation")
        if ports.tables is None:
            raise Missing("harness", "nothing is at hand that works SQL out")
        score = ports.tables.score(self.expression, evidence.row)
        return Measurement(score, reaches(score, 1.0), actual=score)
