"""Score, reward and components from findings. A failure to judge never becomes a number.

Source: session-evals, "Reports and failure ownership".
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from rulebook.evidence.ends import OWN_ENDS
from rulebook.outcome import CATEGORIES, Category
from rulebook.report.findings import Finding
from rulebook.report.judged import Judged
from rulebook.terminal import cut, harmless

IMPLIED = ("session.ended", "base_commit")
"""The findings that no file asks for. They can fail a session; alone they prove nothing of its work."""

REFUSED, AUDIT_GAP = 3, 9

_LONGEST_END = 40


class Totals(Struct, frozen=True):
    """The numbers of a report.

    `score` and `reward` lie in 0..1. A component is None when its category holds something unmeasured; a
    category in which nothing counts has none. `no_reward` says why there is no reward, and is empty when
    there is one.
    """

    passed: bool
    score: float | None
    reward: float | None
    components: Mapping[Category, float | None]
    weights: Mapping[Category, float]
    no_reward: str = ""


def totals(judged: Judged) -> Totals:
    """The numbers that a checked session earns."""
    weights = weights_of(judged.weights)
    found = judged.findings
    components = components_of(found)
    if not judged.audit.accepted:
        return Totals(False, None, None, {}, weights, "the log could not be verified")
    if any(finding.status == "misbehavior" for finding in found):
        return Totals(False, 0.0, 0.0, components, weights)
    asked = any(finding.status == "pass" and finding.id not in IMPLIED for finding in found)
    passed = sum(finding.status == "pass" for finding in found)
    failed = sum(finding.status == "fail" for finding in found)
    unmeasured = any(finding.status == "unmeasured" for finding in found)
    score = passed / (passed + failed) if passed + failed else None
    no_reward = _why_none(judged, components, weights)
    return Totals(
        passed=asked and failed == 0 and not unmeasured,
        score=score,
        reward=None if no_reward else reward_of(components, weights),
        components=components,
        weights=weights,
        no_reward=no_reward,
    )


def _says_something(finding: Finding) -> bool:
    """Whether a finding that the file asks for was measured, and not by the session's doing nothing."""
    return finding.id not in IMPLIED and finding.counts and finding.score is not None


def weights_of(written: Mapping[str, float]) -> dict[Category, float]:
    """The weight of every category: 1 where none is written; `tests` is another spelling of `test`."""
    given = {("test" if name == "tests" else name): weight for name, weight in written.items()}
    return {category: float(given.get(category, 1.0)) for category in CATEGORIES}


def components_of(findings: Iterable[Finding]) -> dict[Category, float | None]:
    """Each category's weighted mean score, for the categories in which something counts."""
    by_category: dict[Category, list[Finding]] = {category: [] for category in CATEGORIES}
    for finding in findings:
        by_category[finding.category].append(finding)
    return {
        category: _component(own)
        for category, own in by_category.items()
        if any(f.status == "misbehavior" or (f.counts and f.status != "skipped") for f in own)
    }


def reward_of(components: Mapping[Category, float | None], weights: Mapping[Category, float]) -> float | None:
    """Σ w·component / Σ w over the categories that have a component; None when nothing has a weight."""
    return _mean([(weights[category], share) for category, share in components.items() if share is not None])


def exit_status(judged: Judged, sums: Totals | None = None) -> int:
    """0 when everything that was asked holds, 9 when the log is not to be trusted, else 3.

    `sums` are its totals, where they are known already.
    """
    if not judged.audit.accepted:
        return AUDIT_GAP
    return 0 if (sums or totals(judged)).passed else REFUSED


def _component(findings: Sequence[Finding]) -> float | None:
    if any(finding.status == "misbehavior" for finding in findings):
        return 0.0
    counting = [finding for finding in findings if finding.counts and finding.status != "skipped"]
    if any(finding.status == "unmeasured" for finding in counting):
        return None
    return _mean([(finding.weight, finding.score or 0.0) for finding in counting])


def _mean(weighted: Sequence[tuple[float, float]]) -> float | None:
    """The weighted mean of (weight, share) pairs; weights are scaled first: huge ones would overflow."""
    largest = max((weight for weight, _ in weighted), default=0.0)
    if largest <= 0:
        return None
    scaled = [(weight / largest, share) for weight, share in weighted]
    mean = math.fsum(w * share for w, share in scaled) / math.fsum(w for w, _ in scaled)
    return min(1.0, max(0.0, mean))


def _why_none(judged: Judged, components: Mapping[Category, float | None], weights: Mapping[Category, float]) -> str:
    unmeasured = sum(
        finding.status == "unmeasured" and finding.weight > 0 and weights[finding.category] > 0
        for finding in judged.findings
    )
    reasons = []
    if unmeasured:
        reasons.append(f"{unmeasured} check{'s' if unmeasured > 1 else ''} could not be measured")
    if judged.end_reason is None:
        reasons.append("nothing says how the session ended")
    elif judged.end_reason not in OWN_ENDS:
        ended = cut(harmless(judged.end_reason), _LONGEST_END)
        reasons.append(f"the session ended `{ended}`, which says nothing of the model's work")
    if judged.skipped_tests and weights["test"] > 0:
        reasons.append("`--skip-tests` left out tests that have a weight")
    if not unmeasured and not any(_says_something(finding) for finding in judged.findings):
        reasons.append("nothing that counts was measured")
    elif not any(weights[category] > 0 for category in components):
        reasons.append("every category that was measured has weight 0")
    return " and ".join(reasons)
