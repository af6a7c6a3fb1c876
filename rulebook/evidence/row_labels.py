"""What people said of the rows of a dataset: one column of labels, each read as it stands and never guessed."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.measures.numeric_close import NotANumber, read_number

ACCEPTED = "yes or no, true or false, pass or fail, 1 or 0, or a number from 0 to 1"
"""What a label may be, beside one of a judge's own."""

MOST_TOLD = 3
"""How many labels that cannot be read are told in full."""

Reading = Literal["yes or no", "grades", "names"]
"""How a column was read: as verdicts, as numbers of which some lie between 0 and 1, or as the judge's own labels."""

_VERDICTS = {"true": 1.0, "yes": 1.0, "pass": 1.0, "false": 0.0, "no": 0.0, "fail": 0.0}


class RowLabel(Struct, frozen=True):
    """A label: its grade, 0..1, and, where it is one of the judge's own labels, that label as the rule file has it."""

    grade: float
    name: str | None = None


class Labels(Struct, frozen=True):
    """The labels of a column, by the numbers of their rows.

    `rows` counts all rows: those with a label, the `unlabelled` whose label is missing, null or empty, the `unreadable`
    whose label nobody can read, of which the first are `told`, and the `damaged`. `sha256` is a digest of all rows with
    their labels, whatever the file's notation.
    """

    by_row: Mapping[int, RowLabel]
    reading: Reading
    rows: int
    unlabelled: int
    unreadable: int
    damaged: int
    told: tuple[str, ...]
    sha256: str


def read_labels(rows: Iterable[Row | DamagedRow], column: str, names: Mapping[str, float]) -> Labels:
    """The labels in `column`. `names` are the labels that the judge itself chooses from, with their scores.

    Where any row has one of `names`, all labels are read as such; elsewhere as `ACCEPTED` says. So one reading holds
    for the whole column.
    """
    given: list[tuple[int, object]] = []
    digest = sha256()
    count = damaged = 0
    for row in rows:
        count += 1
        if isinstance(row, DamagedRow):
            damaged += 1
            digest.update(b"damaged\n")
            continue
        digest.update(json.dumps(row.values, sort_keys=True, default=str).encode("ascii") + b"\n")
        value = row.values.get(column)
        if value is not None and not (isinstance(value, str) and not value.strip()):
            given.append((row.number, value))
    known = {normal_label(name): RowLabel(score, name) for name, score in names.items()}
    by_name = any(normal_label(_text(value)) in known for _, value in given)
    by_row: dict[int, RowLabel] = {}
    faults = []
    for number, value in given:
        found = _named(value, known) if by_name else _graded(value)
        if isinstance(found, RowLabel):
            by_row[number] = found
        else:
            faults.append(f"row {number}: {found}")
    is_graded = any(label.grade not in (0.0, 1.0) for label in by_row.values())
    reading: Reading = "names" if by_name else "grades" if is_graded else "yes or no"
    unlabelled = count - damaged - len(given)
    return Labels(
        by_row, reading, count, unlabelled, len(faults), damaged, tuple(faults[:MOST_TOLD]), digest.hexdigest()
    )  # fmt: skip


def _named(value: object, known: Mapping[str, RowLabel]) -> RowLabel | str:
    return known.get(normal_label(_text(value))) or f"{_shown(value)} is none of the judge's labels"


def _graded(value: object) -> RowLabel | str:
    if isinstance(value, bool):
        return RowLabel(float(value))
    if isinstance(value, str) and value.strip().lower() in _VERDICTS:
        return RowLabel(_VERDICTS[value.strip().lower()])
    number = read_number(value) if isinstance(value, str | int | float) else NotANumber("")
    if isinstance(number, NotANumber):
        return f"{_shown(value)} is no label"
    return RowLabel(number) if 0 <= number <= 1 else f"{_shown(value)} does not lie between 0 and 1"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _shown(value: object) -> str:
    text = _text(value)
    return f"`{text}`" if len(text) <= 40 else f"`{text[:39]}…`"
