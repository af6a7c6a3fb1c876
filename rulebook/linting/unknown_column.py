"""RB810: a scorer reads a column that no row has."""

import os

from rulebook.checks import JUDGE_KINDS
from rulebook.expression.program import Loaded
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
            if column in known or (column == "trace" and scorer.kind in JUDGE_KINDS):
                continue  # a judge is told that a row has no session
            path = (*scorer.path, "inputs", place) if scorer.has_inputs else scorer.path
            hint = guess(column, known)
            if column == "output":
                hint = " Say what makes it: give a `task`."
            note = reader.add if scorer.has_inputs else reader.add_at_key
            note("RB810", path, column=column, guess=hint)
