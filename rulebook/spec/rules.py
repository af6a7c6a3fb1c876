"""Rules as they were written: typed, but with names not yet looked up. `compile` turns them into the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rulebook.checks import Check
from rulebook.languages.condition import Condition
from rulebook.languages.formula import Formula
from rulebook.outcome import Category
from rulebook.place import Path
from rulebook.source.located import Located

Aggregate = Literal["decisive", "min", "max", "mean", "product"]
GroupKind = Literal["all", "any", "none"]
NumericKind = Literal["weighted", "sum", "min", "max", "mean", "product"]


@dataclass(frozen=True, slots=True)
class Beside:
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


@dataclass(frozen=True, slots=True)
class OfCheck:
    """A check with its options. `short` says that the short form was used, `wrapped` that one value stood for a list."""

    check: Check
    short: bool = False
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class OfGroup:
    """`all`, `any` or `none`."""

    how: GroupKind
    parts: tuple[RuleSpec, ...]
    score: Aggregate = "decisive"
    stop: bool = True


@dataclass(frozen=True, slots=True)
class OfOne:
    """`not` or `invert`."""

    how: Literal["not", "invert"]
    part: RuleSpec


@dataclass(frozen=True, slots=True)
class OfCount:
    """`at_least`."""

    count: int
    parts: tuple[RuleSpec, ...]


@dataclass(frozen=True, slots=True)
class OfNumbers:
    """A number over the parts' scores."""

    how: NumericKind
    parts: tuple[RuleSpec, ...]
    min_measured: float | None = None
    range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class OfFormula:
    """`formula`."""

    let: tuple[tuple[str, RuleSpec], ...]
    score: Formula
    range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class OfBranches:
    """`first`."""

    branches: tuple[tuple[Formula | None, RuleSpec], ...]


@dataclass(frozen=True, slots=True)
class OfMisbehavior:
    """`misbehavior`."""

    part: RuleSpec
    reason: str


@dataclass(frozen=True, slots=True)
class OfName:
    """`rule: name`."""

    name: str


@dataclass(frozen=True, slots=True)
class OfCondition:
    """A condition over named rules, written as text."""

    condition: Condition


Body = OfCheck | OfGroup | OfOne | OfCount | OfNumbers | OfFormula | OfBranches | OfMisbehavior | OfName | OfCondition


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """One rule. `path` leads to its mapping, `body_path` to what stands under its kind."""

    kind: str
    document: Located
    path: Path
    body_path: Path
    beside: Beside
    body: Body


@dataclass(frozen=True, slots=True)
class Named:
    """A named rule: its name in conditions (with the pack's name before it, if it comes from one)."""

    name: str
    rule: RuleSpec


@dataclass(frozen=True, slots=True)
class PackSpec:
    """A pack that a file imports, under the name by which that file knows it."""

    alias: str
    document: Located
    rules: Mapping[str, RuleSpec] = field(default_factory=dict)
    needs_params: tuple[str, ...] = ()
    needs_submissions: tuple[str, ...] = ()
