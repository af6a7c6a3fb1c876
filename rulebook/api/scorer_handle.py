"""A declared scorer: what a call of a built-in gives, to hand to an evaluation or to call in place."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from rulebook.api.scorer_options import columns_read, keywords_of, label
from rulebook.api.scorer_result import EvaluationScorerResult, proven_result
from rulebook.errors import UnfitKind
from rulebook.measures.row_scores import RowFailure, lacks_column
from rulebook.measures.table import BoundMeasure, MissingColumn, Reading, Scored, over_rows
from rulebook.spelling import listed


class Scorer(Struct, frozen=True):
    """A built-in scorer with its options, bound to the columns `inputs`.

    `options` are those that were given, by name. `retries` changes nothing in a run: the same values score the same
    again. `without_effect` names the keywords that say where a function is deployed: here it runs in place, and they
    change nothing.
    """

    kind: str
    name: str
    measure: BoundMeasure
    options: Mapping[str, object]
    retries: int = 0
    without_effect: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that it reads, the candidate first."""
        return self.measure.inputs

    def __call__(self, **columns: object) -> EvaluationScorerResult:
        """The result for one row, its columns given by name. Raises UnfitKind for one that is missing or unknown."""
        refuse_other_columns(self.name, self.inputs, columns)
        return proven_result(*self.measure.of_row(columns))

    def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult | RowFailure]:
        """The result of each row, one at a time; other columns of a row are passed over."""
        for (scored,) in over_rows([self.measure], rows):
            if isinstance(scored, MissingColumn):
                yield self.failure(scored)
            else:
                yield proven_result(*scored)

    def failure(self, gap: MissingColumn) -> RowFailure:
        """What is said of a row that lacks a column."""
        return lacks_column(self.name, gap.column)


def refuse_other_columns(name: str, inputs: tuple[str, ...], columns: Mapping[str, object]) -> None:
    """Raises UnfitKind where a scorer is called without a column that it reads, or with another one."""
    for column in inputs:
        if column not in columns:
            raise UnfitKind(f"The scorer `{name}` reads the column `{column}`, and it was not given.")
    if len(columns) > len(inputs):
        more = next(column for column in columns if column not in inputs)
        raise UnfitKind(f"The scorer `{name}` reads {listed(inputs)}; it was also given `{more}`.")


Measures = tuple[Callable[..., Scored], Callable[..., Sequence[Scored]] | None]
"""What scores one row, and what scores whole columns, None where nothing is faster than row by row."""


def declared(
    kind: str,
    readings: tuple[Reading, ...],
    measures: Callable[[tuple[str, ...]], Measures],
    inputs: object,
    name: object,
    options: Mapping[str, object],
    keywords: Mapping[str, object],
) -> Scorer:
    """The scorer over a column for each of `readings`, for which `measures` are made. Raises UnfitKind, UnfitOption."""
    columns = columns_read(inputs, len(readings), kind)
    own = keywords_of(kind, keywords, ("inputs", "name", *options))
    bound = BoundMeasure(columns, readings, *measures(columns))
    return Scorer(kind, label(name), bound, MappingProxyType(dict(options)), *own)
