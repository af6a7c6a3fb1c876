"""A declared scorer that asks a model: called with the columns of a row, or with many rows together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from rulebook.api.scorer_handle import refuse_other_columns
from rulebook.api.scorer_options import columns_read, keywords_of, label
from rulebook.api.scorer_result import EvaluationScorerResult
from rulebook.api.traces import session_of, sessions_among
from rulebook.errors import Missing, UsageError
from rulebook.evidence.ballots import Ask, Ballot, Voting, polled
from rulebook.measures.row_scores import RowFailure, failure_of, lacks_column
from rulebook.report.plain_json import plain

ROWS_TOGETHER = 256
"""How many rows are asked about at the same time, as far as the configuration's `concurrency` lets them."""

_SAMPLES_A_TURN = 1_000
"""More than a row is asked about in one turn: a turn more never repeats a question of the one before."""

Values = tuple[object, ...]
Graded = tuple[float, Mapping[str, object] | None]
Grade = Callable[[Sequence[tuple[Values, Ask]]], Sequence[Graded | Exception]]
"""The grades of rows, each the values of the columns that are read and who is asked, or why a row has none."""


class ModelScorer(Struct, frozen=True):
    """A scorer with its options, over the columns `inputs`.

    `options` are those that were given, by name. `retries` is how often a row without a grade is asked about again.
    `without_effect` names keywords that change nothing here. `voting` says how many grades become one. A column in
    `optional` is null for a row that has none: `trace`, the session that it names by a file in `folder`, or by an id.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    grade: Grade
    options: Mapping[str, object]
    retries: int = 0
    without_effect: tuple[str, ...] = ()
    voting: Voting = Voting()
    optional: frozenset[str] = frozenset()
    folder: str = ""

    def __call__(self, **columns: object) -> EvaluationScorerResult:
        """The result for one row, its columns given by name.

        Raises UnfitKind for a column that is missing or unknown, UnmeasuredError where no model could tell, and what a
        function of the caller's own raises.
        """
        columns = {**dict.fromkeys(self.optional), **columns}
        refuse_other_columns(self.name, self.inputs, columns)
        (found,) = self._graded([self._read(columns)])
        if isinstance(found, Exception):
            raise found
        return found

    def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult | RowFailure]:
        """The result of each row in their order, `ROWS_TOGETHER` of them asked about at once; no more are kept."""
        waiting = iter(rows)
        while together := list(islice(waiting, ROWS_TOGETHER)):
            gaps = [self._gap(row) for row in together]
            whole = [row for row, gap in zip(together, gaps, strict=True) if gap is None]
            graded = iter(self._graded([self._read_or_error(row) for row in whole]))
            for gap in gaps:
                found = lacks_column(self.name, gap) if gap is not None else next(graded)
                yield _failure(found) if isinstance(found, Exception) else found

    def _gap(self, row: Mapping[str, object]) -> str | None:
        return next((each for each in self.inputs if each not in row and each not in self.optional), None)

    def _read(self, row: Mapping[str, object]) -> Values:
        values = [row.get(column) for column in self.inputs]
        named = zip(self.inputs, values, strict=True)
        return tuple(session_of(value, self.folder) if each in self.optional else value for each, value in named)

    def _read_or_error(self, row: Mapping[str, object]) -> Values | Exception:
        try:
            return self._read(row)
        except UsageError as error:
            return error

    def _graded(self, given: Sequence[Values | Exception]) -> list[EvaluationScorerResult | Exception]:
        found: dict[int, EvaluationScorerResult | Exception] = {
            index: values for index, values in enumerate(given) if isinstance(values, Exception)
        }
        rows = [() if isinstance(values, Exception) else values for values in given]
        waiting = [index for index in range(len(rows)) if index not in found]
        for turn in range(1 + self.retries):
            if waiting:
                graded = self._polled([rows[index] for index in waiting], turn * _SAMPLES_A_TURN)
                found |= zip(waiting, map(_result, graded), strict=True)
                waiting = [index for index in waiting if _worth_asking_again(found[index])]
        return [found[index] for index in range(len(rows))]

    def _polled(self, rows: Sequence[Values], from_sample: int) -> list[Ballot | Exception]:
        def cast(asked: Sequence[tuple[int, Ask]]) -> list[Ballot | Exception]:
            graded = self.grade([(rows[row], Ask(ask.judge, from_sample + ask.sample)) for row, ask in asked])
            return [each if isinstance(each, Exception) else Ballot(*each) for each in graded]

        return polled(len(rows), self.voting, cast)


def model_scorer(
    kind: str,
    grade: Callable[[tuple[str, ...]], Grade],
    count: int | None,
    inputs: object,
    name: object,
    options: Mapping[str, object],
    keywords: Mapping[str, object],
    voting: Voting | None = None,
    *,
    reads_session: bool = False,
) -> ModelScorer:
    """The scorer over `count` columns (None: one or more), for which `grade` is made. Raises UnfitKind, UnfitOption.

    `reads_session`: the column `trace` names a session.
    """
    columns = columns_read(inputs, count, kind)
    own = keywords_of(kind, keywords, ("inputs", "name", *options))
    shown = MappingProxyType(dict(options))
    optional = sessions_among(columns) if reads_session else frozenset[str]()
    return ModelScorer(kind, label(name), columns, grade(columns), shown, *own, voting or Voting(), optional)


def _result(graded: Ballot | Exception) -> EvaluationScorerResult | Exception:
    if isinstance(graded, Exception):
        return graded
    try:
        return EvaluationScorerResult(graded.score, graded.metadata)
    except (TypeError, ValueError) as error:
        return error


def _worth_asking_again(found: EvaluationScorerResult | Exception) -> bool:
    return isinstance(found, Exception) and not (isinstance(found, Missing) and found.category == "budget")


def _failure(error: Exception) -> RowFailure:
    """What a row keeps of it, with what was found before: the first model's grade, the other votes."""
    if not isinstance(error, Missing) or not error.metadata:
        return failure_of(error)
    return replace(failure_of(error), metadata={str(key): plain(each) for key, each in error.metadata.items()})
