"""Changes and leftovers in words, and where they are seen."""

import re
from collections.abc import Sequence

from rulebook.evidence.lfs import is_pointer
from rulebook.evidence.repository import Repository
from rulebook.outcome import Seen
from rulebook.ports import Change, Leftover

SEEN_AT_MOST = 20
"""No finding names more places than this."""


def named(changes: Sequence[Change]) -> list[tuple[str, Change]]:
    """Every path that changed; a renamed file is there under both of its names."""
    return [(path, change) for change in changes for path in (change.previous, change.path) if path is not None]


def places(found: Sequence[tuple[str, Change]], repository: Repository) -> list[Seen]:
    """The first of these paths, each with what happened to it."""
    return [Seen(path=readable(path), note=_note(path, change, repository)) for path, change in found[:SEEN_AT_MOST]]


def _note(path: str, change: Change, repository: Repository) -> str:
    renamed = change.status == "renamed"
    words = f"renamed to {readable(change.path)}" if renamed and path == change.previous else change.status
    if renamed and path == change.path:
        words = f"renamed from {readable(change.previous or '')}"
    if change.added is not None or change.removed is not None:
        words += f", +{change.added or 0} -{change.removed or 0}"
    elif change.new_mode != 0o160000:
        words += ", no lines to count"
    if has_other_mode(change):
        words += f", mode {change.old_mode:o} to {change.new_mode:o}"
    return words + (", a Git LFS pointer" if is_pointer(repository, path) else "")


def places_of_leftovers(found: Sequence[Leftover]) -> list[Seen]:
    """The first of what git holds, each with its name."""
    return [Seen(path=_git_path(left), note=leftover_in_words(left)) for left in found[:SEEN_AT_MOST]]


def leftover_in_words(left: Leftover) -> str:
    """A commit with its id and the names that lead to it, or what else was left."""
    if left.kind in ("pack", "repository"):
        return f"a {left.kind} in the git folder"
    refs = f" ({', '.join(readable(ref) for ref in left.refs[:3])})" if left.refs else ""
    return f"{left.kind} {left.name}{refs}"


def _git_path(left: Leftover) -> str | None:
    if left.kind not in ("pack", "repository"):
        return None
    _, sign, below = left.name.rpartition("/.git/")
    return readable(f".git/{below}" if sign else left.name.rpartition("/")[2])


def lines_of(changes: Sequence[Change]) -> int:
    """How many lines were added and removed; what has none to count adds nothing."""
    return sum((change.added or 0) + (change.removed or 0) for change in changes)


def has_no_lines(change: Change) -> bool:
    """Whether it is no text, or no file at all."""
    return change.added is None and change.removed is None


def has_other_mode(change: Change) -> bool:
    """Whether what stands there was there before, with another mode or as another kind of thing."""
    return change.old_mode is not None and change.new_mode is not None and change.old_mode != change.new_mode


def counted(number: int | None, what: str) -> str:
    """A number and what it counts: "1 file", "2 files"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def readable(path: str) -> str:
    """A path as text that any report can hold: bytes that are no UTF-8 are written out."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def written_back(path: str) -> str:
    """The path that `readable` made text of, should it not be called so itself."""
    return re.sub(r"\\x([89a-f][0-9a-f])", lambda byte: chr(0xDC00 + int(byte[1], 16)), path)
