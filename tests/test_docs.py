"""Every fenced example of the documents and pages is linted, run or compared with what the program prints."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rulebook.api.linting import lint_text
from rulebook.checks import kind_names
from rulebook.evidence.formats import session_formats
from rulebook.spec.combinators import COMBINATORS

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", *ROOT.glob("rulebook/*/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
HEAD = "schema: chock.eval\nversion: 1\nname: an example\n"


def fences(page: Path) -> list[tuple[str, str, int]]:
    text = page.read_text(encoding="utf-8")
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


EXAMPLES = [
    pytest.param(page, language, text, id=f"{page.relative_to(ROOT)}:{line}")
    for page in PAGES
    for language, text, line in fences(page)
    if language in ("yaml", "zon") and "linting" not in page.parts
]


def whole(text: str, language: str) -> str:
    """The example as a rule file: a bare rule becomes a check, bare rules become checks."""
    if re.search(r"(^|[{\s])\.?schema\b", text, re.M):
        return text
    if language == "zon":
        return text.replace(".{", '.{ .schema = "chock.eval", .version = 1,', 1)
    keys = re.findall(r"^([a-z_][\w-]*):", text, re.M)
    kinds = kind_names() | set(COMBINATORS)
    if keys and keys[0] in ("checks", "expect", "tests", "judge", "params", "use", "reward_weights", "fixture"):
        return HEAD + text
    if any(key in kinds for key in keys):
        return HEAD + "checks:\n  example:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    return HEAD + "checks:\n" + "".join(f"  {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(("page", "language", "text"), EXAMPLES)
def test_an_example_lints_clean(page: Path, language: str, text: str, tmp_path: Path) -> None:
    file = str(tmp_path / f"example.{language}")
    found = lint_text(whole(text, language), file, language).diagnostics  # type: ignore[arg-type]
    grave = [d for d in found if d.severity == "error" or d.code in ("RB410",)]
    assert [(d.code, d.span and d.span.line, d.message) for d in grave] == []


CODE_PAGES = sorted(ROOT.glob("rulebook/linting/*.md"))


@pytest.mark.parametrize("page", CODE_PAGES, ids=lambda page: page.stem)
def test_the_right_example_does_not_show_the_problem(page: Path, tmp_path: Path) -> None:
    parts = page.read_text(encoding="utf-8").partition("\n## Right\n")
    for language, text, _ in [(m[1], m[2], 0) for m in FENCE.finditer(parts[2])]:
        if language not in ("yaml", "zon"):
            continue
        found = lint_text(whole(text, language), str(tmp_path / f"example.{language}"), language).diagnostics  # type: ignore[arg-type]
        assert page.stem not in [d.name for d in found], [(d.code, d.message) for d in found]


def test_the_readme_shows_the_rule_file_and_the_report() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / "rules" / "tidy-session.yaml").read_text(encoding="utf-8") in readme
    for command, shown in re.findall(r"^```console\n\$ (rulebook eval check [^\n]*)\n(.*?)^```$", readme, re.M | re.S):
        assert shown.rstrip() == run(command).rstrip()


def test_the_page_of_evaluations_shows_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path))
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("evaluations.md", "evaluation-models.md"))
    shown = re.findall(r"^```console\n\$ (rulebook evaluation [^\n]*)\n(.*?)^```$", page, re.M | re.S)
    assert len(shown) == 2
    for command, table in shown:
        assert table.rstrip() == run(command).rstrip()
    assert (ROOT / "rules" / "judged" / "reply-quality.yaml").read_text(encoding="utf-8") in page


def test_the_page_of_calibration_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    page = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    ((command, shown),) = re.findall(r"^```console\n\$ (rulebook calibrate [^\n]*)\n(.*?)^```$", page, re.M | re.S)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert shown.rstrip() == run(command, tmp_path).rstrip()
    assert (tmp_path / "near-enough.card.json").is_file()


def test_the_readme_shows_what_lint_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    typo = (ROOT / "rules" / "tidy-session.yaml").read_text(encoding="utf-8")
    typo = typo.replace("max_turns", "max_turn").replace("data.tool", "data.tol")
    (tmp_path / "typo.yaml").write_text(typo, encoding="utf-8")
    shown = re.search(r"^```console\n\$ rulebook lint typo.yaml\n(.*?)^```$", readme, re.M | re.S)
    assert shown is not None
    assert shown[1].rstrip() == run("rulebook lint typo.yaml", tmp_path).rstrip()


PYTHON = [(p, text) for p in PAGES for language, text, _ in fences(p) if language == "python"]


@pytest.mark.parametrize(("page", "code"), PYTHON, ids=[page.name for page, _ in PYTHON])
def test_the_python_of_the_documents_runs(
    page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first = {
        "README.md": "True 1.0 {",
        "python.md": "False 0.",
        "judges.md": "1.0 True",
        "datasets.md": "2 True",
        "scorers.md": ("1.0 {'mismatched': []}\n0.0 {'error'", "{'exact-match': [1.0, 0.0], 'lev", "[1.0, 0.0]", "1.0 {'cosine'", "trace-quality ('output',)", "intent-judge ('message', 'output')", "1.0\n"),
        "evaluations.md": ("{'exact-match': 0.5}", "{'valid-json': 1.0, 'full-match'"),
    }[page.name]
    assert done.stdout.startswith(first)


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("docs/*.md"), ROOT / "README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_every_document_is_in_the_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/*.md"):
        assert page.name in contents


def run(command: str, folder: Path = ROOT) -> str:
    argv = [sys.executable, "-m", *shlex.split(command)]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_the_json_of_a_report_is_stable() -> None:
    command = "rulebook eval check rules/tidy-session.yaml --session rules/demo/session.jsonl --format json"
    first, second = run(command), run(command)
    assert first == second
    assert json.loads(first)["schema"] == "chock.eval-report"


def test_the_table_of_formats_says_what_they_carry() -> None:
    facts = ("tool_calls", "results", "end", "usage", "cost", "time", "subagents")
    table = (ROOT / "docs/reports.md").read_text(encoding="utf-8").split("## What a session can tell")[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    told = {name.strip("`"): (title, cells) for name, title, *cells in rows if name != "`chock_log`"}
    assert told == {
        name: (fmt.title, ["yes" if fact in fmt.carries else "–" for fact in facts])
        for name, fmt in session_formats().items()
    }
