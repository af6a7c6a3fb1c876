"""A scorer that is an SQL expression over a row. Source: scorers, "SQL expression scorers"."""

import re

from msgspec import Struct

from rulebook.errors import UnfitKind, UnfitOption

MAX_EXPRESSION_CHARACTERS = 4_000
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


class SqlScorer(Struct, frozen=True):
    """An expression over the columns of a row and `output`, which yields its score, and the name of the scorer."""

    name: str
    expression: str


def sql(name: str, expression: str) -> SqlScorer:
    """Declare an SQL scorer, both texts without white space at their ends; an evaluation works it out.

    Raises UnfitKind for what is no text; UnfitOption for a name without a letter or digit, and for an expression that
    is empty, longer than 4,000 characters or holds a `;` outside of quotes.
    """
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
    if ";" in _QUOTED.sub("", expression):
        raise UnfitOption("`expression` is one expression and no statement. Leave the `;` out.")
    return SqlScorer(name, expression)
