"""A kind of check is three files with one stem, and its page tells the truth about its options."""

import re
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from rulebook.checks import Check, foreign_kinds, kinds
from rulebook.codes import CODES
from rulebook.spec.combinators import COMBINATORS
from rulebook.spec.scorer_kinds import GRADED, SCORERS

ROOT = Path(__file__).parent.parent
KINDS = sorted(kinds())


def stems(folder: str, ending: str) -> set[str]:
    return {path.stem for path in (ROOT / folder).glob(f"*{ending}")} - {"__init__"}


def test_code_page_and_cases_have_one_stem() -> None:
    assert set(kinds()) == stems("rulebook/checks", ".py")
    assert set(kinds()) == stems("rulebook/checks", ".md")
    assert set(kinds()) == stems("tests/checks", ".yaml")


def test_every_combinator_has_a_page() -> None:
    assert set(COMBINATORS) == stems("rulebook/expression", ".md")


def test_every_code_has_a_page_and_cases() -> None:
    names = {code.name for code in CODES.values()}
    assert len(names) == len(CODES)
    assert names == stems("rulebook/linting", ".md")
    assert names == stems("tests/linting", ".yaml")
    modules = {stem.replace("_", "-") for stem in stems("rulebook/linting", ".py")}
    assert modules <= names


def test_scorers_without_a_pass_mark_are_the_checks_without_one() -> None:
    known = kinds()
    # an expression and a function mostly give 0 or 1, and pass at 1
    assert set(GRADED) == {kind for kind in SCORERS if kind in known and known[kind].needs_threshold} - {"sql"}


def test_no_kind_is_also_a_combinator() -> None:
    assert not set(kinds()) & set(COMBINATORS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_lists_the_options(kind: str) -> None:
    page = (ROOT / "rulebook" / "checks" / f"{kind}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {kind}\n")
    table = page.partition("## Options")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([a-z0-9_]+)` \|", table, re.M)
    fields = [field.alias or name for name, field in kinds()[kind].model_fields.items()]
    assert sorted(listed) == sorted(fields)


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_is_described(kind: str) -> None:
    for name, field in kinds()[kind].model_fields.items():
        assert field.description, f"{kind}.{name}"
        assert field.description.rstrip().endswith((".", "`")), f"{kind}.{name}"


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_page_is_headed_by_its_code(code: str) -> None:
    page = (ROOT / "rulebook" / "linting" / f"{CODES[code].name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {code} {CODES[code].name}\n")
    for part in ("## Why", "## Wrong", "## Right"):
        assert part in page, part


def test_two_kinds_of_one_name_fail_at_once() -> None:
    with pytest.raises(TypeError, match="two kinds of check are called regex"):
        type("Again", (Check,), {"__module__": __name__}, kind="regex")


def test_another_package_can_add_a_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "moon_phase.py").write_text(
        "from rulebook.checks import Check\n\n\nclass MoonPhase(Check, kind='moon_phase'):\n    '''The moon is full.'''\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = EntryPoints([EntryPoint("moon_phase", "moon_phase:MoonPhase", "rulebook.checks")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: entries.select(group=group))
    foreign_kinds.cache_clear()
    try:
        assert "moon_phase" in foreign_kinds()
    finally:
        foreign_kinds.cache_clear()


def test_a_combinator_page_shows_what_can_be_pasted_into_a_file() -> None:
    for page in (ROOT / "rulebook" / "expression").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "```yaml\nchecks:\n" in text, page
        assert "|  |" not in text, page
