"""A calibration for people.

quality against `human`                                     CALIBRATED  40 rows

40 rows: 36 are compared, 2 have no label, 2 were not measured.

threshold               agreement  95 % interval     κ  95 % interval  precision  recall
1 (not written)            0.7222   …
"""

from collections.abc import Iterator, Sequence

from rulebook.report.calibration import Calibration, Classes
from rulebook.report.calibration_notes import notes_of
from rulebook.report.evaluation_interval import Interval
from rulebook.report.evaluation_text import figure
from rulebook.report.pass_marks import Verdicts
from rulebook.report.spent import spent_lines
from rulebook.spec.judge_cards import Subject
from rulebook.terminal import WIDTH, columns, cut, harmless, padded, painted, wrapped

_TITLE = 58
_NAME = 24
_LEAST = 6
_HEADS = ("agreement", "95 % interval", "κ", "95 % interval", "precision", "recall")


def render_calibration(found: Calibration, subject: Subject, *, colour: bool = False) -> str:
    """The text report: in a stable layout."""
    lines = [headline(found, subject, colour=colour), "", *wrapped(_rows(found), WIDTH), *_reading(found)]
    if found.compared:
        lines += ["", *_grid(list(_figures(found)))]
        lines += ["", *_passes(found)]
    if found.classes is not None:
        lines += ["", *_by_class(found.classes)]
        lines += ["", *_grid(list(_of_classes(found.classes)))]
    if found.escalations:
        lines += ["", *_grid(list(_escalations(found)))]
    for note in notes_of(found):
        lines += ["", *wrapped(harmless(note), WIDTH)]
    if found.failures:
        lines += ["", "what could not be measured (the first rows)"]
        lines += [cut(f"  {harmless(each)}", WIDTH) for each in found.failures]
    if found.spent is not None:
        lines += ["", *spent_lines("Models", found.spent, WIDTH)]
    if found.best is not None and found.best != found.terms.threshold:
        write = (
            f"set its `threshold` to {found.best!r}" if found.terms.is_written else f"write `threshold: {found.best!r}`"
        )
        beside = "" if found.terms.is_written else f" beside its `{subject.kind}:`"
        lines += ["", f"To let `{harmless(subject.scorer)}` pass from {found.best:.6g} on, {write}{beside}."]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(found: Calibration, subject: Subject, *, colour: bool = False) -> str:
    """The first line: what was held to what, and over how many rows."""
    done = painted("CALIBRATED", "green", colour) if found.compared else painted("NOT MEASURED", "yellow", colour)
    title = cut(harmless(f"{subject.scorer} against `{subject.column}`"), _TITLE)
    return f"{padded(title, _TITLE + 2)}{done}  {found.compared} row{'' if found.compared == 1 else 's'}"


def _rows(found: Calibration) -> str:
    labels = found.labels
    told = [
        f"{count} {one if count == 1 else many}"
        for count, one, many in (
            (found.compared, "is compared", "are compared"),
            (labels.unlabelled, "has no label", "have no label"),
            (labels.unreadable, "has a label that cannot be read", "have labels that cannot be read"),
            (labels.damaged, "is damaged", "are damaged"),
            (found.unmeasured, "was not measured", "were not measured"),
        )
        if count or one == "is compared"
    ]
    return f"{labels.rows} row{'' if labels.rows == 1 else 's'}: {', '.join(told)}."


def _reading(found: Calibration) -> Iterator[str]:
    if found.labels.reading != "yes or no":
        yield f"A label is a pass from {found.terms.mark:g} on (`--mark`)."


def _figures(found: Calibration) -> Iterator[Sequence[str]]:
    present, best, held = found.terms.threshold, found.best, found.held_out
    yield ("threshold", *_HEADS)
    said = "written" if found.terms.is_written else "not written"
    yield (f"{present:.6g} ({'serves best, ' if present == best else ''}{said})", *_cells(found.present))
    if found.at_best is not None and best != present:
        yield (f"{best:.6g} (serves best)", *_cells(found.at_best))
    if held is not None:
        yield (f"held out, {held.folds} folds", *_cells(held.verdicts))


def _cells(found: Verdicts) -> tuple[str, ...]:
    agreement, kappa = found.agreement, found.kappa
    return (
        figure(agreement.value),
        _ends(agreement.interval),
        figure(kappa.value),
        _ends(kappa.interval),
        figure(found.precision.value),
        figure(found.recall.value),
    )


def _passes(found: Calibration) -> Iterator[str]:
    shown, threshold = (found.present, found.terms.threshold) if found.at_best is None else (found.at_best, found.best)
    rows = [(f"label: {name}", *map(str, row)) for name, row in zip(("pass", "fail"), shown.table, strict=True)]
    yield from _grid([(f"from {threshold:.6g} on", "judge: pass", "judge: fail"), *rows])


def _of_classes(found: Classes) -> Iterator[Sequence[str]]:
    yield ("all labels", "", "95 % interval")
    yield ("agreement", figure(found.agreement.value), _ends(found.agreement.interval))
    yield ("κ", figure(found.kappa.value), _ends(found.kappa.interval))
    if found.weighted is not None:
        yield ("κ, quadratic weights", figure(found.weighted.value), _ends(found.weighted.interval))


def _escalations(found: Calibration) -> Iterator[Sequence[str]]:
    yield ("second model below", "asked of", "95 % interval", "agreement", "95 % interval")
    for each in found.escalations:
        own = " (as it stands)" if each.below == found.terms.escalate_below else ""
        right = each.agreement
        cells = ("-", "-") if right is None else (figure(right.value), _ends(right.interval))
        yield (f"{each.below:.6g}{own}", figure(each.share.value), _ends(each.share.interval), *cells)


def _by_class(found: Classes) -> list[str]:
    """Labels down, the judge across; names are cut where there are many."""
    most = max(_LEAST, (WIDTH - _NAME) // len(found.names) - 2)
    heads = [cut(harmless(name), most) for name in found.names]
    names = [cut(harmless(name), _NAME) for name in found.names]
    rows = [(name, *map(str, row)) for name, row in zip(names, found.table, strict=True)]
    return _grid([("label down, judge across", *heads), *rows])


def _grid(cells: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            padded(cell, width) if place == 0 else " " * (width - columns(cell)) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def _ends(interval: Interval | None) -> str:
    return "-" if interval is None else f"{figure(interval.low)} to {figure(interval.high)}"
