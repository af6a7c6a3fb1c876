"""Amounts, paths and commands as authors write them, for the fields of rule files."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, Shown, refused
from rulebook.languages.template import TemplateField
from rulebook.languages.values import Sha256

__all__ = [
    "Argv",
    "Duration",
    "FolderPath",
    "LiveArgv",
    "RepositoryPath",
    "Sha256",
    "Size",
    "StudentPath",
    "shell_signs",
]

Value = TypeVar("Value")

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_AMOUNT = r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>[A-Za-z]*)"
_SHELL_SIGN = r"&&|\|\|?|;|&|[0-9]?>>?(?:&[0-9])?|<<?"
_SHELL_PART = r"\$(?=[({A-Za-z_])|`|(?<![\w.])\*"


def read_duration(text: str) -> float:
    """A time such as `30s`, `15m` or `2h`, in seconds. Raises LanguageError with RB214."""
    number, unit = _amount(text)
    if number is not None and unit in _SECONDS and number > 0:
        return number * _SECONDS[unit]
    example = "`30s`, `15m` or `2h`"
    if number is not None and unit == "":
        example = f"`{text}s` for seconds or `{text}m` for minutes"
    elif number == 0:
        example = "`30s`: a time longer than none"
    raise LanguageError(Fault("RB214", {"value": text, "what": "a time", "example": example}))


def read_size(text: str) -> int:
    """A size such as `512 KiB` or `1 MiB`, in bytes. Raises LanguageError with RB214."""
    number, unit = _amount(text)
    if number is not None and unit in _BYTES and (number * _BYTES[unit]).is_integer():
        return int(number * _BYTES[unit])
    example = "`512 KiB` or `1 MiB`"
    if number is not None and unit == "":
        example = f"`{text} B` for bytes or `{text} KiB` for 1024 times that"
    raise LanguageError(Fault("RB214", {"value": text, "what": "a size", "example": example}))


def read_repository_path(text: str) -> str:
    """A path that stays inside a repository: relative, without `..`, with `/` between names.

    Raises LanguageError with RB308.
    """
    return _inside(text, "the repository", "from the top of the repository")


def read_student_path(text: str) -> str:
    """The same of a path that stays inside the folder in which a student works. Raises LanguageError with RB308."""
    return _inside(text, "the student's folder", "from the student's folder")


def read_folder_path(text: str) -> str:
    """The same of a path that stays inside the folder of its rule file. Raises LanguageError with RB308."""
    return _inside(text, "this file's folder", "from this file's folder")


def read_class_name(text: str) -> str:
    """The name of a class of an author's own, `module:Class`. Raises LanguageError (RB214)."""
    if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", text):
        return text
    words = {"value": text, "what": "a class", "example": "`my_package.judges:PoliteJudge`"}
    raise LanguageError(Fault("RB214", words))


def _inside(text: str, folder: str, start: str) -> str:
    how = _leaves(text, start)
    if how is None:
        return text
    mended = re.sub(r"/+", "/", re.sub(r"(^|/)\./", r"\1", text)).removesuffix("/")
    kept = mended if mended and mended != text and _leaves(mended, start) is None else None
    words = {"folder": folder, "path": text.replace("\0", "␀"), "how": how}
    raise LanguageError(Fault("RB308", words, mended=kept, safe=kept is not None))


def shell_signs(argv: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The signs in a command that only a shell would understand, each with the place of its word.

    The words behind the option `-c` are another program's, and are left alone.
    """
    for index, word in enumerate(argv):
        if index > 0 and re.fullmatch(r"-[a-z]*c", argv[index - 1]):
            return
        found = re.fullmatch(_SHELL_SIGN, word) or re.search(_SHELL_PART, word)
        if found is not None:
            yield index, found.group()


def _amount(text: str) -> tuple[float | None, str]:
    found = re.fullmatch(_AMOUNT, text)
    return (None, "") if found is None else (float(found["number"]), found["unit"])


def _leaves(path: str, start: str) -> str | None:
    """What keeps `path` from being the plain way to a file inside a folder, in words that follow it."""
    names = path.split("/")
    if not path:
        return "is empty"
    if "\0" in path:
        return "has a character that no file name can have"
    if path.startswith("/"):
        return f"is absolute: write it {start}"
    if re.match(r"[A-Za-z]:", path):
        return "begins with a drive letter"
    if "\\" in path:
        return "has a backslash: write `/` between names"
    if ".." in names:
        return "climbs out with `..`"
    if "." in names or "" in names:
        return "has an empty name or a `.` in it: write it without"
    return None


def _from_text(read: Callable[[str], Value], example: str) -> Callable[[object], Value]:
    def validate(value: object) -> Value:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value:g}"
        if not isinstance(value, str):
            raise PydanticCustomError("rulebook_wrong_type", "not valid", {"wanted": example})
        try:
            return read(value)
        except LanguageError as error:
            raise refused(error) from error

    return validate


def _only_text(read: Callable[[str], Value]) -> Callable[[object], Value]:
    def validate(value: object) -> Value:
        if not isinstance(value, str):
            raise PydanticCustomError("rulebook_wrong_type", "not valid", {"wanted": "text"})
        try:
            return read(value)
        except LanguageError as error:
            raise refused(error) from error

    return validate


def _a_list(value: object) -> object:
    """Refuse a command in one line, with the list that it would be."""
    if not isinstance(value, str):
        return value
    import shlex  # only a command in one line pays for it

    try:
        words = shlex.split(value)
    except ValueError:
        words = value.split()
    raise refused(LanguageError(Fault("RB501", {"example": Shown(words or ["program"])})))


def _program_named(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not argv[0].strip():
        why = "it is the program to run."
        raise refused(LanguageError(Fault("RB216", {"key": "the first word", "why": why}, path=(0,))))
    return argv


Duration = Annotated[
    float,
    PlainValidator(_from_text(read_duration, "a time such as `30s`")),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?[smh]$"}),
]
"""A time, in seconds once it is read."""

Size = Annotated[
    int,
    PlainValidator(_from_text(read_size, "a size such as `512 KiB`")),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB)$"}),
]
"""A size, in bytes once it is read."""

RepositoryPath = Annotated[
    str, PlainValidator(_only_text(read_repository_path)), WithJsonSchema({"type": "string", "minLength": 1})
]
"""The way to a file of the repository, from its top."""

StudentPath = Annotated[
    str, PlainValidator(_only_text(read_student_path)), WithJsonSchema({"type": "string", "minLength": 1})
]
"""The way to what a student writes, from the folder in which it works."""

FolderPath = Annotated[
    str, PlainValidator(_only_text(read_folder_path)), WithJsonSchema({"type": "string", "minLength": 1})
]
"""The way to a file beside the rule file or below, from its folder."""

Argv = Annotated[
    tuple[str, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(_a_list),
    AfterValidator(_program_named),
]
"""A command as a list of words: never a line for a shell."""

LiveArgv = Annotated[tuple[TemplateField, ...], Field(strict=False, min_length=1), BeforeValidator(_a_list)]
"""A command as a list of words, each of which may be a template."""
