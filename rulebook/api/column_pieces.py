"""The columns of a row as a judge model is shown them."""

from rulebook.api.rubric_context import TranscriptContext
from rulebook.evidence.run_transcript import Transcript
from rulebook.measures.texts import as_text


def pieces_of(columns: tuple[str, ...], row: tuple[object, ...]) -> list[tuple[str, str | None]]:
    """Each column's name with its value as text; None where it is null. A transcript is shown as a rubric shows it."""
    return [(column, _text(value)) for column, value in zip(columns, row, strict=True)]


def _text(value: object) -> str | None:
    if value is None:
        return None
    return TranscriptContext().render(value) if isinstance(value, Transcript) else as_text(value)
