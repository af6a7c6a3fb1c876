"""What a tool of Codex answered: JSON or prose, and what either says of the exit.

Source: Codex, `core/src/tools`, versions 0.2 to 0.146.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from rulebook.evidence.session_files.values import amount, joined, mapping, parsed, sequence, word, written
from rulebook.evidence.transcript import ToolResult

_COMMANDS = frozenset(
    (
        "shell", "shell_command", "container.exec", "local_shell", "local_shell_call", "exec_command", "write_stdin",
        "unified_exec", "apply_patch",
    )
)  # fmt: skip
"""The tools whose answers Codex words itself: any other can print what looks like an exit code."""

_EXIT = re.compile(
    r"(?:Exit code: |Process exited with code |(?:failed in sandbox|execution error)\b[^\n]*?\bexit code: )"
    r"(-?\d{1,9})\b"
)
_SECONDS = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds", re.MULTILINE)
_HEAD_CHARS = 1000
_NOT_RUN = re.compile(r"(?:(?:exec command|command|patch) )?rejected by user\b")
_FAILED = re.compile(
    r"aborted by user\b|failed in sandbox\b|execution error\b|failed to parse function arguments\b|unsupported call\b"
    r"|apply_patch verification failed\b|exec_command failed\b|write_stdin failed\b|command timed out\b"
)


class Outcome(Struct, frozen=True):
    """What an event beside the conversation says of a call. None where it does not say."""

    failed: bool | None = None
    exit_code: int | None = None
    seconds: float | None = None
    declined: bool = False


def content_texts(content: object) -> list[str]:
    """The text parts of a content: text, one part, or a list of parts. Images and encrypted parts are left out."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else mapping(part).get("text") for part in parts]
    return [text for text in texts if isinstance(text, str)]


def result_of(tool: str | None, payload: Mapping[str, object], outcome: Outcome | None) -> ToolResult:
    """The result in an output item. `tool` names the call that it answers, `outcome` what an event said of it."""
    given = payload.get("output", payload.get("result", payload.get("tools")))
    text = _text(given)
    result = ToolResult(word(payload.get("call_id")), text)
    if tool in _COMMANDS:
        _of_command(result)
    success = mapping(given).get("success")
    if result.is_error is None and isinstance(success, bool):
        result.is_error = not success
    if outcome is not None:
        result.exit_code = outcome.exit_code if result.exit_code is None else result.exit_code
        result.seconds = outcome.seconds if result.seconds is None else result.seconds
        result.is_error = outcome.failed if result.is_error is None else result.is_error
        result.ran = False if outcome.declined else result.ran
    return result


def outcome_of(payload: Mapping[str, object]) -> Outcome:
    """The outcome that an `…_end` event or a completed item states."""
    code, status = payload.get("exit_code"), str(payload.get("status", "")).lower()
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    success, answer = payload.get("success"), mapping(payload.get("result"))
    failed = None if exit_code is None else exit_code != 0
    if isinstance(success, bool):
        failed = not success
    if failed is None and ("Err" in answer or "Ok" in answer):
        failed = "Err" in answer or mapping(answer.get("Ok")).get("isError") is True
    if failed is None and status in ("completed", "failed", "declined"):
        failed = status != "completed"
    return Outcome(failed, exit_code, _duration(payload.get("duration")), status == "declined")


def _text(given: object) -> str:
    if isinstance(given, dict) and not isinstance(given.get("text"), str):
        inner = given.get("content", given.get("body"))
        return written(given) if inner is None else _text(inner)
    texts = content_texts(given)
    told = not texts and bool(sequence(given)) and not any("image_url" in mapping(part) for part in sequence(given))
    return written(given) if told else joined(texts)


def _of_command(result: ToolResult) -> None:
    """Take the exit out of a command's answer: from its JSON, or from the words before its output."""
    told = _report(result.text)
    if told is not None:
        metadata = mapping(told.get("metadata"))
        code = metadata.get("exit_code")
        result.text = str(told["output"])
        result.exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
        result.seconds = amount(metadata.get("duration_seconds"))
        result.is_error = None if result.exit_code is None else result.exit_code != 0
        return
    head = result.text[:_HEAD_CHARS].partition("\nOutput:\n")[0]
    first = head.partition("\n")[0]
    stated = _EXIT.match(head) or (_EXIT.search(head) if _SECONDS.search(head) else None)
    seconds = _SECONDS.search(head)
    result.exit_code = int(stated[1]) if stated else None
    result.seconds = float(seconds[1]) if seconds else None
    if result.exit_code is not None:
        result.is_error = result.exit_code != 0
    elif _FAILED.match(first):
        result.is_error = True
    elif _NOT_RUN.match(first):
        result.ran = False


def _report(text: str) -> Mapping[str, object] | None:
    """The JSON around a command's output, if that is what the text is."""
    if not text.startswith("{"):
        return None
    try:
        value = mapping(parsed(text))
    except ValueError:
        return None
    return value if isinstance(value.get("output"), str) and isinstance(value.get("metadata"), dict) else None


def _duration(given: object) -> float | None:
    """Seconds of `{secs, nanos}`."""
    secs, nanos = amount(mapping(given).get("secs")), amount(mapping(given).get("nanos"))
    return None if secs is None else secs + (nanos or 0.0) / 1e9
