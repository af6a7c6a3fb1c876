"""Builds a `Judged` from a case file, so that reports can be tested without a session."""

from rulebook.report.findings import Finding
from rulebook.report.judged import Audit, Judged, Measured, RepositoryUsed


def judged_of(case):
    """The judged session that a case describes; findings are mappings of Finding's own fields."""
    audit = {"verdict": "intact", "accepted": True, "events": 412, **case.get("audit", {})}
    return Judged(
        name=case.get("title", "parser rejects empty input"),
        spec_path="evals/parser.yaml",
        spec_sha256="5" * 64,
        audit=Audit(**audit),
        findings=tuple(finding_of_case(entry) for entry in case["findings"]),
        session=case.get("session", "01M8Q4W2X7N6R5T3V1Y0Z9A8BC"),
        base_commit="3f2c9d1e" * 5,
        sandbox_driver=case.get("sandbox_driver", "native"),
        repository=RepositoryUsed(**case["repository"]) if "repository" in case else None,
        measured=Measured(**case.get("measured", {"turns": 6})),
        weights=case.get("weights", {}),
        end_reason=case.get("end_reason", "finished"),
        skipped_tests=tuple(case.get("skipped_tests", ())),
    )


def finding_of_case(entry):
    status = entry["status"]
    passed = {"pass": True, "fail": False, "misbehavior": False}.get(status)
    score = {"pass": 1.0, "fail": 0.0, "misbehavior": 0.0}.get(status)
    return Finding(**{"passed": passed, "score": score, **entry, "at": tuple(entry.get("at", ()))})
