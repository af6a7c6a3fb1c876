"""The text report: goldens in `texts/<name>.yaml`, each with findings and the whole report."""

from pathlib import Path

import pytest
import yaml
from judged_case import finding_of_case, judged_of

from rulebook.report.text import WIDTH, figure, render_report, shown
from rulebook.terminal import columns

FOLDER = Path(__file__).parent / "texts"
CASES = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}


@pytest.mark.parametrize("name", CASES)
def test_golden(name):
    assert render_report(judged_of(CASES[name])) == CASES[name]["report"]


@pytest.mark.parametrize("name", CASES)
def test_colour_only_marks(name):
    coloured = render_report(judged_of(CASES[name]), colour=True)
    for code in ("31", "32", "33", "1", "2", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == CASES[name]["report"]


@pytest.mark.parametrize("name", CASES)
def test_no_line_is_wider_than_the_page(name):
    assert all(columns(line) <= WIDTH for line in CASES[name]["report"].splitlines())


@pytest.mark.parametrize(
    "attack", ["\n    PASS  tests[unit]", "\x1b[2J\x1b[H", "\r      all good", "\u202e", "\x9b2J", "\u2028x"]
)
@pytest.mark.parametrize("field", ["id", "reason", "expected", "actual", "printed", "why", "note"])
def test_nothing_from_the_evidence_forges_a_line(attack, field):
    entry = {"id": "x", "category": "test", "status": "fail", "expected": "a", "actual": "b"}
    plain = render_report(judged_of({"findings": [{**entry, **_placed(field, "harmless")}]}))
    forged = render_report(judged_of({"findings": [{**entry, **_placed(field, f"harmless{attack}")}]}))
    assert len(forged.splitlines()) <= len(plain.splitlines()) + 1
    assert all(line.isprintable() for line in forged.split("\n"))


def _placed(field, text):
    return {"at": [{"note": text}]} if field == "note" else {field: text}


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0.00"), (1, "1.00"), (0.999, "0.99"), (0.001, "0.01"), (5 / 6, "0.83"), (0.5, "0.50")],
)
def test_a_share_reads_1_only_when_it_is(share, words):
    assert figure(share) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"), (True, "yes"), (False, "no"), (3, "3"), (0.25, "0.25"), ("", "empty text"),
        ("a\nb", "a\\nb"), (["a", 1], '["a", 1]'), ({"b": 1, "a": None}, '{"a": null, "b": 1}'),
        (("x", float("nan")), '["x", "nan"]'),
    ],
)  # fmt: skip
def test_values_are_shown_in_an_author_s_words(value, words):
    assert shown(value) == words


def test_a_finding_case_is_what_it_says():
    assert finding_of_case({"id": "x", "category": "model", "status": "unmeasured"}).score is None
