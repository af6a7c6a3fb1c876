"""A session as people read it: its head, what was said and called in order, and where it ended.

    SWE-agent trajectory 01M8…
      turns     4
      calls     4: bash 3, 1 error · submit 1
      …

    [0] user                                                        20:12:23
        Fix the parser.
    [1] assistant                                                   20:12:26
        I look at it first.
      → read_file  path: src/parser.py
        [2] ok, 0.3 s
            def parse(text): …
            … 12 more lines

    Ended: finished (end_turn), after message [22].

Everything from the session is made harmless: it can neither forge a line of this view nor move the cursor.
"""

import json
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from rulebook.evidence.record import Call, Record
from rulebook.evidence.transcript import Message, Thread
from rulebook.report.judged import Audit
from rulebook.report.session_head import duration, head, moment, number
from rulebook.report.session_lines import STANDARD, View, block, sentence, short
from rulebook.terminal import Shade, columns, cut, harmless, padded, painted

_INDENT = "    "
_BELOW = "        "
_MOST_NOTES = 12
_SHADES: dict[str, Shade] = {"user": "green", "assistant": "blue", "system": "yellow", "tool": "dim"}
_LINES = {"user": 24, "assistant": 40, "system": 6, "tool": 6}
_FEW = 3
_WHOSE = {"user": "the user's", "assistant": "the assistant's", "system": "the system's", "tool": "a tool's result"}
_ENDS = {
    "finished": "finished",
    "turn_limit": "stopped at its limit of turns",
    "budget_reached": "stopped when its budget was spent",
    "time_limit": "stopped at its limit of time",
    "context_limit": "stopped because the context was full",
    "truncated_output": "stopped because a reply was cut at its limit",
    "refused_by_model": "refused by the model",
    "canceled_by_user": "interrupted by the user",
    "format_error": "stopped over replies that could not be read",
    "errored": "failed with an error",
    "rate_limited": "stopped by a rate limit",
    "handed_over": "handed over",
}


class _Talk(Struct):
    """One thread while it is shown: its calls by the message that made them, and its results by call."""

    messages: Sequence[Message]
    calls: dict[int, list[Call]] = field(default_factory=dict)
    answers: dict[str, list[Message]] = field(default_factory=dict)
    shown: set[int] = field(default_factory=set)


def render_session(
    record: Record, view: View = STANDARD, *, audit: Audit | None = None, threads: Sequence[Thread] = ()
) -> str:
    """The whole session as text, ending in a newline. Needs a record that kept its messages and calls.

    `threads` are shown after the conversation where nothing is cut.
    """
    lines = [*head(record, audit, view.width, view.colour), *_first_end(record, view), ""]
    lines += _conversation(_talk(record.messages, record.calls), view)
    for thread in threads if view.full else ():
        name = cut(harmless(thread.name or thread.id), view.width - 12)
        lines += [painted(f"Sub-agent {name}", "bold", view.colour), ""]
        lines += _conversation(_talk(thread.messages, ()), view)
    lines += [*_ending(record, view), *_notes(record, view)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _talk(messages: Sequence[Message], calls: Sequence[Call]) -> _Talk:
    talk = _Talk(messages)
    for call in calls:
        if call.message is not None:
            talk.calls.setdefault(call.message, []).append(call)
    for message in messages:
        result = message.tool_result
        for call_id in [] if result is None else [result.call_id] if result.answers is None else result.answers:
            if call_id is not None:
                talk.answers.setdefault(call_id, []).append(message)
    return talk


def _conversation(talk: _Talk, view: View) -> list[str]:
    lines: list[str] = []
    model: str | None = None
    for message in talk.messages:
        if message.index in talk.shown:
            continue
        lines += _message(message, talk, view, message.model if message.model != model else None)
        model = message.model or model
        lines.append("")
    return lines


def _message(message: Message, talk: _Talk, view: View, model: str | None) -> list[str]:
    lines = [_title(message, view, model)]
    few = message.injected or message.hidden or message.copied
    if message.reasoning:
        thought = block(message.reasoning, _INDENT + "· ", _FEW, view)
        lines += [painted(line, "dim", view.colour) for line in thought]
    if message.tool_result is not None:
        lines += block(message.tool_result.text, _INDENT, _LINES["tool"], view)
    elif message.text:
        lines += block(message.text, _INDENT, _FEW if few else _LINES[message.role], view)
    made = {call.id for call in talk.calls.get(message.index, ())}
    for call in talk.calls.get(message.index, ()):
        lines += _call(call.name, call.arguments, call.arguments_raw, view)
        lines += _outcome(call, _answer(talk, call.id, message.index), view)
    for asked in message.tool_calls:
        if asked.id not in made:
            lines += _call(asked.name, asked.args, asked.args_raw, view)
            lines += _asked(_answer(talk, asked.id, message.index), view)
    return lines


def _title(message: Message, view: View, model: str | None) -> str:
    """Who speaks, and when: the time stands at the right."""
    marks = ["put there by the program"] if message.injected else []
    marks += ["hidden"] if message.hidden else []
    marks += ["copied from another session"] if message.copied else []
    result = message.tool_result
    about = [*marks, *([harmless(model)] if model else [])]
    if result is not None:
        about.insert(0, f"{harmless(result.name or result.call_id or 'a result')}, which answers no call shown")
    at = None if message.at_ms is None else moment(message.at_ms, "%H:%M:%S")
    room = view.width - (len(at) + 2 if at else 0)
    number_, role = f"[{message.index}]", message.role
    rest = cut(f"  {' · '.join(about)}" if about else "", max(1, room - columns(number_) - len(role) - 1))
    plain = columns(f"{number_} {role}{rest}")
    said = f"{painted(number_, 'dim', view.colour)} {painted(role, _SHADES[role], view.colour)}"
    said += painted(rest, "dim", view.colour)
    return said + " " * (view.width - plain - len(at)) + painted(at, "dim", view.colour) if at else said


def _call(name: str, arguments: object, raw: str, view: View) -> list[str]:
    called = harmless(name or "(a tool without a name)")
    arrow = painted("→", "blue", view.colour)
    if view.full:
        given = json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else raw
        return [f"  {arrow} {called}", *block(given, _BELOW, 0, view)]
    brief = short(arguments, raw)
    return [f"  {arrow} {cut(f'{called}  {brief}' if brief else called, view.width - len(_INDENT))}"]


def _answer(talk: _Talk, call_id: str, after: int) -> Message | None:
    """The result of a call, taken so that it is not shown again."""
    for message in talk.answers.get(call_id, ()):
        if message.index not in talk.shown and message.index > after:
            talk.shown.add(message.index)
            return message
    return None


def _outcome(call: Call, answer: Message | None, view: View) -> list[str]:
    """What became of a call: its status, and the first lines of what it answered."""
    words: dict[str | None, tuple[str, Shade]] = {
        "ok": ("ok", "green"),
        "error": ("error", "red"),
        "refused": ("refused: it did not run", "yellow"),
        "unfinished": ("no result", "yellow"),
        None: ("answered", "dim"),
    }
    word, shade = words[call.status]
    result = None if answer is None else answer.tool_result
    exit_ = f", exit {result.exit_code}" if result is not None and result.exit_code else ""
    took = f", {duration(call.duration_s)}" if call.duration_s is not None else ""
    cut_ = ", cut by the tool" if result is not None and result.truncated else ""
    return _result(answer, painted(word, shade, view.colour), f"{exit_}{took}{cut_}", call.result, view)


def _asked(answer: Message | None, view: View) -> list[str]:
    """What became of a call of which only the message tells."""
    result = None if answer is None else answer.tool_result
    if result is None:
        return _result(None, painted("no result", "yellow", view.colour), "", None, view)
    word, shade = {True: ("error", "red"), False: ("ok", "green"), None: ("answered", "dim")}[result.is_error]
    if result.ran is False:
        word, shade = "refused: it did not run", "yellow"
    return _result(answer, painted(word, _shade(shade), view.colour), "", result.text, view)


def _shade(shade: str) -> Shade:
    shades: dict[str, Shade] = {"red": "red", "green": "green", "dim": "dim", "yellow": "yellow"}
    return shades[shade]


def _result(answer: Message | None, word: str, about: str, text: str | None, view: View) -> list[str]:
    number_ = painted(f"[{answer.index}] ", "dim", view.colour) if answer is not None else ""
    return [f"{_INDENT}{number_}{word}{about}", *block(text or "", _BELOW, _LINES["tool"], view)]


def _first_end(record: Record, view: View) -> list[str]:
    """The end as a row of the head: long sessions are not read to their last line."""
    end = record.end
    notes = f"{number(len(record.warnings), 'note')}, at the end" if record.warnings else ""
    rows = [("ended", "not told" if end is None else _end_words(end.end.reason)), ("notes", notes)]
    return [
        f"  {painted(padded(label, 10), 'dim', view.colour)}{cut(text, view.width - 12)}"
        for label, text in rows
        if text
    ]


def _end_words(reason: str) -> str:
    return _ENDS.get(reason, harmless(reason).replace("_", " "))


def _ending(record: Record, view: View) -> list[str]:
    """Where and how it ended."""
    messages = record.messages
    last = messages[-1] if messages else None
    at = None if record.last_ms is None else moment(record.last_ms, "%Y-%m-%d %H:%M:%S UTC")
    where = [f"after message [{last.index}]"] if last is not None else []
    where += [f"at {at}"] if at else []
    end = record.end
    if end is None:
        said = "Nothing says how it ended"
        if last is not None:
            said += f". The last message is [{last.index}], {_WHOSE[last.role]}"
            open_calls = [call.name for call in record.calls if call.status == "unfinished"]
            said += f"; without a result: {harmless(', '.join(open_calls[-3:]))}" if open_calls else ""
        return sentence(f"{said}.", view)
    known = _end_words(end.end.reason)
    raw = f" ({harmless(end.end.raw)})" if end.end.raw and end.end.raw != end.end.reason else ""
    lines = sentence(f"Ended: {known}{raw}, {', '.join(where)}." if where else f"Ended: {known}{raw}.", view)
    detail = end.end.detail.strip()
    if detail and detail not in (end.end.raw, last.text.strip() if last is not None else ""):
        lines += block(detail, _INDENT, _LINES["tool"], view)
    return lines


def _notes(record: Record, view: View) -> list[str]:
    """What was irregular about the file; the same note once, with a count."""
    counted = Counter(record.warnings)
    most = len(counted) if view.full else _MOST_NOTES
    lines: list[str] = []
    for text, times in list(counted.items())[:most]:
        lines += sentence(f"Note: {harmless(text)}{f' ({times:,} times)' if times > 1 else ''}", view)
    left = len(counted) - most
    return [*lines, f"… {number(left, 'more note')}"] if left > 0 else lines
