"""The `scripted` provider: answers and vectors played from a file, without a network and without a key."""

import math
import os
import threading
from collections.abc import Mapping
from typing import Any, get_args

from msgspec import Struct

from rulebook.errors import UsageError
from rulebook.model_port import Finish, ModelFailure, ModelReply, ModelRequest, Vector
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
    """Plays the file `[[answers]]` by `[[answers]]`: the first entry that fits a question and is not used up.

    The vector of a text is that of its `[[vectors]]`.
    """

    def __init__(self, path: str | None) -> None:
        self._entries, self._vectors = ([], {}) if path is None else _read(path)
        self._where = f"in `{os.path.basename(path)}`" if path else "anywhere: its provider has no `answers`"
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

    def vector(self, text: str) -> Vector | ModelFailure:
        """What the file says of this text."""
        found = self._vectors.get(text)
        return found or ModelFailure("harness", f"the scripted model has no vector for `{text:.80}` {self._where}")


def _read(path: str) -> tuple[list[Scripted], dict[str, Vector]]:
    import tomllib

    try:
        with open(path, "rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        data = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"the answers `{path}` cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the answers `{path}` are not TOML: {error}.") from error
    answers, vectors = data.get("answers", []), data.get("vectors", [])
    if not isinstance(answers, list) or not isinstance(vectors, list) or not data or set(data) - {"answers", "vectors"}:
        raise UsageError(f"the answers `{path}` hold `[[answers]]` and `[[vectors]]`, and nothing else.")
    entries = [_entry(entry, number, path) for number, entry in enumerate(answers, 1)]
    return entries, dict(_vector(entry, number, path) for number, entry in enumerate(vectors, 1))


def _entry(raw: Any, number: int, path: str) -> Scripted:
    said: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    sound = all(key in _KEYS and type(value) is _KEYS[key] for key, value in said.items())
    if not sound or ("reply" in said) == ("error" in said) or said.get("finish", "stop") not in _FINISHES:
        words = "`reply` or `error`, and beside it `contains`, `times` or `finish` (stop, length, refused)"
        raise UsageError(f"the answers `{path}`, entry {number}: an answer has {words}.")
    return Scripted(**said)


def _vector(raw: Any, number: int, path: str) -> tuple[str, Vector]:
    said: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    text, numbers = said.get("text"), said.get("vector")
    given = numbers if isinstance(numbers, list) else []
    sound = [float(each) for each in given if type(each) in (int, float) and math.isfinite(each)]
    if set(said) != {"text", "vector"} or not isinstance(text, str) or not sound or len(sound) != len(given):
        raise UsageError(f"the answers `{path}`, vector {number}: it has a `text` and a `vector`, a list of numbers.")
    return text, tuple(sound)


_FINISHES = get_args(Finish)
