"""Custody of what students hand in: copies made so that nothing they left behind can trick, hang or flood us.

Source: scoring, "Saving submissions".
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from rulebook.errors import DestinationTaken, MisbehaviorError, MissingParentError, UsageError
from rulebook.services.custody_copy import Copied, Copying
from rulebook.services.custody_listing import Listed, listing, text_of
from rulebook.services.custody_terms import (
    MAX_DEPTH,
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    Budget,
    Terms,
    reason_of,
    unsaved,
)
from rulebook.services.custody_way import plain_path, way_to
from rulebook.services.store import store_folder
from rulebook.services.workspaces import remove_folder
from rulebook.terminal import harmless

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Record(Struct, frozen=True, omit_defaults=True):
    """What is written beside a copy: what was saved with its sums, or, on misbehaviour, what stood there instead."""

    source: str
    outcome: str
    reason: str = ""
    copied: list[Copied] = []
    listed: list[Listed] = []
    cut: bool = False


def save_submission(
    source: str | os.PathLike[str],
    dest: str | os.PathLike[str] | None = None,
    *,
    allow_symlinks: bool = False,
    max_file_bytes: int = MAX_FILE_BYTES,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    max_entries: int = MAX_ENTRIES,
    max_depth: int = MAX_DEPTH,
    allow_hard_links: bool = False,
    allow_missing_parent: bool = False,
    owner: int | None = None,
    budget: Budget | None = None,
    keep_listing: bool = True,
) -> Path:
    """Copy a file or folder that a student wrote to a safe place; folders 0700, files 0600.

    Without `dest` the copy is `NAME` in a fresh folder of `$RULEBOOK_HOME/submissions`, and that folder is returned;
    a file beside it, `FOLDER.json`, has the sums. With `dest`, the copy is `dest`. Where nothing was handed in nothing
    is copied, which is no fault. `owner` is the user who must own every file, `budget` what several submissions share.
    `keep_listing`: what stood there on misbehaviour is listed in a file in that folder.

    Raises MisbehaviorError for a link, a special file, a missing or linked folder on the way, another's file, or too
    much of anything; DestinationTaken, UnfitPath and UsageError for what we were told to do; Missing for a fault of
    this machine. Nothing of a copy that failed stays.
    """
    path = plain_path(source)
    terms = Terms(max_file_bytes, max_total_bytes, max_entries, max_depth, allow_symlinks, allow_hard_links, owner)
    with _place_for(path, dest) as (target, returned):
        copying = Copying(terms, path, target, budget)
        try:
            there = _copied(copying, path, target)
        except MissingParentError as error:
            if not allow_missing_parent:
                raise (_listed(path, error) if keep_listing else error) from None
            there = False
        except MisbehaviorError as error:
            raise (_listed(path, error) if keep_listing else error) from None
        if dest is None:
            _record_copy(f"{returned}.json", Record(text_of(path), "saved" if there else "absent"), copying.copied)
    return Path(returned)


def submissions_folder() -> str:
    """The folder of saved copies, made where it is not there yet, for us alone. Raises UsageError."""
    folder = os.path.join(store_folder(), "submissions")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Submissions cannot be saved in `{folder}`: {reason_of(error)}. Set RULEBOOK_HOME to a folder of yours."
        ) from None
    return folder


def _copied(copying: Copying, path: str, target: str) -> bool:
    above, new = os.path.split(target)
    holder = os.open(above, _FOLDER)
    try:
        with way_to(path) as (folder, name):
            return copying.copy(folder, name, holder, new)
    finally:
        os.close(holder)


@contextmanager
def _place_for(path: str, dest: str | os.PathLike[str] | None) -> Iterator[tuple[str, str]]:
    """Where the copy goes, and what the caller is told; when it fails both are gone."""
    if dest is None:
        returned = _fresh_folder(path)
        target = os.path.join(returned, os.path.basename(path))
    else:
        returned = target = os.path.abspath(dest)
        _refuse_taken(target)
    try:
        yield target, returned
    except BaseException:
        _remove(returned)
        raise


def _fresh_folder(path: str) -> str:
    try:
        return tempfile.mkdtemp(dir=submissions_folder())
    except OSError as error:
        raise unsaved(path, error) from None


def _refuse_taken(target: str) -> None:
    if os.path.lexists(target):
        raise DestinationTaken(f"`{harmless(target)}` is there already and was not touched; name another place.")
    if not os.path.isdir(os.path.dirname(target)):
        raise UsageError(f"There is no folder `{harmless(os.path.dirname(target))}` to save a submission in.")


def _remove(place: str) -> None:
    with suppress(OSError):
        if stat.S_ISDIR(os.lstat(place).st_mode):
            remove_folder(place)
        else:
            os.unlink(place)


def _listed(path: str, error: MisbehaviorError) -> MisbehaviorError:
    """The same error, once what stands there has been listed; a disk that cannot hold the list changes no verdict."""
    found, cut = listing(path)
    try:
        descriptor, place = tempfile.mkstemp(suffix=".json", dir=submissions_folder())
    except (OSError, UsageError):
        return error
    os.close(descriptor)
    try:
        _write_record(place, Record(text_of(path), "misbehavior", error.reason, listed=found, cut=cut))
    except OSError:
        _remove(place)
        return error
    error.listing = place
    return error


def _record_copy(place: str, record: Record, copied: list[Copied]) -> None:
    shown = [each if each.path.isascii() else msgspec.structs.replace(each, path=text_of(each.path)) for each in copied]
    try:
        _write_record(place, msgspec.structs.replace(record, copied=shown))
    except OSError as error:
        _remove(place)
        raise unsaved(record.source, error) from None


def _write_record(place: str, record: Record) -> None:
    with open(place, "wb") as stream:
        os.fchmod(stream.fileno(), 0o600)
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=1))
