"""Submissions as the evidence document has them: read when they are looked at, and whose fault it is when they are not there."""

from pathlib import Path
from typing import Any

import pytest
from given import submissions_of

from rulebook.checks.expr import Expr
from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import read_source
from rulebook.evidence.reading_text import filled, text_of
from rulebook.evidence.scope import SUBMISSION, WRITE_TO, submissions_record
from rulebook.evidence.submission import Submission, SubmissionFields
from rulebook.interpreter.evaluate import measured
from rulebook.languages.template import read_template
from rulebook.languages.types import Scope
from rulebook.outcome import Measurement, Outcome, Unmeasured
from rulebook.ports import FileFacts
from rulebook.services.files import MachineFiles
from rulebook.services.ports import machine_ports


def evidence(folder: Path, **given: Any) -> Evidence:
    return Evidence(submissions=submissions_of(given, folder / "saved", machine_ports()))


def outcome(formula: str, found: Evidence) -> Outcome:
    return measured(Expr.model_validate({"formula": formula}), "model", found, machine_ports())


def test_an_expression_reads_what_was_handed_in(tmp_path: Path) -> None:
    found = evidence(tmp_path, answer="3.12\n", site={"tree": {"a": "b"}}, left="none")
    for formula in (
        "submissions.answer.text == '3.12\\n'",
        "submissions.answer.bytes == 5",
        "submissions.answer.kind == 'file' and submissions.answer.exists",
        "submissions.site.kind == 'folder' and submissions.site.exists",
        "submissions.left.kind == 'absent' and not submissions.left.exists",
        "ends_with(submissions.left.path, '/left')",
        "default(submissions.left.text, 'none') == 'none'",
        "not known(submissions.left.bytes)",
    ):
        assert outcome(formula, found).passed is True, formula


@pytest.mark.parametrize("formula", ["submissions.left.bytes > 0", "submissions.left.text == ''", "submissions.site.bytes > 0"])
def test_content_that_was_not_handed_in_is_the_students_fault(formula: str, tmp_path: Path) -> None:
    result = outcome(formula, evidence(tmp_path, left="none", site={"tree": {"a": "b"}}))
    assert isinstance(result, Measurement)
    assert result.student_fault
    assert not result.passed


@pytest.mark.parametrize(
    "formula", ["json(submissions.a.text).x == 1", "1 / json(submissions.b.text).x > 0", "submissions.a.text < json(submissions.b.text).x"]
)
def test_content_that_cannot_be_worked_with_is_the_students_fault(formula: str, tmp_path: Path) -> None:
    result = outcome(formula, evidence(tmp_path, a="junk", b='{"x": 0}'))
    assert isinstance(result, Measurement)
    assert result.student_fault


def test_what_the_author_gets_wrong_is_not_the_students_fault(tmp_path: Path) -> None:
    found = evidence(tmp_path, a="junk")
    found.params = {"n": 0}
    assert isinstance(outcome("1 / params.n > 0", found), Unmeasured)
    assert isinstance(outcome("params.m > 0 and submissions.a.exists", found), Unmeasured)


def test_a_template_reads_no_more_than_it_names(tmp_path: Path) -> None:
    found = evidence(tmp_path, answer={"hex": "ffff"}, note="hi")
    assert filled(read_template("{{ submissions.answer.path }}"), found).endswith("/saved/answer")
    assert filled(read_template("{{ submissions.note.text }}"), found) == "hi"
    with pytest.raises(NotHandedIn, match="^the submission `answer` is not text in UTF-8"):
        filled(read_template("{{ submissions.answer.text }}"), found)


def test_a_template_that_reads_what_was_not_handed_in(tmp_path: Path) -> None:
    with pytest.raises(NotHandedIn, match="the submission `left` is not there"):
        filled(read_template("{{ submissions.left.text }}"), evidence(tmp_path, left="none"))


def test_a_template_may_go_through_all_of_them(tmp_path: Path) -> None:
    found = evidence(tmp_path, a="1", b="none")
    assert filled(read_template("{% for s in submissions %}{{ s }} {% endfor %}"), found) == "a b "
    assert filled(read_template("{{ submissions.b.text | default('-') }}"), found) == "-"
    assert '"text": "1"' in filled(read_template("{{ submissions.a | tojson }}"), found)


def test_a_path_reads_the_text(tmp_path: Path) -> None:
    found = evidence(tmp_path, answer="42", left="none")
    assert text_of(read_source({"json_path": "$.submissions.answer.text"}), found) == "42"
    with pytest.raises(NotHandedIn):
        text_of(read_source({"json_path": "$.submissions.left.text"}), found)


def test_a_submission_that_nobody_supplied_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(Missing) as raised:
        evidence(tmp_path).submission("answer")
    assert raised.value.category == "harness"


class Refusing(MachineFiles):
    def within(self, root: str, path: str) -> FileFacts | None:
        raise PermissionError(13, "Permission denied")


def test_a_copy_that_this_machine_may_not_read_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="permission denied") as raised:
        Submission("a", str(tmp_path / "a"), "file", Refusing()).text()
    assert raised.value.category == "harness"


def test_what_was_read_is_noted(tmp_path: Path) -> None:
    found = evidence(tmp_path, answer="42")
    text_of(read_source({"submission": "answer"}), found)
    assert found.read == {"submissions"}


def test_the_types_are_those_of_the_values(tmp_path: Path) -> None:
    (submission,) = evidence(tmp_path, answer="x").submissions.values()
    assert set(SubmissionFields(submission)) == set(SUBMISSION)
    assert len(SubmissionFields(submission)) == len(SUBMISSION)


@pytest.mark.parametrize(("fields", "wanted"), [(SUBMISSION, "path"), (WRITE_TO, "write_to")])
def test_a_bare_submission_in_a_template_is_told_which_part_is_meant(fields: dict, wanted: str) -> None:
    scope = Scope("here", {"submissions": submissions_record(["answer"], fields)})
    (fault,) = read_template("{{ submissions.answer }}").faults(scope)
    assert fault.code == "RB419"
    assert f"`{{{{ submissions.answer.{wanted} }}}}`" in str(fault.words["hint"])
