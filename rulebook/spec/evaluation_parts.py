"""An evaluation as it was written: the parts of a `rulebook.evaluation` file, typed."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from pydantic import BaseModel

from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.gate_parts import Gate
from rulebook.spec.head import Head


class ScorerSpec(Struct, frozen=True):
    """One scorer: its kind, its name, the columns it reads, and its other options as they were written.

    `path` is where it stands, down to its kind. `inputs` None: SQL reads what its expression names, and a function
    what its parameters name. A score passes when it is at least `threshold`.
    `has_inputs`: the file says which columns, and they are not the usual ones. `keys` are all of its options, typed.
    `card` is where the file says that its calibration stands, from the folder of the file.
    """

    kind: str
    name: str
    path: Path
    inputs: tuple[str, ...] | None
    options: Mapping[str, object]
    threshold: float = 1.0
    has_inputs: bool = False
    keys: BaseModel | None = None
    card: str | None = None


class StoredDataset(Struct, frozen=True):
    """A dataset of this machine's store: its latest revision where none is named."""

    name: str
    revision: str | None = None


class EvaluationSpec(Struct, frozen=True):
    """An evaluation, typed. `head` has the fields of the whole file.

    `dataset` is the path of a file, from the folder of the rule file; rows that stand in it; or a stored one. The task
    is a function (`task_python`), a command (`task_argv`), or nothing where rows have their own `output`.
    """

    document: Located
    head: Head
    dataset: str | Sequence[Mapping[str, object]] | StoredDataset
    scorers: Sequence[ScorerSpec]
    gates: Sequence[Gate]
    task_python: str | None = None
    task_argv: Sequence[str] | None = None
    task_timeout_s: float = 60.0
    task_env: Sequence[str] = ()

    @property
    def has_task(self) -> bool:
        """Whether a task makes the `output` of a row."""
        return self.task_python is not None or self.task_argv is not None

    @property
    def runs_python(self) -> bool:
        """Whether it names functions, which run only where somebody allowed it."""
        return self.task_python is not None or any(each.kind == "python" for each in self.scorers)
