"""Each third-party package has one door: the modules that may import it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "rulebook"

DOORS: dict[str, tuple[str, ...]] = {
    "yaml": ("source/yaml_reader.py", "source/plain_yaml.py"),
    "jinja2": ("languages/template_jinja.py",),
    "simpleeval": ("languages/formula_walk.py",),
    "jsonpath_ng": ("languages/select_find.py",),
    "re2": ("languages/pattern.py", "services/patterns.py", "languages/pattern_re2.py"),
    "orjson": ("evidence/log_events.py", "measures/json_reading.py"),
    "rapidfuzz": ("measures/levenshtein.py", "measures/string_similarity.py"),
    "zstandard": ("evidence/session_files/archive.py",),
    "openai": ("services/openai_client.py", "services/openai_models.py"),
    "httpx2": ("services/openai_client.py", "services/openai_models.py"),
    "duckdb": ("services/tables.py",),
    "pyarrow": ("services/arrow_tables.py",),
    "sqlite3": ("services/dataset_catalogue.py",),
    "pandas": (),
    "polars": (),
    "rich": (),
    "subprocess": ("services/processes.py", "services/pattern_workers.py"),
    "socket": (),
    "random": (),
    "asyncio": ("services/openai_models.py", "services/model_stream.py"),
}
"""A package and the files that may import it. `services/` alone runs programs."""


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
    return found


@pytest.mark.parametrize("package", sorted(DOORS))
def test_a_package_comes_in_by_its_door(package: str) -> None:
    users = {str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*.py") if package in imported(p)}
    assert users <= set(DOORS[package])


def test_only_the_command_line_prints() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] == "cli":
            continue
        calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
        assert not [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path
