"""Every case of `tests/linting/`: a rule file, and every problem with its page's code that the linter finds in it.

With `alone` the problems of all codes are compared: one mistake, one message.
"""

from pathlib import Path

import pytest
from cases import cases_of, ids_of

from rulebook.api.linting import lint_file, lint_text
from rulebook.codes import CODES

FOLDER = Path(__file__).parent / "linting"
CASES = cases_of(FOLDER)


@pytest.mark.parametrize(("stem", "case"), CASES, ids=ids_of(CASES))
def test_case(stem: str, case: dict, tmp_path: Path) -> None:
    ending = "zon" if case.get("language") == "zon" else "yaml"
    for name, text in case.get("files", {}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / f"rules.{ending}"
    path.write_bytes(
        case["bytes"].encode("latin-1") if "bytes" in case else case["text"].encode("utf-8", "surrogatepass")
    )
    result = lint_file(str(path))
    assert result.file == str(path)
    found = [
        f"{d.span.line}:{d.span.column} {d.code} {d.message}" if d.span else f"- {d.code} {d.message}"
        for d in result.diagnostics
        if d.name == stem or case.get("alone")
    ]
    assert found == [line.replace("{folder}", str(tmp_path)) for line in case["expect"]], [
        (d.code, d.span and (d.span.line, d.span.column), d.message) for d in result.diagnostics
    ]


@pytest.mark.parametrize(("stem", "case"), CASES, ids=ids_of(CASES))
def test_a_fix_takes_its_problem_away_and_brings_no_other_of_its_kind(stem: str, case: dict, tmp_path: Path) -> None:
    if "bytes" in case:
        return
    language = "zon" if case.get("language") == "zon" else "yaml"
    text, file = case["text"], str(tmp_path / f"rules.{language}")
    before = lint_text(text, file, language).diagnostics
    for found in before:
        mended = text
        for edit in sorted(found.fix.edits if found.fix else (), key=lambda edit: -edit.start):
            mended = mended[: edit.start] + edit.text + mended[edit.end :]
        if mended != text:
            after = [(d.code, d.message) for d in lint_text(mended, file, language).diagnostics]
            notation = {told for told in after if told[0] < "RB200" or told[0] == found.code}
            assert (found.code, found.message) not in after, found
            assert notation <= {(d.code, d.message) for d in before}, found

def test_every_code_has_a_case_that_fires_and_one_that_does_not() -> None:
    fires = {stem for stem, case in CASES if case["expect"]}
    quiet = {stem for stem, case in CASES if not case["expect"]}
    names = {code.name for code in CODES.values()}
    assert names - fires == set()
    assert names - quiet == set()
