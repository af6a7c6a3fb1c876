"""The items of `codex exec --json` that are calls of tools, each with its result in the same object."""

from collections.abc import Mapping

from rulebook.evidence.formats.codex_output import content_texts
from rulebook.evidence.session_files.values import joined, mapping, sequence, word, written
from rulebook.evidence.transcript import ToolCall, ToolResult

CALLS = frozenset(("command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"))
NAMED = {"mcp_tool_call": ("server", "tool"), "collab_tool_call": ("tool",), "command_execution": ("command",)}
"""What the calls of each type must say to be told from another."""
_NAMES = {"command_execution": "shell", "file_change": "apply_patch"}


def call_of_item(item: Mapping[str, object]) -> ToolCall:
    """The call of an item, under the name that the tool has in the session's own file."""
    kind, item_id = str(item.get("type")), word(item.get("id")) or ""
    match kind:
        case "command_execution":
            args: Mapping[str, object] = {"command": item.get("command")}
        case "file_change":
            args = {"changes": item.get("changes")}
        case "web_search":
            args = {"query": item.get("query"), **mapping(item.get("action"))}
        case "collab_tool_call":
            args = {"prompt": item.get("prompt"), "receiver_thread_ids": sequence(item.get("receiver_thread_ids"))}
        case _:
            return _of_server(item, item_id)
    name = _NAMES.get(kind) or word(item.get("tool")) or kind
    return ToolCall(item_id, name, args, written(args))


def result_of_item(item: Mapping[str, object]) -> ToolResult:
    """The result of a completed item. A search says neither what it found nor whether it went well."""
    kind, status, code = item.get("type"), item.get("status"), item.get("exit_code")
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    failed = None if status not in ("completed", "failed", "declined") else status != "completed"
    if exit_code is not None:
        failed = exit_code != 0
    text = str(item.get("aggregated_output") or "")
    if kind == "mcp_tool_call":
        error = mapping(item.get("error"))
        failed = True if error else failed
        text = word(error.get("message")) or joined(content_texts(mapping(item.get("result")).get("content")))
    elif kind == "collab_tool_call":
        text = written(mapping(item.get("agents_states")))
    refused = status == "declined"
    return ToolResult(word(item.get("id")), text, is_error=failed, exit_code=exit_code, ran=False if refused else None)


def _of_server(item: Mapping[str, object], item_id: str) -> ToolCall:
    name = f"mcp__{word(item.get('server')) or ''}__{word(item.get('tool')) or ''}"
    given = item.get("arguments")
    args = {} if given is None else given if isinstance(given, dict) else None
    error = None if args is not None else "the arguments are not a JSON object"
    return ToolCall(item_id, name, args, given if isinstance(given, str) else written(given or {}), error)
