"""RB307: a file or folder that a rule file names and that does not exist."""

import os

from rulebook.expression.program import Loaded, Program
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.spec.cases import SuiteSpec
from rulebook.spec.evaluation_parts import EvaluationSpec


def look(loaded: Loaded, files: Files) -> None:
    """Note a fixture that is no folder, and a suite's spec and an evaluation's dataset that are no files."""
    content = loaded.content
    if isinstance(content, Program) and content.spec.head.fixture is not None:
        _note(loaded, files, ("fixture",), content.spec.head.fixture, folder=True)
    if isinstance(content, SuiteSpec):
        for index, case in enumerate(content.cases):
            _note(loaded, files, ("cases", index, "spec"), case.spec, folder=False)
    if isinstance(content, EvaluationSpec) and isinstance(content.dataset, str):
        _note(loaded, files, ("dataset",), content.dataset, folder=False)


def _note(loaded: Loaded, files: Files, path: Path, written: str, *, folder: bool) -> None:
    place = os.path.dirname(loaded.file)
    if not files.stands(os.path.join(place, written), folder=folder):
        where = f"`{place}`" if place else "this file's folder"
        loaded.readers[loaded.file].add("RB307", path, path=written, folder=where)
