"""What a judge comes to against labelled rows: how often it agrees, and from which score a pass serves best."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.row_labels import Labels, RowLabel
from rulebook.outcome import Spent, reaches
from rulebook.report.agreement import Kappa, Share, Table, agreement_of, kappa_of, quadratic_weights
from rulebook.report.escalations import Escalation, Graded, escalations
from rulebook.report.pass_marks import HeldOut, Verdicts, best_threshold, held_out, verdicts_at

MOST_GRADES = 10
"""Labels that are numbers are classes too where they and the scores have no more different values than that."""


class Compared(Struct, frozen=True):
    """One row that has a label and a score of the judge's, with the score's metadata."""

    label: RowLabel
    score: float
    metadata: Mapping[str, object]


class Terms(Struct, frozen=True):
    """How labels and scores are held to each other.

    A label passes when its grade reaches `mark`. `threshold` is the scorer's own, and `is_written` whether the file
    says it. `names` are the labels that the judge chooses from, with their scores, if it has such; `escalate_below` is
    the confidence below which it asks a second model.
    """

    mark: float
    threshold: float
    is_written: bool
    names: Mapping[str, float] = {}
    escalate_below: float | None = None


class Classes(Struct, frozen=True):
    """The labels class by class: the table has one row for each by label, one column by the judge.

    `weighted` is κ with quadratic weights, where the classes have an order; None where there are only two.
    """

    names: Sequence[str]
    table: Table
    agreement: Share
    kappa: Kappa
    weighted: Kappa | None


class Calibration(Struct, frozen=True):
    """What was found. `compared` rows are those behind every figure; `unmeasured` had a label and no score.

    `best` is the threshold that serves best, None where none is better than chance, with the verdicts at it; `held_out`
    is what such a choice gives for rows that it was not made on. `escalations` are there where a judge has a second
    model. `failures` tells the first rows without a score. `spent` is what the models cost, None where none was asked;
    it is on no card.
    """

    labels: Labels
    terms: Terms
    compared: int
    passing: int
    unmeasured: int
    failures: Sequence[str]
    present: Verdicts
    best: float | None
    at_best: Verdicts | None
    held_out: HeldOut | None
    classes: Classes | None
    escalations: Sequence[Escalation] = ()
    spent: Spent | None = None


def calibrated(
    rows: Sequence[Compared], labels: Labels, terms: Terms, unmeasured: int, failures: Sequence[str]
) -> Calibration:
    """Hold the judge's scores to the labels."""
    pairs = [(row.score, reaches(row.label.grade, terms.mark)) for row in rows]
    best = best_threshold(pairs)
    return Calibration(
        labels,
        terms,
        len(rows),
        sum(1 for _, passes in pairs if passes),
        unmeasured,
        failures,
        verdicts_at(pairs, terms.threshold),
        best,
        None if best is None else verdicts_at(pairs, best),
        None if best is None else held_out(pairs),
        _by_label(rows, labels, terms),
        () if terms.escalate_below is None else _escalations(rows, labels, terms, best),
    )


def _escalations(rows: Sequence[Compared], labels: Labels, terms: Terms, best: float | None) -> tuple[Escalation, ...]:
    """They are held to the labels themselves where these are the judge's own; elsewhere to what passes."""
    threshold = terms.threshold if best is None else best

    def agrees(label: RowLabel, grade: Graded) -> bool:
        score, choice = grade
        if labels.reading == "names":
            return normal_label(label.name or "") == choice
        return reaches(label.grade, terms.mark) == reaches(score, threshold)

    told = [(row.label, row.score, row.metadata) for row in rows]
    return escalations(told, terms.escalate_below or 0.0, agrees)


def _by_label(rows: Sequence[Compared], labels: Labels, terms: Terms) -> Classes | None:
    """None for labels of yes or no: no judge is wrong that scores a pass 0.9."""
    if labels.reading == "names":
        return _by_name(rows, terms.names)
    return _by_grade(rows) if labels.reading == "grades" else None


def _by_name(rows: Sequence[Compared], names: Mapping[str, float]) -> Classes | None:
    """None where the score of some row is not that of one label, as a mean of votes may be."""
    ordered = sorted(names, key=lambda name: (-names[name], list(names).index(name)))
    known = {normal_label(name): name for name in names}
    chosen = [known.get(normal_label(str(row.metadata.get("choice")))) for row in rows]
    said = [(row.label.name, name) for row, name in zip(rows, chosen, strict=True) if name is not None]
    if len(said) < len(rows) or any(names[str(name)] != row.score for row, name in zip(rows, chosen, strict=True)):
        return None
    counts = Counter(said)
    table = [[counts[one, other] for other in ordered] for one in ordered]
    grades = [names[name] for name in ordered]
    return _classes(ordered, table, grades if len(set(grades)) == len(grades) else [])


def _by_grade(rows: Sequence[Compared]) -> Classes | None:
    grades = sorted({value for row in rows for value in (row.label.grade, row.score)}, reverse=True)
    if not 2 < len(grades) <= MOST_GRADES:
        return None
    counts = Counter((row.label.grade, row.score) for row in rows)
    table = [[counts[one, other] for other in grades] for one in grades]
    return _classes([f"{grade:.6g}" for grade in grades], table, grades)


def _classes(names: Sequence[str], table: Table, grades: Sequence[float]) -> Classes:
    weighted = kappa_of(table, quadratic_weights(grades)) if len(grades) > 2 else None
    return Classes(names, table, agreement_of(table), kappa_of(table), weighted)
