"""Imports point one way: a module imports its own room and the rooms above it, and nothing in a circle."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "rulebook"

ORDER = (
    "place", "codes", "spelling", "outcome", "diagnostic", "errors", "model_port", "ports", "terminal", "picture",
    "languages", "measures", "source", "evidence", "checks", "spec", "expression", "interpreter", "report", "linting", "services",
    "session", "api", "cli",
)  # fmt: skip
"""Rooms and top-level modules from the first to the last. The package's own face comes before all of them."""

FACES = ("__init__", "__main__", "judges", "schemas", "scorers")


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> list[tuple[str, ast.stmt]]:
    found: list[tuple[str, ast.stmt]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} is a relative import"
            found.append((node.module or "", node))
            found += [(f"{node.module}.{name.name}", node) for name in node.names]
        elif isinstance(node, ast.Import):
            found += [(name.name, node) for name in node.names]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_up(path: Path) -> None:
    room = room_of(path)
    if room in FACES:
        return
    assert room in ORDER, f"{path} is in no room of the house"
    for name, node in imports_of(path):
        parts = name.split(".")
        if parts[0] != "rulebook" or len(parts) < 2 or parts[1] == "__version__":
            continue
        assert parts[1] in ORDER, f"{path}:{node.lineno} imports {name}: a face is for others"
        assert ORDER.index(parts[1]) <= ORDER.index(room), f"{path}:{node.lineno} imports {name}, which lies below it"


def test_there_is_no_import_cycle() -> None:
    graph: dict[str, set[str]] = {}
    names = {dotted(path) for path in modules()}
    for path in modules():
        graph[dotted(path)] = {name for name, _ in imports_of(path) if name in names and name != dotted(path)}
    # a package's face is loaded before its modules, and may name none of them when it is
    for name in list(graph):
        parent = name.rpartition(".")[0]
        if parent in graph and parent != "rulebook":
            graph[name].add(parent)
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " → ".join([*above[above.index(name) :], name])
        if name in done:
            return
        for other in sorted(graph[name]):
            walk(other, (*above, name))
        done.add(name)

    for name in sorted(graph):
        if name not in ("rulebook", "rulebook.__main__"):
            walk(name, ())


def dotted(path: Path) -> str:
    parts = ["rulebook", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_nothing_is_imported_for_types_alone() -> None:
    for path in modules():
        assert "TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path


BAD_WORDS = {"utils", "helpers", "common", "misc", "core", "manager", "handler", "processor", "engine"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_names_and_sizes(path: Path) -> None:
    assert not BAD_WORDS & set(path.stem.split("_"))
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{path} has more than 400 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or 0) - node.lineno + 1
            assert size <= 50, f"{path}:{node.lineno} {node.name} has {size} lines"
