"""A pattern as a graph of its characters: what can follow what, and in how many ways.

Each position is one written character or set. Two ways from one position to another mean that a search which
fails has to try both: that is what makes a pattern slow.
"""

import re
from collections import Counter
from collections.abc import Sequence
from re import _constants as sre  # type: ignore[attr-defined]

from msgspec import Struct, field

from rulebook.languages.pattern_characters import Alphabet, codes_of

MAX_POSITIONS = 300
"""Above this many nothing is claimed about a pattern, and its searches are watched."""

MANY = 10
"""A repeat of up to this or more counts as one without end."""

Conditions = frozenset[str]


class Fragment(Struct, frozen=True):
    """A part of the graph.

    `first` and `last` count the ways in and out by position. `empty` is None when the part always takes a
    character, else the conditions (begin, line, end, other) under which it takes none. After a position in
    `free` nothing more is asked.
    """

    first: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    free: frozenset[int] = frozenset()
    empty: Conditions | None = None


NOTHING = Fragment(empty=frozenset())


class Graph(Struct):
    """The positions of a pattern.

    `masks` says what each matches, `follow` what may come next with the number of ways. `anchored` positions
    can only stand at the text's beginning, `optional_repeats` are repeats that may take nothing. `ways`
    bounds the number of ways through the parts that repeat only a few times. `unclear` means that the graph
    leaves something out.
    """

    masks: list[int] = field(default_factory=list)
    follow: list[Counter[int]] = field(default_factory=list)
    anchored: set[int] = field(default_factory=set)
    optional_repeats: set[int] = field(default_factory=set)
    ways: int = 1
    unclear: bool = False
    whole: Fragment = NOTHING


class TooLarge(Exception):
    """The pattern has more positions than are looked at."""


def graph_of(tree: Sequence[tuple[object, object]], flags: int) -> tuple[Graph, Alphabet]:
    """The graph of a tree that `re._parser.parse` made. Raises TooLarge."""
    alphabet = Alphabet(codes_of(tree))
    builder = _Builder(alphabet)
    builder.graph.whole = builder.sequence(tree, flags)
    return builder.graph, alphabet


class _Builder:
    def __init__(self, alphabet: Alphabet) -> None:
        self.graph = Graph()
        self.alphabet = alphabet

    def sequence(self, items: Sequence[tuple[object, object]], flags: int) -> Fragment:
        result = NOTHING
        for operation, argument in items:
            result = self._joined(result, self._item(operation, argument, flags))
        return result

    def _item(self, operation: object, argument: object, flags: int) -> Fragment:
        if operation in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._position(self.alphabet.mask(operation, argument, flags))
        if operation is sre.AT:
            line = argument is sre.AT_BEGINNING and flags & re.MULTILINE
            return Fragment(empty=frozenset({"line" if line else _ANCHORS.get(str(argument), "other")}))
        if operation is sre.GROUPREF:
            self.graph.unclear = True
            return Fragment(empty=frozenset({"other"}))
        assert isinstance(argument, (tuple, list, re._parser.SubPattern))  # type: ignore[attr-defined]
        if operation is sre.SUBPATTERN:
            _, added, taken, inner = argument
            return self.sequence(inner, (flags | added) & ~taken)
        if operation is sre.BRANCH:
            self.graph.ways *= len(argument[1])
            return self._either([self.sequence(branch, flags) for branch in argument[1]])
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, body = argument
            return self._repeat(least, most, body, flags)
        if operation is sre.GROUPREF_EXISTS:
            self.graph.unclear = True
            _, yes, no = argument
            return self._either([self.sequence(yes, flags), self.sequence(no or (), flags)])
        return self._apart(operation, argument, flags)

    def _apart(self, operation: object, argument: Sequence[object], flags: int) -> Fragment:
        """Look-arounds, atomic groups and possessive repeats: tried for themselves, never entered again."""
        self.graph.unclear = True
        if operation is sre.POSSESSIVE_REPEAT:
            least, most, body = argument
            assert isinstance(least, int)
            assert isinstance(most, int)
            self._repeat(least, most, body, flags)
        else:
            inner = argument if operation is sre.ATOMIC_GROUP else argument[1]
            self.sequence(inner, flags)  # type: ignore[arg-type]
        return Fragment(empty=frozenset({"other"}))

    def _position(self, mask: int) -> Fragment:
        position = len(self.graph.masks)
        if position >= MAX_POSITIONS:
            raise TooLarge
        self.graph.masks.append(mask)
        self.graph.follow.append(Counter())
        return Fragment(Counter({position: 1}), Counter({position: 1}), frozenset({position}))

    def _joined(self, left: Fragment, right: Fragment) -> Fragment:
        self._link(left.last, right.first)
        if left.empty is not None and "begin" in left.empty:
            self.graph.anchored.update(right.first)
        empty = None if left.empty is None or right.empty is None else left.empty | right.empty
        return Fragment(
            left.first + right.first if left.empty is not None else left.first,
            left.last + right.last if right.empty is not None else right.last,
            right.free if right.empty is None or "end" in right.empty else left.free | right.free,
            empty,
        )

    def _link(self, sources: Counter[int], targets: Counter[int]) -> None:
        for source, ways_out in sources.items():
            for target, ways_in in targets.items():
                self.graph.follow[source][target] += ways_out * ways_in

    def _either(self, parts: list[Fragment]) -> Fragment:
        empties = [part.empty for part in parts if part.empty is not None]
        return Fragment(
            sum((part.first for part in parts), Counter()),
            sum((part.last for part in parts), Counter()),
            frozenset[int]().union(*(part.free for part in parts)),
            min(empties, key=len) if empties else None,
        )

    def _repeat(self, least: int, most: int, body: object, flags: int) -> Fragment:
        def once() -> Fragment:
            return self.sequence(body, flags)  # type: ignore[arg-type]

        if most >= MANY and most != least:
            return self._loop(once(), least, most)
        self.graph.ways *= most - least + 1
        rest = NOTHING
        for _ in range(most - least):
            rest = self._maybe(self._joined(once(), rest))
        for _ in range(least):
            rest = self._joined(once(), rest)
        return rest

    def _loop(self, body: Fragment, least: int, most: int) -> Fragment:
        # An empty round of a counted repeat is one more way to spend its count.
        for _ in range(2 if body.empty is not None and most < int(sre.MAXREPEAT) else 1):
            self._link(body.last, body.first)
        if least == 0:
            self.graph.optional_repeats.update(body.first)
            return self._maybe(body)
        return body

    def _maybe(self, part: Fragment) -> Fragment:
        return Fragment(part.first, part.last, part.free, frozenset())


_ANCHORS = {
    str(sre.AT_BEGINNING): "begin",
    str(sre.AT_BEGINNING_STRING): "begin",
    str(sre.AT_END): "end",
    str(sre.AT_END_STRING): "end",
}
