"""RB709: a test command that also obeys files which the agent can write."""

from rulebook.expression.program import Loaded, Program
from rulebook.ports import Files

_FILES = ("conftest.py", "pytest.ini", "sitecustomize.py", "tox.ini", "setup.cfg")
_PROGRAMS = ("pytest", "py.test", "tox", "nox")
_MODULES = ("pytest", "unittest", "tox", "nox", "nose2")


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every test of a Python test runner that has no `take` and no `forbidden_paths` for the files."""
    if not isinstance(loaded.content, Program):
        return
    spec, reader = loaded.content.spec, loaded.readers[loaded.file]
    forbidden = {e.id[len("forbidden_paths[") : -1] for e in spec.expectations if e.id.startswith("forbidden_paths[")}
    left = [name for name in _FILES if name not in forbidden]
    for test in spec.tests:
        entry = spec.document.at(test.rule.path)
        if not isinstance(entry, dict) or "take" in entry or not left:
            continue
        if _runs_python_tests([str(word) for word in entry["argv"]]):
            reader.add("RB709", (*test.rule.path, "argv"), files=", ".join(f"`{name}`" for name in left))


def _runs_python_tests(argv: list[str]) -> bool:
    """Whether a command starts a test runner of Python: by its name, or as a module of an interpreter."""
    names = [word.rsplit("/", 1)[-1] for word in argv]
    if names[0] in ("uv", "poetry", "pipenv", "env", "hatch", "pdm") and len(names) > 2:
        return _runs_python_tests(argv[2:]) or names[1] in _PROGRAMS
    if names[0] in _PROGRAMS:
        return True
    if not names[0].startswith(("python", "pypy")):
        return False
    return any(flag == "-m" and module in _MODULES for flag, module in zip(argv, argv[1:], strict=False))
