"""The answer that a rule file asks a judge model for: its fields, their JSON Schema, and reading a reply into them."""

import json
import math
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rulebook.evidence.judge_answers import Unreadable
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.types import YES_NO, Scalar, Type
from rulebook.languages.values import Several

_MOST_CHARACTERS = 4_000
_WANTED = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}

Value = bool | int | float | str


class AnswerField(BaseModel):
    """One field of the answer, as it is written."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    type: Literal["integer", "number", "boolean", "string"] = Field(description="What kind of value it is.")
    min: float | None = Field(None, description="The least number that fits.")
    max: float | None = Field(None, description="The greatest number that fits.")
    choices: Several[str] | None = Field(None, description="The only texts that fit.")
    description: str = Field("", description="What the model is told about it.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        numeric = self.type in ("integer", "number")
        for key in ("min", "max"):
            if getattr(self, key) is not None and not numeric:
                raise _idle(key, f"only a number has a `{key}`.")
        if self.choices is not None and self.type != "string":
            raise _idle("choices", "only text has `choices`.")
        if self.min is not None and self.max is not None and self.min > self.max:
            words = {"key": "max", "wanted": f"`min` or more, which is {self.min:g}", "value": f"{self.max:g}"}
            raise refused(LanguageError(Fault("RB205", words, path=("max",))))
        return self

    def kind(self) -> Type:
        """Its type in the expression of the score."""
        if self.type == "boolean":
            return YES_NO
        if self.type == "string":
            return Scalar("text", choices=tuple(self.choices or ()))
        return Scalar("number", least=self.min, most=self.max)

    def schema_part(self) -> dict[str, object]:
        """Its JSON Schema."""
        told = {
            "description": self.description or None, "minimum": self.min, "maximum": self.max,
            "enum": list(self.choices) if self.choices else None,
        }  # fmt: skip
        return {"type": self.type, **{key: value for key, value in told.items() if value is not None}}

    def read(self, name: str, value: object) -> Value:
        """The value, where it fits. Raises Unreadable."""
        fitting = _plain(self.type, value)
        if fitting is None:
            raise Unreadable(f"does not fit: `{name}` must be {_WANTED[self.type]}; this is {_shown(value)}")
        if isinstance(fitting, str):
            if self.choices and fitting not in self.choices:
                listed = ", ".join(f"`{choice}`" for choice in self.choices)
                raise Unreadable(f"does not fit: `{name}` must be one of {listed}; this is {_shown(value)}")
            return fitting
        if not isinstance(fitting, bool):
            if self.min is not None and fitting < self.min:
                raise Unreadable(f"does not fit: `{name}` must be {self.min:g} or more; this is {_shown(value)}")
            if self.max is not None and fitting > self.max:
                raise Unreadable(f"does not fit: `{name}` must be {self.max:g} or less; this is {_shown(value)}")
        return fitting


def answer_schema(fields: Mapping[str, AnswerField]) -> dict[str, object]:
    """The JSON Schema of the whole answer."""
    parts = {name: each.schema_part() for name, each in fields.items()}
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def read_answer(fields: Mapping[str, AnswerField], data: Mapping[str, object]) -> dict[str, Value]:
    """The fields out of a reply, whose other keys are left out. Raises Unreadable for one that is missing or unfit."""
    for name in fields:
        if name not in data:
            raise Unreadable(f"does not fit: it has no `{name}`")
    return {name: each.read(name, data[name]) for name, each in fields.items()}


def _plain(wanted: str, value: Any) -> Value | None:
    match wanted, value:
        case "boolean", bool():
            return value
        case "string", str():
            return value if len(value) <= _MOST_CHARACTERS else value[: _MOST_CHARACTERS - 1] + "…"
        case (("integer" | "number"), bool()):
            return None
        case "integer", float() if math.isfinite(value) and value == int(value):
            return int(value)
        case "integer", int():
            return value
        case "number", int() | float():
            return _finite(value)
        case _:
            return None


def _finite(value: float) -> float | None:
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text if len(text) <= 80 else text[:79] + '…'}`"


def _idle(key: str, why: str) -> Exception:
    return refused(LanguageError(Fault("RB215", {"key": key, "why": why}, path=(key,))))
