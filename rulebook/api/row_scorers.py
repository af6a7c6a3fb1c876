"""What Python users hand to an evaluation, as what a run works with: scorers of rows, and the task."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol, cast, get_type_hints

from msgspec import Struct

from rulebook.api.functions import Function
from rulebook.api.model_scorer import ROWS_TOGETHER, ModelScorer
from rulebook.api.scorer_handle import Scorer
from rulebook.api.scorer_result import EvaluationScorerResult
from rulebook.api.sql_scorer import SqlScorer
from rulebook.api.traces import TRACE
from rulebook.errors import Stopped, UnfitKind
from rulebook.evidence.row_columns import Kind
from rulebook.measures.row_scores import MeasuredScorer, RowFailure, RowScorer, RowScores, failure_of

ANY_FUNCTION = Function[..., object]

_KINDS: Mapping[object, Kind] = {
    str: "text",
    str | None: "text",
    bool: "yes or no",
    int: "whole number",
    float: "number",
}


class FunctionScorer(Struct, frozen=True):
    """A function of a user's own as a scorer of rows. What it raises fails its row and no other."""

    function: ANY_FUNCTION
    name: str
    batch_rows: int = 64

    @property
    def inputs(self) -> Sequence[str] | None:
        """The columns that it cannot do without."""
        return columns_needed(self.function)

    def score_batch(self, rows: Sequence[Mapping[str, object]]) -> Sequence[RowScores]:
        """Its scores for each row, one row after the other."""
        return [self._of(row) for row in rows]

    def _of(self, row: Mapping[str, object]) -> RowScores:
        for left in range(self.function.retries, -1, -1):
            try:
                return [_emitted(each) for each in self.function.scores_of_row(row)]
            except (Stopped, KeyboardInterrupt):
                raise
            except BaseException as error:  # a scorer that ends the program, or a task of its own, ends its row alone
                if left == 0 or isinstance(error, UnfitKind):
                    return failure_of(error)
        return ()


class Handle(Protocol):
    """A scorer that has its own way of taking many rows, such as one that asks a model several things at once."""

    @property
    def name(self) -> str:
        """What its scores are called."""

    @property
    def inputs(self) -> Sequence[str]:
        """The columns that it reads."""

    def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult | RowFailure]:
        """The result of each row, in order."""


class HandleScorer(Struct, frozen=True):
    """Such a handle as a scorer of rows. Where it breaks, the rows that it has said nothing of have failed."""

    handle: Handle
    batch_rows: int = 32

    @property
    def name(self) -> str:
        """The handle's."""
        return self.handle.name

    @property
    def inputs(self) -> Sequence[str] | None:
        """The handle's, without those that it reads only where a row has them."""
        optional = getattr(self.handle, "optional", ())
        return [column for column in self.handle.inputs if column not in optional]

    def score_batch(self, rows: Sequence[Mapping[str, object]]) -> Sequence[RowScores]:
        """What it says of each row."""
        found: list[RowScores] = []
        broken: RowFailure = RowFailure("UnfitKind", f"the scorer `{self.name}` said nothing of this row")
        try:
            for result in islice(self.handle.score_rows(rows), len(rows)):
                found.append(result if isinstance(result, RowFailure) else [_emitted(result)])
        except (Stopped, KeyboardInterrupt):
            raise
        except BaseException as error:  # as for a function: who ends the program ends the rows alone
            broken = failure_of(error)
        return [*found, *[broken] * (len(rows) - len(found))]


def row_scorer(scorer: object, columns: Callable[[], Mapping[str, Kind]]) -> RowScorer:
    """The scorer of rows that a handle stands for; one that is a scorer of rows already is taken as it is.

    `columns` gives the dataset's with `output`, where SQL asks.

    Raises UnfitKind for what is no scorer.
    """
    match scorer:
        case Scorer():
            return MeasuredScorer(scorer.name, scorer.measure)
        case Function():
            return FunctionScorer(scorer, scorer.name)
        case SqlScorer():
            from rulebook.api.sql_rows import SqlRows  # the engine's door is for who asks for it

            return SqlRows(scorer, columns())
        case ModelScorer():
            return HandleScorer(scorer, ROWS_TOGETHER)
    if callable(getattr(scorer, "score_batch", None)):
        return cast(RowScorer, scorer)
    if callable(getattr(scorer, "score_rows", None)) and isinstance(getattr(scorer, "name", None), str):
        return HandleScorer(cast(Handle, scorer))
    if callable(scorer):
        name = getattr(scorer, "__name__", repr(scorer))
        raise UnfitKind(f"`{name:.60}` is no scorer. Write `@rulebook.function` above it, or call it if it makes one.")
    raise UnfitKind(f"A scorer is made by `rulebook.scorers` or `@rulebook.function`; this is {scorer!r:.80}.")


def row_task(task: object) -> Callable[[Mapping[str, object]], object]:
    """What gives a row's output. Raises UnfitKind for what is no function of `@rulebook.function`."""
    if not isinstance(task, Function):
        raise UnfitKind(f"A task is a function with `@rulebook.function` above it; this is {task!r:.80}.")
    function: ANY_FUNCTION = task

    def output(row: Mapping[str, object]) -> object:
        for _ in range(function.retries):
            try:
                return function.of_row(row)
            except UnfitKind:
                raise
            except Exception:  # it is tried again; the last time what it raises is the row's
                continue
        return function.of_row(row)

    return output


def output_kind(function: ANY_FUNCTION) -> Kind:
    """The kind of column that a task's output makes, by its annotation; text where it has none."""
    try:
        hint = get_type_hints(function.body).get("return", str)
    except Exception:  # a hint that only a type checker can read: working out its text may raise anything
        return "text"
    return _KINDS.get(hint, "json")


def gives_lists(scorer: object) -> bool:
    """Whether the annotation of a user's scorer says that it gives lists of results."""
    function = scorer.function if isinstance(scorer, FunctionScorer) else scorer
    return isinstance(function, Function) and function.returns == "results"


def columns_needed(function: ANY_FUNCTION) -> tuple[str, ...]:
    """The columns that a function cannot do without; `trace` is there for everyone."""
    return tuple(each for each in function.parameters if each not in function.optional and each != TRACE)


def _emitted(result: EvaluationScorerResult) -> tuple[float, Mapping[str, object] | None]:
    return result.score, result.metadata
