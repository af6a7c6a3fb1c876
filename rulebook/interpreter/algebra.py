"""How outcomes combine. Pure functions over the outcomes of the parts that were evaluated.

Misbehaviour wins over everything beside it; a failure of ours is never a low score and never a pass; and no negation
turns what the student spoiled into a pass.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from rulebook.expression.nodes import (
    AllOf,
    AnyOf,
    AtLeast,
    FormulaOf,
    Invert,
    MisbehaviorIf,
    Node,
    NoneOf,
    Not,
    Numeric,
)
from rulebook.languages.types import MissingValue
from rulebook.outcome import FaultCause, Measurement, Misbehavior, Outcome, Skipped, Unmeasured, binary, reaches, total

Aggregates: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": lambda scores: total(scores) / len(scores),
    "product": math.prod,
}


def decides_all(outcome: Outcome) -> bool:
    """Whether `all` stops here."""
    return isinstance(outcome, Misbehavior) or (isinstance(outcome, Measurement) and not outcome.passed)


def decides_any(outcome: Outcome) -> bool:
    """Whether `any` and `none` stop here."""
    return isinstance(outcome, Misbehavior) or (isinstance(outcome, Measurement) and outcome.passed)


def all_of(node: AllOf, found: Sequence[Outcome]) -> Outcome:
    """A failure wins, then unmeasured; else the last part's."""
    early = _misbehavior(found)
    if early is not None:
        return early
    measured = _measured(found)
    if node.score != "decisive":
        return _aggregated(node, found, all(part.passed for part in measured))
    failed = next((part for part in measured if not part.passed), None)
    if failed is not None:
        return _carrying(failed, measured)
    return _unmeasured(found) or _last(measured)


def any_of(node: AnyOf, found: Sequence[Outcome]) -> Outcome:
    """A pass wins, then unmeasured; else the last part's."""
    early = _misbehavior(found)
    if early is not None:
        return early
    measured = _measured(found)
    if node.score != "decisive":
        return _aggregated(node, found, any(part.passed for part in measured))
    passed = next((part for part in measured if part.passed), None)
    if passed is not None:
        return passed
    outcome = _unmeasured(found) or _last(measured)
    return _carrying(outcome, measured) if isinstance(outcome, Measurement) else outcome


def none_of(_node: NoneOf, found: Sequence[Outcome]) -> Outcome:
    """A pass decides, then unmeasured; a student's fault is handed on as it is."""
    early = _misbehavior(found)
    if early is not None:
        return early
    measured = _measured(found)
    passed = next((part for part in measured if part.passed), None)
    if passed is not None:
        reason = passed.reason or "one of its parts passed"
        return binary(False, reason, expected="none passes", actual=_count(measured), seen=passed.seen)
    fault = next((part for part in measured if part.student_fault), None)
    if fault is None and measured and _unmeasured(found) is None:
        return binary(True, expected="none passes", actual="none passed", vacuous=all(p.vacuous for p in measured))
    return _unmeasured(found) or (_spoiled(fault) if fault else Skipped("every part was skipped"))


def at_least(node: AtLeast, found: Sequence[Outcome]) -> Outcome:
    """Unmeasured only while the unmeasured parts could change the answer, or too few parts are left."""
    early = _misbehavior(found)
    if early is not None:
        return early
    measured = _measured(found)
    unsure = [part for part in found if isinstance(part, Unmeasured)]
    if not measured and not unsure:
        return Skipped("every part was skipped")
    passed = sum(part.passed for part in measured)
    left = len(measured) + len(unsure)
    if left < node.count:
        return Unmeasured(node.common.category, f"only {left} of {len(found)} parts were not skipped")
    if passed < node.count <= passed + len(unsure):
        return unsure[0]
    words = f"at least {node.count} of {len(found)} pass"
    outcome = Measurement(
        min(1.0, passed / node.count),
        passed >= node.count,
        expected=words,
        actual=f"{passed} passed",
        vacuous=_idle(measured),
    )
    return _carrying(outcome, measured)


def one_of(node: Not | Invert | MisbehaviorIf, part: Outcome) -> Outcome:
    """`not`, `invert` and `misbehavior`: only a measurement changes, and what the student spoiled never helps it."""
    if not isinstance(part, Measurement):
        return part
    match node:
        case MisbehaviorIf(reason=reason) if part.student_fault and part.cause == "excess":
            words = f"could not be looked for, by the student's doing: {reason}: {part.reason}"
            return Misbehavior(words, part.metadata, part.seen)
        case MisbehaviorIf() if part.student_fault and part.cause == "unfit":
            return part
        case MisbehaviorIf(reason=reason):
            return Misbehavior(reason, part.metadata, part.seen) if part.passed else Skipped("there was no sign of it")
        case Not() | Invert() if part.student_fault:
            return _spoiled(part)
        case Invert() if part.tainted:
            return _spoiled(replace(part, reason=part.reason or "the student spoiled a part of it"))
        case Invert():
            return replace(part, score=1.0 - part.score, passed=reaches(1.0 - part.score, 1.0))
        case Not():
            return binary(
                not part.passed,
                _negated(part),
                expected="that it does not hold" if part.expected is None else f"not: {part.expected}",
                actual=part.actual,
                metadata=part.metadata,
                seen=part.seen,
            )


def numeric(node: Numeric, found: Sequence[Outcome]) -> Outcome:
    """A number over the parts' scores; unmeasured when a part that counts is."""
    early = _misbehavior(found)
    if early is not None:
        return early
    if all(isinstance(part, Skipped) for part in found):
        return Skipped("every part was skipped")
    weights = [part.common.weight if node.how in ("weighted", "sum", "mean") else 1.0 for part in node.parts]
    gap = _required_gap(node, found) or _missing_weight(node, weights, found)
    if gap is not None:
        return gap
    pairs = [(w, part) for w, part in zip(weights, found, strict=True) if isinstance(part, Measurement)]
    counted = [(w, part) for w, part in pairs if w != 0]
    if not counted:
        return Unmeasured(node.common.category, "no part that has a weight was measured")
    fault = next((part for w, part in counted if (part.student_fault or part.tainted) and w < 0), None)
    if fault is not None:
        return _spoiled(fault)
    failed = next((p for n, p in zip(node.parts, found, strict=True) if n.common.required and _failed(p)), None)
    if isinstance(failed, Measurement):
        reason = failed.reason or "a required part did not pass"
        return _carrying(
            Measurement(0.0, False, reason, failed.expected, failed.actual, seen=failed.seen), [p for _, p in pairs]
        )
    return _number(node, counted, [part for _, part in pairs], weights, found)


def _number(
    node: Numeric,
    counted: list[tuple[float, Measurement]],
    measured: list[Measurement],
    weights: list[float],
    found: Sequence[Outcome],
) -> Outcome:
    scores = [part.score for _, part in counted]
    match node.how:
        case "weighted" | "mean":
            score = total(w * part.score for w, part in counted) / total(w for w, _ in counted)
        case "sum":
            score = total(w * part.score for w, part in counted)
        case _:
            score = Aggregates[node.how](scores)
    if not math.isfinite(score):
        return Unmeasured(node.common.category, f"the score came to {score}, which is not a number to count with")
    covered = _share(weights, found)
    metadata = {} if covered >= 1 else {"measured_weight": covered}
    threshold = 1.0 if node.common.threshold is None else node.common.threshold
    passed = reaches(score, threshold)
    reason = "" if passed else _reasons(measured)
    idle = _idle([part for _, part in counted])
    outcome = Measurement(
        score, passed, reason, f"a score of at least {threshold:g}", f"{score:g}", metadata, vacuous=idle
    )
    return _carrying(outcome, measured)


def formula_of(node: FormulaOf, outcomes: Mapping[str, Outcome], value: Callable[[], object]) -> Outcome:
    """The formula's value over its parts; it cannot be told when a part that it reads cannot be."""
    early = _misbehavior(list(outcomes.values()))
    if early is not None:
        return early
    read = [outcomes[name] for name in sorted(node.score.names()) if name in outcomes]
    unsure = _unmeasured(read)
    if unsure is not None:
        return unsure
    if any(isinstance(part, Skipped) for part in read):
        return Unmeasured(node.common.category, f"`{node.score.text}` reads a part that was skipped")
    fault = next((part for part in _measured(read) if part.student_fault), None)
    if fault is not None:
        return _spoiled(fault)
    score = value()
    if isinstance(score, MissingValue) or not isinstance(score, int | float) or not math.isfinite(score):
        return Unmeasured(node.common.category, f"`{node.score.text}` comes to no number")
    threshold = 1.0 if node.common.threshold is None else node.common.threshold
    passed = reaches(float(score), threshold)
    words = f"`{node.score.text}` of at least {threshold:g}"
    return Measurement(float(score), passed, "", words, f"{float(score):g}", vacuous=_idle(_measured(read)))


def beside_faults(node: Node, outcome: Outcome, found: Sequence[Outcome]) -> Outcome:
    """A group's outcome with the student's faults that stand beside what could not be measured in it.

    An unmeasured group hands them on; one whose failure is certain all the same carries them, and a number over a part
    that hides one is tainted.
    """
    hidden = [part.fault for part in found if isinstance(part, Unmeasured) and part.fault is not None]
    match outcome:
        case Unmeasured(fault=None):
            causes = hidden + [part.cause for part in _measured(found) if part.student_fault]
            return replace(outcome, fault=_gravest(causes)) if causes else outcome
        case Measurement(passed=False, student_fault=False) if hidden and not isinstance(node, NoneOf):
            return replace(outcome, student_fault=True, cause=_gravest(hidden))
        case Measurement(passed=True) if hidden and isinstance(node, Numeric | AtLeast):
            return replace(outcome, tainted=True)
        case _:
            return outcome


def _gravest(causes: Sequence[FaultCause]) -> FaultCause:
    return min(causes, key=get_args(FaultCause).index)


def _misbehavior(found: Sequence[Outcome]) -> Misbehavior | None:
    return next((part for part in found if isinstance(part, Misbehavior)), None)


def _unmeasured(found: Sequence[Outcome]) -> Unmeasured | None:
    return next((part for part in found if isinstance(part, Unmeasured)), None)


def _measured(found: Sequence[Outcome]) -> list[Measurement]:
    return [part for part in found if isinstance(part, Measurement)]


def _last(measured: Sequence[Measurement]) -> Outcome:
    if not measured:
        return Skipped("every part was skipped")
    last = measured[-1]
    vacuous = all(part.vacuous for part in measured)
    return last if last.vacuous == vacuous else replace(last, vacuous=vacuous)


def _aggregated(node: AllOf | AnyOf, found: Sequence[Outcome], passed: bool) -> Outcome:
    measured = _measured(found)
    unsure = _unmeasured(found)
    if unsure is not None:
        return unsure
    if not measured:
        return Skipped("every part was skipped")
    score = Aggregates[node.score]([part.score for part in measured])
    if not math.isfinite(score):
        return Unmeasured(node.common.category, f"the score came to {score}, which is not a number to count with")
    reason = "" if passed else _reasons(measured)
    outcome = Measurement(score, passed, reason, actual=f"{score:g}", vacuous=_idle(measured))
    return _carrying(outcome, measured)


def _idle(measured: Sequence[Measurement]) -> bool:
    """Whether all that these parts scored, they scored by doing nothing."""
    scored = [part for part in measured if part.score > 0]
    return bool(scored) and all(part.vacuous for part in scored)


def _carrying(outcome: Measurement, measured: Sequence[Measurement]) -> Measurement:
    """With the student's fault of an evaluated part: a group that fails carries it, one that passes is tainted."""
    faults = [part for part in measured if part.student_fault]
    if outcome.passed:
        tainted = bool(faults) or any(part.tainted for part in measured)
        return replace(outcome, tainted=True) if tainted else outcome
    if not faults:
        return outcome
    reason = outcome.reason or faults[0].reason
    return replace(outcome, student_fault=True, cause=_gravest([part.cause for part in faults]), reason=reason)


def _spoiled(part: Measurement) -> Measurement:
    """What the student spoiled, handed on so that it gains nothing."""
    return replace(part, score=min(part.score, 0.0), passed=False, student_fault=True)


def _required_gap(node: Numeric, found: Sequence[Outcome]) -> Unmeasured | None:
    pairs = zip(node.parts, found, strict=True)
    return next((p for n, p in pairs if n.common.required and isinstance(p, Unmeasured)), None)


def _missing_weight(node: Numeric, weights: list[float], found: Sequence[Outcome]) -> Unmeasured | None:
    gap = next((p for w, p in zip(weights, found, strict=True) if w != 0 and isinstance(p, Unmeasured)), None)
    if gap is None or (node.min_measured is not None and reaches(_share(weights, found), node.min_measured)):
        return None
    return gap


def _share(weights: list[float], found: Sequence[Outcome]) -> float:
    """The share of the weight, skipped parts left out, that was measured."""
    there = [(abs(w), part) for w, part in zip(weights, found, strict=True) if not isinstance(part, Skipped)]
    whole = total(w for w, _ in there)
    return total(w for w, part in there if isinstance(part, Measurement)) / whole if whole else 1.0


def _failed(part: Outcome) -> bool:
    return isinstance(part, Measurement) and not part.passed


def _reasons(measured: Sequence[Measurement]) -> str:
    return next((part.reason for part in measured if not part.passed and part.reason), "")


def _count(measured: Sequence[Measurement]) -> str:
    return f"{sum(part.passed for part in measured)} passed"


def _negated(part: Measurement) -> str:
    if not part.passed:
        return ""
    return f"it holds, and must not: {part.reason}" if part.reason else "it holds, and must not"
