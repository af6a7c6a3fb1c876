"""Several measures over the rows of a table, one row after the other, each column read once in each form."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

Scored = tuple[float, Mapping[str, object]]
"""A score and its metadata."""

Row = Mapping[str, object]


class BoundMeasure(Struct, frozen=True):
    """A measure with its options, bound to one column or two.

    `reading` makes of a column's value what `measure` takes: text, a number or a JSON document. Measures that share a
    `reading` share what it made of a column.
    """

    inputs: tuple[str, ...]
    reading: Callable[[object], object]
    measure: Callable[..., Scored]

    def of_row(self, row: Row) -> Scored:
        """The score of one row. Raises KeyError for a column that is not there."""
        return self.measure(*[self.reading(row[column]) for column in self.inputs])


class MissingColumn(Struct, frozen=True):
    """A row lacks a column that a measure reads."""

    column: str


def over_rows(measures: Sequence[BoundMeasure], rows: Iterable[Row]) -> Iterator[list[Scored | MissingColumn]]:
    """What each measure says of each row, in their order. Rows are taken one at a time, and none is kept."""
    slots = list(dict.fromkeys((column, each.reading) for each in measures for column in each.inputs))
    places = {slot: place for place, slot in enumerate(slots)}
    plan = [(each.measure, [places[column, each.reading] for column in each.inputs]) for each in measures]
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


def _with_gaps(each: BoundMeasure, row: Row) -> Scored | MissingColumn:
    for column in each.inputs:
        if column not in row:
            return MissingColumn(column)
    return each.of_row(row)
