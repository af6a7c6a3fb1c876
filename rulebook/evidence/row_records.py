"""What became of one row of an evaluation, and the line of JSON that keeps it."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rulebook.measures.row_scores import RowFailure, RowScores
from rulebook.outcome import Spent

Stage = Literal["row", "task"]
"""Where a row ended: it could not be read, or its task failed."""


class RowEnd(Struct, frozen=True):
    """Why a row has no scores at all. It counts as unmeasured for every scorer."""

    stage: Stage
    type: str
    message: str


class RowRecord(Struct, frozen=True, omit_defaults=True):
    """One row: its number from 1, the task's output (unset where rows bring their own), and what each scorer said.

    `results` stand in the order of the evaluation's scorers; it is empty where `end` says why there are none. `spent`
    is what was spent on models for the batch of rows that ends with this one.
    """

    row: int
    output: object | UnsetType = UNSET
    end: RowEnd | None = None
    results: Sequence[Sequence[tuple[float, Mapping[str, object] | None]] | RowFailure] = ()
    spent: Spent | None = None

    def failed(self, place: int) -> RowFailure | None:
        """Why the scorer at that place has no score for the row; None when it has."""
        if self.end is not None:
            return RowFailure(self.end.type, self.end.message)
        result = self.results[place]
        return result if isinstance(result, RowFailure) else None

    def scores(self, place: int) -> RowScores:
        """What the scorer at that place said."""
        return self.failed(place) or self.results[place]


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(RowRecord)


def json_line(data: Struct) -> bytes:
    """A record, or what else stands among them, as one line of JSON with its end. Raises ValueError for no JSON."""
    try:
        return _encoder.encode(data) + b"\n"
    except (TypeError, ValueError, OverflowError, RecursionError):
        # half a character in a text, or a whole number of more than 64 bits: slower, and written out
        text = json.dumps(msgspec.to_builtins(data), allow_nan=False, separators=(",", ":"))
        return text.encode("ascii") + b"\n"


def record_of(line: bytes) -> RowRecord:
    """The record on a line. Raises ValueError where the line is none, and for a number that is none."""
    try:
        return _decoder.decode(line)
    except ValueError:
        return msgspec.convert(json.loads(line, parse_constant=_no_number, parse_float=_finite), RowRecord)


def _no_number(word: str) -> float:
    raise ValueError(f"`{word}` is no number")


def _finite(word: str) -> float:
    if math.isinf(number := float(word)):
        raise ValueError(f"`{word}` is too large for a number")
    return number
