"""The work of `rulebook evaluation list`."""

from argparse import Namespace

from rulebook.cli import output
from rulebook.report.plain_json import canonical
from rulebook.services.clock import minute_of
from rulebook.services.evaluation_runs import StoredRun, list_runs
from rulebook.terminal import harmless


def list_all(given: Namespace) -> int:
    """List the store, newest first."""
    runs = list_runs()
    if given.format == "json":
        entries = [_entry(run) for run in runs]
        output.put(canonical({"schema": "rulebook.evaluation-runs", "version": 1, "runs": entries}))
        return 0
    for run in runs:
        rows = "not finished" if run.rows is None else f"{run.rows} row" + ("" if run.rows == 1 else "s")
        output.put(f"{run.id}  {minute_of(run.started_ms)}  {rows:>12}  {harmless(run.name)}\n")
    if not runs:
        output.say("No evaluation was run yet. rulebook evaluation run FILE runs one.")
    return 0


def _entry(run: StoredRun) -> dict[str, object]:
    return {
        "run": run.id,
        "name": run.name,
        "folder": run.folder,
        "started_ms": run.started_ms,
        "rows": run.rows,
        "finished": run.rows is not None,
    }
