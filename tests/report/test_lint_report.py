"""The lint formats over made-up diagnostics."""

from rulebook.diagnostic import Diagnostic, Edit, Fix, Related
from rulebook.place import span_between
from rulebook.report.lint_report import Linted, lint_json, render_concise, render_lint

TEXT = "name: x\nexpct: 1\nnaïve: 2\n"
SPAN = span_between(TEXT, 8, 13)
ERROR = Diagnostic(
    "RB201",
    "I don't know `expct`.",
    "a.yaml",
    SPAN,
    path=("checks", "a/b", 0, "x~y"),
    help="Look at the list of keys.",
    fix=Fix("expect: 1", (Edit(8, 13, "expect"),)),
    related=(Related("it begins here", span_between(TEXT, 0, 4)),),
)
WARNING = Diagnostic("RB304", "`naïve` is defined but nothing uses it.", "a.yaml", span_between(TEXT, 17, 22))
NOTE = Diagnostic("RB121", "`&` isn't needed.", "a.yaml", None)


def test_a_problem_in_json_says_everything():
    report = lint_json([Linted("a.yaml", TEXT, (ERROR,), {"checks": {}})])
    assert report == {
        "schema": "rulebook.lint",
        "version": 1,
        "problems": [
            {
                "code": "RB201",
                "name": "unknown-key",
                "severity": "error",
                "message": "I don't know `expct`.",
                "path": "a.yaml",
                "start": {"line": 2, "column": 1, "offset": 8},
                "end": {"line": 2, "column": 6, "offset": 13},
                "where": ["rule `a/b`", "entry 1", "x~y"],
                "pointer": "/checks/a~1b/0/x~0y",
                "help": [
                    {"text": "Look at the list of keys.", "kind": "manual", "edits": []},
                    {
                        "text": "expect: 1",
                        "kind": "ask",
                        "edits": [{"start": 8, "end": 13, "text": "expect"}],
                    },
                ],
                "related": [
                    {
                        "message": "it begins here",
                        "start": {"line": 1, "column": 1, "offset": 0},
                        "end": {"line": 1, "column": 5, "offset": 4},
                    }
                ],
                "explain": "rulebook explain RB201",
            }
        ],
        "summary": {"files": 1, "errors": 1, "warnings": 0, "infos": 0},
    }


def test_a_safe_fix_says_so():
    safe = Diagnostic("RB201", "x", "a.yaml", SPAN, fix=Fix("expect: 1", (), safe=True))
    assert lint_json([Linted("a.yaml", TEXT, (safe,))])["problems"][0]["help"][0]["kind"] == "safe"


def test_a_problem_without_a_place_stands_at_the_start():
    assert render_concise([Linted("a.yaml", "", (NOTE,))]) == "a.yaml:1:1: info [RB121] `&` isn't needed.\n"


def test_a_name_or_a_message_cannot_make_a_line_of_its_own():
    forged = Diagnostic("RB201", "x\nb.yaml:1:1: error", "a\n.yaml", SPAN)
    assert render_concise([Linted("a\n.yaml", TEXT, (forged,))]).count("\n") == 1


def test_the_count_at_the_end():
    both = [Linted("a.yaml", TEXT, (ERROR, WARNING), {}), Linted("b.yaml", "", ())]
    assert render_lint(both, 7).endswith("\n\n2 files, 1 error, 1 warning. Nothing was changed.\n")
    assert render_lint([Linted("a.yaml", TEXT, (NOTE,), {})], 7).endswith(
        "\n\n1 file, 0 errors, 0 warnings, 1 note. Nothing was changed.\n"
    )
    assert render_lint([Linted("a.yaml", TEXT, ())] * 12, 340) == "12 files, 340 checks: all good\n"
    assert render_lint([Linted("a.yaml", TEXT, ())], 1, left_out=2) == (
        "1 file, 1 check: nothing selected (2 problems not selected)\n"
    )


def test_a_file_whose_meaning_was_not_looked_at_says_so():
    said = "I stopped checking meaning until this is fixed."
    assert said in render_lint([Linted("a.yaml", TEXT, (ERROR,), None)], 0)
    assert said not in render_lint([Linted("a.yaml", TEXT, (ERROR,), {})], 0)
    assert said not in render_lint([Linted("a.yaml", TEXT, (WARNING,), None)], 0)
