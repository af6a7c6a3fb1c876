"""What a rule found: one of four outcomes, kept apart in the type and never turned into one another."""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field

Category = Literal["model", "harness", "sandbox", "fixture", "policy", "network", "budget", "test"]
"""Whose a finding is. Source: session-evals, "Reports and failure ownership"."""

FaultCause = Literal["excess", "unfit", "absent"]
"""How a student's fault came about, the worst first.

What it made is too large to look at or nothing that can be read; it does not fit, or time ran out over it; nothing is
there.
"""

CATEGORIES: tuple[Category, ...] = (
    "model",
    "harness",
    "sandbox",
    "fixture",
    "policy",
    "network",
    "budget",
    "test",
)

TOLERANCE = 1e-9
"""Scores and bounds closer than this are equal, so that 0.1 + 0.2 reaches a threshold of 0.3."""


class Seen(Struct, frozen=True):
    """One place in the evidence on which an outcome rests.

    `offset` is a byte offset into the audit log, `message` and `call` are 0-based positions in the
    transcript, `call_id` is that call's own id, `path` and `line` (1-based) point into the repository. None: does not
    apply.
    """

    offset: int | None = None
    message: int | None = None
    call: int | None = None
    call_id: str | None = None
    path: str | None = None
    line: int | None = None
    note: str | None = None


class Spent(Struct, frozen=True):
    """What asking models came to.

    `calls` reached a model, those that failed too; `cached` answers were kept from before, for an equal
    question of this run or another, and cost nothing.
    `uncounted` calls did not say their tokens, `unpriced` ones have no known price: neither is ever taken for 0.
    `costs` is money by currency, never added across currencies.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    costs: Mapping[str, float] = field(default_factory=dict)
    unpriced: int = 0


class Measurement(Struct, frozen=True):
    """The rule was measured.

    `score` is any finite float, `passed` whether a run goes on (the scoring reference's
    `continue_task`). `student_fault` marks what the student's own doing brought to 0: no negation
    turns it into a pass; `cause` says how that came about, and `tainted`
    marks a group that passes though a part of it is a student's fault. `vacuous` marks a check
    that is negative by nature and met a session that did nothing. `spent` is what a judge model cost, None where
    none was asked.
    """

    score: float
    passed: bool
    reason: str = ""
    expected: object = None
    actual: object = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    student_fault: bool = False
    cause: FaultCause = "unfit"
    tainted: bool = False
    vacuous: bool = False
    seen: tuple[Seen, ...] = ()
    spent: Spent | None = None


class Misbehavior(Struct, frozen=True):
    """The student did something dubious: score 0, not passed, and it wins over all beside it."""

    reason: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    seen: tuple[Seen, ...] = ()


class Unmeasured(Struct, frozen=True):
    """Our side could not tell. It has no score; `category` says who should have supplied what was missing.

    `metadata` keeps what was found out before, `spent` what that cost. `fault` is the cause of a student's fault that
    stands beside what could not be told in a group: no negation around the group turns that into a pass.
    """

    category: Category
    reason: str
    expected: object = None
    seen: tuple[Seen, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    spent: Spent | None = None
    fault: FaultCause | None = None


class Skipped(Struct, frozen=True):
    """The rule's `when` was false. It counts nowhere."""

    reason: str = ""


Outcome = Measurement | Misbehavior | Unmeasured | Skipped


def binary(
    passed: bool,
    reason: str = "",
    *,
    expected: object = None,
    actual: object = None,
    metadata: Mapping[str, object] | None = None,
    seen: tuple[Seen, ...] = (),
    vacuous: bool = False,
) -> Measurement:
    """A measurement that scores 1 and passes, or scores 0 and does not."""
    return Measurement(
        score=1.0 if passed else 0.0,
        passed=passed,
        reason=reason,
        expected=expected,
        actual=actual,
        metadata=metadata or {},
        seen=seen,
        vacuous=vacuous,
    )


def student_fault(
    reason: str,
    *,
    expected: object = None,
    actual: object = None,
    cause: FaultCause = "unfit",
    seen: tuple[Seen, ...] = (),
) -> Measurement:
    """Score 0, not passed, by the student's own doing: nothing written, too large, too slow."""
    return Measurement(
        score=0.0,
        passed=False,
        reason=reason,
        expected=expected,
        actual=actual,
        student_fault=True,
        cause=cause,
        seen=seen,
    )


def total(values: Iterable[float]) -> float:
    """The exact sum; infinite where it is too large for a number."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def spent_in_all(several: Iterable[Spent]) -> Spent:
    """The sum of what was spent."""
    listed = tuple(several)
    currencies = sorted({currency for each in listed for currency in each.costs})
    return Spent(
        calls=sum(each.calls for each in listed),
        cached=sum(each.cached for each in listed),
        input_tokens=sum(each.input_tokens for each in listed),
        output_tokens=sum(each.output_tokens for each in listed),
        uncounted=sum(each.uncounted for each in listed),
        costs={currency: total(each.costs.get(currency, 0.0) for each in listed) for currency in currencies},
        unpriced=sum(each.unpriced for each in listed),
    )


def reaches(score: float, threshold: float) -> bool:
    """Whether `score` is at least `threshold`, a difference under `TOLERANCE` being none."""
    return score >= threshold - TOLERANCE
