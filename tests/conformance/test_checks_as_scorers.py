"""A check of a rule file and the scorer of its name say the same of every vector: score for score, metadata for metadata.

Where a scorer gives a labelled 0, a check says whose fault that is: what is empty or cannot be read is the student's, so
is, where the student could have written it, an expected text that is empty, cannot be read, or lacks a path; and an option
without effect is refused. Nothing else differs.
"""

import re
from collections import Counter
from typing import Any

import pytest
from scorer_vectors import OURS, VECTORS, near, written_out

from rulebook import scorers
from rulebook.checks import kind_named
from rulebook.errors import EvidenceError
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Wants
from rulebook.evidence.run_transcript import Message, MessageAddedEvent, Transcript, record_of_run
from rulebook.outcome import Measurement
from rulebook.ports import Completed
from rulebook.services.ports import machine_ports
from rulebook.source.located import Located
from rulebook.spec.reader import Reader
from rulebook.spec.reading import check_of

KINDS = ("exact_match", "contains", "regex_match", "levenshtein", "string_similarity", "json_valid", "json_match", "numeric_close")
LETTERS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
SINGLE = ("regex_match", "json_valid")
PORTS = machine_ports()


def of_texts(vector: dict[str, Any]) -> bool:
    """Whether a vector scores a row of texts that a session can hold."""
    values = list(vector.get("row", {None: None}).values())
    return "score" in OURS.get(vector["id"], vector) and all(isinstance(each, str) and not surrogate(each) for each in values)


def surrogate(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)


BY_KIND = {kind: [each for each in VECTORS if each["scorer"] == kind and of_texts(each)] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_check_says_of_every_vector_what_the_scorer_says(kind: str) -> None:
    told: Counter[str] = Counter()
    for vector in BY_KIND[kind]:
        options = written_out(vector["options"])
        scorer = getattr(scorers, kind)(**options)
        values = [vector["row"][column] for column in scorer.inputs]
        result = scorer(**dict(zip(scorer.inputs, values, strict=True)))
        check, codes = check_with(kind, {key: value for key, value in options.items() if key not in ("name", "inputs")})
        if check is None:
            told[f"refused {codes}"] += 1
            continue
        found = measured_by(check, values)
        told[type(found).__name__] += 1
        if isinstance(found, EvidenceError) or found.student_fault:
            reason = found.reason if isinstance(found, Measurement) else str(found)
            assert explained(reason, result, values), (vector["id"], reason, result)
            continue
        assert found.score == pytest.approx(result.score, abs=1e-12), vector["id"]
        assert near(dict(found.metadata), dict(result.metadata)), vector["id"]
    assert told["Measurement"] >= 0.6 * len(BY_KIND[kind])
    assert set(told) <= {"Measurement", "NotHandedIn", "refused ['RB215']"}


def check_with(kind: str, options: dict[str, Any]) -> Any:
    """The check of a rule file with these options, which reads what was said and what a test printed; or the codes."""
    written = {**options, **({} if kind in SINGLE else {"from": "final_message", "expected_from": {"test": "expected"}})}
    if "flags" in written:
        written["pattern"] = ("(?a)" if written["flags"] & re.ASCII else "") + written["pattern"]  # no letter of its own
        written["flags"] = [letter for flag, letter in LETTERS.items() if written["flags"] & flag]
    written = {key: value for key, value in written.items() if value is not None}
    found_kind = kind_named(kind)
    assert found_kind is not None
    rule = {kind: written}
    reader = Reader(Located("case.yaml", "", "yaml", rule, {}, {}, {}, lambda _, __: None))
    found = check_of(reader, found_kind, written, (kind,))
    return (found.check if found else None), [problem.code for problem in reader.problems]


def measured_by(check: Any, values: list[str]) -> Measurement | EvidenceError:
    try:
        found = check.measure(evidence_of(*values), PORTS)
    except EvidenceError as error:
        return error
    assert isinstance(found, Measurement)
    return found


def evidence_of(output: str, expected: str = "") -> Evidence:
    run = Transcript(run_id="r", events=[MessageAddedEvent(message=Message(role="assistant", content=output))])
    printed = Completed(0, expected, "", 0.0)
    return Evidence(record_of_run(run, Wants(messages=True)), tests={"expected": lambda: printed})


def explained(reason: str, result: Any, values: list[str]) -> bool:
    """Whether there is a fault in the row for a check to raise, and the scorer's result is a labelled 0 or one of nothing."""
    nothing = any(not value.strip() for value in values) or "empty" in reason or "asks for nothing" in reason
    return nothing or "error" in result.metadata or reason.startswith("there is no `")
