"""What must be known beside a calibration's figures: how little they rest on, and what flatters them."""

from collections.abc import Iterator

from rulebook.report.calibration import Calibration

FEW_ROWS = 30
"""Below so many rows a calibration says little, and says so."""

FEW_OF_A_CLASS = 5
"""Below so many passes, or failures, among the labels too."""

MANY_UNMEASURED = 0.1
"""From this share of the labelled rows on it is said that the judge measured nothing there."""


def notes_of(found: Calibration) -> tuple[str, ...]:
    """The notes, each a sentence or two, none twice."""
    return tuple(dict.fromkeys((*_of_labels(found), *_of_size(found), *_of_threshold(found))))


def _of_labels(found: Calibration) -> Iterator[str]:
    labels = found.labels
    if labels.unreadable:
        more = "" if labels.unreadable <= len(labels.told) else ", and so on"
        yield f"Labels that cannot be read are left out, not guessed: {'; '.join(labels.told)}{more}."
    asked = found.compared + found.unmeasured
    if found.unmeasured and found.unmeasured >= MANY_UNMEASURED * asked:
        yield (
            f"The judge measured nothing in {found.unmeasured} of {asked} labelled rows. What it would have said there "
            "is not known; every figure is of the others alone."
        )
    if found.labels.reading == "names" and found.compared and found.classes is None:
        yield (
            "The score of some rows is not that of one label, as where votes are averaged. Labels are therefore not "
            "compared one by one, only by what passes."
        )


def _of_size(found: Calibration) -> Iterator[str]:
    if 0 < found.compared < FEW_ROWS:
        yield f"Fewer than {FEW_ROWS} rows were compared. So few say little: see how wide the intervals are."
    failing = found.compared - found.passing
    for count, what, others in ((found.passing, "a pass", failing), (failing, "a failure", found.passing)):
        if others and not count:
            yield f"No label is {what}. Whether the judge tells the two apart cannot be seen; label some of both."
        elif others and count < FEW_OF_A_CLASS:
            some = "Only one label is" if count == 1 else f"Only {count} labels are"
            yield f"{some} {what}. What is said of those may be chance; label at least {FEW_OF_A_CLASS} of each."


def _of_threshold(found: Calibration) -> Iterator[str]:
    for threshold, verdicts in ((found.terms.threshold, found.present), (found.best, found.at_best)):
        if verdicts is not None and found.compared and verdicts.kappa.reason:
            yield f"κ at {threshold:.6g} is not defined: {verdicts.kappa.reason}."
    if found.classes is not None and found.classes.kappa.reason:
        yield f"κ of the labels is not defined: {found.classes.kappa.reason}."
    if found.best is None:
        if 0 < found.passing < found.compared:
            yield "No threshold agrees with the labels better than chance, so none is named."
        return
    flattered = "The threshold was chosen on the rows on which it is measured, which flatters its figures. "
    if found.held_out is None:
        yield flattered + "There are too few of each class to hold some out; expect less on other rows."
        return
    yield flattered + "Those that are held out are of rows that had no part in the choice: expect those."
    if found.held_out.unsure:
        yield f"Without {found.held_out.unsure} of the rows no threshold was found; they are not held out."
