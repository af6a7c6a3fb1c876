"""An evaluation that needs nothing but its rows and the built-in scorers: plain data, already read."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rulebook.spec.gate_parts import Gate


class StoredDataset(Struct, frozen=True):
    """A dataset of this machine's store: its latest revision where none is named."""

    name: str
    revision: str | None = None


class ReadyScorer(Struct, frozen=True):
    """A built-in scorer. The fields are as in `ScorerSpec`; `told` are the options that its run keeps."""

    kind: str
    name: str
    inputs: tuple[str, ...] | None
    options: Mapping[str, object]
    threshold: float
    told: Mapping[str, object]


class ReadyEvaluation(Struct, frozen=True):
    """What a run needs of an `EvaluationSpec` whose rows bring their outputs. `digest` is that of the file's text.

    `dataset` is the path of a file, from the folder of the rule file; rows that stand in it; or a stored one.
    """

    name: str
    digest: str
    dataset: str | Sequence[Mapping[str, object]] | StoredDataset
    scorers: tuple[ReadyScorer, ...]
    gates: tuple[Gate, ...]
