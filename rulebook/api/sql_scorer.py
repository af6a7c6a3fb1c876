"""A scorer that is an SQL expression over a row. Source: scorers, "SQL expression scorers"."""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from rulebook.api.scorer_options import known_keywords
from rulebook.api.scorer_result import EvaluationScorerResult, proven_result
from rulebook.errors import Missing, UnfitKind, UnfitOption
from rulebook.measures.row_scores import RowFailure, failure_of

MAX_EXPRESSION_CHARACTERS = 4_000
_NO_CODE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Texts, names and comments. What they really are is for the engine to say: this is for a clear word early on."""


class SqlScorer(Struct, frozen=True):
    """An expression over the columns of a row and `output`, which yields its score, and the name of the scorer."""

    name: str
    expression: str

    def __call__(self, **columns: object) -> EvaluationScorerResult:
        """The result for one row, its columns given by name: whatever finite number the expression gives.

        Raises UnmeasuredError where there is none: the expression does not fit the row, or gives nothing for it.
        """
        return proven_result(self._score(columns), None)

    def score_rows(self, rows: Iterable[Mapping[str, object]]) -> Iterator[EvaluationScorerResult | RowFailure]:
        """The result of each row by itself, one at a time; an evaluation works thousands out together."""
        for row in rows:
            try:
                yield proven_result(self._score(row), None)
            except Missing as error:
                yield failure_of(error)

    def _score(self, row: Mapping[str, object]) -> float:
        from rulebook.api.own_machine import own_ports  # the services, which declaring never needs

        tables = own_ports().tables
        if tables is None:
            raise Missing("harness", "nothing is at hand that works SQL out")
        return tables.score(self.expression, row)


def sql(name: str, expression: str, **keywords: object) -> SqlScorer:
    """Declare an SQL scorer, both texts without white space at their ends.

    Nothing is deployed and no column is named, so it takes no further keyword. Raises UnfitKind for what is no text
    and for a keyword; UnfitOption for a name without a letter or digit, and for an expression that is empty, longer
    than 4,000 characters or holds a `;` outside of texts and comments.
    """
    known_keywords("sql", keywords, (), ("name", "expression"))
    for key, value in (("name", name), ("expression", expression)):
        if not isinstance(value, str):
            raise UnfitKind(f"`{key}` must be text; this is {value!r:.80}.")
    name, expression = name.strip(), expression.strip()
    if not any(map(str.isalnum, name)):
        raise UnfitOption(f"`name` needs a letter or a digit; this is {name!r:.80}.")
    if not expression:
        raise UnfitOption("`expression` is empty. Write what yields the score, such as 'length(\"output\") / 100.0'.")
    if len(expression) > MAX_EXPRESSION_CHARACTERS:
        most = f"at most {MAX_EXPRESSION_CHARACTERS} characters"
        raise UnfitOption(f"`expression` has {len(expression)} characters; {most} are read.")
    if ";" in _NO_CODE.sub("", expression):
        raise UnfitOption("`expression` is one expression and no statement. Leave the `;` out.")
    return SqlScorer(name, expression)
