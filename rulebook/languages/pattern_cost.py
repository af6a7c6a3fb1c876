"""What a search with Python's `re` can cost, proved from the pattern's graph alone."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

from rulebook.languages.pattern_characters import Alphabet
from rulebook.languages.pattern_graph import MANY, Graph, TooLarge, graph_of
from rulebook.languages.pattern_tangles import takes_forever, tangle_of

Slowness = str
"""Why a pattern is slow: `side by side`, `leading` or nothing."""


class Cost(Struct, frozen=True):
    """What is known of a pattern.

    `endless`: it takes exponential time on some texts. The steps of a search grow with the text's length to
    the power `degree`, times `ways`; `degree` None: nothing is proved. `always`: it is found in every text.
    """

    endless: bool = False
    degree: int | None = None
    ways: int = 1
    slow: Slowness = ""
    always: bool = False


@lru_cache(maxsize=2048)
def cost_of(text: str, flags: int) -> Cost:
    """The cost of a pattern that `re.compile` accepts."""
    tree = re._parser.parse(text, flags)  # type: ignore[attr-defined]
    found_flags = flags | tree.state.flags
    try:
        graph, alphabet = graph_of(tree, found_flags)
    except TooLarge:
        return Cost()
    loops = _loops(graph.follow)
    tangles = [tangle for loop in loops if (tangle := tangle_of(graph, loop)) is not None]
    endless = any(takes_forever(graph, tangle) for tangle in tangles)
    degree = None
    if not tangles and not graph.unclear:
        degree = _starts(graph) + len(loops) - _walled(tree, found_flags, alphabet)
    return Cost(endless, degree and max(1, degree), graph.ways, _slowness(graph, loops, alphabet), _always(graph))


def _starts(graph: Graph) -> int:
    """1 when a search tries the pattern at every character, 0 when at the beginning only."""
    empty = graph.whole.empty
    bound = all(position in graph.anchored for position in graph.whole.first)
    return 0 if bound and (empty is None or "begin" in empty) else 1


def _always(graph: Graph) -> bool:
    empty = graph.whole.empty
    takes_something = bool(graph.masks)
    return empty is not None and (not empty or (takes_something and empty in _MET_SOMEWHERE))


_MET_SOMEWHERE = tuple(frozenset({condition}) for condition in ("begin", "line", "end"))


def _slowness(graph: Graph, loops: list[frozenset[int]], alphabet: Alphabet) -> Slowness:
    simple = [next(iter(loop)) for loop in loops if len(loop) == 1]
    for one in simple:
        for other in graph.follow[one]:
            if other != one and other in simple and _overlap(graph, one, other) and other not in graph.whole.free:
                return "side by side"
    for one in simple:
        begins = one in graph.whole.first and one not in graph.anchored and one not in graph.whole.free
        if begins and (one in graph.optional_repeats or _is_broad(graph.masks[one], alphabet)):
            return "leading"
    return ""


def _overlap(graph: Graph, one: int, other: int) -> bool:
    return bool(graph.masks[one] & graph.masks[other])


def _is_broad(mask: int, alphabet: Alphabet) -> bool:
    """Whether long runs of it stand in ordinary text: blanks, or nearly every sign."""
    printable = [position for position, one in enumerate(alphabet.characters) if "!" <= one <= "~"]
    blank = alphabet.characters.index(" ")
    return bool(mask >> blank & 1) or sum(mask >> position & 1 for position in printable) > len(printable) - 5


def _walled(tree: Sequence[tuple[object, object]], flags: int, alphabet: Alphabet) -> int:
    """How many repeats are entered once a run at most, behind a character that they cannot match."""
    count = 0
    walls: list[int] = []
    for operation, argument, own_flags in _in_line(tree, flags):
        if operation in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            walls.append(alphabet.mask(operation, argument, own_flags))
            continue
        repeat = _simple_repeat(operation, argument)
        if repeat is None:
            if operation is not sre.AT:
                walls = []
            continue
        least, most, (kind, value) = repeat
        mask = alphabet.mask(kind, value, own_flags)
        if most >= MANY and most != least:
            count += any(not wall & mask for wall in walls)
            walls = [mask] if least else []
        elif least:
            walls.append(mask)
    return count


def _in_line(tree: Sequence[tuple[object, object]], flags: int) -> Iterator[tuple[object, object, int]]:
    for operation, argument in tree:
        if operation is sre.SUBPATTERN:
            _, added, taken, inner = _arguments(argument)
            yield from _in_line(inner, (flags | added) & ~taken)
        else:
            yield operation, argument, flags


def _simple_repeat(operation: object, argument: object) -> tuple[int, int, tuple[object, object]] | None:
    """Its counts and its one character, when it repeats a single character."""
    if operation not in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return None
    least, most, body = _arguments(argument)
    if len(body) == 1 and body[0][0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
        return least, most, body[0]
    return None


def _arguments(argument: object) -> tuple[Any, ...]:
    assert isinstance(argument, tuple)
    return argument


def _loops(follow: Sequence[dict[int, int]]) -> list[frozenset[int]]:
    """The sets of positions that lead back to themselves (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    kept: set[int] = set()
    found: list[frozenset[int]] = []
    for root in range(len(follow)):
        if root in order:
            continue
        work = [(root, iter(follow[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        kept.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    kept.add(target)
                    work.append((target, iter(follow[target])))
                    break
                if target in kept:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    found.append(_popped(stack, kept, node))
    return [loop for loop in found if len(loop) > 1 or any(one in follow[one] for one in loop)]


def _popped(stack: list[int], kept: set[int], node: int) -> frozenset[int]:
    members = set[int]()
    while node not in members:
        members.add(stack.pop())
    kept.difference_update(members)
    return frozenset(members)
