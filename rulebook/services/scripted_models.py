"""The `scripted` provider: answers played from a file, without a network and without a key."""

import threading
from collections.abc import Mapping
from typing import Any, get_args

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.model_port import Finish, ModelFailure, ModelReply, ModelRequest
from rulebook.outcome import Spent

_MAX_BYTES = 16 * 1024 * 1024
_KEYS = {"contains": str, "reply": str, "error": str, "finish": str, "times": int}


class Scripted(Struct):
    """One entry: a reply, or a failure in words, for questions that hold a text, as often as `times` (None: always)."""

    reply: str | None = None
    error: str | None = None
    contains: str = ""
    finish: Finish = "stop"
    times: int | None = None


class ScriptedModels:
    """Plays the file `[[answers]]` by `[[answers]]`: the first entry that fits a question and is not used up."""

    def __init__(self, path: str | None) -> None:
        self._entries = [] if path is None else _read(path)
        self._where = f"in `{path}`" if path else "anywhere: its provider has no `answers`"
        self._turn = threading.Lock()

    def answer(self, request: ModelRequest, model: str) -> ModelReply | ModelFailure:
        """What the file says to this question."""
        with self._turn:
            fitting = (entry for entry in self._entries if entry.times != 0 and entry.contains in request.user)
            entry = next(fitting, None)
            if entry is not None and entry.times is not None:
                entry.times -= 1
        if entry is None:
            return ModelFailure("harness", f"the scripted model has no answer to this question {self._where}")
        if entry.reply is None:
            return ModelFailure("harness", entry.error or "", Spent(calls=1))
        return ModelReply(entry.reply, model, entry.finish, Spent(calls=1))


def _read(path: str) -> list[Scripted]:
    import tomllib

    try:
        with open(path, "rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        data = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"the answers `{path}` cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the answers `{path}` are not TOML: {error}.") from error
    answers = data.get("answers")
    if not isinstance(answers, list) or set(data) != {"answers"}:
        raise UsageError(f"the answers `{path}` hold `[[answers]]` and nothing else.")
    return [_entry(entry, number, path) for number, entry in enumerate(answers, 1)]


def _entry(raw: Any, number: int, path: str) -> Scripted:
    said: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    sound = all(key in _KEYS and type(value) is _KEYS[key] for key, value in said.items())
    if not sound or ("reply" in said) == ("error" in said) or said.get("finish", "stop") not in _FINISHES:
        words = "`reply` or `error`, and beside it `contains`, `times` or `finish` (stop, length, refused)"
        raise UsageError(f"the answers `{path}`, entry {number}: an answer has {words}.")
    return Scripted(**said)


_FINISHES = get_args(Finish)
