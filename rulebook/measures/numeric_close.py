"""Whether two columns agree as numbers."""

import math
import sys
from collections.abc import Mapping
from typing import NamedTuple


class CloseOptions(NamedTuple):
    """How far apart two numbers may be, at least 0; `relative`: as a share of the larger one. None: by degrees."""

    tolerance: float | None = None
    relative: bool = False


class NotANumber(NamedTuple):
    """A text that is not one finite number; `reason` says what it is."""

    reason: str


def read_number(value: object) -> float | NotANumber:
    """The one finite number that a value is, white space around it aside."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        text = ""
    else:
        text = "" if value is None else str(value).strip()
        if not text:
            return NotANumber("there is no number: it is empty")
        value = text
    try:
        number = float(value)
    except ValueError:
        return NotANumber(f"`{_short(text)}` is not a number")
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else NotANumber(f"`{_short(text or str(number))}` is not a finite number")


def numeric_close_score(
    candidate: float | NotANumber, reference: float | NotANumber, options: CloseOptions, names: tuple[str, str]
) -> tuple[float, Mapping[str, object]]:
    """The score, 0..1, and the signed `difference`; 0 and an `error` where a side is no number.

    Without a tolerance the score falls from 1 to 0 as the gap grows to the size of the larger number. `names` are what
    the two sides are called in an error. A difference beyond the largest number is that number.
    Source: scorers, numeric_close.
    """
    if isinstance(candidate, NotANumber):
        return 0.0, {"error": f"{names[0]}: {candidate.reason}"}
    if isinstance(reference, NotANumber):
        return 0.0, {"error": f"{names[1]}: {reference.reason}"}
    difference, largest, tolerance = candidate - reference, max(abs(candidate), abs(reference)), options.tolerance
    scale = 1.0
    if math.isinf(difference):  # the two ends of the scale are further apart than a number can say
        scale, halved = 0.5, candidate / 2 - reference / 2
        difference, gap, largest = math.copysign(sys.float_info.max, halved), abs(halved), largest / 2
    else:
        gap = abs(difference)
    if tolerance is None:
        score = 1.0 - min(1.0, gap / largest) if largest else 1.0
    else:
        score = 1.0 if gap <= (tolerance * largest if options.relative else tolerance * scale) else 0.0
    return score, {"difference": difference}


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
