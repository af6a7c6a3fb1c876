"""The report of a probed task as one JSON object; what people read is `probe_text`."""

from rulebook import __version__
from rulebook.report.model_costs import models_json
from rulebook.report.plain_json import plain
from rulebook.report.probe_scores import Played, Probed, StepProbed, traces_of

SCHEMA = "rulebook.probe-report"
VERSION = 1


def exit_status(probed: Probed) -> int:
    """0 when nobody got what it should not, the oracle what it should, and every judge could tell; else 3."""
    return 0 if probed.passed else 3


def probe_report(probed: Probed) -> dict[str, object]:
    """The report as plain data."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "name": probed.spec.name,
        "task": {"path": probed.spec.document.file, "sha256": probed.spec_sha256},
        "params": plain(probed.params),
        "allow": probed.allow,
        "strict": probed.strict,
        "asked_models": probed.asked_models,
        "passed": probed.passed,
        "judges_nothing": probed.judges_nothing,
        "holes": len(probed.holes),
        **models_json(traces_of(probed)),
        "steps": [_step(step, probed.allow) for step in probed.steps],
    }


def _step(step: StepProbed, allow: float) -> dict[str, object]:
    return {
        "case": step.case,
        "step": step.step,
        "status": step.status,
        "reason": step.why,
        "oracle": None if step.oracle is None else step.oracle.got(allow),
        "students": [_student(each, allow) for each in step.played],
    }


def _student(played: Played, allow: float) -> dict[str, object]:
    judged, got = played.judged, played.got(allow)
    return {
        "name": played.student,
        "about": played.about,
        "got": got,
        "status": None if judged is None else judged.status,
        "score": plain(played.score),
        "passed": None if judged is None else judged.passed,
        "reason": plain(played.reason),
        "earned": plain(played.earned),
        "advice": played.mend(allow),
    }
