"""Which models judge together, how often, and how their grades become one."""

from collections.abc import Sequence

from rulebook.api.scorer_options import choice
from rulebook.api.secrets import model_given
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.evidence.ballots import MOST_VOTES, Vote, Voting

_VOTES: tuple[Vote, ...] = ("majority", "mean", "median")


def panel_given(
    model: object, judges: object, votes: object, vote: object, borderline: object, max_votes: object
) -> tuple[list[str], Voting]:
    """The names of the models that are asked, and how their grades become one. Raises UnfitKind or UnfitOption."""
    names = _names(model, judges)
    often = _count("votes", votes)
    at_once = often * len(names)
    word = choice("vote", vote, _VOTES)
    if at_once > MOST_VOTES:
        raise UnfitOption(f"At most {MOST_VOTES} votes are given on a row; `judges` and `votes` come to {at_once}.")
    if borderline is None:
        if max_votes is not None:
            raise UnfitOption("`max_votes` has an effect beside `borderline` alone.")
        return names, Voting(len(names), often, word)
    most = min(3 * at_once, MOST_VOTES) if max_votes is None else _count("max_votes", max_votes)
    if most <= at_once:
        raise UnfitOption(f"`max_votes` must be more than the {at_once} votes that are given at first; this is {most}.")
    return names, Voting(len(names), often, word, _band(borderline), most)


def _names(model: object, judges: object) -> list[str]:
    if judges is None:
        if model is None:
            raise UnfitKind("`model` is missing. Write which model judges, or several as `judges`.")
        return [model_given("model", model)]
    if model is not None:
        raise UnfitOption("`model` and `judges` both say who judges. Keep one.")
    if isinstance(judges, str) or not isinstance(judges, Sequence):
        raise UnfitKind(f"`judges` is a list of models; this is {judges!r:.80}.")
    if not judges:
        raise UnfitOption("`judges` names no model.")
    return [model_given("judges", each) for each in judges]


def _count(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnfitKind(f"`{key}` must be a whole number; this is {value!r:.80}.")
    if not 1 <= value <= MOST_VOTES:
        raise UnfitOption(f"`{key}` must be a whole number from 1 to {MOST_VOTES}; this is {value}.")
    return value


def _band(band: object) -> tuple[float, float]:
    pair = tuple(band) if isinstance(band, list | tuple) else ()
    numbers = [each for each in pair if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(pair) != 2 or len(numbers) != 2:
        raise UnfitKind(f"`borderline` is a low and a high score, such as (0.4, 0.6); this is {band!r:.80}.")
    if not 0 <= numbers[0] <= numbers[1] <= 1:
        raise UnfitOption(f"`borderline` is a low and a high score between 0 and 1; this is {band!r:.80}.")
    return float(numbers[0]), float(numbers[1])
