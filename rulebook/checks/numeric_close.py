"""`numeric_close`: a text is the expected number, or near it."""

from typing import Annotated, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from rulebook.checks.exact_match import Compared, shortened
from rulebook.errors import NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, read_template
from rulebook.outcome import Measurement, Outcome, reaches
from rulebook.ports import Ports


def _number(value: object) -> Template:
    """What is expected: a number, or a text of one, which may be a template."""
    if isinstance(value, Template):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PydanticCustomError("rulebook_wrong_type", "not a number", {"wanted": "a number, or text of one"})
    try:
        return read_template(str(value))
    except LanguageError as error:
        raise refused(error) from error


class NumericClose(Compared, kind="numeric_close"):
    """The text is a number, and the expected one or near it.

    Source: scorers, numeric_close.
    """

    short = "expected"

    expected: Annotated[Template, PlainValidator(_number), WithJsonSchema({"type": ["number", "string"]})] | None = (
        Field(None, description="The number that is expected; as text it may be a template.")
    )
    tolerance: float | None = Field(
        None, ge=0, description="How far away it may be; without it the score falls as the gap grows."
    )
    relative: bool = Field(False, description="Take the tolerance as a share of the larger number.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.relative and self.tolerance is None:
            why = "it says how `tolerance` is meant, and there is none."
            raise refused(LanguageError(Fault("RB215", {"key": "relative", "why": why}, path=("relative",))))
        if self.expected is not None and not self.expected.live:
            from rulebook.measures.numeric_close import NotANumber, read_number

            if isinstance(read_number(self.expected.text), NotANumber):
                words = {"value": shortened(self.expected.text), "what": "a number", "example": "`49.99`"}
                raise refused(LanguageError(Fault("RB214", words, path=("expected",))))
        return self

    def sentence(self) -> str:
        """What it asks for."""
        text, expected = f"The text of {in_words(self.from_)}", self.expected_in_words()
        if self.tolerance is None:
            return f"{text} is the number {expected}, and the nearer the better."
        of = " of the larger one" if self.relative else ""
        return f"{text} is a number at most {self.tolerance:g}{of} away from {expected}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the numbers."""
        from rulebook.measures.numeric_close import CloseOptions, NotANumber, numeric_close_score, read_number

        text, written = text_of(self.from_, evidence), self.expected_text(evidence)
        expected, number = read_number(written), read_number(text)
        if isinstance(expected, NotANumber):
            raise self.unfit_expected(f"what is expected: {expected.reason}")
        if isinstance(number, NotANumber):
            raise NotHandedIn(number.reason)
        options = CloseOptions(self.tolerance, self.relative)
        score, metadata = numeric_close_score(number, expected, options, ("text", "expected"))
        reason = "" if score == 1 else f"the difference is {metadata['difference']}"
        seen = place_in(self.from_, evidence, text, 0)
        return Measurement(
            score, reaches(score, 1.0), reason, shortened(written), shortened(text), metadata, seen=seen
        )  # fmt: skip
