"""Rules as they were written: typed, but with names not yet looked up. `compile` turns them into the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from rulebook.checks import Check
from rulebook.languages.condition import Condition
from rulebook.languages.formula import Formula
from rulebook.outcome import Category
from rulebook.place import Path
from rulebook.source.located import Located

Aggregate = Literal["decisive", "min", "max", "mean", "product"]
GroupKind = Literal["all", "any", "none"]
NumericKind = Literal["weighted", "sum", "min", "max", "mean", "product"]


class Beside(Struct, frozen=True):
    """The common keys that stand beside a kind; None is "not written"."""

    name: str | None = None
    why: str | None = None
    category: Category | None = None
    weight: float | None = None
    required: bool | None = None
    threshold: float | None = None
    when: Formula | None = None
    timeout_s: float | None = None
    on_timeout: Literal["unmeasured"] | None = None
    report: bool | None = None


class OfCheck(Struct, frozen=True):
    """A check with its options. `short`: the short form was used; `wrapped`: one value stood for a list."""

    check: Check
    short: bool = False
    wrapped: bool = False


class OfGroup(Struct, frozen=True):
    """`all`, `any` or `none`."""

    how: GroupKind
    parts: tuple[RuleSpec, ...]
    score: Aggregate = "decisive"
    stop: bool = True


class OfOne(Struct, frozen=True):
    """`not` or `invert`."""

    how: Literal["not", "invert"]
    part: RuleSpec


class OfCount(Struct, frozen=True):
    """`at_least`."""

    count: int
    parts: tuple[RuleSpec, ...]


class OfNumbers(Struct, frozen=True):
    """A number over the parts' scores."""

    how: NumericKind
    parts: tuple[RuleSpec, ...]
    min_measured: float | None = None
    range: tuple[float, float] | None = None


class OfFormula(Struct, frozen=True):
    """`formula`."""

    let: tuple[tuple[str, RuleSpec], ...]
    score: Formula
    range: tuple[float, float] | None = None


class OfBranches(Struct, frozen=True):
    """`first`."""

    branches: tuple[tuple[Formula | None, RuleSpec], ...]


class OfMisbehavior(Struct, frozen=True):
    """`misbehavior`."""

    part: RuleSpec
    reason: str


class OfName(Struct, frozen=True):
    """`rule: name`."""

    name: str


class OfCondition(Struct, frozen=True):
    """A condition over named rules, written as text."""

    condition: Condition


Body = OfCheck | OfGroup | OfOne | OfCount | OfNumbers | OfFormula | OfBranches | OfMisbehavior | OfName | OfCondition


class RuleSpec(Struct, frozen=True):
    """One rule. `path` leads to its mapping, `body_path` to what stands under its kind."""

    kind: str
    document: Located
    path: Path
    body_path: Path
    beside: Beside
    body: Body


class Named(Struct, frozen=True):
    """A named rule: its name in conditions (with the pack's name before it, if it comes from one)."""

    name: str
    rule: RuleSpec


class PackSpec(Struct, frozen=True):
    """A pack that a file imports, under the name by which that file knows it."""

    alias: str
    document: Located
    rules: Mapping[str, RuleSpec] = field(default_factory=dict)
    needs_params: tuple[str, ...] = ()
    needs_submissions: tuple[str, ...] = ()
