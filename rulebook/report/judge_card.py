"""The card of a judge: what its calibration found, bound to what the judge was then."""

from collections.abc import Mapping

from rulebook import __version__
from rulebook.report.agreement import Kappa, Share
from rulebook.report.calibration import Calibration, Classes
from rulebook.report.calibration_notes import notes_of
from rulebook.report.evaluation_interval import Interval
from rulebook.report.pass_marks import Verdicts
from rulebook.spec.judge_cards import SCHEMA, VERSION, Subject
from rulebook.spec.judge_identity import Identity


def judge_card(found: Calibration, subject: Subject, identity: Identity) -> dict[str, object]:
    """The card as plain data: equal rows and an equal judge give equal bytes. A figure that there is not is null."""
    held = found.held_out
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "evaluation": subject.evaluation,
        "scorer": subject.scorer,
        "kind": subject.kind,
        "judge": {
            "models": list(identity.models),
            "model_sha256": identity.model,
            "prompt_sha256": identity.prompt,
            "answer_sha256": identity.answer,
        },
        "labels": {"column": subject.column, "reading": found.labels.reading, "mark": found.terms.mark},
        "rows": _rows(found),
        "threshold": found.best,
        "present": {"written": found.terms.is_written, **_at(found.terms.threshold, found.present)},
        "best": None if found.at_best is None else _at(found.best, found.at_best),
        "held_out": None
        if held is None
        else {
            "folds": held.folds,
            "thresholds": [held.least, held.most],
            "unsure": held.unsure,
            **_verdicts(held.verdicts),
        },
        "classes": None if found.classes is None else _classes(found.classes),
        "escalations": [
            {
                "below": each.below,
                "escalated": _share(each.share),
                "agreement": None if each.agreement is None else _share(each.agreement),
            }
            for each in found.escalations
        ],
        "notes": list(notes_of(found)),
    }


def _rows(found: Calibration) -> Mapping[str, object]:
    labels = found.labels
    return {
        "count": labels.rows,
        "sha256": labels.sha256,
        "damaged": labels.damaged,
        "unlabelled": labels.unlabelled,
        "unreadable": labels.unreadable,
        "unmeasured": found.unmeasured,
        "compared": found.compared,
        "passing": found.passing,
    }


def _at(threshold: float | None, verdicts: Verdicts) -> Mapping[str, object]:
    return {"threshold": threshold, **_verdicts(verdicts)}


def _verdicts(found: Verdicts) -> dict[str, object]:
    return {
        "agreement": _share(found.agreement),
        "kappa": _kappa(found.kappa),
        "precision": _share(found.precision),
        "recall": _share(found.recall),
        "pass_by_both": found.both,
        "pass_by_label_alone": found.label_alone,
        "pass_by_judge_alone": found.judge_alone,
        "pass_by_neither": found.neither,
    }


def _classes(found: Classes) -> Mapping[str, object]:
    return {
        "names": list(found.names),
        "table": [list(row) for row in found.table],
        "agreement": _share(found.agreement),
        "kappa": _kappa(found.kappa),
        "weighted_kappa": None if found.weighted is None else _kappa(found.weighted),
    }


def _share(found: Share) -> dict[str, object]:
    return {"value": found.value, "count": found.count, "of": found.of, "interval": _interval(found.interval)}


def _kappa(found: Kappa) -> dict[str, object]:
    return {"value": found.value, "interval": _interval(found.interval), "reason": found.reason}


def _interval(found: Interval | None) -> dict[str, object] | None:
    return None if found is None else {"low": found.low, "high": found.high, "share": 0.95, "method": found.method}
