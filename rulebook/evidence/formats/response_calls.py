"""The calls and results among the items of OpenAI's Responses API.

Source: OpenAI API reference, Responses.
"""

from collections.abc import Mapping

from rulebook.evidence.formats.chat_messages import call_of, text_of
from rulebook.evidence.session_files.values import joined, mapping, sequence, word, written
from rulebook.evidence.transcript import ToolCall, ToolResult

_PROVIDER_RUNS = frozenset(
    (
        "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
        "hosted_tool_call",
    )
)  # fmt: skip
_NO_ARGUMENTS = frozenset(
    (
        "id", "type", "status", "call_id", "name", "output", "outputs", "result", "results", "error", "fingerprint",
        "pending_safety_checks", "container_id", "created_by", "caller", "approval_request_id",
    )
)  # fmt: skip


def is_call(kind: str) -> bool:
    """Whether items of this type call a tool."""
    return kind.endswith("_call") or kind in ("program", "mcp_approval_request")


def call_in(kind: str, item: Mapping[str, object]) -> ToolCall:
    """The call of one item. What the provider's own tools are asked for has a shape of its own for each."""
    call_id = word(item.get("call_id")) or word(item.get("id")) or ""
    name = word(item.get("name")) or kind.removesuffix("_call")
    if "arguments" in item:
        return call_of(call_id, {"name": name, "arguments": item["arguments"]})
    given = item.get("input")
    if isinstance(given, str):
        return ToolCall(call_id, name, None, given, "the input is free text")
    asked = mapping(item.get("action")) or mapping(item.get("operation"))
    asked = asked or {key: value for key, value in item.items() if key not in _NO_ARGUMENTS}
    return ToolCall(call_id, name, asked, written(asked))


def result_in(kind: str, item: Mapping[str, object]) -> ToolResult:
    """The result of one item. Only some kinds say whether it is an error."""
    given = next((item[name] for name in ("output", "result", "outputs", "tools") if item.get(name) is not None), None)
    result = ToolResult(word(item.get("call_id")) or word(item.get("id")), _text(given))
    status = item.get("status")
    if kind == "apply_patch_call_output" and status in ("completed", "failed"):
        result.is_error = status == "failed"
    outcomes = [mapping(mapping(part).get("outcome")) for part in sequence(given)]
    if kind == "shell_call_output" and any(outcomes):
        codes = [code for code in (outcome.get("exit_code") for outcome in outcomes) if _is_code(code)]
        worst = next((code for code in codes if code != 0), codes[0] if codes else None)
        result.exit_code = worst if isinstance(worst, int) else None
        result.is_error = result.exit_code != 0 or any(outcome.get("type") == "timeout" for outcome in outcomes)
    return result


def embedded_result(kind: str, item: Mapping[str, object]) -> ToolResult | None:
    """The result that a call of a tool of the provider's own holds itself; None while it runs, or is run elsewhere."""
    failed, status = item.get("error"), item.get("status")
    told = bool(failed) or item.get("output") is not None
    if kind not in _PROVIDER_RUNS or not (told or status in ("completed", "failed", "incomplete")):
        return None
    result = result_in(kind, {key: value for key, value in item.items() if key != "result"})
    result.call_id = None
    if failed:
        result.text = failed if isinstance(failed, str) else word(mapping(failed).get("message")) or written(failed)
    result.is_error = True if failed or status == "failed" else False if told or status == "completed" else None
    return result


def _text(given: object) -> str:
    """A result as text: itself, its text parts, what a shell or an interpreter printed, else compact JSON."""
    if given is None or isinstance(given, str):
        return given or ""
    if not isinstance(given, list):
        return written(given)
    printed = [
        str(mapping(part)[name]) for part in given for name in ("stdout", "stderr", "logs") if mapping(part).get(name)
    ]
    return joined(printed) or text_of(given)


def _is_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
