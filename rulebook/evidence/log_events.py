"""The lines of an audit log: what each kind of event must say, and the check that a line says it.

Source: session-evals, the audit log; kinds and required fields as that system writes them.
"""

from typing import Any

import orjson

HEADER = b'{"chock_log":1}'
"""The first line, without its newline."""

PERMITTING = frozenset(("allowed_by_policy", "approved_by_user", "approved_by_user_for_session", "approved_by_review"))
"""The decisions that permit; every other word, an unknown one too, is a refusal."""

Payload = dict[str, Any]


class Undecodable(Exception):
    """A complete line that is no event; the text says why, in the words of `session verify`."""


def decoded(lines: list[bytes]) -> list[Any]:
    """The JSON value on each line; None where it is not JSON in UTF-8. Of a key given twice the last counts.

    Many lines at once cost a fifth less than the same lines one by one between other work.
    """
    try:
        return list(map(orjson.loads, lines))
    except ValueError:
        return [json_value(line) for line in lines]


def is_known(kind: str) -> bool:
    """Whether it is known here what an event of `kind` must say."""
    return kind in _KINDS


def fits(kind: str, payload: Any) -> bool:
    """Whether `payload` has what every event of the known `kind` must say. Raises KeyError when a field is missing."""
    return type(payload) is dict and _KINDS[kind].fits(payload)


def results_in(content: list[Any]) -> int:
    """How many tool results a message's content holds.

    Raises TypeError, KeyError or ValueError when a part is not an object of one key that holds what it must.
    """
    results = 0
    for part in content:
        (kind,) = part
        value = part[kind]
        if kind == "tool_result":
            right = type(value["call_id"]) is type(value["output"]) is str and type(value["is_error"]) is bool
            results += 1
        elif kind == "text":
            right = type(value) is str
        elif kind == "tool_use":
            right = type(value["call_id"]) is type(value["tool"]) is type(value["arguments"]) is str
        elif kind == "reasoning":
            right = type(value["text"]) is str
        else:
            right = type(part) is dict
        if not right:
            raise TypeError
    return results


def fault_of(envelope: Any) -> str:
    """Why a decoded line is no event; slow, and asked only when it is none."""
    if envelope is None:
        return "it is not JSON in UTF-8"
    fault = _ENVELOPE.fault(envelope)
    if fault:
        return fault
    if type(envelope.get("prev", "")) is not str:
        return "`prev` is not text"
    event = envelope["event"]
    if len(event) != 1:
        return f"`event` must have exactly one key, the event's kind, and has {len(event)}"
    ((kind, payload),) = event.items()
    fault = _KINDS[kind].fault(payload) if kind in _KINDS else ""
    if not fault and kind == "message" and not _are_parts(payload["content"]):
        fault = "a part of its `content` is not what it must be"
    return f"`{kind}`: {fault or 'a field that may be left out is there and is not of the right type'}"


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text; None when it is none."""
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def completed(kind: str, payload: Payload) -> Payload:
    """The payload with every field that an event of `kind` must have, empty where it was missing or of another type."""
    return {**payload, **(_KINDS[kind].lacking(payload) if kind in _KINDS else {})}


def _are_parts(content: list[Any]) -> bool:
    try:
        results_in(content)
    except (LookupError, TypeError, ValueError):
        return False
    return True


class _Shape:
    """What an object must hold, from `name:letter` words: s text, i integer, b yes or no, l list, o object."""

    def __init__(self, words: str) -> None:
        pairs = [word.split(":") for word in words.split()]
        self._fields = tuple((name, _LETTERS[letter]) for name, letter in pairs)

    def fits(self, value: Any) -> bool:
        """Whether `value` has every field. Raises KeyError or TypeError, too, when it has not."""
        for name, type_ in self._fields:  # noqa: SIM110 — this runs for most lines of a log, and all() costs half again
            if type(value[name]) is not type_:
                return False
        return True

    def lacking(self, value: Payload) -> Payload:
        """The fields that `value` has not, each empty."""
        return {name: type_() for name, type_ in self._fields if type(value.get(name)) is not type_}

    def fault(self, value: Any) -> str:
        """What is wrong with the fields of `value`; empty when nothing is."""
        if type(value) is not dict:
            return "it is not an object"
        for name, type_ in self._fields:
            if name not in value:
                return f"`{name}` is missing"
            if type(value[name]) is not type_:
                return f"`{name}` is not {_WORDS[type_]}"
        return ""


_LETTERS: dict[str, type] = {"s": str, "i": int, "b": bool, "l": list, "o": dict}
_WORDS: dict[type, str] = {
    str: "text", int: "a whole number", bool: "`true` or `false`", list: "a list", dict: "an object",
}  # fmt: skip

_ENVELOPE = _Shape("id:i session:s time_ms:i event:o")

_KINDS = {
    "session.start": _Shape("agent_kind:s model_alias:s parent_session:s"),
    "session.config": _Shape(""),
    "session.end": _Shape("reason:s detail:s"),
    "session.spawn": _Shape("child_session:s child_agent_kind:s reason:s"),
    "session.title": _Shape("title:s"),
    "session.imported": _Shape("from:s source_path:s content_hash:s imported_ms:i"),
    "message": _Shape("role:s content:l"),
    "tool.call": _Shape("call_id:s tool:s arguments:s"),
    "tool.result": _Shape("call_id:s output:s is_error:b truncated:b"),
    "approval.request": _Shape(
        "action:s summary:s detail:s reason:s agent_kind:s spawn_chain:l timeout_at_ms:i tool_call_id:s"
    ),
    "approval.response": _Shape("request_id:i decision:s responder:s"),
    "prompt.password": _Shape("correlation_id:s prompt:s"),
    "diff": _Shape("path:s patch:s change_set_id:s review:s review_note:s"),
    "compaction": _Shape("summary:s from_id:i through_id:i kept_ranges:l model_alias:s"),
    "usage": _Shape(""),
    "task.complete": _Shape("task_id:s command:s status:s code:i output_path:s output_bytes:i truncated:b"),
    "agent.complete": _Shape("child_session:s child_agent_kind:s outcome:s result:s scratchpad_path:s"),
    "plan.update": _Shape("steps:l"),
    "policy.self": _Shape("restrictions:l"),
    "workspace.open": _Shape("kind:s attempt:s path:s base_commit:s"),
    "workspace.integrate": _Shape("ref:s mode:s decision:s branch:s branch_from:s branch_to:s parked:s"),
    "workspace.adopt": _Shape("attempt:s path:s"),
    "sandbox.open": _Shape("attempt:s write_execute:s decision:s"),
    "sandbox.supervisor": _Shape("process:s layer:s"),
    "sandbox.syscalls": _Shape("mechanism:s"),
    "device.exposed": _Shape("attempt:s action:s decision:s"),
    "network.summary": _Shape(""),
}
