"""What a scorer says of one row. Source: scorers, "Scorer results"."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from rulebook.errors import UnfitKind, UnfitOption
from rulebook.evidence.row_values import detached


@dataclass(frozen=True)
class EvaluationScorerResult:
    """A score in 0..1, and metadata that explains it: JSON data under text keys, or None.

    Raises UnfitKind (a TypeError) for a score that is a boolean or no number and for metadata that cannot be written
    as JSON, and UnfitOption (a ValueError) for a score that is not finite or lies outside 0..1.
    """

    score: float
    metadata: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", _share(self.score))
        if self.metadata is not None:
            object.__setattr__(self, "metadata", _data(self.metadata))

    def metadata_json(self) -> str | None:
        """The metadata as it is stored: JSON with sorted keys and no blanks."""
        return None if self.metadata is None else json.dumps(self.metadata, sort_keys=True, separators=(",", ":"))


def proven_result(score: float, metadata: Mapping[str, object] | None) -> EvaluationScorerResult:
    """A result of a measure of ours, which needs no second look: that would cost more than most measures."""
    result = object.__new__(EvaluationScorerResult)
    object.__setattr__(result, "score", score)
    object.__setattr__(result, "metadata", metadata)
    return result


def number_given(value: object) -> float:
    """A number that a scorer gave. Raises UnfitKind for what is none, UnfitOption for one that is not finite."""
    if isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b":  # NumPy has its own yes
        raise UnfitKind(f"`score` must be a number, not {value}. Write `1.0 if … else 0.0`.")
    if isinstance(value, bytes | bytearray):
        raise UnfitKind(f"`score` must be a number; this is {value!r:.80}.")
    try:
        score = float(value)  # type: ignore[arg-type]  # that is what is found out here
    except OverflowError:
        score = math.inf
    except (TypeError, ValueError) as error:
        raise UnfitKind(f"`score` must be a number; this is {value!r:.80}.") from error
    if not math.isfinite(score):
        raise UnfitOption(f"`score` must be a finite number; this is {score}.")
    return score


def _share(value: object) -> float:
    score = number_given(value)
    if not 0.0 <= score <= 1.0:
        raise UnfitOption(f"`score` must lie between 0 and 1; this is {score}.")
    return score


def _data(metadata: object) -> dict[str, object]:
    if not isinstance(metadata, Mapping):
        raise UnfitKind(f"`metadata` must be a mapping; this is {metadata!r:.80}.")
    return json_data("metadata", metadata)


def json_data(name: str, given: Mapping[object, object]) -> dict[str, object]:
    """A copy of a mapping that can be written as JSON. Raises UnfitKind, which calls it `name`."""
    for key in given:
        if not isinstance(key, str):
            raise UnfitKind(f"The keys of `{name}` must be text; this is {key!r:.80}.")
    data = {str(key): value for key, value in given.items()}
    try:
        json.dumps(data, allow_nan=False)
        return {key: detached(value) for key, value in data.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitKind(f"`{name}` cannot be written as JSON: {error}.") from error
