"""The `chock.eval-report`: a checked session as one JSON object; equal evidence gives equal bytes."""

from msgspec.structs import asdict

from rulebook import __version__
from rulebook.interpreter.trace import Trace
from rulebook.outcome import Measurement, Misbehavior, Skipped, Unmeasured
from rulebook.report.findings import Finding
from rulebook.report.judged import Judged
from rulebook.report.model_costs import models_json
from rulebook.report.plain_json import plain
from rulebook.report.rewards import totals

SCHEMA = "chock.eval-report"
VERSION = 1


def eval_report(judged: Judged) -> dict[str, object]:
    """The report as plain data."""
    sums = totals(judged)
    used = judged.repository
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "producer": {"name": "rulebook", "version": __version__},
        "name": judged.name,
        "spec": {"path": judged.spec_path, "sha256": judged.spec_sha256},
        "session": judged.session,
        "source": {"session": judged.path, "part": judged.part, "project": judged.project},
        "base_commit": judged.base_commit,
        "repository": None if used is None else {"source": used.source, "tree": used.tree},
        "config_sha256": judged.config_sha256,
        "sandbox_sha256": judged.sandbox_sha256,
        "sandbox_driver": judged.sandbox_driver,
        "provenance": plain(judged.provenance),
        "audit": {
            "verdict": judged.audit.verdict,
            "events": judged.audit.events,
            "sha256": judged.audit.sha256,
            "head": judged.audit.head,
        },
        "measured": plain(asdict(judged.measured)),
        "passed": sums.passed,
        "score": sums.score,
        "reward": sums.reward,
        "floor": judged.floor,
        **models_json(judged.traces.values()),
        "reward_components": dict(sums.components),
        "reward_weights": dict(sums.weights),
        "findings": [finding_json(finding) for finding in judged.findings],
        "trace": {id: trace_json(trace) for id, trace in judged.traces.items()},
    }


def finding_json(finding: Finding) -> dict[str, object]:
    """One finding as plain data."""
    return {
        "id": finding.id,
        "category": finding.category,
        "status": finding.status,
        "passed": finding.passed,
        "score": finding.score,
        "expected": plain(finding.expected),
        "actual": plain(finding.actual),
        "reason": finding.reason,
        "vacuous": finding.vacuous,
        "at": [plain(place) for place in finding.at],
        "no_place": finding.no_place,
        "read": plain(finding.read),
    }


def trace_json(trace: Trace) -> dict[str, object]:
    """A trace as plain data: every part in its order, those that were not reached too.

    `outcome` is measured, misbehavior, unmeasured, skipped or not reached.
    """
    common = trace.node.common
    found: dict[str, object] = {
        "kind": common.kind,
        "name": common.name,
        "weight": common.weight,
        "outcome": "not reached",
        "score": None,
        "passed": None,
        "reason": "",
        "parts": [trace_json(part) for part in trace.parts],
    }
    match trace.outcome:
        case Measurement():
            found |= {
                "outcome": "measured",
                "score": plain(trace.outcome.score),
                "passed": trace.outcome.passed,
                "reason": trace.outcome.reason,
                "metadata": plain(trace.outcome.metadata),
                "student_fault": trace.outcome.student_fault,
            }
        case Misbehavior(reason, metadata):
            found |= {"outcome": "misbehavior", "score": 0.0, "passed": False}
            found |= {"reason": reason, "metadata": plain(metadata)}
        case Unmeasured(category, reason, metadata=metadata):
            found |= {"outcome": "unmeasured", "category": category, "reason": reason}
            found |= {"metadata": plain(metadata)} if metadata else {}
        case Skipped(reason):
            found |= {"outcome": "skipped", "reason": reason}
        case None:
            pass
    return found
