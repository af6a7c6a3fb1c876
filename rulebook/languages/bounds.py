"""How much of something there may be, as authors write it."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rulebook.languages.faults import Fault, LanguageError, refused


class Bounds(BaseModel):
    """A number, or the least and the most it may be."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    min: int | None = Field(None, ge=0, description="The least it may be.")
    max: int | None = Field(None, ge=0, description="The most it may be.")

    @model_validator(mode="before")
    @classmethod
    def _exactly(cls, value: object) -> object:
        return {"min": value, "max": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if self.min is None and self.max is None:
            words = {"thing": "These bounds", "key": "min", "purpose": "write `min`, `max`, or just a number."}
            raise refused(LanguageError(Fault("RB202", words)))
        return self

    def holds(self, number: int) -> bool:
        """Whether the number lies within."""
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    def in_words(self) -> str:
        """The bounds as a person says them."""
        if self.min == self.max:
            return str(self.min)
        least = "" if self.min is None else f"at least {self.min}"
        most = "" if self.max is None else f"at most {self.max}"
        return " and ".join(part for part in (least, most) if part)
