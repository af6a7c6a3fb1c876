"""What a command imports: starting must cost no more than what is used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rulebook

ROOT = Path(rulebook.__file__).parent.parent
NEVER = ("openai", "duckdb", "rich", "jinja2", "jsonpath_ng", "simpleeval", "asyncio", "importlib.metadata")
FOR_THE_VERSION = (
    *NEVER,
    "yaml",
    "pydantic",
    "json",
    "difflib",
    "unicodedata",
    "rulebook.codes",
    "rulebook.checks",
)
PLAIN = """\
schema: chock.eval
version: 1
name: plain
expect: {end_reason: finished, max_turns: 8}
"""


@pytest.mark.parametrize("argv", [["--version"], ["--help"]])
def test_version_and_help_import_next_to_nothing(argv, tmp_path):
    assert imported(argv, tmp_path) & set(FOR_THE_VERSION) == set()


def test_importing_the_package_imports_nothing_of_it(tmp_path):
    code = "import sys; before = set(sys.modules); import rulebook; print(*(set(sys.modules) - before))"
    assert [name for name in python(code, tmp_path).split() if name.startswith("rulebook.")] == []


def test_linting_a_plain_file_imports_no_engine_of_others(tmp_path):
    (tmp_path / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    modules = imported(["lint", "plain.yaml"], tmp_path)
    assert "rulebook.api.linting" in modules
    # pydantic imports it for its plugins as soon as a model is built, whatever the model is.
    assert modules & set(NEVER) <= {"importlib.metadata"}


def imported(argv, folder):
    """The modules that a command has imported when it ends with status 0."""
    code = (
        "import sys; from rulebook.cli.main import main; status = main(sys.argv[1:]); "
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
