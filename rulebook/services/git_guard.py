"""Refusing a git folder over which git would wait for ever: a pipe or a device where it expects a file."""

import os
import re
import stat
from collections.abc import Iterator

from rulebook.ports import GitError

_POINTER_BYTES = 8192
_CONFIG_BYTES = 1024 * 1024
_MOST_INCLUDES = 100

_INCLUDES = re.compile(rb"\[\s*include", re.IGNORECASE)
_INCLUDED = re.compile(rb"(?:^|\])[ \t]*path[ \t]*=[ \t]*(.*?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_PLAIN = re.compile(rb'("?)([^"\\#;%]*)\1')


def refuse_waiting(repository: str, *, look_above: bool = False) -> None:
    """Raise GitError when some part of the repository's git folder, or what its configuration includes, never ends.

    `look_above`: the repository may be that of a folder above. Where there is none, git may say so itself.
    """
    for folder in _git_folders(repository, look_above):
        for path in _strange(folder):
            if _never_ends(path):
                raise GitError(f"`{path}` is a pipe or a device: git would wait for it")
        for name in ("config", "config.worktree"):
            _refuse_includes(os.path.join(folder, name))


def _git_folders(repository: str, look_above: bool) -> list[str]:
    """The git folder of a work tree, then the one that it shares with others, where it does."""
    place = repository
    while not os.path.lexists(os.path.join(place, ".git")):
        if os.path.lexists(os.path.join(place, "HEAD")) and os.path.lexists(os.path.join(place, "objects")):
            return [place]
        above = os.path.dirname(place)
        if not look_above or above == place:
            return []
        place = above
    folder = os.path.join(place, ".git")
    if not os.path.isdir(folder):
        folder = os.path.join(place, _said(folder).removeprefix("gitdir:").strip())
    shared = _said(os.path.join(folder, "commondir")).strip()
    return [folder, *([os.path.join(folder, shared)] if shared else [])]


def _said(path: str) -> str:
    """What a small file says, nothing when it is not there. Raises GitError for what never ends."""
    return os.fsdecode(_content(path, _POINTER_BYTES))


def _content(path: str, limit_bytes: int) -> bytes:
    if _never_ends(path):
        raise GitError(f"`{path}` is a pipe or a device: git would wait for it")
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return stream.read(limit_bytes + 1) or b""  # some files of the kernel would block, too
    except OSError:  # git will say it better
        return b""


def _strange(folder: str) -> Iterator[str]:
    """Everything below that is neither a file nor a folder."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        yield entry.path
        except OSError:  # git will say it better, should it go there
            continue


def _never_ends(path: str) -> bool:
    """Whether a pipe or a device stands there, or where a link leads to. A socket cannot be opened at all."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _refuse_includes(config: str) -> None:
    waiting, seen = [config], set[str]()
    while waiting:
        path = waiting.pop()
        text = _content(path, _CONFIG_BYTES)
        if len(text) > _CONFIG_BYTES or len(seen) > _MOST_INCLUDES:
            raise GitError(f"`{config}` is larger than any configuration of git")
        seen.add(path)
        if _INCLUDES.search(text):
            waiting += [place for place in _included(path, text) if place not in seen]


def _included(config: str, text: bytes) -> Iterator[str]:
    for said in _INCLUDED.findall(text):
        plain = _PLAIN.fullmatch(said)
        if plain is None:
            raise GitError(f"`{config}` includes another file in a way that is not followed here")
        name = os.fsdecode(plain[2])
        yield os.path.join(os.path.dirname(config), os.path.expanduser(name))
