"""RB810: a scorer, or the question for a model, reads a column that no row has."""

import os
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from rulebook.expression.program import Loaded
from rulebook.languages.faults import Fault
from rulebook.languages.template import Template
from rulebook.languages.types import ANYTHING, RecordOf, Scope, Type
from rulebook.place import Path
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec
from rulebook.spelling import guess


def look(loaded: Loaded, files: Files) -> None:
    """Note every such column, with the nearest that there is."""
    spec = loaded.content
    if not isinstance(spec, EvaluationSpec):
        return
    from rulebook.evidence.rows_in_sight import rows_in_sight  # only an evaluation has rows

    sight = rows_in_sight(spec.dataset, os.path.dirname(loaded.file), files)
    if sight is None:
        return
    known = [*sight.columns, *(["output"] if spec.has_task else [])]
    reader = loaded.readers[loaded.file]
    for scorer in spec.scorers:
        for place, column in enumerate(scorer.inputs or ()):
            if column in known:
                continue
            path = (*scorer.path, "inputs", place) if scorer.has_inputs else scorer.path
            hint = guess(column, known)
            if column == "output":
                hint = " Say what makes it: give a `task`."
            note = reader.add if scorer.has_inputs else reader.add_at_key
            note("RB810", path, column=column, guess=hint)
    for path, template in _questions(spec):
        for fault in _unknown_in(template, sight.columns):
            reader.add_fault(fault, path)


def _questions(spec: EvaluationSpec) -> Iterator[tuple[Path, Template]]:
    if spec.task is None or spec.task.model is None:
        return
    from rulebook.spec.evaluation_task import templates_of  # only a question has templates over rows

    yield from ((path, template) for path, template, reads_rows in templates_of(spec.task) if reads_rows)


def _unknown_in(template: Template, columns: Collection[str]) -> Iterator[Fault]:
    kinds: dict[str, Type] = dict.fromkeys(columns, ANYTHING)
    scope = Scope("a question", {**kinds, "params": ANYTHING, "row": RecordOf("a row", kinds)})
    for fault in template.faults(scope):
        if fault.code == "RB418":
            words = {"column": str(fault.words["name"]).removeprefix("row."), "guess": fault.words["guess"]}
            yield replace(fault, code="RB810", words=words)
