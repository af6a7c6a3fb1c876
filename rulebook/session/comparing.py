"""Two runs of an evaluation, read side by side and held against each other, row by row."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from rulebook.errors import NotComparable, UsageError
from rulebook.evidence.row_records import RowRecord
from rulebook.report.comparison import MOST_OUTPUTS, Comparison, Outputs, Side
from rulebook.report.comparison_gates import ComparisonGate, gate_verdicts
from rulebook.report.paired_scores import Pairing, settled
from rulebook.report.plain_json import compact
from rulebook.services.finished_runs import FinishedRun, finished_run
from rulebook.spelling import guess


class Asked(Struct, frozen=True):
    """How two runs are compared. `lower_is_better` names scorers; `allow_lost` is how many rows each may lose."""

    confidence: float = 0.95
    lower_is_better: Sequence[str] = ()
    gates: Sequence[ComparisonGate] = ()
    allow_lost: int = 0


def compare_runs(folder_a: str, folder_b: str, asked: Asked) -> Comparison:
    """What the runs in two folders come to: A is the baseline, B the candidate.

    The journals are read once, together; of a row its scores are kept, and of one that changed its outputs. Raises
    NotComparable where the rows are not the same ones, no scorer is in both, or a run is not finished; UsageError for a
    run that is not there, is damaged, or is named twice, and for a scorer that there is not.
    """
    a, b = finished_run(folder_a), finished_run(folder_b)
    if a.head.run == b.head.run:
        raise UsageError(f"Both are the run `{a.head.run}`. Name the baseline, then the candidate.")
    notes = _same_rows(a, b)
    both = [name for name in a.head.scorers if name in b.head.scorers]
    if not both:
        raise NotComparable("The runs have no scorer of the same name, so there is nothing to compare.")
    only_a, only_b = _others(a, both), _others(b, both)
    _check_named(asked, both, only_a, only_b)
    pairings = [_pairing(name, b, name in asked.lower_is_better) for name in both]
    outputs: list[Outputs] = []
    rows = _pair_all(a, b, pairings, outputs)
    found = Comparison(
        Side(a.head.run, a.head.name, a.rows),
        Side(b.head.run, b.head.name, b.rows),
        rows,
        asked.confidence,
        settled(pairings, asked.confidence),
        only_a,
        only_b,
        outputs,
        [*notes, *_other_length(a, b, rows), *_other_settings(a, b, both)],
    )
    missing = max(0, a.rows - rows)
    return replace(found, verdicts=gate_verdicts(asked.gates, found.scorers, only_a, asked.allow_lost, missing))


def _same_rows(a: FinishedRun, b: FinishedRun) -> list[str]:
    """A note where nobody knows whether the rows are the same. Raises NotComparable where they are not."""
    if a.head.dataset is None or b.head.dataset is None:
        return ["It was not checked that both runs are of the same rows: one of them does not say of which it is."]
    if a.head.dataset != b.head.dataset:
        raise NotComparable(
            f"The runs are not of the same rows: A is of `{a.head.dataset}`, B of `{b.head.dataset}`. "
            "Run both over the same dataset."
        )
    return []


def _others(run: FinishedRun, both: Sequence[str]) -> list[str]:
    return [name for name in run.head.scorers if name not in both]


def _check_named(asked: Asked, both: Sequence[str], only_a: Sequence[str], only_b: Sequence[str]) -> None:
    for name in (*asked.lower_is_better, *(gate.scorer for gate in asked.gates if gate.scorer is not None)):
        if name in only_b:
            raise UsageError(f"The scorer `{name}` is in B alone, so there is nothing to hold it against.")
        if name not in both and name not in only_a:
            raise UsageError(f"No scorer of these runs is called `{name}`.{guess(name, both)}")


def _pairing(name: str, candidate: FinishedRun, lower_is_better: bool) -> Pairing:
    return Pairing(name, candidate.thresholds.get(name, 1.0), lower_is_better=lower_is_better)


def _pair_all(a: FinishedRun, b: FinishedRun, pairings: Sequence[Pairing], outputs: list[Outputs]) -> int:
    """Take in every row of both runs; how many they share."""
    places = [(each, a.head.scorers.index(each.name), b.head.scorers.index(each.name)) for each in pairings]
    rows = 0
    for one, other in zip_longest(a.records(), b.records()):
        if one is None or other is None:
            continue  # the longer journal is read to its end, where it says whether it is whole
        rows += 1
        changed = False
        for pairing, place_a, place_b in places:
            try:
                changed |= pairing.add(one.row, one.scores(place_a), other.scores(place_b))
            except ValueError as error:
                raise UsageError(
                    f"Row {one.row} of the run `{a.head.run}` or of `{b.head.run}` is damaged: {error} of "
                    f"`{pairing.name}`. Run the evaluation again."
                ) from None
        if changed and len(outputs) < MOST_OUTPUTS:
            outputs.append(_outputs(one, other))
    return rows


def _outputs(a: RowRecord, b: RowRecord) -> Outputs:
    return Outputs(a.row, a.output, b.output)


def _other_length(a: FinishedRun, b: FinishedRun, rows: int) -> Iterable[str]:
    if a.rows != b.rows:
        more, count = ("A", a.rows) if a.rows > b.rows else ("B", b.rows)
        yield f"Only the first {rows} of the {count} rows of {more} are compared: the other run has no more."


def _other_settings(a: FinishedRun, b: FinishedRun, both: Sequence[str]) -> Iterable[str]:
    for name in both:
        before, after = a.head.options.get(name), b.head.options.get(name)
        if before is not None and after is not None and before != after:
            keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
            told = (compact({key: side.get(key) for key in keys}).strip() for side in (before, after))
            yield f"The scorer `{name}` is not the same: {' in A, '.join(told)} in B."
        if a.thresholds.get(name) != b.thresholds.get(name):
            yield f"The scorer `{name}` has another threshold in B, which decides here what is fixed and broken."
