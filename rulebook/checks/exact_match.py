"""`exact_match`: a text is the expected one."""

from collections.abc import Iterable
from typing import Self

from pydantic import Field, field_validator, model_validator

from rulebook.checks import Check, Checked
from rulebook.errors import EvidenceError, Missing, NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.reading_sources import SourceField
from rulebook.evidence.reading_text import filled, place_in, text_of
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import (
    FinalMessage,
    GivenText,
    JsonPath,
    in_words,
    texts_of,
    wants_of,
)
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome, binary
from rulebook.place import Path
from rulebook.ports import Ports

_SHOWN_CHARACTERS = 80


class Compared(Check):
    """What the checks have in common that hold a text against an expected one."""

    from_: SourceField = Field(FinalMessage(), alias="from", description="Where the text comes from.")
    expected: TemplateField | None = Field(None, description="What the text is compared with; a template.")
    expected_from: SourceField | None = Field(
        None, description="Where what is expected comes from, in place of `expected`."
    )

    @field_validator("expected")
    @classmethod
    def _not_empty(cls, template: Template | None) -> Template | None:
        if template is not None and not template.text.strip():
            raise refused(LanguageError(Fault("RB216", {"key": "expected", "why": "write the text that is expected."})))
        return template

    @model_validator(mode="after")
    def _one_expected(self) -> Self:
        if self.expected is None and self.expected_from is None:
            words = {
                "thing": f"`{self.kind}`",
                "key": "expected",
                "purpose": "what the text is compared with.",
            }
            raise refused(LanguageError(Fault("RB202", words)))
        if self.expected is not None and self.expected_from is not None:
            words = {"key": "expected_from", "why": "`expected` also stands here. Keep one."}
            raise refused(LanguageError(Fault("RB215", words, path=("expected_from",))))
        return self

    def wants(self) -> Wants:
        """What its sources and its template need."""
        wants = wants_of(self.from_)
        if self.expected is not None:
            wants |= wants_of_names(self.expected.names())
        return wants if self.expected_from is None else wants | wants_of(self.expected_from)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The template, and what its sources hold."""
        if self.expected is not None:
            yield ("expected",), self.expected, scope
        for key, source in (("from", self.from_), ("expected_from", self.expected_from)):
            for path, text in texts_of(source) if source is not None else ():
                yield (key, *path), text, scope

    def expected_in_words(self) -> str:
        """What is expected, for a sentence."""
        if self.expected is not None:
            return f"`{self.expected.text}`"
        return in_words(self.expected_from) if self.expected_from is not None else "nothing"

    def expected_text(self, evidence: Evidence) -> str:
        """What is expected. One that comes out empty would match too much: it is never a pass.

        Raises Missing when it is ours and empty, NotHandedIn when it is the student's.
        """
        if self.expected is not None:
            text = filled(self.expected, evidence)
        else:
            text = "" if self.expected_from is None else text_of(self.expected_from, evidence)
        if not self.is_empty(text):
            return text
        if self.expects_ours():
            raise Missing("harness", "what is expected came out empty")
        raise NotHandedIn("what is expected is empty", cause="absent")

    def expects_ours(self) -> bool:
        """Whether what is expected is the author's own, and not what a student left behind."""
        return self.expected_from is None or isinstance(self.expected_from, JsonPath | GivenText)

    def unfit_expected(self, reason: str) -> EvidenceError:
        """What to raise where nothing can be compared with what is expected: ours to mend, or the student's doing."""
        return Missing("harness", reason) if self.expects_ours() else NotHandedIn(reason)

    def is_empty(self, expected: str) -> bool:
        """Whether nothing is asked for."""
        return not expected.strip()


class ExactMatch(Compared, kind="exact_match"):
    """The text is the expected one, white space at its ends aside.

    Source: scorers, exact_match.
    """

    short = "expected"

    strip: bool = Field(True, description="Leave white space at both ends out of the comparison.")
    normalize_whitespace: bool = Field(False, description="Take every stretch of white space as one space.")
    case_insensitive: bool = Field(False, description="Take capital and small letters as the same.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The text of {in_words(self.from_)} is {self.expected_in_words()}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the two texts."""
        from rulebook.measures.exact_match import exact_match_score  # linting does without
        from rulebook.measures.texts import MatchOptions

        text, expected = text_of(self.from_, evidence), self.expected_text(evidence)
        options = MatchOptions(self.strip, self.normalize_whitespace, self.case_insensitive)
        score, metadata = exact_match_score(text, expected, options)
        seen = place_in(self.from_, evidence, text, 0) if text else ()
        return binary(score == 1.0, expected=shortened(expected), actual=shortened(text), metadata=metadata, seen=seen)


def shortened(text: str) -> str:
    """A text for a line of a report: on one line, and cut when it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
