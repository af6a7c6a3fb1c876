"""What a student handed in, as the saved copy of it: never the path that the student itself wrote to."""

import os
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from rulebook.errors import EvidenceError, Missing, NotHandedIn
from rulebook.evidence.repository import in_words
from rulebook.languages.types import MissingValue
from rulebook.ports import FileFacts, Files

SubmissionKind = Literal["file", "folder", "absent"]

TEXT_LIMIT_BYTES = 1024 * 1024
"""How much of a submission is read as text where nobody says how much."""


class Submission(Struct, frozen=True):
    """One declared submission.

    `path` is the absolute path of the saved copy, one at which nothing stands when nothing was handed in.
    """

    name: str
    path: str
    kind: SubmissionKind
    files: Files

    @property
    def exists(self) -> bool:
        """Whether anything was handed in."""
        return self.kind != "absent"

    def facts(self, relative: str = "") -> FileFacts | None:
        """What stands at `relative` below a folder, or what the submission itself is; None when nothing is there.

        No link is followed: it is what is found. Raises NotHandedIn where a file stands in the folder's place, Missing
        in `harness` when this machine cannot tell.
        """
        if relative and self.kind == "file":
            raise NotHandedIn(f"{self.called()} is a file, not a folder", cause="excess")
        root, path = self._place(relative)
        try:
            return self.files.within(root, path) if self.exists else None
        except OSError as error:
            raise self._unreadable(relative, error) from error

    def read(self, relative: str, limit_bytes: int, *, cut: bool = False) -> bytes:
        """The bytes of the submission, or of the file `relative` in a folder; with `cut` the first ones of a large one.

        Raises NotHandedIn when it is not there, no regular file, or larger than the limit.
        """
        facts, what = self.facts(relative), self.called(relative)
        if facts is None:
            raise NotHandedIn(f"{what} was not handed in", cause="absent")
        if facts.kind == "folder" and not relative:
            raise NotHandedIn(f"{what} is a folder, not a file", cause="excess")
        if facts.kind != "file":
            raise NotHandedIn(f"{what} is not a regular file: {in_words(facts, relative)}", cause="excess")
        if facts.size_bytes > limit_bytes and not cut:
            raise NotHandedIn(f"{what} has {facts.size_bytes} bytes; at most {limit_bytes} are read", cause="excess")
        root, path = self._place(relative)
        try:
            return self.files.read_within(root, path, limit_bytes)[:limit_bytes]
        except OSError as error:
            raise self._unreadable(relative, error) from error

    def text(self, limit_bytes: int = TEXT_LIMIT_BYTES, relative: str = "") -> str:
        """The same as text. Raises NotHandedIn also for what is not UTF-8."""
        data = self.read(relative, limit_bytes)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotHandedIn(f"{self.called(relative)} is not text in UTF-8", cause="excess") from error

    def called(self, relative: str = "") -> str:
        """How messages name it, or a file in it."""
        return f"`{relative}` of the submission `{self.name}`" if relative else f"the submission `{self.name}`"

    def _place(self, relative: str) -> tuple[str, str]:
        """The folder to open and the path below it."""
        return (self.path, relative) if relative else os.path.split(self.path)

    def _unreadable(self, relative: str, error: OSError) -> Missing:
        return Missing("harness", f"{self.called(relative)} cannot be read: {(error.strerror or str(error)).lower()}")


class SubmissionFields(Mapping[str, object]):
    """A submission as expressions, paths and templates see it; its text is read when it is first looked at."""

    def __init__(self, submission: Submission) -> None:
        self._submission = submission

    def __getitem__(self, name: str) -> object:
        match name:
            case "path" | "kind" | "exists":
                return getattr(self._submission, name)
            case "bytes":
                facts = self._submission.facts()
                is_file = facts is not None and facts.kind == "file"
                return (
                    facts.size_bytes
                    if facts and is_file
                    else MissingValue(f"submissions.{self._submission.name}.bytes")
                )
            case "text" if self._submission.exists:
                return self._submission.text()
            case "text":
                return MissingValue(f"submissions.{self._submission.name}.text")
            case _:
                raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("path", "kind", "exists", "bytes", "text"))

    def __len__(self) -> int:
        return 5


def not_there(path: str) -> EvidenceError:
    """Why a `path` such as `submissions.answer.text` has no value: the student did not hand in what it takes."""
    keys = path.split(".")
    if keys[0] != "submissions" or len(keys) < 2:
        return NotHandedIn(f"`{path}` has no value over what was handed in")
    reason = f"`{path}` has no value: the submission `{keys[1]}` is not there, or is no file"
    return NotHandedIn(reason, cause="absent")
