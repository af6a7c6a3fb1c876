"""Where runs of evaluations lie: one folder for each evaluation, in it one for each run, whose names sort by time."""

import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec
from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.report.plain_json import canonical
from rulebook.services.evaluation_journal import JournalHead, read_head
from rulebook.services.files import MachineFiles
from rulebook.services.output_files import write_text
from rulebook.services.store import is_session_id, project_key, started_ms, store_folder
from rulebook.spelling import guess

REPORT = "report.json"

_FILES = MachineFiles()


class _Rows(Struct, frozen=True):
    count: int = 0


class _Report(Struct):
    run: str
    rows: _Rows = _Rows()


def runs_folder(evaluation: str) -> str:
    """The folder for the runs of an evaluation: a file, by its path, or one made in Python, by its name."""
    return os.path.join(_all(), project_key(evaluation))


def named_folder(name: str) -> str:
    """The folder for the runs of an evaluation that was made in Python."""
    plain = re.sub("[^A-Za-z0-9_-]", "_", name)[:60]
    return os.path.join(_all(), f"{plain}-python-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}")


def calibrations_folder(evaluation: str) -> str:
    """The folder for the calibrations of scorers of an evaluation's file, whose runs are no runs of the evaluation."""
    return os.path.join(store_folder(), "calibrations", project_key(evaluation))


def run_folders(folder: str) -> list[str]:
    """The folders of all runs in `folder`, the latest first."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise UsageError(f"The runs in `{folder}` cannot be read: {(fault.strerror or str(fault)).lower()}.") from None
    return [os.path.join(folder, name) for name in sorted(names, reverse=True) if is_session_id(name)]


def write_report(folder: str, report: Mapping[str, object]) -> None:
    """Write a run's report into its folder, over one that is there. Raises UsageError."""
    write_text(os.path.join(folder, REPORT), canonical(report), force=True)


def is_finished(folder: str) -> bool:
    """Whether a run came to its end: then its report is there."""
    return os.path.isfile(os.path.join(folder, REPORT))


def resumable(folder: str, fingerprint: str) -> tuple[str, JournalHead] | None:
    """The folder and the journal's head of the latest run in `folder` of this fingerprint; None when there is none."""
    for each in run_folders(folder):
        head = read_head(each)
        if head is not None and head.fingerprint == fingerprint:
            return each, head
    return None


def find_run(word: str) -> str:
    """The folder of the run that `word` names: its id or how that begins, its folder, or its report.

    Raises UsageError when there is none, and where several ids begin so.
    """
    if os.path.isdir(word):
        return word
    if os.path.isfile(word):
        folder = os.path.dirname(word)
        return folder if read_head(folder) is not None else find_run(_run_of(word))
    found = list(_every())
    begun = [each for each in found if word and os.path.basename(each).startswith(word.upper())]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"The ids of {len(begun)} runs begin with `{word}`. Write more of the one that you mean.")
    near = guess(word, [os.path.basename(each) for each in found], list_up_to=0)
    raise UsageError(f"There is no run `{word}`.{near or ' `rulebook evaluation list` shows all.'}")


class StoredRun(Struct, frozen=True):
    """One run of the store. `rows` is how many its report counts; None: it is not finished."""

    id: str
    name: str
    folder: str
    started_ms: int
    rows: int | None


def list_runs() -> list[StoredRun]:
    """Every run of the store that has a journal, the latest first."""
    found = []
    for folder in _every():
        head = read_head(folder)
        if head is not None:
            id = os.path.basename(folder)
            found.append(StoredRun(id, head.name, folder, started_ms(id), _rows_of(folder)))
    return sorted(found, key=lambda run: (run.id, run.folder), reverse=True)


def _rows_of(folder: str) -> int | None:
    try:
        return msgspec.json.decode(_FILES.read(os.path.join(folder, REPORT)), type=_Report).rows.count
    except (OSError, ValueError, RecursionError):
        return None


def _run_of(report: str) -> str:
    """The id of the run that a report is of, wherever the report lies."""
    try:
        run = msgspec.json.decode(_FILES.read(report), type=_Report).run
    except (OSError, ValueError, RecursionError):
        run = ""
    if not is_session_id(run):
        raise UsageError(f"`{report}` is no report of a run. Name a run by its id, its folder or its report.")
    return run


def _every() -> Iterator[str]:
    for name in sorted(os.listdir(_all())) if os.path.isdir(_all()) else ():
        yield from run_folders(os.path.join(_all(), name))


def _all() -> str:
    return os.path.join(store_folder(), "evaluations")
