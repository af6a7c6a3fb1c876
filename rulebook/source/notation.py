"""Plain data as an author writes it, in YAML or in ZON, on one line: for messages that show what to write."""

import json
import re

from rulebook.source.located import Language
from rulebook.source.yaml_scalars import plain_value, two_readings
from rulebook.source.zon_values import name_in_zig

_PLAIN = re.compile(r"[A-Za-z_./+-]*[A-Za-z_][\w./+=-]*")


def written(data: object, language: Language) -> str:
    """A value: `[make, test]` in YAML, `.{ "make", "test" }` in ZON."""
    match data:
        case str():
            return text_written(data, language)
        case dict():
            inside = ", ".join(entry(str(key), value, language) for key, value in data.items())
            return f"{{{inside}}}" if language == "yaml" else f".{{ {inside} }}"
        case list():
            inside = ", ".join(written(value, language) for value in data)
            return f"[{inside}]" if language == "yaml" else f".{{ {inside} }}"
        case _:
            return json.dumps(data)


def entry(key: str, data: object, language: Language) -> str:
    """A key and its value: `count: 2` in YAML, `.count = 2` in ZON."""
    if language == "zon":
        return f".{name_in_zig(key)} = {written(data, language)}"
    return f"{text_written(key, language)}: {written(data, language)}"


def text_written(text: str, language: Language) -> str:
    """A text, in quotes where YAML needs them; `…` stands for whatever the author means."""
    if text == "…":
        return text
    if language == "yaml" and _PLAIN.fullmatch(text) and plain_value(text) == text and two_readings(text) is None:
        return text
    return quoted(text, language)


def quoted(text: str, language: Language) -> str:
    """A text in quotes."""
    if language == "zon":
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return "'" + text.replace("'", "''") + "'"
