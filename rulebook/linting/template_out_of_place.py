"""RB425: a template where text is taken literally."""

from rulebook.expression.program import Loaded, Program
from rulebook.expression.task_program import TaskProgram
from rulebook.languages.template import looks_like_template
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.spec.rules import PackSpec

_LIVE = frozenset(
    (
        "instructions", "system_prompt", "hints", "argv", "criterion", "rubric",
        "expected", "equals", "contains", "text", "arguments",
        "exact_match", "command", "executable",  # in short, they are their template
    )
)  # fmt: skip
_WHERE = "`expected`, `equals`, `contains`, `text`, `arguments` and the words of a command"


def look(loaded: Loaded, files: Files) -> None:  # noqa: ARG001
    """Note every `{{ name }}` outside the fields in which templates are live."""
    if "{{" not in loaded.text or not isinstance(loaded.content, Program | TaskProgram | PackSpec):
        return
    reader = loaded.readers[loaded.file]
    for path, value in reader.document.texts():
        found = looks_like_template(value) if "{{" in value and not _live(path) else None
        if found is not None:
            place = reader.document.within(path, *found)
            reader.add("RB425", path, place, key=_key(path), part=value[found[0] : found[1]], where=_WHERE)


def _live(path: Path) -> bool:
    of_a_step = path[:1] == ("steps",) and path[2:3] == ("oracle",)
    return (
        of_a_step
        or any(step in _LIVE for step in path[-2:])
        or path[:1] in (("task",), ("description",), ("examples",))
    )


def _key(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "this value")
