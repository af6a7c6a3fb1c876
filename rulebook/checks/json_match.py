"""`json_match`: a text agrees with the expected JSON document."""

from typing import Annotated, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from rulebook.checks.exact_match import Compared, shortened
from rulebook.errors import NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.data_at import refuse_templates
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.sources import in_words
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, read_template
from rulebook.languages.values import Several
from rulebook.outcome import Measurement, Outcome, reaches
from rulebook.ports import Ports


def _document(value: object) -> Template:
    """What is expected: a text of JSON, which may be a template, or the data itself."""
    if isinstance(value, Template):
        return value
    if isinstance(value, str):
        try:
            return read_template(value)
        except LanguageError as error:
            raise refused(error) from error
    import json  # only data has to be written as JSON

    refuse_templates(value, "expected")
    return Template(json.dumps(value, ensure_ascii=False))


class JsonMatch(Compared, kind="json_match"):
    """The text is the expected JSON document, or agrees with it at some paths.

    Source: scorers, json_match.
    """

    short = "expected"

    expected: Annotated[Template, PlainValidator(_document), WithJsonSchema({})] | None = Field(
        None, description="The expected document: data, or JSON text, which may be a template."
    )
    paths: Several[str] | None = Field(
        None, description="Dotted paths, such as `user.id`; the score is the share of them whose values agree."
    )

    @model_validator(mode="after")
    def _expected_document(self) -> Self:
        if self.expected is None or self.expected.live:
            return self
        from rulebook.measures.json_match import (
            ABSENT,
            at_path,
            json_path_to,
        )  # a file without such a check does without
        from rulebook.measures.json_reading import NotJson, read_json

        document = read_json(self.expected.text)
        if isinstance(document, NotJson):
            words = {
                "value": shortened(self.expected.text),
                "what": "a JSON document",
                "example": '`{"intent": "refund"}`',
            }
            raise refused(LanguageError(Fault("RB214", words, path=("expected",))))
        for position, path in enumerate(self.paths or ()):
            if at_path(document, json_path_to(path)) is ABSENT:
                raise refused(LanguageError(Fault("RB414", {"step": path}, path=("paths", position))))
        return self

    def sentence(self) -> str:
        """What it asks for."""
        source, expected = in_words(self.from_), self.expected_in_words()
        if self.paths is None:
            return f"The text of {source} is the JSON document {expected}."
        return (
            f"The score is the share of {', '.join(f'`{path}`' for path in self.paths)} in {source} as in {expected}."
        )

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the documents. A path that what is expected lacks could be agreed with by leaving it out."""
        from rulebook.measures.json_match import ABSENT, at_path, json_match_score, json_path_to  # linting does without
        from rulebook.measures.json_reading import NotJson, read_json

        text, written = text_of(self.from_, evidence), self.expected_text(evidence)
        expected, document = read_json(written), read_json(text)
        if isinstance(expected, NotJson):
            raise self.unfit_expected(f"what is expected is no JSON: {expected.reason}")
        paths = None if self.paths is None else tuple(map(json_path_to, self.paths))
        for path in paths or ():
            if at_path(expected, path) is ABSENT:
                raise self.unfit_expected(f"there is no `{path.text}` in what is expected")
        if isinstance(document, NotJson):
            raise NotHandedIn(f"the text is no JSON: {document.reason}")
        score, metadata = json_match_score(document, expected, paths, ("text", "expected"))
        differing = metadata["mismatched"]
        reason = (
            f"other values at {', '.join(map(str, differing))}" if isinstance(differing, list) and differing else ""
        )
        seen = place_in(self.from_, evidence, text, 0)
        return Measurement(
            score, reaches(score, 1.0), shortened(reason), shortened(written), shortened(text), metadata, seen=seen
        )  # fmt: skip
