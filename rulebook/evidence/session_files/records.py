"""Files of lines, one JSON object each, read in bounded memory; what cannot be read is told, never passed over."""

import re
from collections.abc import Iterator, Mapping

from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import decoded
from rulebook.evidence.transcript import Transcript

UNREADABLE = "a line that cannot be read may hold a call or a reply"


def records_of(
    file: SessionFile, transcript: Transcript, aside: re.Pattern[bytes] | None = None
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The objects of a file of lines with their line numbers. Raises OSError.

    A line that is none is a warning. It may have held a call or a reply, unless its beginning matches `aside`: the
    heads of records in which neither can stand.
    """
    with file.lines() as lines:
        for number, line in lines:
            if line.isspace():
                continue
            try:
                value = decoded(line)
            except ValueError as error:
                torn = not line.endswith(b"\n")
                text = "the last line is cut off" if torn else f"a line is not valid JSON ({error})"
                warn(transcript, "truncated" if torn else "bad_line", number, text)
            else:
                if isinstance(value, dict):
                    yield number, value
                    continue
                warn(transcript, "unknown_record", number, "a record that is no JSON object")
            if aside is None or not aside.match(line):
                warn(transcript, "lost_record", number, UNREADABLE)
