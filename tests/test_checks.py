"""Every kind of check against its cases in `checks/<kind>.yaml`: a rule, evidence, what comes of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from given import Case, evidence_of
from model_fakes import Counting, ScriptedModels
from msgspec.structs import replace

from rulebook.checks import Check, kind_named
from rulebook.codes import CODES
from rulebook.evidence.scope import file_scope
from rulebook.interpreter.evaluate import measured
from rulebook.languages.types import ANYTHING
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured
from rulebook.services.code import with_code
from rulebook.services.ports import machine_ports
from rulebook.source.located import Located
from rulebook.spec.reader import Reader
from rulebook.spec.reading import check_of

FOLDER = Path(__file__).parent / "checks"
EXPECTATIONS = {
    "outcome", "passed", "score", "reason", "category", "student_fault", "expected", "actual", "vacuous",
    "metadata", "seen", "refused", "refused_texts", "asked", "not_asked", "calls",
}  # fmt: skip
WORDS: dict[type, str] = {
    Measurement: "measured", Unmeasured: "unmeasured", Misbehavior: "misbehavior", Skipped: "skipped",
}  # fmt: skip


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text(encoding="utf-8")):
            yield pytest.param(case, id=f"{file.stem}: {case['name']}")


@pytest.mark.parametrize("case", list(cases()))
def test_case(case: Case, tmp_path: Path) -> None:
    expect = case["expect"]
    assert set(expect) <= EXPECTATIONS, "an expectation that is not looked at"
    check, codes = read(case["rule"])
    if "refused" in expect:
        assert codes == expect["refused"]
        return
    assert codes == []
    assert check is not None
    assert errors(check, case) == expect.get("refused_texts", [])
    if "refused_texts" in expect:
        return
    assert check.sentence().endswith(".")
    models = ScriptedModels(case.get("answers", {}), case.get("vectors"))
    ports = replace(machine_ports(), models=models, chance=Counting())
    ports = with_code(ports, allowed=case.get("allow_python", False))
    agree(measured(check, check.owner(), evidence_of(case, check.wants(), tmp_path, ports), ports), expect)
    models.agree(expect)


def read(rule: dict[str, object]) -> tuple[Check | None, list[str]]:
    """The check that a rule file would hold, and the codes of everything that is wrong with it."""
    ((key, value),) = rule.items()
    kind = kind_named(key)
    assert kind is not None, f"no kind is called {key}"
    reader = Reader(Located("case.yaml", "", "yaml", rule, {}, {}, {}, lambda _, __: None))
    found = check_of(reader, kind, value, (key,))
    return (found.check if found else None), [problem.code for problem in reader.problems]


def errors(check: Check, case: Case) -> list[str]:
    """The errors among the faults of the check's texts, the case's parameters and tests being declared."""
    scope = file_scope(dict.fromkeys(case.get("params", {}), ANYTHING), tuple(case.get("tests", {})), case.get("submissions"))
    faults = [fault for _, text, names in check.texts(scope) for fault in text.faults(names)]
    return [fault.code for fault in faults if CODES[fault.code].severity == "error"]


def agree(outcome: Outcome, expect: Case) -> None:
    assert WORDS[type(outcome)] == expect.get("outcome", "measured"), outcome
    assert expect.get("reason", "") in getattr(outcome, "reason", ""), outcome
    if isinstance(outcome, Unmeasured):
        assert outcome.category == expect["category"], outcome
    if isinstance(outcome, Measurement):
        assert outcome.passed == expect["passed"], outcome
        assert outcome.score == pytest.approx(expect.get("score", 1.0 if expect["passed"] else 0.0)), outcome
        assert outcome.student_fault == expect.get("student_fault", False), outcome
        assert outcome.vacuous == expect.get("vacuous", False), outcome
    for name in ("expected", "actual", "metadata"):
        if name in expect:
            assert getattr(outcome, name) == expect[name], outcome
    if "seen" in expect:
        places = [
            {key: getattr(seen, key) for key in want} for seen, want in zip(outcome.seen, expect["seen"], strict=True)
        ]
        assert places == expect["seen"], outcome
