"""Artifacts: what a run leaves for people to look at, beside its transcript, nothing ever over anything else.

Source: scoring, "Artifacts and transcripts".
"""

import os
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from rulebook.errors import MisbehaviorError, Missing
from rulebook.evidence.submission import Submission
from rulebook.services.custody import save_submission
from rulebook.services.custody_permission import in_container
from rulebook.services.custody_terms import reason_of
from rulebook.spec.steps import StepSpec

ARTIFACT_DIR = "RULEBOOK_ARTIFACT_DIR"
"""A variable that names the folder in which artifacts are kept, whatever the run says."""


class ArtifactRun(Protocol):
    """What must be known of a run to keep its artifacts."""

    @property
    def run_id(self) -> str:
        """The run's id, of which the folder's name is made."""
        ...

    @property
    def save_artifacts(self) -> bool:
        """Whether anything is kept."""
        ...

    @property
    def transcript_file(self) -> "str | os.PathLike[str] | None":
        """Where the transcript is written; the artifacts lie beside it."""
        ...


def save_artifact(config: ArtifactRun, path: str | os.PathLike[str], name: str | None = None) -> Path | None:
    """Keep a copy of a file or folder as `name` (its own name when None), or as `name-2` where that is taken.

    None where the run keeps no artifacts, or nothing stands at `path`. It is copied as a submission is, with the same
    limits and errors; links in a folder are kept as links.
    """
    if not config.save_artifacts:
        return None
    wanted = (name or os.path.basename(os.path.abspath(path))).replace("/", "_")
    with _one_at_a_time:
        free = _free(artifact_folder(config), wanted)
        kept = save_submission(path, free, allow_symlinks=True, allow_missing_parent=True)
    return kept if os.path.lexists(kept) else None


def keep_handed_in(config: ArtifactRun, step: StepSpec, handed_in: Mapping[str, Submission]) -> None:
    """Keep what was handed in at a step, in a folder called like it, under the paths at which it was handed in.

    So the artifacts of a run can be scored again: the folders on the way are kept too. Raises Missing in `harness`
    where they cannot be kept.
    """
    on_the_way = step.folders_on_the_way
    if not config.save_artifacts or not (on_the_way or any(each.exists for each in handed_in.values())):
        return
    folder = artifact_folder(config) / step.name
    for inner in on_the_way:
        _made_on_the_way(folder / inner)
    for each in step.submissions:
        if handed_in[each.name].exists:
            _keep(handed_in[each.name].path, folder / each.path)


def _made_on_the_way(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Missing("harness", f"what was handed in cannot be kept in {folder}: {reason_of(error)}") from None


def _keep(copy: str, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        save_submission(
            copy,
            place,
            max_file_bytes=sys.maxsize,
            max_total_bytes=sys.maxsize,
            max_entries=sys.maxsize,
            max_depth=sys.maxsize,
        )
    except (OSError, MisbehaviorError, Missing) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error.reason
        raise Missing("harness", f"what was handed in cannot be kept as {place}: {reason}") from None


_one_at_a_time = threading.Lock()
_chosen: dict[tuple[str, str], Path] = {}
"""The folder of each run of this process, chosen when it is first needed."""


def artifact_folder(config: ArtifactRun) -> Path:
    """The folder in which a run's artifacts are kept, made when it is first asked for. Raises Missing in `harness`."""
    base = _base(config)
    key = base, config.run_id
    if key not in _chosen:
        _chosen[key] = _made(base, re.sub(r"[^\w.-]", "_", config.run_id) + "_artifacts")
    return _chosen[key]


def _base(config: ArtifactRun) -> str:
    if said := os.environ.get(ARTIFACT_DIR):
        return os.path.abspath(said)
    if config.transcript_file is not None:
        return os.path.dirname(os.path.abspath(config.transcript_file))
    return "/out" if in_container() else os.path.abspath("out")


def _made(base: str, name: str) -> Path:
    """A new folder: `name`, or `name_2` where an earlier run left one."""
    try:
        os.makedirs(base, exist_ok=True)
        folder, number = Path(base, name), 1
        while not _is_new(folder):
            number += 1
            folder = Path(base, f"{name}_{number}")
    except OSError as error:
        raise Missing("harness", f"artifacts cannot be kept in {base}: {reason_of(error)}") from None
    return folder


def _is_new(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def _free(folder: Path, wanted: str) -> Path:
    """Where nothing stands yet: `name.txt`, else `name-2.txt`, and so on."""
    stem, dot, suffix = (wanted, "", "") if wanted.startswith(".") else wanted.partition(".")
    place, number = folder / wanted, 1
    while os.path.lexists(place):
        number += 1
        place = folder / f"{stem}-{number}{dot}{suffix}"
    return place
