"""Golden pictures: `tests/pictures/<name>.yaml` holds a text, what is marked in it, and how that is drawn."""

from pathlib import Path

import pytest
import yaml

from rulebook.diagnostic import Diagnostic, Fix, Related
from rulebook.picture import WIDTH, crumbs, render_problems
from rulebook.place import Span, span_between
from rulebook.terminal import columns

FOLDER = Path(__file__).parent / "pictures"
CASES = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}


@pytest.mark.parametrize("name", CASES)
def test_picture(name):
    case = CASES[name]
    assert drawn(case) + "\n" == case["picture"]


@pytest.mark.parametrize("name", CASES)
def test_no_line_is_wider_than_the_page(name):
    for line in drawn(CASES[name]).splitlines():
        assert columns(line) <= WIDTH


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", CASES)
def test_a_narrower_page_is_kept_to_and_the_carets_stay(name, width):
    case = CASES[name]
    narrow = drawn(case, width=width).splitlines()
    assert [line for line in narrow if columns(line) > width] == []
    assert marked(narrow) == marked(drawn(case).splitlines())


def test_colour_only_marks():
    case = CASES["one_word"]
    coloured = drawn(case, colour=True)
    assert "\x1b[31merror\x1b[0m" in coloured
    assert "\x1b[31m^^^\x1b[0m" in coloured
    for code in ("\x1b[31m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == drawn(case)


def test_a_problem_of_the_file_itself_has_no_picture():
    picture = render_problems("a.yaml", "", [Diagnostic("RB101", "I can't read this file: it is a folder.", "a.yaml")])
    assert picture.splitlines()[2:] == [
        "RB101 error   I can't read this file: it is a folder.",
        "  More: rulebook explain RB101",
    ]


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ((), []),
        (("expect", "files", 1, "path"), ["expect", "file 2", "path"]),
        (
            ("checks", "polite", "all", 0, "regex", "patterns", 2),
            ["rule `polite`", "all", "part 1", "regex", "pattern 3"],
        ),
        (("steps", 0, "checks", "ok"), ["step `fix`", "rule `ok`"]),
        (("steps", 4), ["step 5"]),
        (("tests", 0, "argv", 1), ["test 1", "word 2"]),
        (("reward_weights", "model"), ["reward_weights", "model"]),
        (("checks",), ["checks"]),
    ],
)
def test_breadcrumb(path, steps):
    assert crumbs(path, {"steps": [{"name": "fix"}]}) == steps


def marked(lines):
    """How many lines of carets there are."""
    return sum(line.lstrip().startswith("|") and line.strip("| ").startswith("^") for line in lines)


def drawn(case, *, colour=False, width=WIDTH):
    text = case["text"]
    diagnostics = [diagnostic(text, mark) for mark in case["marks"]]
    return render_problems(
        case.get("file", "rules/parser.yaml"), text, diagnostics, data=case.get("data"), colour=colour, width=width
    )


def diagnostic(text, mark):
    fix = Fix(mark["fix"], ()) if "fix" in mark else None
    related = tuple(Related(entry["message"], span(text, entry)) for entry in mark.get("related", ()))
    return Diagnostic(
        code=mark.get("code", "RB403"),
        message=mark.get("message", "There is no `cst` in the session. Did you mean `cost`?"),
        file="rules/parser.yaml",
        span=span(text, mark),
        path=tuple(mark.get("path", ())),
        help=mark.get("help", ""),
        fix=fix,
        related=related,
    )


def span(text, mark) -> Span:
    """The place of the words `at`, the `nth` time they stand in the text; `length` overrides theirs."""
    start = -1
    for _ in range(mark.get("nth", 1)):
        start = text.index(mark["at"], start + 1)
    return span_between(text, start, start + mark.get("length", len(mark["at"])))
