"""The JSON Schema of what may stand where a source of text is written."""

from typing import Any, get_args

from rulebook.evidence.sources import ToolPart

WORDS = ("assistant", "final_message")
ROLES = ("system", "user", "assistant", "tool")

SIZE_SCHEMA = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB)$"}

SOURCE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"enum": list(WORDS)},
        {
            "type": "object",
            "minProperties": 1,
            "properties": {
                "transcript": {
                    "type": "object",
                    "properties": {
                        "last": {"type": "integer", "minimum": 1},
                        "roles": {"type": "array", "items": {"enum": list(ROLES)}, "minItems": 1},
                    },
                    "additionalProperties": False,
                },
                "tool": {"type": "string"},
                "part": {"enum": list(get_args(ToolPart))},
                "last": {"type": "integer", "minimum": 1},
                "answers": {"anyOf": [{"const": True}, {"type": "string", "minLength": 1}]},
                "submission": {"type": "string"},
                "file": {"type": "string"},
                "diff": {"const": True},
                "max_bytes": SIZE_SCHEMA,
                "test": {"type": "string"},
                "stream": {"enum": ["stdout", "stderr"]},
                "json_path": {"type": "string"},
                "text": {"type": "string"},
            },
            "additionalProperties": False,
        },
    ]
}
