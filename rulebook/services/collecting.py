"""Taking what a step's student handed in into custody."""

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rulebook.evidence.submission import Submission, SubmissionKind
from rulebook.ports import Files
from rulebook.services.custody import save_submission, submissions_folder
from rulebook.services.custody_terms import MAX_DEPTH, MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, Budget
from rulebook.spec.steps import StepSpec, SubmissionSpec


def collected(
    step: StepSpec, source: str, keep: str, files: Files, *, owner: int | None = None, keep_listing: bool = True
) -> Mapping[str, Submission]:
    """The saved copies of everything that `step` declares, each in a folder of its own below `keep`.

    `source` is the folder in which the student worked, `owner` the user who must own every file; None takes anybody's.
    `keep_listing`: what stood there on misbehaviour is listed below `$RULEBOOK_HOME/submissions`.
    Raises MisbehaviorError for what looks like tampering or breaks a limit, and Missing in `harness` for a fault of
    this machine.
    """
    save = partial(save_submission, owner=owner, budget=budget_of(step), keep_listing=keep_listing)
    return {each.name: _saved(each, source, keep, files, save) for each in step.submissions}


def budget_of(step: StepSpec) -> Budget:
    """What all submissions of a step may take together: custody's own limits, or what they are allowed one by one."""
    most_bytes = sum(each.max_bytes or 0 for each in step.submissions)
    most_entries = sum(each.max_entries or 0 for each in step.submissions)
    return Budget(max(MAX_TOTAL_BYTES, most_bytes), max(MAX_ENTRIES, most_entries))


def fresh_copies() -> str:
    """A new folder for saved copies, below `$RULEBOOK_HOME/submissions`. Raises UsageError."""
    return tempfile.mkdtemp(prefix="step-", dir=submissions_folder())


def _saved(each: SubmissionSpec, source: str, keep: str, files: Files, save: Callable[..., Path]) -> Submission:
    folder = os.path.join(keep, each.name)
    os.mkdir(folder, 0o700)
    saved = save(
        os.path.join(source, each.path),
        os.path.join(folder, os.path.basename(each.path)),
        max_file_bytes=each.max_bytes or MAX_FILE_BYTES,
        max_total_bytes=each.max_bytes or MAX_TOTAL_BYTES,
        max_entries=each.max_entries or MAX_ENTRIES,
        max_depth=each.max_depth or MAX_DEPTH,
    )
    kind: SubmissionKind = "folder" if saved.is_dir() else "file" if saved.is_file() else "absent"
    return Submission(each.name, str(saved), kind, files)
