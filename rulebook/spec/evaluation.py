"""`rulebook.evaluation` files: rows, a task, scorers, and what their means must reach. Source: scorers."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from rulebook.diagnostic import has_errors
from rulebook.languages.faults import Shown
from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.evaluation_parts import EvaluationSpec, ScorerSpec
from rulebook.spec.evaluation_scorers import names_meant, read_scorers
from rulebook.spec.evaluation_task import read_task
from rulebook.spec.gate_parts import Gate
from rulebook.spec.gates import read_gates
from rulebook.spec.head import Head, Text
from rulebook.spec.params import Param
from rulebook.spec.reader import Reader
from rulebook.spec.ready_evaluation import StoredDataset
from rulebook.spec.scorer_kinds import GRADED, UNBOUNDED
from rulebook.spec.validation import below, validate_options

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


Rows = Sequence[Mapping[str, object]]
Dataset = str | Rows | StoredDataset


class EvaluationFile(Head):
    """A `rulebook.evaluation` file."""

    dataset: object = Field(description="The rows: a file, `{rows: […]}`, or `{name: …}` of a stored dataset.")
    params: object = Field(None, description="Parameters that the task can read.")
    task: object = Field(None, description="What makes a row's `output`: a function of yours, a command or a model.")
    scorers: object = Field(description="The scorers, each a kind with its options.")
    gates: object = Field(None, description="What the figures of a scorer must reach.")


class DatasetKeys(BaseModel):
    """A dataset that is no file."""

    model_config = _STRICT

    rows: object = Field(None, description="The rows themselves, each a mapping of columns.")
    name: Text | None = Field(None, description="The name of a stored dataset.")
    revision: Text | None = Field(None, description="The revision of a stored dataset; the latest without it.")


def read_evaluation(document: Located, reader: Reader) -> EvaluationSpec | None:
    """The evaluation in `document`; None, with every problem noted, when it is not valid."""
    if not isinstance(document.data, dict):
        return None
    file = validate_options(EvaluationFile, document.data, "an evaluation", below(()), reader)
    if file is None:
        return None
    dataset = _dataset(reader, file.dataset)
    params = _params(reader) if "params" in document.data else ()
    task = None if file.task is None else read_task(reader, file.task, params)
    scorers = read_scorers(reader)
    gates = read_gates(reader, names_meant(document.data["scorers"])) if file.gates is not None else ()
    _check_pass_marks(reader, scorers, {gate.scorer for gate in gates if "pass_rate" in gate.figures})
    _check_reach(reader, gates, {each.name for each in scorers if each.kind in UNBOUNDED})
    if dataset is None or has_errors(tuple(reader.problems)):
        return None
    return EvaluationSpec(document, file, dataset, scorers, gates, task, params)


def _check_pass_marks(reader: Reader, scorers: Sequence[ScorerSpec], gated: Collection[str]) -> None:
    """Note each scorer whose passes a gate counts, and of which nobody says from which score on it passes."""
    for each in scorers:
        if each.name in gated and each.kind in GRADED and not each.is_marked:
            reader.add_at_key("RB610", each.path, kind=each.kind)


def _check_reach(reader: Reader, gates: Sequence[Gate], unbounded: Collection[str]) -> None:
    """Note each bound that no score can reach: 90, where 0.9 is meant."""
    for gate in gates:
        for figure, bounds in gate.figures.items():
            is_share = figure == "pass_rate" or gate.scorer not in unbounded
            if is_share and bounds.min is not None and bounds.min > 1:
                path = ("gates", gate.scorer, figure, "min")
                reader.add("RB605", path, most="1", threshold=f"{bounds.min:g}")


def _params(reader: Reader) -> tuple[Param, ...]:
    from rulebook.spec.param_reading import read_params  # a file without parameters does without

    return read_params(reader, ("params",))


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
