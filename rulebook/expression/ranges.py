"""The least and the greatest score that a tree can have, worked out without evidence."""

import math

from rulebook.expression.nodes import (
    AllOf,
    AnyOf,
    AtLeast,
    FirstOf,
    FormulaOf,
    Invert,
    Leaf,
    MisbehaviorIf,
    Node,
    NoneOf,
    Not,
    Numeric,
)
from rulebook.outcome import total

Range = tuple[float, float]


def score_range(node: Node) -> Range:
    """The least and greatest score; infinite where nothing bounds it."""
    match node:
        case Leaf(_, check):
            return check.scores()
        case Not() | NoneOf() | AtLeast() | MisbehaviorIf():
            return (0.0, 1.0)
        case Invert(_, part):
            least, most = score_range(part)
            return (1 - most, 1 - least)
        case FirstOf(_, branches):
            return _around([score_range(branch.then) for branch in branches])
        case FormulaOf():
            return (-math.inf, math.inf)
        case AllOf() | AnyOf():
            ranges = [score_range(part) for part in node.parts]
            return _product(ranges) if node.score == "product" else _around(ranges)
        case Numeric():
            return _numeric(node)


def range_of(node: Node) -> Range | None:
    """The `range` that a rule's author gave for its score; None where the score lies in 0..1 by itself."""
    match node:
        case Numeric() | FormulaOf():
            return node.range
        case Leaf(check=check):
            own: Range | None = getattr(check, "range", None)
            return own
        case _:
            return None


def _numeric(node: Numeric) -> Range:
    ranges = [score_range(part) for part in node.parts]
    match node.how:
        case "sum":
            return _sum([part.common.weight for part in node.parts], ranges)
        case "min":
            return (min(r[0] for r in ranges), min(r[1] for r in ranges))
        case "max":
            return (max(r[0] for r in ranges), max(r[1] for r in ranges))
        case "product":
            return _product(ranges)
        case "weighted" | "mean":
            # a part that a `when` skips leaves its share to the others
            used = [r for part, r in zip(node.parts, ranges, strict=True) if part.common.weight > 0]
            least, most = _around(used or ranges)
            if any(part.common.required for part in node.parts):
                least = min(least, 0.0)
            skips = any(part.common.when is not None for part in node.parts) or node.min_measured is not None
            return (least, most) if skips else _mean(node, ranges, least)


def _mean(node: Numeric, ranges: list[Range], floor: float) -> Range:
    weights = [max(part.common.weight, 0.0) for part in node.parts]
    whole = total(weights)
    if whole == 0 or not math.isfinite(whole):
        return _around(ranges)
    least, most = _sum(weights, ranges)
    return (min(least / whole, floor) if any(p.common.required for p in node.parts) else least / whole, most / whole)


def _sum(weights: list[float], ranges: list[Range]) -> Range:
    ends = [(w * low, w * high) if w else (0.0, 0.0) for w, (low, high) in zip(weights, ranges, strict=True)]
    return (total(min(pair) for pair in ends), total(max(pair) for pair in ends))


def _product(ranges: list[Range]) -> Range:
    least, most = 1.0, 1.0
    for low, high in ranges:
        corners = [0.0 if 0 in (a, b) else a * b for a in (least, most) for b in (low, high)]
        least, most = min(corners), max(corners)
    return (least, most)


def _around(ranges: list[Range]) -> Range:
    return (min(r[0] for r in ranges), max(r[1] for r in ranges))
