"""Loops of a pattern through which one text leads in two ways, and the texts on which that takes forever."""

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from rulebook.languages.pattern_graph import Graph

MAX_PAIRS = 20_000
"""How many pairs of positions are looked at before nothing is claimed."""

ROUNDS = 3
"""How often the word of a tangle is repeated to see whether the pattern is found in it."""

Word = tuple[int, ...]
"""A text in which each character may be any of a mask."""

_Moment = tuple[int, int, bool]


class Tangle(Struct, frozen=True):
    """A position, and a text that leads from it back to it in two ways: each round of it doubles the work.

    `word` is empty when there was too much to look at.
    """

    position: int
    word: Word


def tangle_of(graph: Graph, loop: frozenset[int]) -> Tangle | None:
    """The first tangle in a loop; None when there is proof that there is none."""
    left = MAX_PAIRS
    for position in sorted(loop):
        word, looked = _two_ways_round(graph, loop, position, left)
        left -= looked
        if word or left <= 0:
            return Tangle(position, word)
    return None


def takes_forever(graph: Graph, tangle: Tangle) -> bool:
    """Whether some text goes round the tangle without the pattern being found in it, so that every way is tried."""
    if not tangle.word:
        return False
    prefix = _way_to(graph, tangle.position)
    states = set(graph.whole.first) if prefix else {tangle.position}
    word = (*prefix, *tangle.word * ROUNDS) if prefix else tangle.word * ROUNDS
    outside = _outside(graph, set(tangle.word))
    for place, mask in enumerate(word):
        sign = _one_of(mask, outside)
        here = states if place == 0 and prefix else _after(graph, states)
        states = {position for position in here if graph.masks[position] & sign}
        if states & graph.whole.free:
            return False
    return True


def _two_ways_round(graph: Graph, loop: frozenset[int], start: int, limit: int) -> tuple[Word, int]:
    first: _Moment = (start, start, False)
    came: dict[_Moment, tuple[_Moment, int]] = {}
    waiting = deque([first])
    while waiting and len(came) < limit:
        moment = waiting.popleft()
        for following, mask in _moments_after(graph, loop, moment):
            if following in came:
                continue
            came[following] = (moment, mask)
            if following == (start, start, True):
                return _walked_back(came, first, following), len(came)
            waiting.append(following)
    return (), len(came)


def _moments_after(graph: Graph, loop: frozenset[int], moment: _Moment) -> Iterator[tuple[_Moment, int]]:
    one, other, parted = moment
    for left, ways in graph.follow[one].items():
        for right in graph.follow[other]:
            mask = graph.masks[left] & graph.masks[right]
            if mask and left in loop and right in loop:
                twice = left != right or (one == other and ways > 1)
                yield (left, right, parted or twice), mask


def _walked_back(came: dict[_Moment, tuple[_Moment, int]], first: _Moment, last: _Moment) -> Word:
    word: list[int] = []
    moment = last
    while True:
        moment, mask = came[moment]
        word.append(mask)
        if moment == first:
            return tuple(reversed(word))


def _way_to(graph: Graph, goal: int) -> Word:
    """A text that leads from the pattern's beginning to the position; empty for one inside a look-around."""
    came: dict[int, int] = dict.fromkeys(graph.whole.first, -1)
    waiting = deque(came)
    while waiting:
        position = waiting.popleft()
        if position == goal:
            return tuple(reversed([graph.masks[one] for one in _back(came, position)]))
        for following in graph.follow[position]:
            if following not in came:
                came[following] = position
                waiting.append(following)
    return ()


def _back(came: dict[int, int], position: int) -> Iterator[int]:
    while position >= 0:
        yield position
        position = came[position]


def _after(graph: Graph, states: set[int]) -> set[int]:
    return {following for position in states for following in graph.follow[position]}


def _outside(graph: Graph, word: set[int]) -> Sequence[int]:
    """The masks that the word's characters had better not be in, so that nothing behind the loop matches them."""
    return [mask for mask in graph.masks if mask not in word]


def _one_of(mask: int, avoided: Sequence[int]) -> int:
    """One character of a mask, outside as many of the avoided masks as it can be."""
    for other in avoided:
        if mask & ~other:
            mask &= ~other
    return mask & -mask
