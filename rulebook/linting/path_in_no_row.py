"""RB811: a path of `json_match` that no document of any row has: both sides lack it, and so agree, in every row."""

import os
from collections.abc import Mapping, Sequence

from rulebook.expression.program import Loaded
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec


def look(loaded: Loaded, files: Files) -> None:
    """Note every such path. Where a task makes `output`, the other column alone can tell."""
    spec = loaded.content
    if not isinstance(spec, EvaluationSpec) or not any(each.options.get("paths") for each in spec.scorers):
        return
    from rulebook.evidence.rows_in_sight import rows_in_sight  # only an evaluation has rows

    sight = rows_in_sight(spec.dataset, os.path.dirname(loaded.file), files)
    for scorer in spec.scorers if sight is not None else ():
        if sight is not None and scorer.options.get("paths"):
            documents = [each for column in scorer.inputs or () for each in _documents(column, sight.rows)]
            if documents:
                _look_at(loaded, scorer, documents)


def _documents(column: str, rows: Sequence[Mapping[str, object]]) -> list[object]:
    from rulebook.measures.json_reading import NotJson, read_json  # only a file with paths pays for it

    found = [read_json(row[column]) for row in rows if column in row]
    return [each for each in found if not isinstance(each, NotJson)]


def _look_at(loaded: Loaded, scorer: ScorerSpec, documents: list[object]) -> None:
    from rulebook.measures.json_match import ABSENT, at_path, json_path_to  # as above

    paths = scorer.options.get("paths")
    for place, text in enumerate(paths if isinstance(paths, list | tuple) else ()):
        path = json_path_to(str(text))
        if all(at_path(document, path) is ABSENT for document in documents):
            loaded.readers[loaded.file].add("RB811", (*scorer.path, "paths", place), path=text)
