"""What a command imports: starting must cost no more than what is used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rulebook

ROOT = Path(rulebook.__file__).parent.parent
NEVER = (
    "openai",
    "duckdb",
    "pyarrow",
    "numpy",
    "pandas",
    "polars",
    "sqlite3",
    "rich",
    "jinja2",
    "jsonpath_ng",
    "simpleeval",
    "re2",
    "asyncio",
    "subprocess",
    "importlib.metadata",
    "email",
    "zipfile",
    "csv",
    "socket",
    "tempfile",
    "shutil",
    "shlex",
    "pkgutil",
    "difflib",
)
FOR_THE_VERSION = (
    *NEVER,
    "yaml",
    "pydantic",
    "msgspec",
    "dataclasses",
    "argparse",
    "json",
    "unicodedata",
    "rulebook.codes",
    "rulebook.checks",
)
FOR_A_CLEAN_FILE = (
    *NEVER,
    "argparse",
    "json",
    "unicodedata",
    "rulebook.source.zon_reader",
    "rulebook.source.yaml_repair",
    "rulebook.source.offsets",
    "rulebook.languages.formula_walk",
    "rulebook.languages.formula_run",
    "rulebook.languages.formula_mistakes",
    "rulebook.languages.formula_tokens",
    "rulebook.languages.formula_refusals",
    "rulebook.languages.pattern_faults",
    "rulebook.languages.pattern_cost",
    "rulebook.languages.select_steps",
    "rulebook.languages.template_jinja",
    "rulebook.languages.template_filters",
    "rulebook.evidence.trial",
    "rulebook.evidence.audit_log",
    "rulebook.spec.suite",
    "rulebook.spec.pack",
    "rulebook.interpreter.evaluate",
    "rulebook.report.findings",
    "rulebook.picture",
    "rulebook.cli.arguments",
)
MOST_OF_OURS = 127
"""Modules of ours that linting `RULES` may load; it loads 127. Each costs about a quarter of a millisecond."""

RULES = """\
schema: chock.eval
version: 1
name: plain
expect: {end_reason: finished, max_turns: 8}
checks:
  answered:
    all:
      - regex: {patterns: ['answer: 42'], from: assistant}
      - contains: {from: final_message, expected: 'part 1'}
      - expr: 'turns <= 8 and end_reason == ''finished'''
    why: The answer must be there.
"""


@pytest.mark.parametrize("argv", [["--version"], ["--help"]])
def test_version_and_help_import_next_to_nothing(argv, tmp_path):
    assert imported(argv, tmp_path) & set(FOR_THE_VERSION) == set()


def test_importing_the_package_imports_nothing_of_it(tmp_path):
    code = "import sys; before = set(sys.modules); import rulebook; print(*(set(sys.modules) - before))"
    assert [name for name in python(code, tmp_path).split() if name.startswith("rulebook.")] == []


def test_linting_a_clean_file_imports_only_what_it_runs(tmp_path):
    (tmp_path / "plain.yaml").write_text(RULES, encoding="utf-8")
    modules = imported(["lint", "plain.yaml"], tmp_path)
    assert "rulebook.api.linting" in modules
    assert modules & set(FOR_A_CLEAN_FILE) == set()
    assert sum(name.split(".")[0] == "rulebook" for name in modules) <= MOST_OF_OURS


def test_an_evaluation_that_runs_again_reads_no_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    rows = "[{output: '1', expected: '1'}]"
    text = f"schema: rulebook.evaluation\nversion: 1\nname: a\ndataset: {{rows: {rows}}}\nscorers: [{{exact_match: {{}}}}]\n"
    (tmp_path / "rows.yaml").write_text(text, encoding="utf-8")
    assert "pydantic" in imported(["evaluation", "run", "rows.yaml"], tmp_path)
    modules = imported(["evaluation", "run", "rows.yaml"], tmp_path)
    assert modules & {"pydantic", "pydantic_core", "yaml", "rulebook.expression.program", "rapidfuzz", *NEVER} - {
        "subprocess",  # of the workers that search for slow patterns
    } == set()  # fmt: skip


def test_a_data_set_of_lines_loads_no_table_library(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    (tmp_path / "rows.csv").write_text("a\n1\n", encoding="utf-8")
    code = (
        "import sys; from rulebook.services.datasets import open_dataset; "
        "seen = [open_dataset(name).columns for name in ('rows.jsonl', 'rows.csv')]; "
        "print(*sys.modules); assert seen == [{'a': 'whole number'}] * 2"
    )
    loaded = set(python(code, tmp_path).split())
    assert loaded & {"duckdb", "pyarrow", "numpy", "pandas", "polars", "sqlite3", "csv", "asyncio"} == set()


def test_an_upload_loads_no_sql(tmp_path):
    code = "import sys; import rulebook; rulebook.DatasetClient('store').upload('a', [{'a': 1}]); print(*sys.modules)"
    loaded = set(python(code, tmp_path).split())
    assert {"pyarrow", "sqlite3"} <= loaded
    assert loaded & {"duckdb", "polars"} == set()


def test_a_python_caller_keeps_pydantics_plugins(tmp_path):
    code = (
        "import sys; from rulebook.api.linting import lint_text; lint_text(sys.argv[1], 'plain.yaml', 'yaml'); "
        "print(sys.modules['pydantic.plugin._loader'].__file__)"
    )
    assert python(code, tmp_path, RULES).strip().endswith("_loader.py")


def imported(argv, folder):
    """The modules that a command has imported when it ends with status 0."""
    code = (
        "import sys; from rulebook.cli.main import main; sys.argv[0] = 'rulebook'; status = main(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    return set(python(code, folder, *argv).split())


def python(code, folder, *argv):
    done = subprocess.run(
        [sys.executable, "-c", code, *argv],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr or done.stdout
