"""Findings: the lines of a report. Each says what was asked, whose it is, and what came of it."""

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from rulebook.expression.ranges import range_of
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Category, Measurement, Misbehavior, Outcome, Seen, Skipped, Unmeasured

Status = Literal["pass", "fail", "misbehavior", "unmeasured", "skipped"]


class Finding(Struct, frozen=True):
    """One line of a report.

    `passed` and `score` (0..1) are None when nothing was measured. `category` was fixed when the file was
    read. `weight` is the finding's share within its category. `why` is the author's sentence, `printed`
    the last line of what a command printed, `at` where in the evidence it was seen. `read` says what it rests on, with
    its digests, and `no_place` why it was seen nowhere; both are filled in by whoever has the evidence.
    """

    id: str
    category: Category
    status: Status
    passed: bool | None
    score: float | None
    expected: object = None
    actual: object = None
    reason: str = ""
    vacuous: bool = False
    at: tuple[Mapping[str, object], ...] = ()
    weight: float = 1.0
    why: str = ""
    printed: str = ""
    read: Mapping[str, object] = field(default_factory=dict)
    no_place: str = ""

    @property
    def counts(self) -> bool:
        """Whether it can move its category's component: it has a weight and is more than vacuous."""
        return self.weight > 0 and not self.vacuous


def finding_of(id: str, category: Category, weight: float, trace: Trace, *, why: str = "") -> Finding:
    """The finding for a rule that was evaluated.

    Raises ValueError for a trace without an outcome: what stands at the top of a report is always reached.
    """
    if trace.outcome is None:
        raise ValueError(f"the rule of the finding {id} was not evaluated")
    return finding_from(id, category, weight, trace.outcome, why=why, range=range_of(trace.node))


def finding_from(
    id: str,
    category: Category,
    weight: float,
    outcome: Outcome,
    *,
    why: str = "",
    range: tuple[float, float] | None = None,
) -> Finding:
    """The finding for an outcome.

    `range` is scaled into 0..1; what lies outside is clamped, and the reason says so. A judge that was
    skipped has judged nothing, and is unmeasured.
    """
    match outcome:
        case Measurement():
            return _measured(id, category, weight, outcome, why, range)
        case Misbehavior(reason, _, seen):
            return Finding(id, category, "misbehavior", False, 0.0, reason=reason, at=_at(seen), weight=weight, why=why)
        case Unmeasured(_, reason, expected, seen):
            return _blank(id, category, weight, "unmeasured", reason, expected, _at(seen))
        case Skipped() if id == "judge":
            return _blank(id, category, weight, "unmeasured", "its `when` did not hold: nothing was judged")
        case Skipped(reason):
            return _blank(id, category, weight, "skipped", reason)


def _measured(
    id: str,
    category: Category,
    weight: float,
    found: Measurement,
    why: str,
    range: tuple[float, float] | None,
) -> Finding:
    if not math.isfinite(found.score):
        return _blank(id, category, weight, "unmeasured", "the score is not a finite number", found.expected)
    score, note = _within(found.score, range)
    if found.vacuous and not found.passed and score > 0:
        score, note = 0.0, "what it scored, it scored by doing nothing"
    return Finding(
        id=id,
        category=category,
        status="pass" if found.passed else "fail",
        passed=found.passed,
        score=score,
        expected=found.expected,
        actual=found.actual,
        reason="; ".join(part for part in (found.reason, note) if part),
        vacuous=found.vacuous and found.passed,
        at=_at(found.seen),
        weight=weight,
        why=why,
        printed=_last_line(found.metadata),
    )


def _within(score: float, range: tuple[float, float] | None) -> tuple[float, str]:
    low, high = range or (0.0, 1.0)
    share = (score - low) / (high - low)
    clamped = min(1.0, max(0.0, share))
    if math.isclose(share, clamped, abs_tol=1e-9):
        return clamped + 0.0, ""
    return clamped, f"the score {score:g} lies outside {low:g}..{high:g} and counts as {clamped:g}"


def _blank(
    id: str,
    category: Category,
    weight: float,
    status: Status,
    reason: str,
    expected: object = None,
    at: tuple[Mapping[str, object], ...] = (),
) -> Finding:
    return Finding(id, category, status, None, None, expected=expected, reason=reason, at=at, weight=weight)


def _at(seen: tuple[Seen, ...]) -> tuple[Mapping[str, object], ...]:
    return tuple(place for place in map(_place, seen) if place)


def _place(seen: Seen) -> Mapping[str, object]:
    known = {
        "log": seen.offset,
        "message": seen.message,
        "call": seen.call,
        "call_id": seen.call_id,
        "path": seen.path,
        "line": seen.line,
        "note": seen.note,
    }
    return {key: value for key, value in known.items() if value is not None}


def _last_line(metadata: Mapping[str, object]) -> str:
    for stream in ("stdout", "stderr"):
        printed = metadata.get(stream)
        if isinstance(printed, str) and printed.strip():
            return printed.strip().splitlines()[-1].strip()
    return ""
