"""One run of an evaluation from its first row to its last, or from where it was stopped."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing

from msgspec import Struct
from msgspec.structs import replace

from rulebook.report.evaluation_outcome import Evaluated, Reckoning
from rulebook.services.evaluation_journal import Journal, JournalHead, read_records
from rulebook.services.model_meter import metered
from rulebook.session.evaluating import Work, evaluate_rows
from rulebook.session.evaluating_together import Crew, evaluate_together
from rulebook.session.paths_in_no_row import paths_in_no_row
from rulebook.spec.gate_parts import Gate


class Plan(Struct, frozen=True):
    """What a run adds up to: the gates, the score from which each scorer's passes, and notes for the report.

    `notes` is asked for them once the last row is scored.
    """

    gates: Sequence[Gate] = ()
    thresholds: Mapping[str, float] = {}
    notes: Callable[[], Sequence[str]] = tuple


def run_evaluation(
    work: Work,
    head: JournalHead,
    folder: str,
    plan: Plan,
    heard: Callable[[int], object] = lambda _: None,
    crew_of: Callable[[], Crew] | None = None,
) -> Evaluated:
    """Score every row that the journal in `folder` does not hold yet, and add up all.

    `crew_of` makes what takes several rows at once, in place of the work's own task; None: one row after the other.
    `heard` is told after every batch how many rows are done. Raises UsageError when the journal is in use, of something
    else or damaged, DatasetError where the dataset cannot be read; the journal keeps what was done until then.
    """
    reckoning = Reckoning(head.scorers, plan.thresholds)
    with Journal(folder, head) as journal, metered() as meter, ExitStack() as until_the_end:
        for record in read_records(folder):
            reckoning.add(record)
        if reckoning.rows:
            reckoning.goes_on()
        heard(reckoning.rows)
        batches = (
            evaluate_rows(work, reckoning.rows)
            if crew_of is None
            else until_the_end.enter_context(closing(evaluate_together(work, crew_of, reckoning.rows)))
        )
        for records in batches:
            spent = meter.taken()
            if spent is not None:
                records[-1] = replace(records[-1], spent=spent)
            journal.append(records)
            reckoning.add_all(records)
            heard(reckoning.rows)
        journal.sync()
    notes = [*plan.notes(), *paths_in_no_row(head, work.rows(), read_records(folder))]
    return reckoning.outcome(head.name, head.run, plan.gates, notes)
