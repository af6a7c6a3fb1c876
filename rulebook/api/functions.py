"""Functions of a user's own, as tasks and as scorers. Source: scorers, "Writing your own scorer"."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeVar, get_args, get_origin, get_type_hints, overload

from rulebook.api.scorer_options import concurrency_given, keywords_of, label
from rulebook.api.scorer_result import EvaluationScorerResult, number_given, proven_result
from rulebook.api.traces import TRACE, is_session, session_of
from rulebook.errors import UnfitKind, UnfitOption
from rulebook.measures.row_scores import RowFailure, failure_of

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

Returns = Literal["number", "result", "results", "other", "unsaid"]
"""What an annotation says comes back: a number, a result, a list of results, something else, or nothing is said."""


class Function(Generic[Given, Returned]):
    """A function that stays callable as it was, and can be called with the columns of a row.

    `name` is its own in kebab case. `parameters` are the columns it reads, in order, those in `optional` only where a
    row has them; `output` is the task's result. `trace` is there for every row, None where the row has none; one that
    is annotated as a `Transcript` is the session that the column names. `returns` is what its annotation says.
    `retries` is how often a row that failed is tried again, `concurrency` how many rows it takes at once as a task.
    `without_effect` names keywords that change nothing here. `folder` is where the files of sessions are looked for,
    empty: the working folder.
    """

    folder = ""

    def __init__(self, body: Callable[Given, Returned], keywords: Mapping[str, object]) -> None:
        if not callable(body) or inspect.isclass(body):
            raise UnfitKind(f"`@rulebook.function` stands above a function; this is {body!r:.80}.")
        self.body = body
        self.name = label(re.sub(r"[^a-z0-9]+", "-", _name(body).lower()).strip("-"))
        self.parameters, self.optional, self.takes_every_column = _columns(body, self.name)
        hints = _hints(body)
        self.returns: Returns = _returned(hints)
        self.reads_session = is_session(hints.get(TRACE))
        self.retries, without_effect = keywords_of("function", keywords)
        self.concurrency = concurrency_given(keywords.get("concurrency"))
        self.without_effect = tuple(each for each in without_effect if each != "concurrency")
        update_wrapper(self, body)

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Returned:
        """Call the function as it was written."""
        return self.body(*given, **named)

    def within(self, folder: str) -> "Function[Given, Returned]":
        """The same function, which looks for the files of sessions in `folder`."""
        other = copy(self)
        other.folder = folder
        return other

    def of_row(self, row: Mapping[str, object]) -> Returned:
        """What the function returns for a row. Raises UnfitKind for a column that is missing, and what it raises."""
        call: Callable[..., Returned] = self.body
        return call(**self._bound(row))

    def scores_of_row(self, row: Mapping[str, object]) -> list[EvaluationScorerResult]:
        """The scores for a row, as a scorer. Raises UnfitKind or UnfitOption for what is no score."""
        return results_in(self.of_row(row))

    def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[list[EvaluationScorerResult] | RowFailure]:
        """The scores of each row, one row at a time. What the function raises fails its row and no other."""
        for row in rows:
            try:
                yield self.scores_of_row(row)
            except Exception as error:
                yield failure_of(error)

    def _bound(self, row: Mapping[str, object]) -> Mapping[str, object]:
        if self.takes_every_column:
            row = {str(column): value for column, value in row.items()}
        if TRACE in self.parameters and (TRACE in row or TRACE not in self.optional):
            named = row.get(TRACE)
            row = {**row, TRACE: session_of(named, self.folder) if self.reads_session else named}
        for column in self.parameters:
            if column not in row and column not in self.optional:
                raise UnfitKind(f"The function `{self.name}` reads the column `{column}`, and the row has none.")
        return row if self.takes_every_column else {column: row[column] for column in self.parameters if column in row}


@overload
def function(body: Callable[Given, Returned], /) -> Function[Given, Returned]: ...


@overload
def function(**keywords: object) -> Callable[[Callable[Given, Returned]], Function[Given, Returned]]: ...


def function(body: Any = None, /, **keywords: object) -> Any:
    """Make a task or a scorer of a function; above it stands `@rulebook.function` or `@rulebook.function(retries=2)`.

    Raises UnfitKind or UnfitOption for a keyword that nobody knows, and for a function that cannot be called by name.
    """
    if body is not None:
        return Function(body, keywords)
    keywords_of("function", keywords)
    concurrency_given(keywords.get("concurrency"))
    return lambda given: Function(given, keywords)


def results_in(returned: object) -> list[EvaluationScorerResult]:
    """The scores that a scorer returned: a number, whatever its range, one result, or a list of results.

    Raises UnfitKind for anything else, and UnfitOption for a number that is not finite.
    """
    if isinstance(returned, EvaluationScorerResult):
        return [returned]
    if isinstance(returned, list | tuple):
        for each in returned:
            if not isinstance(each, EvaluationScorerResult):
                raise UnfitKind(f"A list of scores holds EvaluationScorerResult alone; this is {each!r:.80}.")
        return list(returned)
    if isinstance(returned, str | Mapping | None):
        wanted = "a number, an EvaluationScorerResult or a list of them"
        raise UnfitKind(f"A scorer returns {wanted}; this is {returned!r:.80}.")
    return [proven_result(number_given(returned), None)]


def _name(body: object) -> str:
    name = getattr(body, "__name__", "")
    if not re.search("[A-Za-z]", str(name)) or name == "<lambda>":
        raise UnfitOption("A function of an evaluation needs a name with a letter in it. Write it with `def`.")
    return str(name).lstrip("_0123456789")


def _columns(body: Callable[..., object], name: str) -> tuple[tuple[str, ...], frozenset[str], bool]:
    """The columns that it reads, those that may be missing, and whether it takes all there are."""
    if inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body) or inspect.isgeneratorfunction(body):
        raise UnfitKind(
            f"The function `{name}` must return its result: write it with `def`, without `async` or `yield`."
        )
    found: list[str] = []
    optional: set[str] = set()
    every = False
    try:
        parameters = inspect.signature(body).parameters.values()
    except (ValueError, TypeError) as error:  # some that are written in C
        raise UnfitKind(
            f"The function `{name}` does not say what it takes. Write one with `def` that calls it."
        ) from error
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            every = True
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise UnfitKind(f"Columns are given by name; `{parameter}` of the function `{name}` cannot take one.")
        else:
            found.append(parameter.name)
            if parameter.default is not parameter.empty:
                optional.add(parameter.name)
    return tuple(found), frozenset(optional), every


def _hints(body: Callable[..., object]) -> Mapping[str, object]:
    try:
        return get_type_hints(body)
    except Exception:  # a hint that only a type checker can read: working out its text may raise anything
        return {}


def _returned(hints: Mapping[str, object]) -> Returns:
    hint = hints.get("return", inspect.Signature.empty)
    if hint is inspect.Signature.empty:
        return "unsaid"
    if hint in (float, int):
        return "number"
    if hint is EvaluationScorerResult:
        return "result"
    if get_origin(hint) is list and get_args(hint) == (EvaluationScorerResult,):
        return "results"
    return "other"
