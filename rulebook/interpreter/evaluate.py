"""Walks a tree over evidence, once, depth first and left to right, and keeps every part in the trace."""

from collections.abc import Callable, Mapping
from typing import TypeVar, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from rulebook.checks import Check
from rulebook.errors import EvidenceError, MisbehaviorError, Missing, NotHandedIn, OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.expression.nodes import (
    AllOf,
    AnyOf,
    AtLeast,
    Common,
    FirstOf,
    FormulaOf,
    Invert,
    Leaf,
    MisbehaviorIf,
    Node,
    NoneOf,
    Not,
    Numeric,
    parts_of,
)
from rulebook.interpreter import algebra
from rulebook.interpreter.limits import OutOfScore, ranked
from rulebook.interpreter.trace import Trace
from rulebook.languages.formula import Formula, search_with
from rulebook.languages.types import MissingValue
from rulebook.outcome import (
    Category,
    Measurement,
    Misbehavior,
    Outcome,
    Skipped,
    Unmeasured,
    reaches,
    student_fault,
)
from rulebook.ports import Ports

Group = TypeVar("Group", AllOf, AnyOf, NoneOf, AtLeast, Numeric)


def evaluate(node: Node, evidence: Evidence, ports: Ports) -> Trace:
    """What came of `node` and of every part of it, each evaluated at most once."""
    return _Walk(evidence, ports).trace(node)


def holds(condition: Formula, evidence: Evidence, ports: Ports) -> bool | Unmeasured:
    """Whether a `when` holds; unmeasured when that cannot be told."""
    value = _Walk(evidence, ports).value(condition)
    return value if isinstance(value, Unmeasured) else value is True


def measured(
    check: Check, category: Category, evidence: Evidence, ports: Ports, *, student_timeout: bool = True
) -> Outcome:
    """A check's outcome: what evidence readers raise becomes an outcome here, and nowhere else."""
    try:
        return ranked(check.measure(evidence, ports))
    except Missing as missing:
        return Unmeasured(missing.category, missing.reason)
    except NotHandedIn as absent:
        return student_fault(absent.reason, cause=absent.cause)
    except MisbehaviorError as tried:
        return Misbehavior(tried.reason)
    except OutOfTime as late:
        if late.material and student_timeout:
            return student_fault(str(late))
        return Unmeasured(category, str(late))
    except OutOfScore as wrong:
        return Unmeasured(category, str(wrong))


class _Walk(Struct):
    evidence: Evidence
    ports: Ports
    student_timeout: bool = True
    known: dict[tuple[int, float | None], Trace] = field(default_factory=dict)

    def trace(self, node: Node) -> Trace:
        # a named rule that ran out of another rule's time may still be measured where there is more of it
        key = id(node), self.ports.deadline_s
        if key not in self.known:
            stop = self._held_back(node.common)
            self.known[key] = unreached(node, stop) if stop is not None else self._timed(node)
        return self.known[key]

    def _held_back(self, common: Common) -> Outcome | None:
        """Why a rule is not evaluated: its `when` is false, or cannot be told."""
        if common.when is None:
            return None
        value = self.value(common.when)
        if isinstance(value, Unmeasured):
            return value
        return None if value else Skipped(f"`{common.when.text}` is false")

    def value(self, formula: Formula) -> object:
        """A condition's value; whatever keeps it from being told, the student's doing too, makes it unmeasured."""
        try:
            value = formula.value(self.evidence.document.lookup, search_with(self.ports))
            if isinstance(value, MissingValue):
                raise self.evidence.document.absent(value.what)
        except Missing as absent:
            return Unmeasured(absent.category, f"`{formula.text}` cannot be told: {absent.reason}")
        except EvidenceError as problem:
            return Unmeasured("harness", f"`{formula.text}` cannot be told: {problem}")
        return value

    def _timed(self, node: Node) -> Trace:
        common = node.common
        if common.timeout_s is None:
            return self._node(node)
        before = self.ports, self.student_timeout
        self.ports = self.ports.until(self.ports.clock.monotonic_s() + common.timeout_s)
        self.student_timeout = common.student_timeout
        try:
            return self._node(node)
        finally:
            self.ports, self.student_timeout = before

    def _node(self, node: Node) -> Trace:
        match node:
            case Leaf(common, check):
                return Trace(node, _passing(self._leaf(common, check), common))
            case AllOf():
                return self._in_order(node, node.parts, algebra.decides_all if node.stop else None, algebra.all_of)
            case AnyOf():
                return self._in_order(node, node.parts, algebra.decides_any if node.stop else None, algebra.any_of)
            case NoneOf():
                return self._in_order(node, node.parts, algebra.decides_any, algebra.none_of)
            case AtLeast():
                return self._in_order(node, node.parts, None, algebra.at_least)
            case Numeric():
                return self._in_order(node, node.parts, None, algebra.numeric)
            case Not() | Invert() | MisbehaviorIf():
                part = self.trace(node.part)
                outcome = self._idle(node, algebra.one_of(node, _reached(part)))
                return Trace(node, _passing(outcome, node.common), (part,))
            case FormulaOf():
                return self._formula(node)
            case FirstOf():
                return self._first(node)
            case _:
                assert_never(node)

    def _leaf(self, common: Common, check: Check) -> Outcome:
        if self.ports.time_left(1.0) <= 0:
            reason = "the rule's time ran out before this part was reached"
            return student_fault(reason) if self.student_timeout else Unmeasured(common.category, reason)
        return measured(check, common.category, self.evidence, self.ports, student_timeout=self.student_timeout)

    def _in_order(
        self,
        node: Group,
        parts: tuple[Node, ...],
        decides: Callable[[Outcome], bool] | None,
        joined: Callable[[Group, list[Outcome]], Outcome],
    ) -> Trace:
        traces: list[Trace] = []
        found: list[Outcome] = []
        for part in parts:
            traces.append(self.trace(part))
            found.append(_reached(traces[-1]))
            if decides is not None and decides(found[-1]):
                break
        earned = algebra.beside_faults(node, _earned(found, lambda parts: joined(node, parts), node), found)
        outcome = _naming(self._idle(node, earned), traces)
        traces += [unreached(part, None) for part in parts[len(traces) :]]
        return Trace(node, outcome, tuple(traces))

    def _idle(self, node: Node, outcome: Outcome) -> Outcome:
        """A negation that passes over a session that did nothing proves nothing."""
        record = self.evidence.record
        idle = record is not None and record.did_nothing and _counts_down(node)
        if idle and isinstance(outcome, Measurement) and outcome.score > 0 and not outcome.student_fault:
            return replace(outcome, vacuous=True)
        return outcome

    def _formula(self, node: FormulaOf) -> Trace:
        traces = {name: self.trace(part) for name, part in node.let}
        outcomes = {name: _reached(trace) for name, trace in traces.items()}
        found = algebra.formula_of(node, outcomes, lambda: node.score.value(_scores(outcomes)))
        found = algebra.beside_faults(node, found, list(outcomes.values()))
        outcome = _naming(self._idle(node, found), list(traces.values()))
        return Trace(node, outcome, tuple(traces.values()))

    def _first(self, node: FirstOf) -> Trace:
        parts: list[Trace] = []
        outcome: Outcome | None = None
        for branch in node.branches:
            holds = outcome is None and (branch.when is None or self.value(branch.when))
            if isinstance(holds, Unmeasured):
                outcome = holds
            if holds is True:
                parts.append(self.trace(branch.then))
                outcome = _reached(parts[-1])
            else:
                parts.append(unreached(branch.then, None))
        return Trace(node, outcome or Skipped("no branch's `when` holds"), tuple(parts))


def _counts_down(node: Node) -> bool:
    """Whether doing less may bring this node a higher score."""
    if isinstance(node, Numeric):
        return any(part.common.weight < 0 for part in node.parts)
    return isinstance(node, Not | NoneOf | Invert | FormulaOf)


def _earned(found: list[Outcome], joined: Callable[[list[Outcome]], Outcome], node: Node) -> Outcome:
    """The group's outcome: vacuous where it passes only by parts that prove nothing, and never better for them."""
    outcome = joined(found)
    idle = any(isinstance(part, Measurement) and part.vacuous for part in found)
    if not idle or not isinstance(outcome, Measurement) or outcome.vacuous or isinstance(node, NoneOf):
        return outcome
    strict = joined([_unproved(part) for part in found])
    if outcome.passed:
        proved = isinstance(strict, Measurement) and strict.passed
        return outcome if proved else replace(outcome, vacuous=True)
    lower = isinstance(strict, Measurement) and not strict.passed and strict.score < outcome.score
    return strict if lower else outcome


def _unproved(part: Outcome) -> Outcome:
    """What proves nothing is left out, as a finding of its own would be of the reward."""
    idle = isinstance(part, Measurement) and part.vacuous and part.score > 0
    return Skipped("it proves nothing") if idle else part


def unreached(node: Node, outcome: Outcome | None) -> Trace:
    """The trace of a node whose parts were not evaluated."""
    return Trace(node, outcome, tuple(unreached(part, None) for part in parts_of(node)))


def _naming(outcome: Outcome, parts: list[Trace]) -> Outcome:
    """A failed group says which of its named parts failed, and why their author minds."""
    if not isinstance(outcome, Measurement) or outcome.passed:
        return outcome
    failed = [part for part in parts if isinstance(part.outcome, Measurement) and not part.outcome.passed]
    named = [_in_words(part.node.common) for part in failed if part.node.common.name]
    if not named:
        return outcome
    reason = f"{'; '.join(named)} — {outcome.reason}" if outcome.reason else "; ".join(named)
    return replace(outcome, reason=reason)


def _in_words(common: Common) -> str:
    return f"`{common.name}` did not pass" + (f" ({common.why})" if common.why else "")


def _reached(trace: Trace) -> Outcome:
    if trace.outcome is None:
        raise AssertionError("a part that was evaluated has no outcome")
    return trace.outcome


def _scores(outcomes: Mapping[str, Outcome]) -> Callable[[str], object]:
    def lookup(name: str) -> object:
        part, _, field = name.partition(".")
        outcome = outcomes[part]
        if isinstance(outcome, Measurement):
            return outcome.passed if field == "passed" else outcome.score
        return MissingValue(name)

    return lookup


def _passing(outcome: Outcome, common: Common) -> Outcome:
    """The outcome under the rule's own `threshold`; no threshold makes a student fault pass."""
    if common.threshold is None or not isinstance(outcome, Measurement):
        return outcome
    passed = reaches(outcome.score, common.threshold) and not outcome.student_fault
    if passed == outcome.passed:
        return outcome
    return replace(outcome, passed=passed)
