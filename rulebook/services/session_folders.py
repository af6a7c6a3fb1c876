"""Which files are meant when a folder of sessions is named."""

import json
import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from rulebook.errors import UsageError

ENDINGS = (".jsonl", ".json", ".eval", ".traj", ".yaml", ".yml")
"""How the files that sessions are kept in are called; others in a folder are passed over."""

_OWN_REPORT = b'{\n  "audit": {\n    "events": '
_HEAD_BYTES = 64 * 1024
_PART_FOLDER = "subagents"


def gathered(words: Iterable[str], only: str | None = None) -> Iterator[str]:
    """The sessions that `words` name: ids and files as they are, and of a folder every file in it, sorted by path.

    None comes twice, on whichever ways it is named: it would count twice.

    Of a folder are left out: what is no regular file (a link is none), hidden names, other endings than `ENDINGS` (or
    names that do not match the glob `only`), files of sub-agents, which belong to the session beside them, and
    reports of our own. Whatever else is there counts as a session: a damaged one must not vanish.

    Raises UsageError for a folder that holds none.
    """
    known: set[str] = set()
    for word in words:
        top = os.path.realpath(word)
        if not os.path.isdir(word):
            if top not in known:
                yield word
            known.add(top)
            continue
        found = False
        for path in _below(word, only):
            found = True
            itself = os.path.join(top, path[len(word) :].lstrip("/"))
            if itself not in known:
                yield path
            known.add(itself)
        if not found:
            wanted = f"whose name matches `{only}`" if only else f"that ends in {', '.join(ENDINGS)}"
            raise UsageError(f"There is no session in the folder `{word}`: no file {wanted}.")


def _below(folder: str, only: str | None) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as fault:
        raise UsageError(f"I can't read the folder `{folder}`: {(fault.strerror or str(fault)).lower()}.") from fault
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name != _PART_FOLDER:
                yield from _below(entry.path, only)
        elif _is_wanted(entry, only):
            yield entry.path


def _is_wanted(entry: os.DirEntry[str], only: str | None) -> bool:
    named = fnmatchcase(entry.name, only) if only else entry.name.endswith(ENDINGS)
    if not named or not entry.is_file(follow_symlinks=False):
        return False
    return not (entry.name.startswith("agent-") and _is_subagents(entry.path)) and not _is_our_report(entry)


def _is_subagents(path: str) -> bool:
    """Whether the file's first record says that it is a sub-agent's, as Claude Code writes them."""
    try:
        first = json.loads(_head(path).split(b"\n", 1)[0])
    except ValueError:
        return False
    return isinstance(first, dict) and first.get("isSidechain") is True


def _is_our_report(entry: os.DirEntry[str]) -> bool:
    """Whether the file is a report that this program wrote, by its first bytes: they are the same in each."""
    return entry.name.endswith(".json") and _head(entry.path).startswith(_OWN_REPORT)


def _head(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_HEAD_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
