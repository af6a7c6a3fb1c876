"""What an evaluation's figures must reach, and which figures there are."""

from collections.abc import Mapping

from msgspec import Struct

PERCENTS = (5, 25, 50, 75, 95)
"""The percentiles that every report has."""

FIGURES = ("mean", "pass_rate", *(f"p{percent}" for percent in PERCENTS))
"""Every figure of a scorer that a gate may bound."""


class Bounds(Struct, frozen=True):
    """The least and the most that a figure may be, both inclusive; None: unbounded."""

    min: float | None = None
    max: float | None = None


class Gate(Struct, frozen=True):
    """What one scorer's figures must reach. `figures` are some of `FIGURES`.

    `unmeasured_max` is how many rows of the scorer may be without a result.
    """

    scorer: str
    figures: Mapping[str, Bounds]
    unmeasured_max: int = 0
