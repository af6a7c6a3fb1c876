"""Who the student is on this machine, under the names that task authors import.

`STUDENT_UID` and `STUDENT_DATA_DIR` are read from the environment when they are imported.
"""

from pathlib import Path

from rulebook.services.student import student_data_dir, student_uid


def __getattr__(name: str) -> int | Path | None:
    if name == "STUDENT_UID":
        return student_uid()
    if name == "STUDENT_DATA_DIR":
        return Path(student_data_dir())
    raise AttributeError(f"module `{__name__}` has no `{name}`")
