"""What a rubric's `context` may hold: every source of text, and a provider of the harness's own."""

from collections.abc import Mapping
from typing import Annotated, Any, cast

from msgspec import Struct, field
from pydantic import PlainValidator, WithJsonSchema

from rulebook.evidence.reading_sources import read_below, read_limit, read_source
from rulebook.evidence.record import Wants
from rulebook.evidence.source_schema import SIZE_SCHEMA, SOURCE_SCHEMA
from rulebook.evidence.sources import DEFAULT_LIMIT_BYTES, Source, Typed, in_words, texts_of, wants_of
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.fields import read_class_name
from rulebook.place import Path
from rulebook.spelling import guess


class OwnContext(Struct, frozen=True):
    """`python`: what a class of the harness's own makes of the transcript; `args` is what it is made with, by name.

    It is code, and runs only where somebody allowed it.
    """

    use: str
    args: Mapping[str, object] = field(default_factory=dict)
    max_bytes: int = DEFAULT_LIMIT_BYTES


ContextSource = Source | OwnContext


def read_context(raw: object) -> ContextSource:
    """The source that `raw` names. Raises LanguageError for what is none."""
    if not isinstance(raw, Mapping) or "python" not in raw:
        return read_source(raw)
    strays = [_stray(key) for key in raw if key not in _KEYS]
    if strays:
        raise LanguageError(*strays)
    use, args = raw["python"], raw.get("args", {})
    if not isinstance(use, str):
        raise _wrong("python", "a class, such as `my_package.judges:Notes`")
    if not isinstance(args, Mapping):
        raise _wrong("args", "a mapping such as `{last: 5}`")
    return OwnContext(read_below("python", read_class_name, use), args, read_limit(raw))


def context_in_words(source: ContextSource) -> str:
    """The source as people call it."""
    return f"what `{source.use}` shows" if isinstance(source, OwnContext) else in_words(source)


def context_wants(source: ContextSource) -> Wants:
    """What must be kept of the session so that it can be read."""
    return Wants(messages=True, tool_calls=True) if isinstance(source, OwnContext) else wants_of(source)


def context_texts(source: ContextSource) -> tuple[tuple[Path, Typed], ...]:
    """What in it can be typed, as `texts_of` says it; nothing of a class's name."""
    return () if isinstance(source, OwnContext) else texts_of(source)


_KEYS = ("python", "args", "max_bytes")


def _stray(key: str) -> Fault:
    return Fault("RB201", {"key": key, "thing": "a context of your own", "guess": guess(key, _KEYS)}, path=(key,))


def _wrong(key: str, wanted: str) -> LanguageError:
    return LanguageError(Fault("RB203", {"key": key, "wanted": wanted, "found": "something else"}, path=(key,)))


def _validated(raw: object) -> ContextSource:
    if isinstance(raw, ContextSource):
        return raw
    try:
        return read_context(raw)
    except LanguageError as error:
        raise refused(error) from error


_OWN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["python"],
    "properties": {"python": {"type": "string"}, "args": {"type": "object"}, "max_bytes": SIZE_SCHEMA},
    "additionalProperties": False,
}

ContextField = Annotated[
    ContextSource,
    PlainValidator(_validated),
    WithJsonSchema({"anyOf": [*cast("list[Any]", SOURCE_SCHEMA["anyOf"]), _OWN_SCHEMA]}),
]
"""The type of an entry of `context`, for pydantic models."""
