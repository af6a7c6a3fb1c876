"""`rulebook.evaluation` files: rows, a task, scorers, and what their means must reach. Source: scorers."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.diagnostic import has_errors
from rulebook.languages.faults import Shown
from rulebook.languages.fields import Duration
from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.evaluation_parts import EvaluationSpec, StoredDataset
from rulebook.spec.evaluation_scorers import check_function, read_scorers
from rulebook.spec.gates import read_gates
from rulebook.spec.head import Head, Text, Texts
from rulebook.spec.reader import Reader
from rulebook.spec.validation import below, validate_options

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


Rows = Sequence[Mapping[str, object]]
Dataset = str | Rows | StoredDataset


class EvaluationFile(Head):
    """A `rulebook.evaluation` file."""

    dataset: object = Field(description="The rows: a file, `{rows: […]}`, or `{name: …}` of a stored dataset.")
    task: object = Field(None, description="What makes a row's `output`: a function of yours, or a command.")
    scorers: object = Field(description="The scorers, each a kind with its options.")
    gates: object = Field(None, description="What the figures of a scorer must reach.")


class DatasetKeys(BaseModel):
    """A dataset that is no file."""

    model_config = _STRICT

    rows: object = Field(None, description="The rows themselves, each a mapping of columns.")
    name: Text | None = Field(None, description="The name of a stored dataset.")
    revision: Text | None = Field(None, description="The revision of a stored dataset; the latest without it.")


class TaskKeys(BaseModel):
    """What makes a row's output."""

    model_config = _STRICT

    python: Text | None = Field(
        None, description="A function of yours, `module:function`, which `--allow-python` lets run."
    )
    argv: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="A command: it reads the row as JSON, and what it prints is the output."
    )
    timeout: Duration | None = Field(None, description="How long the command may take for a row; 1m without it.")
    pass_env: Texts = Field((), description="Variables that the command sees, such as the key of a model.")


def read_evaluation(document: Located, reader: Reader) -> EvaluationSpec | None:
    """The evaluation in `document`; None, with every problem noted, when it is not valid."""
    if not isinstance(document.data, dict):
        return None
    file = validate_options(EvaluationFile, document.data, "an evaluation", below(()), reader)
    if file is None:
        return None
    dataset = _dataset(reader, file.dataset)
    task = _task(reader, file.task)
    scorers = read_scorers(reader)
    gates = read_gates(reader, [each.name for each in scorers]) if file.gates is not None else ()
    if dataset is None or task is None or has_errors(tuple(reader.problems)):
        return None
    timeout_s = 60.0 if task.timeout is None else task.timeout
    return EvaluationSpec(document, file, dataset, scorers, gates, task.python, task.argv, timeout_s, task.pass_env)


def _dataset(reader: Reader, value: object) -> Dataset | None:
    path: Path = ("dataset",)
    if isinstance(value, str) and value.strip():
        return value
    if not isinstance(value, dict):
        hint = " Write the name of a file, such as `rows.jsonl`, or `{rows: […]}`."
        reader.wrong_type(path, "dataset", "a file, or a mapping with `rows` or `name`", hint)
        return None
    keys = validate_options(DatasetKeys, value, "`dataset`", below(path), reader)
    if keys is None:
        return None
    if ("rows" in value) == (keys.name is not None):
        purpose = "a dataset is either `rows` that stand here, or the `name` of a stored one."
        reader.add_at_key("RB202", path, thing="`dataset`", key="rows", purpose=purpose)
        return None
    if keys.name is not None:
        return StoredDataset(keys.name, keys.revision)
    if keys.revision is not None:
        reader.add_at_key("RB215", (*path, "revision"), key="revision", why="only a stored dataset has revisions.")
    return _rows(reader, (*path, "rows"))


def _rows(reader: Reader, path: Path) -> Rows | None:
    example = Shown([{"message": "Hello", "expected": "greeting"}], "rows")
    count = reader.entries(path, "rows", example)
    if not count:
        if count == 0:
            reader.add("RB207", path, key="rows")
        return None
    found = (reader.mapping((*path, place), "a row", Shown({"message": "Hello"})) for place in range(count))
    rows = [row for row in found if row is not None]
    return rows if len(rows) == count else None


def _task(reader: Reader, value: object) -> TaskKeys | None:
    path: Path = ("task",)
    if value is None:
        return TaskKeys(python=None, argv=None, timeout=None, pass_env=())
    if not isinstance(value, dict):
        example = reader.shown(Shown({"argv": ["python", "task.py"]}, "task"))
        reader.not_a_mapping(path, "task", "a mapping with `python` or `argv`", f" Write `{example}`.")
        return None
    keys = validate_options(TaskKeys, value, "`task`", below(path), reader)
    if keys is None:
        return None
    if (keys.python is None) == (keys.argv is None):
        purpose = "a task is either a function of yours (`python`) or a command (`argv`)."
        reader.add_at_key("RB202", path, thing="`task`", key="argv", purpose=purpose)
        return None
    if keys.python is not None:
        check_function(reader, (*path, "python"), keys.python)
    for key in ("timeout", "pass_env") if keys.argv is None else ():
        if key in value:
            reader.add_at_key("RB215", (*path, key), key=key, why="it is for a command (`argv`).")
    return keys
