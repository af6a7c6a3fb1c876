"""What an engine says of the SQL of an evaluation's scorers, before any row is looked at."""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from rulebook.diagnostic import has_errors, in_order
from rulebook.errors import UsageError
from rulebook.evidence.row_columns import SQL_TYPES, Kind
from rulebook.evidence.rows_in_sight import rows_in_sight
from rulebook.expression.program import Loaded
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec


def sql_problems(loaded: Loaded, spec: EvaluationSpec, files: Files) -> Loaded:
    """The same file with the problems of its SQL noted, which keep it from being run.

    Columns and types are looked at where all rows can be, and the type of `output` is known. Where the engine is not
    installed nothing is said: a run says so.
    """
    scorers = [each for each in spec.scorers if each.kind == "sql"]
    if not scorers:
        return loaded
    reader = loaded.readers[loaded.file]
    before = len(reader.problems)
    columns = _columns(loaded, spec, files)
    try:
        from rulebook.languages.sql import sql_faults  # only SQL pays for it
        from rulebook.services.tables import DuckTables  # as above

        tables = DuckTables()
        for scorer in scorers:
            for fault in sql_faults(str(scorer.options["expression"]), tables, columns):
                reader.add_fault(fault, (*scorer.path, "expression"))
    except UsageError:
        return loaded
    found = in_order((*loaded.diagnostics, *reader.problems[before:]))
    return replace(loaded, diagnostics=found, content=None if has_errors(found) else spec)


def _columns(loaded: Loaded, spec: EvaluationSpec, files: Files) -> Mapping[str, str] | None:
    sight = rows_in_sight(spec.dataset, os.path.dirname(loaded.file), files)
    if sight is None or spec.task_python is not None:
        return None
    output: dict[str, Kind] = {"output": "text"} if spec.has_task else {}
    return {name: SQL_TYPES[kind] for name, kind in {**sight.columns, **output}.items()}
