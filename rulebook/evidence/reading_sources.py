"""What an author writes under `from` and `expected_from` becomes a source, or faults."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeVar, cast, get_args

from msgspec.structs import replace
from pydantic import PlainValidator, WithJsonSchema

from rulebook.evidence.source_schema import ROLES, SOURCE_SCHEMA, WORDS
from rulebook.evidence.sources import (
    DEFAULT_LIMIT_BYTES,
    AssistantText,
    FinalMessage,
    GivenText,
    JsonPath,
    Messages,
    RepositoryDiff,
    RepositoryFile,
    Source,
    SubmissionText,
    SubmittedAnswers,
    TestOutput,
    ToolPart,
    ToolText,
)
from rulebook.languages.faults import Fault, LanguageError, Shown, refused
from rulebook.languages.fields import read_repository_path, read_size
from rulebook.languages.select import read_select
from rulebook.languages.template import read_template
from rulebook.place import Path
from rulebook.spelling import guess, listed

_WANTED = "a word such as `assistant`, or a mapping such as `{file: notes.txt}`"
_Raw = Mapping[str, object]
_Read = TypeVar("_Read")


def read_source(raw: object) -> Source:
    """The source that `raw` names. Raises LanguageError for what is none, or none that a session has."""
    match raw:
        case "assistant":
            return AssistantText()
        case "final_message":
            return FinalMessage()
        case str():
            words = {"value": raw, "key": "from", "choices": listed(WORDS), "guess": guess(raw, WORDS)}
            raise LanguageError(Fault("RB204", words))
        case Mapping():
            return _of_mapping(raw)
        case _:
            raise LanguageError(Fault("RB203", {"key": "from", "wanted": _WANTED, "found": "neither"}))


def _of_mapping(raw: _Raw) -> Source:
    if "python" in raw:
        where = "in a rubric's `context:`; a whole judge of your own is the kind `python`"
        raise LanguageError(Fault("RB210", {"key": "python", "where": where}, path=("python",)))
    if "column" in raw:
        where = "in a `rulebook.evaluation` file, whose rows have columns"
        raise LanguageError(Fault("RB210", {"key": "column", "where": where}, path=("column",)))
    heads = ["submission"] if "submission" in raw else [key for key in raw if key in _READERS]
    if len(heads) > 1:
        found = " and ".join(f"`{head}`" for head in heads)
        raise LanguageError(Fault("RB203", {"key": "from", "wanted": "one source", "found": f"{found} at once"}))
    if not heads:
        if not raw:
            raise LanguageError(Fault("RB203", {"key": "from", "wanted": _WANTED, "found": "empty"}))
        raise LanguageError(_unknown(next(iter(raw)), tuple(_READERS)))
    (head,) = heads
    read, beside = _READERS[head]
    faults = [_unknown(key, (head, *beside)) for key in raw if key != head and key not in beside]
    if faults:
        raise LanguageError(*faults)
    return read(raw)


def _transcript(raw: _Raw) -> Source:
    options = raw["transcript"]
    if not isinstance(options, Mapping):
        raise _wrong("transcript", "a mapping such as `{last: 5}`", "something else")
    faults = [_unknown(key, ("last", "roles"), "transcript") for key in options if key not in ("last", "roles")]
    if faults:
        raise LanguageError(*faults)
    roles = options.get("roles", list(ROLES))
    if not isinstance(roles, list):
        raise LanguageError(Fault("RB206", {"key": "roles", "list": Shown([roles])}, path=("transcript", "roles")))
    if not roles:
        raise LanguageError(Fault("RB207", {"key": "roles"}, path=("transcript", "roles")))
    for position, role in enumerate(roles):
        _choice("roles", role, ROLES, ("transcript", "roles", position))
    return Messages(_count(options, "last", ("transcript", "last")), tuple(roles))


def _tool(raw: _Raw) -> Source:
    part = raw.get("part", "result")
    _choice("part", part, get_args(ToolPart), ("part",))
    return ToolText(_text(raw, "tool"), cast(ToolPart, part), _count(raw, "last", ("last",)))


def _answers(raw: _Raw) -> Source:
    if raw["answers"] is True:
        return SubmittedAnswers()
    if raw["answers"] is False:
        why = "`false` names no text; write `answers: true`."
        raise LanguageError(Fault("RB215", {"key": "answers", "why": why}, path=("answers",)))
    if not isinstance(raw["answers"], str):
        raise _wrong("answers", "`true` or the name of an answer", "something else")
    return SubmittedAnswers(_text(raw, "answers"))


def _submission(raw: _Raw) -> Source:
    file = read_below("file", read_repository_path, _text(raw, "file")) if "file" in raw else ""
    return SubmissionText(_text(raw, "submission"), file, read_limit(raw))


def _file(raw: _Raw) -> Source:
    path = read_below("file", read_repository_path, _text(raw, "file"))
    return RepositoryFile(path, read_limit(raw))


def _diff(raw: _Raw) -> Source:
    if raw["diff"] is True:
        return RepositoryDiff(read_limit(raw))
    if raw["diff"] is False:
        why = "`false` names no text; write `diff: true`."
        raise LanguageError(Fault("RB215", {"key": "diff", "why": why}, path=("diff",)))
    raise _wrong("diff", "`true`", "something else")


def read_limit(raw: _Raw) -> int:
    """How many bytes of a text are read, as `max_bytes` says it. Raises LanguageError (RB203, RB214)."""
    value = raw.get("max_bytes")
    if value is None:
        return DEFAULT_LIMIT_BYTES
    # a bare number is shown both of its readings, so it is read as the text that it was written as
    return read_below("max_bytes", read_size, str(value) if isinstance(value, int) else _text(raw, "max_bytes"))


def _test(raw: _Raw) -> Source:
    stream = raw.get("stream", "stdout")
    _choice("stream", stream, ("stdout", "stderr"), ("stream",))
    return TestOutput(_text(raw, "test"), cast('Literal["stdout", "stderr"]', stream))


def _json_path(raw: _Raw) -> Source:
    return JsonPath(read_below("json_path", read_select, _text(raw, "json_path")))


def _given(raw: _Raw) -> Source:
    return GivenText(read_below("text", read_template, _text(raw, "text")))


_READERS: dict[str, tuple[Callable[[_Raw], Source], tuple[str, ...]]] = {
    "transcript": (_transcript, ()),
    "tool": (_tool, ("part", "last")),
    "answers": (_answers, ()),
    "submission": (_submission, ("file", "max_bytes")),
    "file": (_file, ("max_bytes",)),
    "diff": (_diff, ("max_bytes",)),
    "test": (_test, ("stream",)),
    "json_path": (_json_path, ()),
    "text": (_given, ()),
}
_SOURCES: tuple[type, ...] = get_args(Source)


def _text(raw: _Raw, key: str) -> str:
    value = raw[key]
    if not isinstance(value, str):
        raise _wrong(key, "text", "something else")
    if not value:
        raise LanguageError(Fault("RB216", {"key": key, "why": "it names what to read."}, path=(key,)))
    return value


def read_below(key: str, read: Callable[[str], _Read], text: str) -> _Read:
    """What `read` makes of the text under `key`. Raises its LanguageError, placed below that key."""
    try:
        return read(text)
    except LanguageError as error:
        raise LanguageError(*(replace(fault, path=(key, *fault.path)) for fault in error.faults)) from error


def _count(raw: _Raw, key: str, path: Path) -> int | None:
    value = raw.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(key, "a whole number", "something else", path)
    if value < 1:
        raise LanguageError(Fault("RB205", {"key": key, "wanted": "1 or more", "value": value}, path=path))
    return value


def _choice(key: str, value: object, choices: tuple[str, ...], path: Path) -> None:
    if value in choices:
        return
    words = {
        "value": value,
        "key": key,
        "choices": listed(choices),
        "guess": guess(str(value), choices, list_up_to=0),
    }
    raise LanguageError(Fault("RB204", words, path=path))


def _wrong(key: str, wanted: str, found: str, path: Path = ()) -> LanguageError:
    return LanguageError(Fault("RB203", {"key": key, "wanted": wanted, "found": found}, path=path or (key,)))


def _unknown(key: str, known: tuple[str, ...], above: str = "") -> Fault:
    words = {"key": key, "thing": f"`{above}`" if above else "a text source", "guess": guess(key, known)}
    return Fault("RB201", words, path=(above, key) if above else (key,))


def _validated(raw: object) -> Source:
    if isinstance(raw, _SOURCES):
        return cast(Source, raw)
    try:
        return read_source(raw)
    except LanguageError as error:
        raise refused(error) from error


SourceField = Annotated[Source, PlainValidator(_validated), WithJsonSchema(SOURCE_SCHEMA)]
"""The type of a field that names a source, for pydantic models."""
