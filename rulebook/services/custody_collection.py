"""Taking over a step's submissions, in the order in which the student can no longer interfere.

Source: scoring, "collect_submission".
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rulebook.services.custody import save_submission
from rulebook.services.custody_artifacts import ArtifactRun, save_artifact
from rulebook.services.custody_processes import kill_processes
from rulebook.services.custody_reclaim import TIMEOUT_S, delete_files
from rulebook.services.custody_sweep import Patience
from rulebook.services.custody_terms import MAX_ENTRIES, MAX_TOTAL_BYTES, Budget
from rulebook.services.custody_way import plain_path
from rulebook.services.student import student_uid


def collect_submission(
    config: ArtifactRun,
    paths: Sequence[str | os.PathLike[str]],
    save_submission_kwargs: Mapping[str, Any] | None = None,
    *,
    include: Iterable[str | os.PathLike[str]] | None = None,
    outside_container: bool = False,
) -> tuple[Path, ...]:
    """Kill the student's processes, remove its other files, save `paths`, remove the originals, keep the copies.

    The copies come in the order of `paths`; where nothing was handed in, nothing stands at its place. The student is
    the user that RULEBOOK_STUDENT_UID names; where that is `none`, nothing is killed or removed. `include` are the
    folders to remove files from, everything when None. All submissions share `max_total_bytes` and `max_entries`, and
    must be the student's own unless `save_submission_kwargs` has another `owner`.

    Raises what `kill_processes`, `delete_files` and `save_submission` raise.
    """
    uid, patience = student_uid(), Patience(TIMEOUT_S)
    given = dict(save_submission_kwargs or {})
    shared = Budget(given.get("max_total_bytes", MAX_TOTAL_BYTES), given.get("max_entries", MAX_ENTRIES))
    terms = {"owner": uid, "budget": shared, **given}
    wanted = [Path(plain_path(path)) for path in paths]
    places = None if include is None else list(include)
    if uid is not None:
        kill_processes(uid, outside_container=outside_container)
        delete_files(uid, places, extend_exclude=wanted, patience=patience, outside_container=outside_container)
    copies = tuple(save_submission(path, **terms) / path.name for path in wanted)
    if uid is not None:
        delete_files(uid, places, patience=patience, outside_container=outside_container)
    for copy in copies:
        save_artifact(config, copy)
    return copies
