"""What a judge model is shown, as Python authors choose it. Source: scoring, RubricJudge."""

import os
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Sequence

from rulebook.api.own_machine import own_ports
from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.data_files import why_unread
from rulebook.evidence.reading_text import answers_in_all
from rulebook.evidence.record import Call, Wants
from rulebook.evidence.run_events import UnknownEvent
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.evidence.scoring import spelt_out

MAX_FILE_BYTES = 1024 * 1024
"""Of a larger file the beginning is shown, with a note."""


class RubricContext(ABC):
    """A part of what a judge model is shown. Subclass it and implement `render` for one of your own."""

    @abstractmethod
    def render(self, transcript: Transcript) -> str:
        """The text of this part; nothing is shown of an empty one."""


class FileContext(RubricContext):
    """The texts of files, each under its path. Name the saved copies, never what the student itself wrote to.

    No link is followed at a file's name, nothing but regular files is opened, and at most 1 MiB of each is shown.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Raises ValueError for an empty list, TypeError for one path in place of it."""
        if isinstance(paths, str | bytes | os.PathLike):
            raise TypeError("The paths are a list, even where there is one.")
        if not paths:
            raise ValueError("A context without files shows a model nothing. Name one or more.")
        self.paths = tuple(os.path.abspath(path) for path in paths)

    def render(self, transcript: Transcript) -> str:  # noqa: ARG002
        """The files. Raises NotHandedIn when not one of them can be shown."""
        shown = [_file(path) for path in self.paths]
        if not any(text for text, _ in shown):
            raise NotHandedIn("; ".join(f"`{path}` {why}" for path, (_, why) in zip(self.paths, shown, strict=True)))
        return "\n\n".join(
            f"# File '{path}':\n{text}" if text else f"# File '{path}': it {why}"
            for path, (text, why) in zip(self.paths, shown, strict=True)
        )


class TranscriptContext(RubricContext):
    """The messages of the run, or, with `tool`, the completed calls of one tool (`*`: of any); the `last` of them."""

    def __init__(self, last: int | None = None, tool: str | None = None) -> None:
        """Raises ValueError for a `last` below 1."""
        if last is not None and last < 1:
            raise ValueError("`last` counts from 1; leave it out to show all.")
        self.last, self.tool = last, tool

    def render(self, transcript: Transcript) -> str:
        """The messages, one after the other, or the calls; each line of a text stands indented below its head."""
        if self.tool is None:
            told = [f"[{m.role}]: {_indented(m.text)}" for m in transcript.messages if m.text.strip()]
            return "\n".join(self._latest(told))
        calls = record_of_run(transcript, Wants(tool_calls=True)).calls
        done = [call for call in calls if call.result is not None and self.tool in ("*", call.name)]
        return "\n\n".join(self._latest([_told(call) for call in done]))

    def _latest(self, parts: list[str]) -> list[str]:
        return parts if self.last is None else parts[-self.last :]


class AnswersContext(RubricContext):
    """The answers that the student submitted by name, each behind its name; with `key` that one alone."""

    def __init__(self, key: str | None = None) -> None:
        """Raises ValueError for an empty `key`."""
        if key is not None and not key:
            raise ValueError("`key` is the name of an answer; leave it out to show all.")
        self.key = key

    def render(self, transcript: Transcript) -> str:
        """The answers; empty when there are none, or not the one that was asked for.

        Raises UnmeasuredError when some cannot be read.
        """
        odd = (event for event in transcript.events if isinstance(event, UnknownEvent))
        if any(event.type == "answers_submitted" for event in odd):
            raise Missing("harness", "the answers in the transcript are not so that they can be read")
        answers = transcript.answers
        return spelt_out(answers_in_all(answers) if self.key is None else answers.get(self.key, ""))


def _told(call: Call) -> str:
    failed = " (it failed)" if call.status == "error" else ""
    head = f"Tool: {_indented(call.name)}\nArguments: {_indented(call.arguments_raw)}\nResult{failed}:\n    "
    return head + _indented(call.result or "")


def _indented(text: str) -> str:
    """The text with its further lines indented, so that none of them can pass for another message."""
    return spelt_out("\n    ".join(text.splitlines()))


def _file(path: str) -> tuple[str, str]:
    """A file's text, and why it has none to show."""
    try:
        data = own_ports().files.read_within(os.path.dirname(path), os.path.basename(path), MAX_FILE_BYTES)
    except FileNotFoundError:
        return "", "was not handed in"
    except OSError as error:
        return "", f"cannot be read: {why_unread(error)}"
    cut = len(data) > MAX_FILE_BYTES
    try:
        text = getincrementaldecoder("utf-8-sig")().decode(data[:MAX_FILE_BYTES], final=not cut)
    except UnicodeDecodeError:
        return "", "is not text in UTF-8"
    if not text.strip():
        return "", "is empty"
    return text + (f"\n[… cut here: the first {MAX_FILE_BYTES} bytes are shown …]" if cut else ""), ""
