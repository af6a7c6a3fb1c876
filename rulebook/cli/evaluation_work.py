"""The work of `rulebook evaluation run`, apart from its options."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Mapping

from rulebook.api.evaluation_loading import load_evaluation
from rulebook.api.runnable_evaluation import RunnableEvaluation
from rulebook.cli import output
from rulebook.cli.handing_out import hand_out
from rulebook.errors import UsageError
from rulebook.report.evaluation_report import evaluation_report, exit_status
from rulebook.report.evaluation_text import headline, render_evaluation
from rulebook.services.output_files import refuse_over
from rulebook.services.ports import machine_ports
from rulebook.services.rule_files import near_path

_TOLD_EVERY_S = 0.2


def run_evaluation(given: Namespace, params: Mapping[str, str]) -> int:
    """Run it, hand out the report, and give the exit status."""
    if not os.path.exists(given.file):
        raise UsageError(f"there is no `{given.file}`.{near_path(given.file)}")
    if given.table is not None:
        from rulebook.services.evaluation_table import table_format  # only a table pays for it

        table_format(given.table)
    rules = load_evaluation(given.file, machine_ports(given.file, given.cache), allow_python=given.allow_python)
    for path in (given.output, given.table):
        if path is not None:
            refuse_over(path, (given.file, rules.dataset.where))
    if given.table is not None:
        from rulebook.services.evaluation_table import check_table  # Arrow, which only a table pays for

        check_table(rules.dataset, [each.name for each in rules.scorers])
    for warning in rules.warnings():
        output.say(warning)
    progress = Progress(rules, given.limit)
    try:
        run = rules.run(limit=given.limit, resume=given.resume, params=params, heard=progress.heard)
    except BaseException:
        progress.clear()
        if progress.done:
            import shlex  # only a run that was stopped pays for it

            again = ["rulebook", "evaluation", "run", given.file, "--resume"]
            again += ["--allow-python"] * given.allow_python + (["--limit", str(given.limit)] if given.limit else [])
            again += ["--cache", given.cache] if given.cache else []
            again += [word for param in given.param for word in ("--param", param)]
            output.say(f"{progress.done} rows are done. Go on with: {shlex.join(again)}")
        raise
    progress.clear()
    if given.table is not None:
        run.to_table(given.table)
        output.say(f"Wrote {given.table}.")
    output.say(f"This is run {run.id}. To hold it against an earlier one: rulebook evaluation compare EARLIER {run.id}")
    hand_out(given, run.outcome, evaluation_report, render_evaluation, headline)
    return exit_status(run.outcome)


class Progress:
    """One line on a terminal that says how many rows are done and how long the others will take."""

    def __init__(self, rules: RunnableEvaluation, limit: int | None) -> None:
        self.done = 0
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._total = min(rules.dataset.row_count, limit or sys.maxsize) if self._shows else 0
        self._began_s, self._told_s, self._first = time.monotonic(), 0.0, -1

    def heard(self, done: int) -> None:
        """So many rows are done."""
        self.done = done
        if self._first < 0:
            self._first = done
        now_s = time.monotonic()
        if not self._shows or now_s - self._told_s < _TOLD_EVERY_S:
            return
        self._told_s = now_s
        fresh = done - self._first
        left_s = (now_s - self._began_s) / fresh * (self._total - done) if fresh else 0.0
        eta = f", {duration(left_s)} to go" if fresh else ""
        sys.stderr.write(f"\r\x1b[K{done} of {self._total} rows{eta}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shows:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """A time for people: `42 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
