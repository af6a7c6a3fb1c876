"""The expression tree: a leaf is a check, every other node a combinator. A closed set; passes match it exhaustively."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from rulebook.checks import Check
from rulebook.languages.formula import Formula
from rulebook.outcome import Category
from rulebook.place import Path
from rulebook.spec.rules import Aggregate, NumericKind


class Common(Struct, frozen=True):
    """What every rule has beside its kind.

    `file` and `path` say where it was written, `kind` under which key. `threshold` None leaves the kind's own pass
    mark. `student_timeout`: running out of `timeout_s` over the student's material scores 0; false: it is unmeasured.
    """

    kind: str
    file: str
    path: Path
    name: str = ""
    why: str = ""
    category: Category = "model"
    weight: float = 1.0
    required: bool = False
    threshold: float | None = None
    when: Formula | None = None
    timeout_s: float | None = None
    student_timeout: bool = True
    report: bool = False


class Leaf(Struct, frozen=True):
    """A check."""

    common: Common
    check: Check


class AllOf(Struct, frozen=True):
    """In order, stops at the first that fails unless `stop` is false."""

    common: Common
    parts: tuple[Node, ...]
    score: Aggregate = "decisive"
    stop: bool = True


class AnyOf(Struct, frozen=True):
    """In order, stops at the first that passes unless `stop` is false."""

    common: Common
    parts: tuple[Node, ...]
    score: Aggregate = "decisive"
    stop: bool = True


class Not(Struct, frozen=True):
    """Passes when its part does not."""

    common: Common
    part: Node


class NoneOf(Struct, frozen=True):
    """Passes when none of its parts passes."""

    common: Common
    parts: tuple[Node, ...]


class Invert(Struct, frozen=True):
    """1 minus the part's score."""

    common: Common
    part: Node


class AtLeast(Struct, frozen=True):
    """Passes when at least `count` of its parts do; score min(1, passed / count)."""

    common: Common
    count: int
    parts: tuple[Node, ...]


class Numeric(Struct, frozen=True):
    """A number over the scores of all its parts.

    `how`: weighted is the weighted mean, sum the weighted sum; min, max, mean and product are of the scores.
    `min_measured` (weighted and mean) is the share of the weight that must have been measured; None is all of it.
    `range` scales a sum into 0..1 where it becomes a finding.
    """

    common: Common
    how: NumericKind
    parts: tuple[Node, ...]
    min_measured: float | None = None
    range: tuple[float, float] | None = None


class FormulaOf(Struct, frozen=True):
    """An expression over the scores and passes of named parts."""

    common: Common
    let: tuple[tuple[str, Node], ...]
    score: Formula
    range: tuple[float, float] | None = None


class Branch(Struct, frozen=True):
    """One branch of a `first`; `when` None always holds."""

    when: Formula | None
    then: Node


class FirstOf(Struct, frozen=True):
    """The first branch whose `when` holds."""

    common: Common
    branches: tuple[Branch, ...]


class MisbehaviorIf(Struct, frozen=True):
    """Misbehaviour when its part passes, skipped when it does not."""

    common: Common
    part: Node
    reason: str


Node = Leaf | AllOf | AnyOf | Not | NoneOf | Invert | AtLeast | Numeric | FormulaOf | FirstOf | MisbehaviorIf


def parts_of(node: Node) -> tuple[Node, ...]:
    """A node's parts, in the order in which they are evaluated."""
    match node:
        case Leaf():
            return ()
        case AllOf() | AnyOf() | NoneOf() | AtLeast() | Numeric():
            return node.parts
        case Not() | Invert() | MisbehaviorIf():
            return (node.part,)
        case FormulaOf():
            return tuple(part for _, part in node.let)
        case FirstOf():
            return tuple(branch.then for branch in node.branches)


def leaves_of(nodes: Iterable[Node]) -> Iterator[Leaf]:
    """The checks in these trees, in the order in which they are evaluated; one that several trees share comes once."""
    waiting, seen = list(nodes)[::-1], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Leaf):
            yield node
        waiting += parts_of(node)[::-1]
