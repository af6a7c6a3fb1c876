"""A pydantic model, of version 1 or 2, as the shape of a judge's answer. Source: scorers, "LLM judges"."""

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from rulebook.errors import UnfitKind, UnfitOption
from rulebook.evidence.judge_answers import Unreadable

_WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class AnswerModel:
    """A class of a user's own with a field `score`; its other fields are metadata."""

    def __init__(self, answer: object) -> None:
        """Raises UnfitKind for what is no pydantic model, UnfitOption for one without `score`."""
        self.older = _is_older(answer)
        if not (self.older or (isinstance(answer, type) and issubclass(answer, BaseModel))):
            raise UnfitKind(f"The answer of `llm_judge` is a pydantic model, a class; this is {answer!r:.80}.")
        given: Any = answer
        self.model = given
        fields = given.__fields__ if self.older else given.model_fields
        if "score" not in fields:
            raise UnfitOption(f"`{given.__name__}` needs a field `score`: it is the score of the row.")

    def name(self) -> str:
        """The name of the class in kebab case: `trace-quality` of `TraceQuality`."""
        split = _WORD_END.sub("-", self.model.__name__.replace("_", "-")).lower()
        return re.sub("[^a-z0-9-]", "", split)

    def schema(self) -> dict[str, object]:
        """The JSON Schema of the answer, by the names that the model is to use."""
        found: dict[str, object] = self.model.schema() if self.older else self.model.model_json_schema()
        return found

    def read(self, value: object) -> Any:
        """An instance of the class from JSON data or an instance. Raises Unreadable."""
        if isinstance(value, self.model):
            return value
        if not isinstance(value, Mapping):
            raise Unreadable(f"was read as {value!r:.80}, which is neither a mapping nor `{self.model.__name__}`")
        try:
            if self.older:
                return self.model.parse_obj(value)
            text = _json_of(value)
            return self.model.model_validate(value) if text is None else self.model.model_validate_json(text)
        except (ValidationError, ValueError, TypeError) as error:
            raise Unreadable(f"does not fit `{self.model.__name__}`: {_told(error)}") from error

    def graded(self, answer: Any) -> tuple[float, Mapping[str, object] | None]:
        """The score of an instance, and its other fields. Raises Unreadable for a score that is no number in 0..1."""
        try:
            score = float(answer.score)
        except (TypeError, ValueError, OverflowError) as error:
            raise Unreadable(f"has the score {answer.score!r:.80}, which is no number") from error
        if not 0 <= score <= 1:
            raise Unreadable(f"has the score {score}, which does not lie between 0 and 1")
        if self.older:
            rest = json.loads(answer.json(by_alias=True, exclude={"score"}))
        else:
            rest = answer.model_dump(mode="json", by_alias=True, exclude={"score"})
        return score, rest or None


def _is_older(answer: object) -> bool:
    older = sys.modules.get("pydantic.v1")  # who has a model of version 1 has imported it
    return older is not None and isinstance(answer, type) and issubclass(answer, older.BaseModel)


def _json_of(value: Mapping[str, object]) -> str | None:
    """The value as JSON, in which a date is a text and a tuple a list; None for what only Python can hold."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return None


def _told(error: Exception) -> str:
    if not hasattr(error, "errors"):
        return str(error)
    faults = [f"`{'.'.join(map(str, fault['loc']))}`: {fault['msg']}" for fault in error.errors()]
    return "; ".join(faults[:3]) + (f"; and {len(faults) - 3} more" if len(faults) > 3 else "")
