"""Files that do not stand in a work tree as they stand in the commit, because the commit itself says so.

Its own `.gitattributes` may ask for other line endings or another encoding, or put a pointer of Git LFS in the place of
a large file. What a setting or an attribute of the work tree says is not believed.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping

from rulebook.evidence.lfs import POINTER_BYTES, Pointer, read_pointer
from rulebook.ports import GitError
from rulebook.services.git_runs import WORK_LIMIT_S, GitRuns
from rulebook.services.git_worktree import LINK, Entry, Found
from rulebook.services.workspaces import throw_away

_ASKED = ("eol", "ident", "working-tree-encoding", "filter")
_REWRITING = ("ident", "working-tree-encoding", "filter")
_NOTHING = ("unspecified", "unset")
_CHUNK_BYTES = 1024 * 1024


def as_checked_out(
    runs: GitRuns, repository: str, committed: Mapping[str, Entry], found: Found
) -> dict[str, str | None]:
    """The object that each file would be if a checkout wrote it, where it does not stand there as committed.

    None for a file that stands there just so, or as the very content of its pointer. The index of `runs` holds the
    commit. Raises GitError, also for a file that only a filter of the repository's could make: a program of strangers.
    """
    if not any(path.rpartition("/")[2] == ".gitattributes" for path in committed):
        return {}
    both = [path for path, mode in found.files.items() if mode != LINK and _is_file(committed.get(path))]
    attributes = _attributes(runs, both)
    odd = [path for path in both if path in attributes and _may_differ(attributes[path])]
    names = _hashed(runs, [os.path.join(repository, path) for path in odd])
    differing = {path: name for path, name in zip(odd, names, strict=True) if name != committed[path].id}
    filtered = {path: attributes[path]["filter"] for path in differing if "filter" in attributes[path]}
    same: dict[str, str | None] = {
        path: None for path in filtered if _is_filled(runs, repository, path, filtered[path], committed[path])
    }
    return {**_written_out(runs, {path: differing[path] for path in differing if path not in filtered}), **same}


def _attributes(runs: GitRuns, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the commit's own attributes say of these paths, where they say anything."""
    asked = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
    said = runs.output("check-attr", "--cached", "-z", "--stdin", *_ASKED, stdin=asked, limit_s=WORK_LIMIT_S)
    words = iter(said.split("\0")[:-1])
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(words, words, words, strict=True):
        if value not in _NOTHING and (name, value) != ("filter", "set"):
            found.setdefault(path, {})[name] = value
    return found


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.size_bytes is not None and entry.mode != LINK


def _may_differ(attributes: Mapping[str, str]) -> bool:
    return attributes.get("eol") == "crlf" or not attributes.keys().isdisjoint(_REWRITING)


def _written_out(runs: GitRuns, own: Mapping[str, str]) -> dict[str, str | None]:
    """The objects of these files as a checkout writes them; None where that is the object that is there."""
    if not own:
        return {}
    with throw_away() as folder:
        aside = runs.over(folder)  # where no `.gitattributes` stands, those of the index count
        asked = "".join(f"{path}\0" for path in own).encode(errors="surrogateescape")
        aside.output("checkout-index", "-z", "--stdin", "--force", stdin=asked, limit_s=WORK_LIMIT_S)
        top = os.path.realpath(folder)
        names = _hashed(runs, [os.path.join(top, path) for path in own])
        other = [path for path, name in zip(own, names, strict=True) if name != own[path]]
        kept = _hashed(runs, [os.path.join(top, path) for path in other], "-w")
    return {**dict.fromkeys(own), **dict(zip(other, kept, strict=True))}


def _hashed(runs: GitRuns, places: list[str], *how: str) -> list[str]:
    """The names of these files' bytes as objects, in their order."""
    words = ("hash-object", *how, "--no-filters")
    plain = [place for place in places if "\n" not in place and not place.endswith("\r")]
    asked = "".join(f"{place}\n" for place in plain).encode(errors="surrogateescape")
    said = runs.output(*words, "--stdin-paths", stdin=asked, limit_s=WORK_LIMIT_S).split() if plain else []
    known = dict(zip(plain, said, strict=True))
    return [known[place] if place in known else runs.output(*words, "--", place).strip() for place in places]


def _is_filled(runs: GitRuns, repository: str, path: str, filter: str, entry: Entry) -> bool:
    pointer = None
    if entry.size_bytes is not None and entry.size_bytes < POINTER_BYTES:
        pointer = read_pointer(runs.output("cat-file", "blob", entry.id).encode(errors="surrogateescape"))
    if pointer is None and filter != "lfs":
        raise GitError(f"`{path}` passes through the filter `{filter}`, a program, which is not run")
    return pointer is not None and _is_content(os.path.join(repository, path), pointer)


def _is_content(place: str, pointer: Pointer) -> bool:
    digest, size = hashlib.sha256(), 0
    try:
        with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise GitError(f"`{place}` cannot be read: {error.strerror}") from error
    return (digest.hexdigest(), size) == pointer
