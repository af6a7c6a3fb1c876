"""The report of a run of an evaluation as one JSON object; what people read is `evaluation_text`."""

from rulebook import __version__
from rulebook.report.evaluation_gates import Verdict
from rulebook.report.evaluation_outcome import Evaluated
from rulebook.report.evaluation_tally import Summary
from rulebook.report.plain_json import plain
from rulebook.report.spent import spent_json
from rulebook.spec.gate_parts import PERCENTS

SCHEMA = "rulebook.evaluation-report"
VERSION = 1


def exit_status(found: Evaluated) -> int:
    """0 when every gate is met, or there is none, and every scorer could measure something; else 3."""
    return 0 if found.gates_are_met and found.is_measured else 3


def evaluation_report(found: Evaluated) -> dict[str, object]:
    """The report as plain data. A mean and a percentile are null where no row was measured."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "name": plain(found.name),
        "run": found.run,
        "rows": {"count": found.rows, "damaged": found.damaged, "task_failed": found.task_failed},
        "scorers": [_scorer(each) for each in found.scorers],
        "gates": [_gate(each) for each in found.verdicts],
        "gates_met": found.gates_are_met,
        "measured": found.is_measured,
        "failures": [
            {
                "row": each.row,
                "scorer": each.scorer,
                "stage": each.stage,
                "type": each.type,
                "message": plain(each.message),
            }
            for each in found.told
        ],
        "notes": [plain(note) for note in found.notes],
        **_models(found),
    }


def _models(found: Evaluated) -> dict[str, object]:
    """What models cost over the whole run, and since it went on where it was stopped; nothing where none was asked."""
    if found.spent is None:
        return {}
    since = {} if found.spent_since is None else {"since_resume": spent_json(found.spent_since)}
    return {"models": {**spent_json(found.spent), **since}}


def _scorer(found: Summary) -> dict[str, object]:
    return {
        "name": plain(found.name),
        "mean": found.mean,
        "scores": found.scores,
        "rows": found.rows,
        "failed": found.failed,
        "empty": found.empty,
        "pass_rate": found.pass_rate,
        "threshold": found.threshold,
        "interval": None
        if found.interval is None
        else {"low": found.interval.low, "high": found.interval.high, "share": 0.95, "method": found.interval.method},
        "min": found.least,
        "max": found.most,
        **{f"p{percent}": value for percent, value in zip(PERCENTS, found.percentiles, strict=True)},
    }


def _gate(verdict: Verdict) -> dict[str, object]:
    return {
        "scorer": plain(verdict.scorer),
        "figure": verdict.figure,
        "value": verdict.value,
        "min": verdict.bounds.min,
        "max": verdict.bounds.max,
        "met": verdict.is_met,
        "reason": verdict.words,
    }
