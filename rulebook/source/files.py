"""Rule files on disk: which reader takes which file, and what keeps a file from being read."""

import errno
import os

from rulebook.diagnostic import problem
from rulebook.ports import Files
from rulebook.source import limits
from rulebook.source.located import Language, Reading

LANGUAGES: dict[str, Language] = {".yaml": "yaml", ".yml": "yaml", ".zon": "zon"}
"""The endings of rule files, and the notation that each stands for."""

_REASONS = {
    errno.ENOENT: "there is no file of that name",
    errno.ENOTDIR: "part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "you are not allowed to read it",
    errno.EPERM: "you are not allowed to read it",
    errno.ELOOP: "its links lead round in a circle",
    errno.ENAMETOOLONG: "its name is too long",
}


def language_of(path: str) -> Language | None:
    """The notation that a name's ending stands for; None for an ending that no rule file has."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower())


def read_rules(path: str, files: Files) -> Reading:
    """Read the rule file at `path` in the notation that its ending names. Never raises; one file is read."""
    language = language_of(path)
    if language is None:
        endings = ", ".join(f"`{ending}`" for ending in LANGUAGES)
        return _unreadable(path, f"a rule file's name ends in {endings}")
    try:
        raw = files.read(path, limits.MAX_BYTES)
    except OSError as error:
        return _unreadable(path, _reason(error))
    except ValueError:
        return _unreadable(path, "its name holds a character that no file name can hold")
    return read_bytes(raw, path, language)


def read_bytes(raw: bytes, file: str, language: Language) -> Reading:
    """Read a rule file that is in memory as bytes: at most 1 MiB of UTF-8, with or without a mark."""
    if len(raw) > limits.MAX_BYTES:
        return Reading(None, (limits.too_many_bytes(file, None),))
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Reading(None, (problem("RB102", file, None, line=1),))
    if b"\0" in raw:
        return _unreadable(file, "it is not text")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return Reading(None, (problem("RB102", file, None, line=line),))
    return read_text(text, file, language)


def read_text(text: str, file: str, language: Language) -> Reading:
    """Read a rule file that is already text, under the name that people know it by."""
    match language:
        case "yaml":
            from rulebook.source.yaml_reader import read_yaml  # 17 ms: a folder of ZON files does without

            return read_yaml(text, file)
        case "zon":
            from rulebook.source.zon_reader import read_zon  # only ZON files pay for it

            return read_zon(text, file)


def _reason(error: OSError) -> str:
    if error.errno in _REASONS:
        return _REASONS[error.errno]
    return error.strerror or str(error) or "the machine refuses to say why"


def _unreadable(path: str, reason: str) -> Reading:
    return Reading(None, (problem("RB101", path, None, reason=reason),))
