"""An evaluation as it was written: the parts of a `rulebook.evaluation` file, typed."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from pydantic import BaseModel

from rulebook.languages.template import Template
from rulebook.place import Path
from rulebook.source.located import Located
from rulebook.spec.gate_parts import Gate
from rulebook.spec.head import Head
from rulebook.spec.params import Param
from rulebook.spec.ready_evaluation import StoredDataset


class ScorerSpec(Struct, frozen=True):
    """One scorer: its kind, its name, the columns it reads, and its other options as they were written.

    `path` is where it stands, down to its kind. `inputs` None: SQL reads what its expression names, and a function
    what its parameters name. A score passes when it is at least `threshold`, 1 where the file says nothing;
    `is_marked`: it says so.
    `has_inputs`: the file says which columns. `keys` are all of its options, typed.
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
    is_marked: bool = False


class ModelTask(Struct, frozen=True):
    """A question about each row. The fields are as in `ModelRequest`; `model` may read parameters alone."""

    prompt: Template
    system_prompt: Template | None = None
    model: Template | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int = 16_000


class RowTask(Struct, frozen=True):
    """What makes a row's output: a function (`python`), a command (`argv`) or a `model`; the two others are None.

    `concurrency` is how many rows may be under way at once; None: as many as is usual for its way.
    """

    python: str | None = None
    argv: Sequence[Template] | None = None
    model: ModelTask | None = None
    timeout_s: float = 60.0
    pass_env: Sequence[str] = ()
    concurrency: int | None = None


class EvaluationSpec(Struct, frozen=True):
    """An evaluation, typed. `head` has the fields of the whole file.

    `dataset` is the path of a file, from the folder of the rule file; rows that stand in it; or a stored one. `task`
    None: rows have their own `output`.
    """

    document: Located
    head: Head
    dataset: str | Sequence[Mapping[str, object]] | StoredDataset
    scorers: Sequence[ScorerSpec]
    gates: Sequence[Gate]
    task: RowTask | None = None
    params: tuple[Param, ...] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return self.head.name

    @property
    def digest(self) -> str:
        """The digest of the file's text."""
        return sha256(self.document.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def has_task(self) -> bool:
        """Whether a task makes the `output` of a row."""
        return self.task is not None

    @property
    def task_python(self) -> str | None:
        """The function that is its task, if it is one."""
        return None if self.task is None else self.task.python

    @property
    def runs_python(self) -> bool:
        """Whether it names functions, which run only where somebody allowed it."""
        return self.task_python is not None or any(each.kind == "python" for each in self.scorers)
