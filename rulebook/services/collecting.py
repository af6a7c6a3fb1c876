"""Taking what a step's student handed in into custody."""

import os
from collections.abc import Mapping

from rulebook.evidence.submission import Submission
from rulebook.ports import Files
from rulebook.services.custody import save_submission
from rulebook.services.custody_terms import Budget
from rulebook.spec.steps import StepSpec, SubmissionSpec


def collected(step: StepSpec, source: str, keep: str, files: Files) -> Mapping[str, Submission]:
    """The saved copies of everything that `step` declares, each in a folder of its own below `keep`.

    `source` is the folder in which the student worked. Raises MisbehaviorError for what looks like tampering or breaks
    a limit, and Missing in `harness` for a fault of this machine.
    """
    budget = Budget()
    return {each.name: _saved(each, source, keep, budget, files) for each in step.submissions}


def _saved(each: SubmissionSpec, source: str, keep: str, budget: Budget, files: Files) -> Submission:
    folder = os.path.join(keep, each.name)
    os.mkdir(folder, 0o700)
    asked = {
        "max_file_bytes": each.max_bytes,
        "max_total_bytes": each.max_bytes,
        "max_entries": each.max_entries,
        "max_depth": each.max_depth,
    }
    limits = {name: limit for name, limit in asked.items() if limit is not None}
    copy = os.path.join(folder, os.path.basename(each.path))
    saved = str(save_submission(os.path.join(source, each.path), copy, budget=budget, **limits))
    kind = "folder" if os.path.isdir(saved) else "file" if os.path.isfile(saved) else "absent"
    return Submission(each.name, saved, kind, files)
