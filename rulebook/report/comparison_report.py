"""The comparison of two runs as one JSON object; what people read is `comparison_text`."""

import json
from collections.abc import Sequence

from msgspec import UNSET

from rulebook import __version__
from rulebook.report.compared import Change, Compared
from rulebook.report.comparison import Comparison, Outputs, Side
from rulebook.report.plain_json import plain

SCHEMA = "rulebook.evaluation-comparison"
VERSION = 1

MOST_OUTPUT = 1_000
"""How many characters of an output are told."""


def exit_status(found: Comparison) -> int:
    """0 when every gate is met, or none was asked for, and every scorer has a row that both runs measured; else 3."""
    return 0 if found.gates_are_met and found.is_measured else 3


def comparison_report(found: Comparison) -> dict[str, object]:
    """The report as plain data: the same runs give the same, on every machine. What was not measured is null."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "a": _side(found.a),
        "b": _side(found.b),
        "rows": found.rows,
        "confidence": found.confidence,
        "scorers": [_scorer(each, found.confidence) for each in found.scorers],
        "only_a": [plain(name) for name in found.only_a],
        "only_b": [plain(name) for name in found.only_b],
        "outputs": [_outputs(each) for each in found.outputs],
        "gates": [
            {"scorer": plain(each.scorer), "figure": each.figure, "met": each.is_met, "reason": each.words}
            for each in found.verdicts
        ],
        "gates_met": found.gates_are_met,
        "measured": found.is_measured,
        "notes": [plain(note) for note in found.notes],
    }


def output_text(output: object) -> str | None:
    """What a task gave as text, cut to `MOST_OUTPUT` characters; None where there is no output."""
    if output is UNSET:
        return None
    text = output if isinstance(output, str) else json.dumps(plain(output), ensure_ascii=False, sort_keys=True)
    return text if len(text) <= MOST_OUTPUT else text[: MOST_OUTPUT - 1] + "…"


def steady(value: float | None) -> float | None:
    """Ten digits of a figure: the last ones of a logarithm are not the same on every machine."""
    return None if value is None else float(f"{value:.10g}")


def _side(side: Side) -> dict[str, object]:
    return {"run": side.run, "name": plain(side.name), "rows": side.rows}


def _scorer(found: Compared, confidence: float) -> dict[str, object]:
    figures, interval, if_lost = found.figures, found.interval, found.if_lost
    return {
        "name": plain(found.name),
        "verdict": found.verdict,
        "better": "lower" if found.lower_is_better else "higher",
        "threshold": found.threshold,
        "rows": found.rows,
        "mean_a": figures and figures.mean_a,
        "mean_b": figures and figures.mean_b,
        "difference": figures and figures.difference,
        "interval": interval
        and {
            "low": steady(interval.low),
            "high": steady(interval.high),
            "share": confidence,
            "method": interval.method,
        },
        "test": figures and figures.test,
        "p": figures and steady(figures.chance),
        "p_adjusted": steady(found.chance),
        "p_sign": figures and steady(figures.sign_chance),
        "rose": figures.rose if figures else 0,
        "fell": figures.fell if figures else 0,
        "fixed": _changes(found.fixed),
        "broken": _changes(found.broken),
        "lost": list(found.lost),
        "lost_because": [
            {"row": each.row, "type": plain(each.type), "message": plain(each.message)} for each in found.told
        ],
        "if_lost": if_lost and {"score": if_lost.score, "difference": if_lost.difference, "p": steady(if_lost.chance)},
        "gained": list(found.gained),
        "unmeasured_in_both": found.neither,
    }


def _changes(changes: Sequence[Change]) -> list[dict[str, object]]:
    return [{"row": each.row, "a": each.a, "b": each.b} for each in changes]


def _outputs(outputs: Outputs) -> dict[str, object]:
    return {"row": outputs.row, "a": plain(output_text(outputs.a)), "b": plain(output_text(outputs.b))}
