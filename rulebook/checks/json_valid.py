"""`json_valid`: a text is a JSON document."""

from collections.abc import Iterable

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.checks.exact_match import shortened
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import SourceField
from rulebook.evidence.reading_text import place_in, text_of
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import FinalMessage, in_words, texts_of, wants_of
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome, binary
from rulebook.place import Path
from rulebook.ports import Ports


class JsonValid(Check, kind="json_valid"):
    """The text is one JSON document and nothing else.

    Source: scorers, json_valid.
    """

    short = "from"

    from_: SourceField = Field(FinalMessage(), alias="from", description="Where the text comes from.")

    def wants(self) -> Wants:
        """What its source needs."""
        return wants_of(self.from_)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """What its source holds."""
        for path, text in texts_of(self.from_):
            yield ("from", *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        return f"The text of {in_words(self.from_)} is a JSON document."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Read the document."""
        from rulebook.measures.json_reading import read_json  # linting does without
        from rulebook.measures.json_valid import json_valid_score

        text = text_of(self.from_, evidence)
        score, metadata = json_valid_score(read_json(text))
        reason, seen = str(metadata.get("error", "")), place_in(self.from_, evidence, text, 0)
        return binary(
            score == 1, reason, expected="valid JSON", actual=shortened(text), metadata=metadata, seen=seen
        )  # fmt: skip
