"""Whether two columns agree as numbers."""

import math
import sys
from collections.abc import Mapping, Sequence
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
    if isinstance(value, bool) or not isinstance(value, str | float | int):
        value = "" if value is None else str(value)
    try:
        number = float(value)
    except ValueError:
        text = str(value).strip()
        return NotANumber(f"`{_short(text)}` is not a number" if text else "there is no number: it is empty")
    except OverflowError:
        number = math.inf
    if -math.inf < number < math.inf:
        return number
    return NotANumber(f"`{_short(value.strip() if isinstance(value, str) else str(number))}` is not a finite number")


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
    difference = candidate - reference
    if not -math.inf < difference < math.inf:  # the ends of the scale are further apart than a number can say
        score = _score(abs(candidate / 2 - reference / 2), abs(candidate / 2), abs(reference / 2), 0.5, options)
        return score, {"difference": math.copysign(sys.float_info.max, difference)}
    return _score(abs(difference), abs(candidate), abs(reference), 1.0, options), {"difference": difference}


def numeric_close_scores(
    candidates: Sequence[float | NotANumber],
    references: Sequence[float | NotANumber],
    options: CloseOptions,
    names: tuple[str, str],
) -> Sequence[tuple[float, Mapping[str, object]]]:
    """The same for each pair of two columns."""
    tolerance, relative = options
    if tolerance is None or relative:
        return [numeric_close_score(*pair, options, names) for pair in zip(candidates, references, strict=True)]
    found: list[tuple[float, Mapping[str, object]]] = []
    for candidate, reference in zip(candidates, references, strict=True):
        if type(candidate) is float and type(reference) is float:
            difference = candidate - reference
            if -math.inf < difference < math.inf:  # what nearly every row comes to
                found.append((1.0 if abs(difference) <= tolerance else 0.0, {"difference": difference}))
                continue
        found.append(numeric_close_score(candidate, reference, options, names))
    return found


def _score(gap: float, one: float, other: float, scale: float, options: CloseOptions) -> float:
    """The score of two sizes that far apart, all of them in units of 1 / `scale`."""
    tolerance, relative = options
    largest = one if one > other else other
    if tolerance is not None:
        return 1.0 if gap <= (tolerance * largest if relative else tolerance * scale) else 0.0
    return 1.0 - min(1.0, gap / largest) if largest else 1.0


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
