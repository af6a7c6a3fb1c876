"""Rule files on disk: finding them in folders, and reading them for showing."""

import os
import re
from collections.abc import Iterator

from rulebook.errors import UsageError
from rulebook.services.files import MachineFiles
from rulebook.spelling import guess

ENDINGS = (".yaml", ".yml", ".zon")
_HEAD_BYTES = 256 * 1024
_SHOWN_BYTES = 1024 * 1024
_YAML_SCHEMA = rb"""(?m)^(?:\xef\xbb\xbf)?(?:\{\s*)?["']?schema["']?\s*:"""
_ZON_SCHEMA = rb"\.(?:schema|@\"schema\")\s*="


def rule_files_below(path: str) -> list[str]:
    """The file itself, or every rule file below a folder, in a stable order.

    In a folder only files that carry a `schema:` count; hidden folders are left out and links to folders
    are not followed. Raises UsageError when nothing is there.
    """
    if not os.path.lexists(path):
        raise UsageError(f"there is no `{path}`.{near_path(path)}")
    if not os.path.isdir(path):
        return [path]
    found = [name for name in _files_below(path) if _has_schema(name)]
    if not found:
        raise UsageError(f"`{path}` holds no rule file: one ends in {', '.join(ENDINGS)} and has a `schema:`.")
    return found


def text_of(path: str) -> str:
    """A rule file's text for showing it, odd bytes replaced; empty when it cannot be read."""
    try:
        data = MachineFiles().read(path, _SHOWN_BYTES)
    except OSError:
        return ""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def near_path(path: str) -> str:
    """What to say after "there is no such path": the nearest name beside it, or nothing."""
    folder, name = os.path.split(path.rstrip(os.sep))
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return f" There is no folder `{folder}` either."
    return guess(name, beside, list_up_to=0)


def _files_below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(ENDINGS):
                yield os.path.normpath(os.path.join(here, name))


def _has_schema(path: str) -> bool:
    """Whether a file carries the key that makes it a rule file; an unreadable one counts, to be named."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return True
    return re.search(_ZON_SCHEMA if path.endswith(".zon") else _YAML_SCHEMA, head) is not None
