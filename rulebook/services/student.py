"""Who the student is on this machine, and where it works; whoever sets up the machine says so in the environment."""

import os

from rulebook.errors import UsageError

STUDENT_UID = "RULEBOOK_STUDENT_UID"
STUDENT_DATA_DIR = "RULEBOOK_STUDENT_DATA_DIR"


def student_uid() -> int | None:
    """The number of the student's user; None where it says `none`. Raises UsageError where nothing is said."""
    said = os.environ.get(STUDENT_UID, "")
    if said == "none":
        return None
    if said.isascii() and said.isdigit():
        return int(said)
    seen = f"`{said}` is no user's number" if said else "Nothing says which user the student is"
    raise UsageError(
        f"{seen}: set {STUDENT_UID} to the number of a user that is the student's alone, or to `none` "
        "where the student works in a sandbox of its own, which is gone by now."
    )


def student_data_dir() -> str:
    """The absolute path of the folder the student works in, `/home/student` unless something else is said."""
    return os.path.abspath(os.environ.get(STUDENT_DATA_DIR) or "/home/student")
