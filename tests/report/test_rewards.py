"""Scores and rewards: cases in rewards.yaml, and what holds for every set of findings."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rulebook.outcome import CATEGORIES
from rulebook.report.findings import Finding
from rulebook.report.judged import Audit, Judged
from rulebook.report.rewards import exit_status, totals

CASES = yaml.safe_load((Path(__file__).parent / "rewards.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    judged = judge(case)
    sums = totals(judged)
    because = case["expect"].pop("because", None)
    got = {
        "passed": sums.passed,
        "exit": exit_status(judged),
        "score": sums.score,
        "reward": sums.reward,
        "components": dict(sums.components),
    }
    assert got == case["expect"]
    assert (sums.no_reward == "") is (sums.reward is not None)
    if because is not None:
        assert because in sums.no_reward


FINDINGS = st.lists(
    st.builds(
        Finding,
        id=st.just("x"),
        category=st.sampled_from(CATEGORIES),
        status=st.sampled_from(["pass", "fail"]),
        passed=st.booleans(),
        score=st.floats(0, 1),
        weight=st.floats(0, 1e308),
        vacuous=st.booleans(),
    )
)
WEIGHTS = st.dictionaries(st.sampled_from(CATEGORIES), st.floats(0, 1e308))


@given(FINDINGS, WEIGHTS)
def test_a_reward_lies_within_its_components_and_is_never_nan(findings, weights):
    sums = totals(judged_from(findings, weights))
    if sums.reward is not None:
        assert math.isfinite(sums.reward)
        counting = [share for category, share in sums.components.items() if sums.weights[category] > 0]
        assert min(counting) - 1e-9 <= sums.reward <= max(counting) + 1e-9


@given(FINDINGS, WEIGHTS, st.sampled_from(CATEGORIES))
def test_a_category_of_weight_0_does_not_move_the_reward(findings, weights, category):
    weights = {**weights, category: 0.0}
    without = [finding for finding in findings if finding.category != category]
    assert totals(judged_from(findings, weights)).reward == totals(judged_from(without, weights)).reward


def judge(case):
    findings = [parse(number, line) for number, line in enumerate(case["findings"])]
    return judged_from(
        findings,
        case.get("weights", {}),
        accepted=case.get("accepted", True),
        end_reason=case.get("end_reason", "finished"),
        skipped_tests=tuple(case.get("skipped_tests", ())),
    )


def judged_from(findings, weights, *, accepted=True, end_reason="finished", skipped_tests=()):
    return Judged(
        name="case",
        spec_path="case.yaml",
        spec_sha256="0" * 64,
        audit=Audit("intact" if accepted else "broken", accepted, 12),
        findings=tuple(findings),
        weights=weights,
        end_reason=end_reason,
        skipped_tests=skipped_tests,
    )


def parse(number, line):
    category, status, *rest = line.split()
    options = dict(word.split("=") for word in rest if "=" in word)
    numbers = [float(word) for word in rest if "=" not in word]
    measured = {"pass": 1.0, "fail": 0.0, "misbehavior": 0.0}.get(status)
    return Finding(
        id=f"{category}[{number}]",
        category=category,
        status=status,
        passed={"pass": True, "fail": False, "misbehavior": False}.get(status),
        score=numbers[0] if numbers else measured,
        weight=float(options.get("weight", 1)),
        vacuous=options.get("vacuous") == "yes",
    )
