"""What an evaluation's aggregates must reach, and whether they do. Nothing that could not be measured is ever met."""

import math
from collections.abc import Sequence

from msgspec import Struct

from rulebook.outcome import reaches
from rulebook.report.evaluation_tally import Summary
from rulebook.spec.gate_parts import PERCENTS, Bounds, Gate


class Verdict(Struct, frozen=True):
    """Whether one figure keeps its bounds, and the sentence that says so. `value` None: there is none."""

    scorer: str
    figure: str
    value: float | None
    bounds: Bounds
    is_met: bool
    words: str


def verdicts_of(gates: Sequence[Gate], summaries: Sequence[Summary]) -> tuple[Verdict, ...]:
    """The verdicts, in the order of the gates; for each scorer its figures, then how many rows were not measured.

    Raises KeyError for a gate of a scorer that there is not.
    """
    named = {each.name: each for each in summaries}
    return tuple(verdict for gate in gates for verdict in _of(gate, named[gate.scorer]))


def _of(gate: Gate, found: Summary) -> list[Verdict]:
    verdicts = [_verdict(gate.scorer, figure, _value(found, figure), each) for figure, each in gate.figures.items()]
    most = Bounds(max=gate.unmeasured_max)
    if not gate.figures and not found.scores:
        verdicts.append(Verdict(gate.scorer, "scores", None, Bounds(), False, "no row was measured"))
    failed = _verdict(gate.scorer, "unmeasured", float(found.failed), most)
    return [*verdicts, failed]


def _value(found: Summary, figure: str) -> float | None:
    if figure == "mean":
        return found.mean
    return found.pass_rate if figure == "pass_rate" else found.percentiles[PERCENTS.index(int(figure[1:]))]


def _verdict(scorer: str, figure: str, value: float | None, bounds: Bounds) -> Verdict:
    if value is None:
        return Verdict(scorer, figure, None, bounds, False, "no row was measured")
    if math.isnan(value):  # which is neither less nor more than any bound
        return Verdict(scorer, figure, None, bounds, False, "it is no number")
    if bounds.min is not None and not reaches(value, bounds.min):
        return Verdict(scorer, figure, value, bounds, False, f"{value:.6g} is less than {bounds.min:g}")
    if bounds.max is not None and not reaches(bounds.max, value):
        return Verdict(scorer, figure, value, bounds, False, f"{value:.6g} is more than {bounds.max:g}")
    ends = [f"{word} {end:g}" for word, end in (("at least", bounds.min), ("at most", bounds.max)) if end is not None]
    return Verdict(scorer, figure, value, bounds, True, f"{value:.6g} is {' and '.join(ends)}")
