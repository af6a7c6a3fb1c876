"""Several grades of one piece of work, by several models or by one that is asked several times, made into one."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from rulebook.errors import Missing
from rulebook.outcome import TOLERANCE

Vote = Literal["majority", "mean", "median"]

MOST_VOTES = 45
"""How many grades one piece of work may have."""

VOTES = "judge-votes"
"""The key of the metadata under which all votes stand."""


class Ballot(Struct, frozen=True):
    """One grade: a score in 0..1, and what explains it."""

    score: float
    metadata: Mapping[str, object] | None = None


class Ask(Struct, frozen=True):
    """Which of the judges is asked, by its position, and for the how-manieth time."""

    judge: int = 0
    sample: int = 0


class Voting(Struct, frozen=True):
    """How often each of `judges` models is asked, and how the grades become one.

    Where the joint score lies in `band`, its ends included, as many are asked again, until it leaves the band or
    `most` grades are given; all of them count.
    """

    judges: int = 1
    votes: int = 1
    vote: Vote = "mean"
    band: tuple[float, float] | None = None
    most: int = 1

    def first(self) -> list[Ask]:
        """The first round."""
        return self._round(0, self.judges * self.votes)

    def more(self, given: Sequence[Ballot | Exception]) -> list[Ask]:
        """The next round; none where the grades that are given decide, or could not be had."""
        joint = joined(given, self.vote)
        if self.band is None or isinstance(joint, Exception) or len(given) >= self.most:
            return []
        low, high = self.band
        if not low - TOLERANCE <= joint.score <= high + TOLERANCE:
            return []
        return self._round(len(given), min(self.judges * self.votes, self.most - len(given)))

    def _round(self, start: int, count: int) -> list[Ask]:
        return [Ask(number % self.judges, number // self.judges) for number in range(start, start + count)]


def polled(
    rows: int, voting: Voting, cast: Callable[[Sequence[tuple[int, Ask]]], Sequence[Ballot | Exception]]
) -> list[Ballot | Exception]:
    """The joint grade of each row. `cast` gives a grade, or why there is none, for each row and asking of a round."""
    given: list[list[Ballot | Exception]] = [[] for _ in range(rows)]
    waiting = [(row, ask) for row in range(rows) for ask in voting.first()]
    while waiting:
        for (row, _), ballot in zip(waiting, cast(waiting), strict=True):
            given[row].append(ballot)
        asked = {row for row, _ in waiting}
        waiting = [(row, ask) for row in sorted(asked) for ask in voting.more(given[row])]
    return [joined(ballots, voting.vote) for ballots in given]


def joined(given: Sequence[Ballot | Exception], vote: Vote) -> Ballot | Exception:
    """The joint grade, which explains itself by the grade nearest to it, or why there is none.

    `majority` is the score of more than half of all that were asked, whatever those say that could not be had. For a
    `mean` and a `median` all must be had. A failure keeps what the others said.
    """
    if len(given) == 1:
        return given[0]
    ballots = [each for each in given if isinstance(each, Ballot)]
    failures = [each for each in given if isinstance(each, Exception)]
    told = {VOTES: {"vote": vote, "scores": [each.score if isinstance(each, Ballot) else None for each in given]}}
    score = _score(ballots, len(given), vote)
    if score is not None:
        nearest = min(ballots, key=lambda each: abs(each.score - score))
        return Ballot(score, {**(nearest.metadata or {}), **told})
    if failures:
        return _with(failures[0], told)
    listed = ", ".join(f"{each.score:g}" for each in ballots)
    return Missing("harness", f"no score has more than half of the {len(given)} votes: {listed}", metadata=told)


def _score(ballots: Sequence[Ballot], asked: int, vote: Vote) -> float | None:
    scores = sorted(each.score for each in ballots)
    if vote == "majority":
        counts = {score: sum(abs(other - score) <= TOLERANCE for other in scores) for score in scores}
        return next((score for score, count in counts.items() if 2 * count > asked), None)
    if len(ballots) < asked:
        return None
    if vote == "mean":
        return math.fsum(scores) / asked
    middle = asked // 2
    return scores[middle] if asked % 2 else (scores[middle - 1] + scores[middle]) / 2


def _with(failure: Exception, told: Mapping[str, object]) -> Exception:
    if not isinstance(failure, Missing):
        return failure
    return Missing(failure.category, failure.reason, metadata={**failure.metadata, **told})
