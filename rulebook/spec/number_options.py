"""The options of the combinators that count, calculate or choose, beside the rules they hold."""

from typing import Annotated

from pydantic import Field

from rulebook.languages.formula import NumberFormula
from rulebook.spec.group_options import Options

Range = Annotated[
    tuple[Annotated[float, Field(strict=True)], Annotated[float, Field(strict=True)]], Field(strict=False)
]


class CountOptions(Options):
    """`at_least`."""

    count: int = Field(ge=1, description="How many must pass.")
    of: object = Field(description="The rules, in order.")


class MeanOptions(Options):
    """`weighted` and `mean`."""

    of: object = Field(description="The rules, in order.")
    min_measured: float | None = Field(
        None, gt=0, le=1, description="The share of the weight that must be measured; otherwise all of it."
    )


class SumOptions(Options):
    """`sum`."""

    of: object = Field(description="The rules, in order.")
    range: Range | None = Field(None, description="Low and high: the score is scaled from here to 0..1 in a finding.")


class FormulaOptions(Options):
    """`formula`."""

    let: object = Field(description="The rules by name.")
    score: NumberFormula = Field(description="An expression over the names' scores, and `name.passed`.")
    range: Range | None = Field(None, description="Low and high: the score is scaled from here to 0..1 in a finding.")


class BranchOptions(Options):
    """One branch of `first`."""

    when: object = Field(None, description="An expression; without it the branch always holds.")
    then: object = Field(description="The rule.")


class MisbehaviorOptions(Options):
    """`misbehavior`."""

    if_: object = Field(alias="if", description="The rule that shows misbehaviour when it passes.")
    reason: str = Field(min_length=1, description="What the student did, in words.")


OPTIONS: dict[str, type[Options]] = {
    "at_least": CountOptions,
    "weighted": MeanOptions,
    "sum": SumOptions,
    "mean": MeanOptions,
    "formula": FormulaOptions,
    "misbehavior": MisbehaviorOptions,
}
"""The options of each combinator of this file; a branch of `first` is not one."""
