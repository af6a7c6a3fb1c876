"""Recordings built in a test: exchanges of each provider, written to a file and read."""

import json
from pathlib import Path
from typing import Any

from sessions_read import check_invariants, read

from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

CHAT = "https://models.example/v1/chat/completions"
RESPONSES = "https://models.example/v1/responses"
ANTHROPIC = "https://models.example/v1/messages"
CALL = {"id": "c1", "type": "function", "function": {"name": "rm", "arguments": "{}"}}


def exchange(uri: str, asked: Any, answered: Any, status: int = 200) -> dict[str, Any]:
    """One exchange; a body that is text stays text."""
    return {
        "request": {"method": "POST", "uri": uri, "body": asked if isinstance(asked, str) else json.dumps(asked)},
        "response": {
            "status": {"code": status},
            "body": {"string": answered if isinstance(answered, str) else json.dumps(answered)},
        },
    }


def chat(messages: list[Any], reply: Any, finish: str = "stop") -> dict[str, Any]:
    """One exchange of Chat Completions; `reply` is a text or a message."""
    message = {"role": "assistant", **({"content": reply} if isinstance(reply, str) else reply)}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return exchange(
        CHAT, {"messages": messages}, {"choices": [{"finish_reason": finish, "message": message}], "usage": usage}
    )


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def recorded(folder: Path, *exchanges: dict[str, Any], format_name: str | None = None) -> Transcript:
    """The reading of a recording of these exchanges, which keeps what always holds."""
    path = folder / "recording.json"
    path.write_text(json.dumps({"interactions": exchanges, "version": 1}), encoding="utf-8")
    transcript = read(path, format_name)
    check_invariants(transcript, path)
    return transcript


def codes(transcript: Transcript) -> set[str]:
    return {warning.code for warning in transcript.warnings}


def measured(transcript: Transcript) -> bool:
    """Whether a rule on calls can be measured, and so a forbidden tool be found absent."""
    return "tool_calls" in record_of(transcript).carries
