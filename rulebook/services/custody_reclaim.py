"""Removing everything that a user owns: its files wherever they lie, and its shared memory.

Source: scoring, "Student resources"; the guarantees of the reference's `delete_files`.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

from rulebook.errors import MissingParentError, ReclaimError
from rulebook.services.custody_grounds import ground
from rulebook.services.custody_memory import remove_shared_memory
from rulebook.services.custody_permission import permit
from rulebook.services.custody_sweep import Patience, Sweep
from rulebook.services.custody_terms import reason_of
from rulebook.services.custody_way import way_to

KEPT = ("/root",)
"""What is left alone unless the caller says otherwise."""

ALSO_KEPT = "RULEBOOK_RECLAIM_EXCLUDE"
"""A variable that names more to leave alone, separated by colons."""

TIMEOUT_S = 600.0


def delete_files(
    uid: int,
    include: Iterable[str | os.PathLike[str]] | None = None,
    exclude: Iterable[str | os.PathLike[str]] = KEPT,
    extend_exclude: Iterable[str | os.PathLike[str]] = (),
    *,
    timeout: float = TIMEOUT_S,
    outside_container: bool = False,
    patience: Patience | None = None,
) -> int:
    """Remove what `uid` owns below `include` (everywhere when None) and its shared memory; how many things went.

    What is excluded, what leads there, mount points, read-only and the kernel's own file systems stay; no link is
    followed. `timeout` is seconds; several sweeps that share their time are given one `patience` instead.

    Raises ReclaimError when something of the student's stays; Missing in `harness` where others moved a folder of their
    own meanwhile; NotAllowedHere as `kill_processes` does.
    """
    permit(uid, outside_container=outside_container)
    also = [path for path in os.environ.get(ALSO_KEPT, "").split(":") if path]
    kept = [os.path.abspath(path) for path in (*exclude, *extend_exclude, *also)]
    sweep = Sweep(uid, ground(kept), patience or Patience(timeout))
    for place in ("/",) if include is None else map(os.path.abspath, include):
        try:
            _sweep(sweep, place)
        except OSError as error:
            raise ReclaimError(f"what user {uid} left could not be swept: {reason_of(error)}") from None
    removed, left = remove_shared_memory(uid)
    sweep.left += left
    if sweep.left:
        raise ReclaimError(f"what user {uid} left could not all be removed: {_some(sweep.left)}")
    return sweep.removed + removed


def _sweep(sweep: Sweep, place: str) -> None:
    if place == "/":
        sweep.everything()
        return
    with suppress(MissingParentError), way_to(place) as (folder, name):
        sweep.one(folder, name, place)


def _some(left: list[str]) -> str:
    return ", ".join(left[:10]) + (f" and {len(left) - 10} more" if len(left) > 10 else "")
