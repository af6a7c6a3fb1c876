"""What an outcome must be before anything is computed from it."""

import math

from rulebook.outcome import Measurement, Outcome


class OutOfScore(Exception):
    """A check or a combination came to a score that is not a finite number."""


def ranked(outcome: Outcome) -> Outcome:
    """The outcome, its score known to be a finite number. Raises OutOfScore."""
    if isinstance(outcome, Measurement) and not math.isfinite(outcome.score):
        raise OutOfScore(f"the score came to {outcome.score}, which is not a number to count with")
    return outcome
