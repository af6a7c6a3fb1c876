"""RB304: a parameter, a pack, a rule of a task or a submission that nothing uses."""

import re

from rulebook.expression.nodes import leaves_of
from rulebook.expression.program import Loaded, Program
from rulebook.expression.task_program import TaskProgram
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.source.located import Located
from rulebook.spec.reader import Reader
from rulebook.spec.steps import HINTS_PARAM


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note what is declared under `params` or imported under `use` and read nowhere in the file.

    In a task also a rule that no judge stands on, and a submission that no rule reads, unless the harness's own code
    judges, which may read anything.
    """
    if not isinstance(loaded.content, Program | TaskProgram):
        return
    spec, reader = loaded.content.spec, loaded.readers[loaded.file]
    if isinstance(loaded.content, TaskProgram):
        for named in loaded.content.unused:
            reader.add_at_key("RB304", named.rule.path, name=named.name)
        if not any(leaf.check.runs_code() for leaf in leaves_of(item.node for item in loaded.items)):
            _submissions(loaded.content, reader)
    if not spec.params and not spec.packs:
        return
    texts = _texts(spec.document)
    packs = [text for pack in spec.packs for text in _texts(pack.document)]
    for param in spec.params:
        if not _is_switch(loaded.content, param.name) and not _read(rf"\bparams\.{param.name}\b", [*texts, *packs]):
            reader.add_at_key("RB304", ("params", param.name), name=param.name)
    for index, pack in enumerate(spec.packs):
        if not _read(rf"\b{pack.alias}\.[a-z*]", texts):
            named_place = ("use", pack.alias)
            path = named_place if named_place in spec.document.keys else ("use", index)
            reader.add("RB304", path, name=pack.alias)


def _is_switch(program: Program | TaskProgram, param: str) -> bool:
    """Whether it is the parameter that shows the hints of a task."""
    return isinstance(program, TaskProgram) and param == HINTS_PARAM and any(s.spec.hints for s in program.steps)


def _submissions(program: TaskProgram, reader: Reader) -> None:
    """Note what is handed in and read by no rule."""
    spec = program.spec
    packs = [pack.document for pack in spec.packs]
    for step in spec.steps:
        for submission in step.submissions:
            judged = [*_judging(spec.document, step.place), *(entry for pack in packs for entry in pack.texts())]
            if not any(_names(path, text, submission.name) for path, text in judged):
                reader.add_at_key("RB304", (*step.place, "submissions", submission.name), name=submission.name)


def _judging(document: Located, step: Path) -> list[tuple[Path, str]]:
    """Every text of the step's judge and rules, and of the rules of the file."""
    places = ((*step, "judge"), (*step, "checks"), ("checks",))
    return [(path, text) for path, text in document.texts() if any(path[: len(place)] == place for place in places)]


def _names(path: Path, text: str, submission: str) -> bool:
    return (path[-1] == "submission" and text == submission) or _read(rf"\bsubmissions\.{submission}\b", [text])


def _texts(document: Located) -> list[str]:
    return [text for path, text in document.texts() if path[:1] != ("use",)]


def _read(pattern: str, texts: list[str]) -> bool:
    return any(re.search(pattern, text) for text in texts)
