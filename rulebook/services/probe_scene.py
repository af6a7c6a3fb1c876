"""Where a misbehaving student is played: the folder it works in, and the right work that lies beside it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.services.workspaces import copy_as_it_stands, remove_folder
from rulebook.spec.steps import SubmissionSpec

SCORE = '{"score": 1.0, "metadata": {}}'
"""What a program that judges would write."""

READ_BYTES = 1024 * 1024
"""No more of a file of right work is looked at."""


class Scene(Struct, frozen=True):
    """What a student finds.

    `folder` is where it works, and all that it may write to; `key` has the right work, laid out as in `folder`, or,
    where nobody wrote any (`known` false), a copy of the task file at each submission's place. `leash` is a file made
    before the student began, which is gone when the play is over. `taken` is an empty folder for the copies in custody,
    `aside` one for what is needed later.
    """

    folder: str
    key: str
    leash: str
    taken: str
    aside: str
    instructions: str
    submissions: tuple[SubmissionSpec, ...]
    known: bool

    def place(self, submission: SubmissionSpec) -> str:
        """The path at which the student hands it in."""
        return os.path.join(self.folder, submission.path)

    def right(self, submission: SubmissionSpec) -> str:
        """The path of the right work; of the task file's copy where there is none."""
        return os.path.join(self.key, submission.path)

    def hand_in(self, submission: SubmissionSpec, data: Callable[[str], bytes], *, cut: bool = False) -> None:
        """Write the submission: a file, or every file of a folder where the right work is one.

        `data` is given the path and says what stands there; with `cut`, no more of it than may be handed in. Raises
        OSError.
        """
        paths = self.files(submission)
        for path in paths:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            content = data(path)
            if cut and submission.max_bytes is not None:
                content = content[: submission.max_bytes // len(paths)]
            with open(path, "wb") as stream:
                stream.write(content)
            os.chmod(path, 0o755)

    def files(self, submission: SubmissionSpec) -> list[str]:
        """The paths of the files that are handed in for it."""
        right, place = self.right(submission), self.place(submission)
        if not (self.known and os.path.isdir(right)):
            return [place]
        below = [os.path.join(folder, name) for folder, _, names in os.walk(right) for name in names]
        return sorted(os.path.join(place, os.path.relpath(path, right)) for path in below) or [
            os.path.join(place, "answer")
        ]

    def beside(self, path: str) -> str:
        """Where the right work has what is handed in at `path`."""
        return os.path.join(self.key, os.path.relpath(path, self.folder))

    def right_text(self, path: str) -> str | None:
        """The right content of a file that is handed in at `path`; None where it is not known, or is no short text."""
        place = self.beside(path)
        if not self.known or not os.path.isfile(place) or os.path.getsize(place) > READ_BYTES:
            return None
        with open(place, "rb") as stream:
            return stream.read().decode("utf-8", "replace")

    def moves(self) -> list[tuple[str, str]]:
        """What is to be moved over each submission later: the right work, or a score file where nobody knows that.

        Raises OSError.
        """
        found: list[tuple[str, str]] = []
        for number, submission in enumerate(self.submissions):
            new = os.path.join(self.aside, str(number))
            if self.known:
                copy_as_it_stands(self.right(submission), new)
            if not os.path.lexists(new):
                _write(new, SCORE + "\n")
            found.append((new, self.place(submission)))
        return found

    def do_right(self) -> None:
        """Hand in the right work, all that lies in `key`; nothing where nobody knows it. Raises OSError."""
        for name in os.listdir(self.key) if self.known else ():
            copy_as_it_stands(os.path.join(self.key, name), os.path.join(self.folder, name))


def made_scene(
    place: str,
    folder: str,
    instructions: str,
    submissions: tuple[SubmissionSpec, ...],
    right: str | Mapping[str, str],
    task: str,
    leash: str,
) -> Scene:
    """A scene in `place`, a fresh folder; `folder`, where the student works, is not made yet.

    `right` is the folder in which right work was recorded, or its texts by path, `task` the text of the task file.
    Raises OSError.
    """
    key, taken, aside = (os.path.join(place, name) for name in ("key", "taken", "aside"))
    for each in (key, taken, aside):
        os.mkdir(each, 0o700)
    if isinstance(right, str):
        _copy(submissions, right, key)
    else:
        for path, text in right.items():
            _write(os.path.join(key, path), text)
    known = bool(os.listdir(key))
    if not known:
        for submission in submissions:
            _write(os.path.join(key, submission.path), task)
    return Scene(folder, key, leash, taken, aside, instructions, submissions, known)


def _copy(submissions: Sequence[SubmissionSpec], source: str, key: str) -> None:
    """Copy what is asked for, as it was recorded."""
    for each in submissions:
        original, place = os.path.join(source, each.path), os.path.join(key, each.path)
        if os.path.lexists(original) and not os.path.lexists(place):  # one submission may lie in another
            os.makedirs(os.path.dirname(place), exist_ok=True)
            copy_as_it_stands(original, place)


def _write(path: str, text: str) -> None:
    if os.path.lexists(path):  # as above
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        stream.write(text)


@contextmanager
def empty_folder(path: str) -> Iterator[None]:
    """An empty folder at `path` that is emptied at the end, and removed if it was not there. Raises UsageError."""
    there = os.path.lexists(path)
    try:
        if there and (os.path.islink(path) or os.listdir(path)):
            raise UsageError(
                f"`{path}` is not empty: students who misbehave work only in an empty folder, or a new one."
            )
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        why = (error.strerror or "the machine refuses").lower()
        raise UsageError(f"Nobody can work in `{path}`: {why}.") from None
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # a student may have put a link in its place
        remove_folder(path)
        if there:
            with suppress(OSError):
                os.makedirs(path, exist_ok=True)
