"""A regular expression as a field of a rule."""

import re
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import LanguageError, refused
from rulebook.languages.pattern import Engine, Pattern, list_for_pattern, read_pattern


def pattern_from(value: object, flags: str = "", engine: Engine = "python") -> Pattern:
    """What stands in a field, as a pattern. Raises what a field validator may raise, RB127 among it."""
    match value:
        case Pattern():
            return value
        case str():
            try:
                return read_pattern(value, flags, engine)
            except LanguageError as error:
                raise refused(error) from error
        case [str() as inside] if re.fullmatch(r"[\w^-]+", inside):
            raise refused(LanguageError(list_for_pattern(inside)))
        case _:
            raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text (a pattern)"})


PatternField = Annotated[
    Pattern,
    PlainValidator(lambda value: pattern_from(value)),
    WithJsonSchema({"type": "string", "format": "regex"}),
]
"""A field that holds one pattern, read without flags: a check with `flags` or `engine` reads it again."""
