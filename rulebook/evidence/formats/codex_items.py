"""The response items of a Codex session: what the model said, called and was answered.

Source: Codex, `protocol/src/models.rs`.
"""

import re
from collections.abc import Mapping

from rulebook.evidence.formats.chat_messages import call_of
from rulebook.evidence.formats.codex_output import content_texts
from rulebook.evidence.repeats import repeated_key
from rulebook.evidence.session_files.values import joined, mapping, parsed, sequence, word, written
from rulebook.evidence.transcript import Message, ToolCall

MESSAGES = frozenset(("message", "reasoning"))
CALLS = frozenset(
    (
        "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call",
        "mcp_tool_call", "computer_call", "code_interpreter_call", "file_search_call",
    )
)  # fmt: skip
"""The calls that are known. An image is no call but content that the model made."""
NAMED = frozenset(("function_call", "custom_tool_call", "mcp_tool_call"))
"""Calls that name their tool."""
OUTPUTS = frozenset(
    (
        "function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_call_output",
        "mcp_tool_call_output", "computer_call_output",
    )
)  # fmt: skip
ASIDE = frozenset(
    (
        "image_generation_call", "agent_message", "ghost_snapshot", "compaction", "compaction_summary",
        "context_compaction", "other",
    )
)  # fmt: skip
"""Items that are neither message nor call. A type that is none of these may be one of tomorrow's calls."""
WITHOUT_OUTPUT = frozenset(("web_search_call", "code_interpreter_call", "file_search_call"))
"""Calls that the provider runs: what they found is told nowhere."""

_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<user_shell_command>",
    "# AGENTS.md instructions",
)
_EDITOR = "# Context from my IDE setup"
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)


def spoken(payload: Mapping[str, object], where: int | None) -> list[Message] | None:
    """The message of a `message` item; None when its role is not known.

    What the harness put into a user's message becomes a system message of its own before it, and is marked.
    """
    role, texts = payload.get("role"), content_texts(payload.get("content"))
    if role in ("developer", "system"):
        return [Message(0, "system", joined(texts), id=word(payload.get("id")), src=where)]
    if role == "assistant":
        return [Message(0, "assistant", joined(texts), id=word(payload.get("id")), src=where)]
    if role != "user":
        return None
    injected, asked = _sorted_texts(texts)
    found = [Message(0, "system", joined(injected), injected=True, src=where)] if injected else []
    if asked or not injected:
        found.append(Message(0, "user", joined(asked), id=word(payload.get("id")), src=where))
    return found


def images_in(content: object) -> int:
    """How many parts of a content are images, which never become text."""
    return sum(mapping(part).get("type") in ("input_image", "output_image") for part in sequence(content))


def thoughts_of(payload: Mapping[str, object]) -> list[str]:
    """The summaries of a `reasoning` item; what is encrypted is left out."""
    parts = [*sequence(payload.get("summary")), *sequence(payload.get("content"))]
    return [text for part in parts if (text := word(mapping(part).get("text")))]


def call_in(payload: Mapping[str, object]) -> ToolCall:
    """The call of an item. A tool that the item does not name bears the item's type; raw input is `{input: …}`."""
    kind, call_id = str(payload.get("type")), word(payload.get("call_id")) or word(payload.get("id")) or ""
    name = _name(payload) or kind
    if kind == "custom_tool_call":
        return _custom(call_id, name, payload.get("input"))
    if kind in ("local_shell_call", "web_search_call"):
        action = mapping(payload.get("action"))
        return ToolCall(call_id, name, action, written(action))
    return call_of(call_id, {"name": name, "arguments": payload.get("arguments", payload.get("action"))})


def _name(payload: Mapping[str, object]) -> str | None:
    """The tool's name. A server's tools are named with the server in front, as older versions wrote them."""
    name, space = word(payload.get("name")), word(payload.get("namespace"))
    if name is None or space is None or not space.startswith("mcp__"):
        return name
    return f"{space.rstrip('_')}__{name.lstrip('_')}"


def _custom(call_id: str, name: str, given: object) -> ToolCall:
    raw = given if isinstance(given, str) else "" if given is None else written(given)
    try:
        args = parsed(raw) if raw.lstrip().startswith("{") else None
    except ValueError:
        args = None
    twice = repeated_key(raw, args) if isinstance(args, dict) else None
    if twice is not None:
        return ToolCall(call_id, name, None, raw, f"the input has the key `{twice[:40]}` twice")
    return ToolCall(call_id, name, args if isinstance(args, dict) else {"input": raw}, raw)


def _sorted_texts(texts: list[str]) -> tuple[list[str], list[str]]:
    """What the harness wrote, and what the user asked."""
    injected: list[str] = []
    asked: list[str] = []
    for text in texts:
        begun = text.lstrip()
        request = _REQUEST.search(text) if begun.startswith(_EDITOR) else None
        if request is not None:
            injected.append(text[: request.start()].rstrip())
            asked.append(text[request.end() :].strip())
        else:
            (injected if begun.startswith((*_INJECTED, _EDITOR)) else asked).append(text)
    return injected, asked
