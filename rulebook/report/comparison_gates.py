"""What a comparison must come to, and whether it does. What could not be measured never meets a gate."""

from collections.abc import Sequence

from msgspec import Struct

from rulebook.report.compared import Compared


class ComparisonGate(Struct, frozen=True):
    """What is asked of one scorer, or of every one that the baseline has where `scorer` is None.

    It must not be worse; with `most_worse` it is the difference itself that counts: B's mean may be worse than A's by
    so much at most, or must be better where that is below 0. Ends are included.
    """

    scorer: str | None = None
    most_worse: float | None = None


class GateVerdict(Struct, frozen=True):
    """Whether one thing that was asked holds, and the sentence that says so."""

    scorer: str
    figure: str
    is_met: bool
    words: str


def gate_verdicts(
    gates: Sequence[ComparisonGate],
    scorers: Sequence[Compared],
    only_a: Sequence[str],
    allow_lost: int,
    missing: int = 0,
) -> tuple[GateVerdict, ...]:
    """The verdicts of each gate, in the order of the scorers. `allow_lost` is how many rows each of them may lose.

    `only_a` are scorers that B does not have, and `missing` rows of A are not in B, which loses each of them. Raises
    KeyError for a gate of a scorer that is not in A.
    """
    named = {each.name: each for each in scorers}
    verdicts: list[GateVerdict] = []
    for gate in gates:
        names = [*named, *only_a] if gate.scorer is None else [gate.scorer]
        for name in names:
            if name in only_a:
                verdicts.append(GateVerdict(name, "measured", False, "B does not have it"))
            else:
                verdicts += _of(gate, named[name], allow_lost, missing)
    return tuple(dict.fromkeys(verdicts))


def _of(gate: ComparisonGate, found: Compared, allow_lost: int, missing: int) -> list[GateVerdict]:
    lost = len(found.lost) + missing
    rows = f"{lost} row" + ("" if lost == 1 else "s")
    is_met = lost <= allow_lost
    rows += f" ({missing} beyond its last)" if missing else ""
    words = f"B lost {rows}, " + (f"at most {allow_lost}" if is_met else f"more than {allow_lost}")
    verdicts = [GateVerdict(found.name, "lost", is_met, words)]
    if found.figures is None:
        return [GateVerdict(found.name, "measured", False, "no row was measured in both"), *verdicts]
    if gate.most_worse is None:
        is_met = found.verdict != "worse"
        return [GateVerdict(found.name, "verdict", is_met, found.verdict), *verdicts]
    # what two means of a few digits differ by is no such number, but for a rounding error
    change, least = round(found.gain, 12), 0.0 - gate.most_worse
    is_met = change >= least
    turned = ", as less is better" if found.lower_is_better else ""
    words = f"{change:+.6g} is {'at least' if is_met else 'less than'} {least:+.6g}{turned}"
    return [GateVerdict(found.name, "change", is_met, words), *verdicts]
