"""Messages that stand one a line, or in one row of a file of lines."""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.records import UNREADABLE
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import decoded, mapping, sequence
from rulebook.evidence.transcript import Transcript


def numbered_messages(
    transcript: Transcript, file: SessionFile
) -> tuple[list[tuple[int, object]], Mapping[str, object]]:
    """The messages with their places, and the row around them where there is one.

    Raises OSError, and UnknownFormat when there is more than one row that holds a conversation.
    """
    transcript.source.places = "lines"
    rows: list[tuple[int, object]] = []
    with file.lines() as lines:
        for number, line in lines:
            if line.isspace():
                continue
            try:
                rows.append((number, decoded(line)))
            except ValueError as error:
                code = "bad_line" if line.endswith(b"\n") else "truncated"
                warn(transcript, code, number, f"a line is not valid JSON ({error})")
                warn(transcript, "lost_record", number, UNREADABLE)
    conversations = [row for _, row in rows if "messages" in mapping(row)]
    if len(conversations) > 1:
        raise UnknownFormat(
            f"`{file.path}` holds {len(conversations)} conversations, and a session is one: "
            "write each to a file of its own"
        )
    if not conversations:
        return rows, {}
    transcript.source.places = "items"
    whole = mapping(conversations[0])
    return list(enumerate(sequence(whole.get("messages")))), whole
