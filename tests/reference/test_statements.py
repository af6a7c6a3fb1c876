"""Every statement of a page of the reference has a test named after it, as the lists beside this file say."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml
from reference_text import example, statements

import rulebook

TESTS = Path(__file__).parents[1]
LISTS = {"scoring.txt": "statements.yaml", "scorers.txt": "scorer_statements.yaml"}
LISTED = {
    page: yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8")) for page, name in LISTS.items()
}
EACH = [each for listed in LISTED.values() for each in listed]


@pytest.mark.parametrize("page", LISTS)
def test_every_statement_of_the_reference_is_listed_in_its_order(page: str) -> None:
    said = [statement.splitlines()[0] for statement in statements(page)]
    listed = [each["says"] for each in LISTED[page]]
    assert [statement[: len(words)] for statement, words in zip(said, listed, strict=False)] == listed
    assert said[len(listed) :] == []


def test_no_listed_statement_is_a_few_words_that_fit_anything() -> None:
    for each in EACH:
        assert len(each["says"]) >= 9 or each["says"].endswith((".", ",", "("))


@cache
def collected_from(file: str) -> Mapping[str, ast.FunctionDef]:
    """The tests of a file by their names, as they are collected."""
    body = ast.parse((TESTS / file).read_text(encoding="utf-8")).body
    return {each.name: each for each in body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")}


@pytest.mark.parametrize("each", EACH, ids=lambda each: each["says"][:40])
def test_a_statement_has_tests_that_are_there_and_not_left_out(each: dict[str, dict[str, list[str]]]) -> None:
    assert each["shown_by"]
    for file, names in each["shown_by"].items():
        assert Path(file).name.startswith("test_")
        for name in names:
            assert name in collected_from(file), f"{file} has no `{name}`"
            assert not any("skip(" in ast.unparse(mark) or "xfail" in ast.unparse(mark) for mark in collected_from(file)[name].decorator_list)


def test_kill_processes_and_delete_files_are_described() -> None:
    page = (TESTS.parent / "docs" / "judges.md").read_text(encoding="utf-8")
    for name in ("kill_processes", "delete_files", "save_submission", "save_artifact"):
        assert f"| `{name}(" in page
        assert getattr(rulebook, name).__doc__


def test_the_example_of_saving_runs_with_only_its_import_line_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "answer.txt").write_text("42")
    names: dict[str, object] = {"source": tmp_path / "answer.txt"}
    exec(example("from chalk import save_submission", "copy = save_submission(source)"), names)
    copy = names["copy"]
    assert isinstance(copy, Path)
    assert (copy / "answer.txt").read_text() == "42"
