"""Several measures over the rows of a table: each column is read once in each form, whichever measures ask for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

Scored = tuple[float, Mapping[str, object]]
"""A score and its metadata."""

Row = Mapping[str, object]
Reading = Callable[[object], object]


class BoundMeasure(Struct, frozen=True):
    """A measure with its options, bound to one column or two.

    `readings` make of each column's value what `measure` takes: text, a number or a JSON document. Measures share what
    the same reading made of a column. `over` says the same as `measure` of whole columns of such values, faster.
    """

    inputs: tuple[str, ...]
    readings: tuple[Reading, ...]
    measure: Callable[..., Scored]
    over: Callable[..., Sequence[Scored]] | None = None

    def of_row(self, row: Row) -> Scored:
        """The score of one row. Raises KeyError for a column that is not there."""
        return self.measure(*[reading(row[column]) for column, reading in zip(self.inputs, self.readings, strict=True)])

    def of_columns(self, columns: Sequence[Sequence[object]]) -> Sequence[Scored]:
        """The scores of rows whose values, as `readings` gave them, stand in these columns."""
        return list(map(self.measure, *columns)) if self.over is None else self.over(*columns)


class MissingColumn(Struct, frozen=True):
    """A row lacks a column that a measure reads."""

    column: str


Found = Sequence[Scored | MissingColumn]


def over_rows(measures: Sequence[BoundMeasure], rows: Iterable[Row]) -> Iterator[Found]:
    """What each measure says of each row, in their order. Rows are taken one at a time, and none is kept."""
    asked = [list(zip(each.inputs, each.readings, strict=True)) for each in measures]
    slots = list(dict.fromkeys(slot for each in asked for slot in each))
    places = {slot: place for place, slot in enumerate(slots)}
    plan = [(each.measure, [places[slot] for slot in wanted]) for each, wanted in zip(measures, asked, strict=True)]
    ones = [(measure, at[0], at[-1], len(at) == 1) for measure, at in plan]
    for row in rows:
        try:
            values = [reading(row[column]) for column, reading in slots]
        except KeyError:
            yield [_with_gaps(each, row) for each in measures]
        else:
            yield [
                measure(values[first]) if alone else measure(values[first], values[second])
                for measure, first, second, alone in ones
            ]


def columns_of_scores(
    measures: Sequence[BoundMeasure], values_of: Callable[[str], Sequence[object]]
) -> list[Sequence[Scored]]:
    """What each measure says of all rows of a table, whose columns `values_of` gives: one column for each measure."""
    slots: dict[tuple[str, Reading], Sequence[object]] = {}
    raw: dict[str, Sequence[object]] = {}
    for each in measures:
        for column, reading in zip(each.inputs, each.readings, strict=True):
            if (column, reading) not in slots:
                if column not in raw:
                    raw[column] = values_of(column)
                slots[column, reading] = list(map(reading, raw[column]))
    return [
        each.of_columns([slots[slot] for slot in zip(each.inputs, each.readings, strict=True)]) for each in measures
    ]


def _with_gaps(each: BoundMeasure, row: Row) -> Scored | MissingColumn:
    for column in each.inputs:
        if column not in row:
            return MissingColumn(column)
    return each.of_row(row)
