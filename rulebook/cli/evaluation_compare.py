"""The work of `rulebook evaluation compare`, apart from its options."""

import os
from argparse import Namespace

from rulebook.cli import output
from rulebook.cli.handing_out import hand_out
from rulebook.errors import NotComparable, UsageError
from rulebook.report.comparison_gates import ComparisonGate
from rulebook.report.comparison_report import comparison_report, exit_status
from rulebook.report.comparison_text import headline, render_comparison
from rulebook.services.evaluation_journal import JOURNAL
from rulebook.services.evaluation_runs import REPORT, find_run
from rulebook.services.output_files import refuse_over
from rulebook.session.comparing import Asked, compare_runs

NOT_COMPARABLE = 3


def compare(given: Namespace) -> int:
    """Compare the runs, hand out the report, and give the exit status."""
    asked = Asked(
        _confidence(given.confidence),
        given.lower_is_better,
        [_gate(word) for word in given.gate or ()],
        _allow_lost(given),
    )
    folders = [find_run(word) for word in (given.a, given.b)]
    if given.output is not None:
        refuse_over(given.output, [os.path.join(folder, name) for folder in folders for name in (JOURNAL, REPORT)])
    try:
        found = compare_runs(folders[0], folders[1], asked)
    except NotComparable as error:
        output.say(f"rulebook: {error}")
        return NOT_COMPARABLE
    hand_out(given, found, comparison_report, render_comparison, headline)
    return exit_status(found)


def _gate(word: str) -> ComparisonGate:
    name, colon, bound = word.rpartition(":")
    if not colon:
        return ComparisonGate(word or None)
    change = _number(bound)
    # the name of an SQL scorer may hold a `:` too
    return ComparisonGate(word) if change is None or not name else ComparisonGate(name, -change)


def _confidence(word: str) -> float:
    share = _number(word)
    if share is None or not 0.5 <= share <= 0.9999:
        raise UsageError(f"`--confidence {word}`: write a share from 0.5 to 0.9999, such as `--confidence 0.95`.")
    return share


def _allow_lost(given: Namespace) -> int:
    word = given.allow_lost
    if word is None:
        return 0
    if not (word.isascii() and word.isdigit()):
        raise UsageError(f"`--allow-lost {word}`: write how many rows, such as `--allow-lost 2`.")
    if not given.gate:
        raise UsageError("`--allow-lost` has no effect without `--gate`. Add `--gate` at the end.")
    return int(word)


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
