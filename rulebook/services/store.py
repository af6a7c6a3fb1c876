"""Where sessions are kept: one folder a project, one log a session. Looking never creates anything.

Source: session-evals, ids and naming of logs.
"""

import hashlib
import os
import re
from collections.abc import Iterator

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.spelling import nearest

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32, of which an id has 26 characters: 10 of time and 16 of chance."""

RANDOM_BYTES = 16

_SESSION_ID = re.compile(f"[{ALPHABET}]{{26}}")
_SUFFIX = ".jsonl"


class StoredSession(Struct, frozen=True):
    """One session of the store. `started_ms` is Unix time, read from the id."""

    id: str
    path: str
    project: str
    started_ms: int


def store_folder() -> str:
    """The state folder: `RULEBOOK_HOME`, else `rulebook` in `XDG_STATE_HOME` or `~/.local/state`."""
    home = os.environ.get("RULEBOOK_HOME")
    if home:
        return os.path.abspath(home)
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(os.path.abspath(state), "rulebook")


def project_key(project: str) -> str:
    """The name of a project's folder in the store: its own name, made plain, and 8 hex digits of its whole path."""
    path = os.path.abspath(project)
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return f"{re.sub('[^A-Za-z0-9_-]', '_', os.path.basename(path))}-{digest[:8]}"


def session_path(project: str, session_id: str) -> str:
    """Where the log of a session of `project` lies, or will lie."""
    return os.path.join(_sessions(), project_key(project), session_id + _SUFFIX)


def new_session_id(time_ms: int, random: bytes) -> str:
    """An id for a session that starts at `time_ms`; `random` is 16 bytes. Ids sort by their time."""
    time = (ALPHABET[time_ms >> shift & 31] for shift in range(45, -1, -5))
    return "".join((*time, *(ALPHABET[byte & 31] for byte in random[:RANDOM_BYTES])))


def is_session_id(word: str) -> bool:
    """Whether `word` has the shape of an id."""
    return _SESSION_ID.fullmatch(word) is not None


def find_session(word: str) -> str:
    """The path of the log that `word` names: an id of the store, in whatever project, or a path.

    Raises UsageError when there is none.
    """
    if is_session_id(word):
        found = next((session.path for session in list_sessions() if session.id == word), None)
        if found is not None:
            return found
    if os.path.lexists(word):
        return word
    raise UsageError(_unknown(word))


def list_sessions() -> list[StoredSession]:
    """Every session of the store, oldest first."""
    return sorted(_stored(), key=lambda session: (session.id, session.path))


def _sessions() -> str:
    return os.path.join(store_folder(), "sessions")


def _stored() -> Iterator[StoredSession]:
    for project in _names(_sessions()):
        folder = os.path.join(_sessions(), project)
        for name in _names(folder):
            session_id = name.removesuffix(_SUFFIX)
            if name.endswith(_SUFFIX) and is_session_id(session_id):
                yield StoredSession(session_id, os.path.join(folder, name), project, started_ms(session_id))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise UsageError(f"The session store `{folder}` cannot be read: {fault.strerror}.") from fault


def started_ms(session_id: str) -> int:
    """The time that an id tells, as Unix milliseconds."""
    time = 0
    for letter in session_id[:10]:
        time = time << 5 | ALPHABET.index(letter)
    return time


def _unknown(word: str) -> str:
    if os.sep in word or word.endswith((_SUFFIX, ".json")):
        return f"There is no file `{word}`."
    sessions = list_sessions()
    near = nearest(word, [session.id for session in sessions])
    if near is not None:
        return f"There is no session `{word}`. Did you mean `{near}`?"
    if not sessions:
        return f"There is no session `{word}`: the store `{_sessions()}` is empty. A path to a log works too."
    return f"There is no session `{word}` in `{_sessions()}`, and no such file. `rulebook session list` shows all."
