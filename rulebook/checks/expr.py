"""`expr`: an expression over the evidence."""

from collections.abc import Iterable, Sequence

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.record import Wants
from rulebook.languages.formula import YesNoFormula, search_with
from rulebook.languages.types import MissingValue, Scope
from rulebook.outcome import Outcome, binary
from rulebook.place import Path
from rulebook.ports import Ports


class Expr(Check, kind="expr"):
    """A yes-or-no expression over the evidence holds. One that meets something unknown is unmeasured."""

    short = "formula"

    formula: YesNoFormula = Field(description="What must hold, such as `turns <= 8 and cost < 0.5`.")

    def wants(self) -> Wants:
        """What the names that it reads need."""
        return wants_of_names(self.formula.names())

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The expression."""
        return [(("formula",), self.formula, scope)]

    def sentence(self) -> str:
        """What it asks for."""
        return f"This holds: `{self.formula.text}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Work the expression out."""
        lookup = evidence.document.lookup
        value = self.formula.value(lookup, search_with(ports))
        if isinstance(value, MissingValue):
            raise evidence.document.absent(value.what, self.formula.names())
        sides = self.formula.sides(lookup, search_with(ports))
        actual = ", ".join(f"{text} is {_shown(value)}" for text, value in sides.items())
        return binary(value is True, expected=self.formula.text, actual=actual or "no")


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:g}" if isinstance(value, float) else str(value)
        case str():
            return f"'{value[:40]}…'" if len(value) > 40 else f"'{value}'"
        case MissingValue():
            return "missing"
        case _:
            return "a list" if isinstance(value, Sequence) else "nothing" if value is None else "a mapping"
