"""Whether a row of tool calls is the one that was asked for: in order, exactly, or in any order.

Each wanted call is matched by a call of its own, so that one that is wanted twice must be made twice.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

Order = Literal["in_order", "exact", "any_order"]
Fits = Callable[[int, int], bool]
"""Whether the wanted call, the first number, is matched by the call that the second one counts."""

Candidates = Callable[[int], Iterable[int]]
"""The only calls that could match a wanted one, in their order."""


class Matched(Struct, frozen=True):
    """What came of it.

    `pairs` holds, for each wanted call that was found, the call that matches it; `missing` the first wanted one that
    was not found, `extra` the first call that nothing asks for. None: there is none.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: int | None = None
    extra: int | None = None

    @property
    def whole(self) -> bool:
        """Whether everything was found and nothing is too much."""
        return self.missing is None and self.extra is None


def matched(
    order: Order, wanted: int, calls: int, fits: Fits, *, allow_extra: bool, candidates: Candidates | None = None
) -> Matched:
    """Match so many `wanted` calls with `calls` that were made.

    In proportion to the calls in order and exactly. In any order to the `candidates` of each wanted one (None: all
    calls), and then to wanted³ at most.
    """
    if order == "any_order":
        choices = [
            _first(wanted, range(calls) if candidates is None else candidates(n), fits, n) for n in range(wanted)
        ]
        return _any_order(choices, calls, allow_extra=allow_extra)
    return _in_order(wanted, calls, fits) if allow_extra else _exact(wanted, calls, fits)


def _in_order(wanted: int, calls: int, fits: Fits) -> Matched:
    """The earliest call for each in turn: where any row of calls does, that one does."""
    pairs: list[tuple[int, int]] = []
    for call in range(calls):
        if len(pairs) == wanted:
            break
        if fits(len(pairs), call):
            pairs.append((len(pairs), call))
    return Matched(tuple(pairs), missing=len(pairs) if len(pairs) < wanted else None)


def _exact(wanted: int, calls: int, fits: Fits) -> Matched:
    pairs: list[tuple[int, int]] = []
    for index in range(min(wanted, calls)):
        if not fits(index, index):
            return Matched(tuple(pairs), missing=index, extra=index)
        pairs.append((index, index))
    done = len(pairs)
    return Matched(tuple(pairs), done if done < wanted else None, done if done < calls else None)


def _any_order(choices: Sequence[Sequence[int]], calls: int, *, allow_extra: bool) -> Matched:
    """A largest matching of the wanted calls with those that each can choose from."""
    wanted = len(choices)
    taken: dict[int, int] = {}
    for one in range(wanted):
        _augment(one, choices, taken)
    pairs = tuple(sorted((one, call) for call, one in taken.items()))
    found = {one for one, _ in pairs}
    missing = next((one for one in range(wanted) if one not in found), None)
    extra = None if allow_extra else next((call for call in range(calls) if call not in taken), None)
    return Matched(pairs, missing, extra)


def _first(most: int, candidates: Iterable[int], fits: Fits, one: int) -> list[int]:
    """What a wanted call can choose from; no more than there are wanted ones, for the others take fewer than that."""
    found: list[int] = []
    for call in candidates:
        if len(found) == most:
            break
        if fits(one, call):
            found.append(call)
    return found


def _augment(start: int, choices: Sequence[Sequence[int]], taken: dict[int, int]) -> None:
    """Give `start` a call, moving others to calls that are free where that makes room; breadth first."""
    came_from: dict[int, int] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop(0)
        for call in choices[one]:
            if call in came_from:
                continue
            came_from[call] = one
            if call not in taken:
                _take(call, start, came_from, taken)
                return
            waiting.append(taken[call])


def _take(call: int, start: int, came_from: dict[int, int], taken: dict[int, int]) -> None:
    """Follow the way back from a free call: each wanted one takes it, and lets go of the call it had."""
    held = {one: call for call, one in taken.items()}
    while True:
        one = came_from[call]
        taken[call] = one
        if one == start:
            return
        call = held[one]
