"""A session as people read it: messages, tool calls and what they answered, cost, and its end.

    claude_code session 5c03…  claude-opus-4  12 messages, 4 tool calls
    tokens 3,629 in, 210 out · cost unknown

    [1] user
        Fix the parser.
    [2] assistant
        I look at it first.
      → read_file {"path": "src/parser.py"}
    [3] tool read_file: ok
        def parse(text): …

    Ended: finished.

Everything from the session is made harmless: it can neither forge a line of this view nor move the cursor.
"""

from rulebook.evidence.record import Record
from rulebook.evidence.transcript import Message, ToolResult
from rulebook.terminal import cut, harmless, painted, wrapped

WIDTH = 100
_INDENT = "    "
_RESULT_LINES = 8
_TEXT_LINES = 400
_DEEPEST_MARGIN = 40


def render_session(record: Record, *, colour: bool = False) -> str:
    """The whole session as text, ending in a newline. Needs a record that kept its messages."""
    lines = [*_header(record, colour), ""]
    for message in record.messages:
        lines += _message(message, colour)
    lines += ["", *_ending(record)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _header(record: Record, colour: bool) -> list[str]:
    named = f"{record.format} session {harmless(record.session_id or '(without an id)')}"
    models = "  ".join(harmless(model) for model in record.models)
    counts = f"{_number(record.turns, 'turn')}, {_number(record.call_count, 'tool call')}"
    first = "  ".join(part for part in (painted(named, "bold", colour), models, counts) if part)
    return [first, f"{_tokens(record)} · {_cost(record)}"]


def _tokens(record: Record) -> str:
    usage = record.usage
    if usage is None or usage.input is None or usage.output is None:
        return "tokens unknown"
    return f"tokens {usage.input:,} in, {usage.output:,} out"


def _cost(record: Record) -> str:
    spend = record.spend
    if not spend.known:
        return "cost unknown"
    return f"cost {spend.amount:g} {spend.currency}" if spend.currency else "free of charge"


def _message(message: Message, colour: bool) -> list[str]:
    marks = [mark for mark, holds in (("injected", message.injected), ("hidden", message.hidden)) if holds]
    role = message.role + (f" ({', '.join(marks)})" if marks else "")
    result = message.tool_result
    head = f"[{message.index}] {role}" if result is None else f"[{message.index}] {role} {_outcome(result)}"
    lines = [painted(cut(head, WIDTH), "bold", colour)]
    if result is not None:
        lines += _block(result.text, _RESULT_LINES)
    elif message.text:
        lines += _block(message.text, _TEXT_LINES)
    for call in message.tool_calls:
        lines.append(cut(f"  → {harmless(call.name)} {harmless(call.args_raw)}", WIDTH))
    return lines


def _outcome(result: ToolResult) -> str:
    name = harmless(result.name or result.call_id or "")
    word = {True: "error", False: "ok", None: "answered"}[result.is_error]
    exit = f", exit {result.exit_code}" if result.exit_code is not None else ""
    return f"{name}: {word}{exit}".strip()


def _block(text: str, most: int) -> list[str]:
    written = text.strip("\n").split("\n")
    lines = [line for part in written[: most + 1] for line in _indented(part)]
    kept = [_INDENT + cut(line, WIDTH - len(_INDENT)) for line in lines[:most]]
    left = len(lines) - most + max(0, len(written) - most - 1)
    return [*kept, f"{_INDENT}… {_number(left, 'more line')}"] if left > 0 else kept


def _indented(line: str) -> list[str]:
    """A line of the session, wrapped under its own indentation."""
    text = harmless(line.expandtabs(4))
    margin = " " * min(len(text) - len(text.lstrip(" ")), _DEEPEST_MARGIN)
    return [margin + part for part in wrapped(text.lstrip(" "), WIDTH - len(_INDENT) - len(margin))]


def _ending(record: Record) -> list[str]:
    end = record.end
    if end is None:
        lines = ["It did not end, or its format does not say how."]
    else:
        detail = harmless(end.end.detail or end.end.raw or "")
        lines = [cut(f"Ended: {harmless(end.end.reason)}{f' ({detail})' if detail else ''}.", WIDTH)]
    return lines + [cut(f"Note: {harmless(warning)}", WIDTH) for warning in record.warnings]


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
