"""The head of a session as people read it: what it is, who worked, for how long, with what, and at what price.

Claude Code session 5c0375b4-57a5-4f26-b12d-d022ee4e51b7
  model     claude-sonnet-4
  time      2025-09-24 20:12 UTC, 19 min 3 s
  turns     10
  calls     13: TodoWrite 5 · Task 3, 1 error · Glob 2 · Edit 1
  tokens    372,135 in, of which 324,259 from the cache; 3,629 out
  cost      not known
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from rulebook.evidence.record import Record
from rulebook.report.judged import Audit
from rulebook.terminal import columns, cut, harmless, padded, painted

_LABEL = 10
_INDENT = "  "
_TOOLS = 12
_LONGEST_NAME = 40


def head(record: Record, audit: Audit | None, width: int, colour: bool) -> list[str]:
    """The lines of the head, each at most `width` columns."""
    named = record.title.removeprefix("this ")
    title = f"{named[:1].upper()}{named[1:]} {harmless(record.session_id or '')}".rstrip()
    rows = [
        ("model", " · ".join(harmless(model) for model in record.models)),
        ("time", _time(record)),
        ("log", _log(record, audit)),
        ("turns", f"{record.turns:,}"),
        ("calls", _calls(record)),
        ("tokens", _tokens(record)),
        ("cost", _cost(record)),
        ("agents", _agents(record)),
        ("refused", _refused(record)),
        ("network", _network(record)),
        ("outcome", _outcome(record)),
        ("not told", _not_told(record)),
    ]
    lines = [painted(cut(title, width), "bold", colour)]
    for label, text in rows:
        if text:
            lines += _row(label, text, width, colour)
    return lines


def number(count: int, thing: str) -> str:
    """A count with its noun: "1 turn", "2 turns"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time span in the two units that matter: "0.3 s", "19 min 3 s", "2 h 5 min"."""
    if seconds < 0.05:
        return "under 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 172_800:
        return f"{whole // 3600:,} h {whole % 3600 // 60} min"
    return f"{whole // 86_400:,} days"


def moment(at_ms: int, pattern: str) -> str | None:
    """A moment in UTC; None when no calendar has it."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(pattern)
    except (ValueError, OverflowError, OSError):
        return None


def _row(label: str, text: str, width: int, colour: bool) -> list[str]:
    """A row, broken between its parts where it is too long."""
    room = width - len(_INDENT) - _LABEL
    lines: list[str] = []
    for part in text.split(" · "):
        if lines and columns(lines[-1]) + 3 + columns(part) <= room:
            lines[-1] += f" · {part}"
        else:
            lines.append(cut(part, room))
    first = _INDENT + painted(padded(label, _LABEL), "dim", colour) + lines[0]
    return [first, *(" " * (len(_INDENT) + _LABEL) + line for line in lines[1:])]


def _time(record: Record) -> str:
    if record.first_ms is None or record.last_ms is None:
        return "not told"
    began = moment(record.first_ms, "%Y-%m-%d %H:%M UTC")
    lasted = (record.last_ms - record.first_ms) / 1000
    return f"{began or 'at no time that a calendar has'}, {duration(lasted)}"


def _log(record: Record, audit: Audit | None) -> str:
    if audit is None or record.format != "chock_log":
        return ""
    return f"{audit.verdict.replace('_', ' ')}, {number(audit.events, 'event')}"


def _calls(record: Record) -> str:
    if not record.call_count:
        return "none"
    troubles: dict[str, Counter[str]] = {}
    for call in record.calls:
        if call.status in ("error", "refused", "unfinished"):
            troubles.setdefault(call.name, Counter())[call.status] += 1
    ranked = sorted(record.tool_counts.items(), key=lambda pair: -pair[1])
    said = [_tool(name, count, troubles.get(name, Counter())) for name, count in ranked[:_TOOLS]]
    left = len(ranked) - _TOOLS
    more = [f"{number(left, 'more tool')}"] if left > 0 else []
    first, *rest = [*said, *more]
    return " · ".join([f"{record.call_count:,}: {first}", *rest])


def _tool(name: str, count: int, troubles: Counter[str]) -> str:
    words = {"error": "error", "refused": "refused", "unfinished": "without result"}
    found = [
        number(n, "error") if status == "error" else f"{n:,} {words[status]}" for status, n in sorted(troubles.items())
    ]
    return ", ".join([f"{cut(harmless(name or '(no name)'), _LONGEST_NAME)} {count:,}", *found])


def _tokens(record: Record) -> str:
    usage = record.usage
    if usage is None or usage.input is None or usage.output is None:
        return "not known"
    cached = f", of which {usage.cache_read:,} from the cache" if usage.cache_read else ""
    thought = f", of which {usage.reasoning:,} reasoning" if usage.reasoning else ""
    return f"{usage.input:,} in{cached} · {usage.output:,} out{thought}"


def _cost(record: Record) -> str:
    spend = record.spend
    if not spend.known:
        return "not known"
    return f"{spend.amount:,.6g} {harmless(spend.currency)}" if spend.currency else "free of charge"


def _agents(record: Record) -> str:
    """Sub-agents, each with what became of it, and the calls that only they made."""
    said = []
    for child in list(record.children.values())[:_TOOLS]:
        about = [number(child.turns, "turn")] if child.turns is not None else []
        about += [harmless(child.outcome)] if child.outcome else []
        said.append(f"{cut(harmless(child.task or child.id), _LONGEST_NAME)} ({', '.join(about) or 'not told'})")
    left = len(record.children) - len(said)
    said += [f"{left:,} more"] if left > 0 else []
    if record.delegated:
        ranked = sorted(record.delegated.items(), key=lambda pair: -pair[1])
        tools = ", ".join(f"{cut(harmless(name), _LONGEST_NAME)} {count:,}" for name, count in ranked[:_TOOLS])
        said.append(f"calls of theirs: {tools}")
    return " · ".join(said)


def _refused(record: Record) -> str:
    counts = Counter(approval.tool or approval.action for approval in record.refusals)
    return " · ".join(f"{cut(harmless(name), _LONGEST_NAME)} {count:,}" for name, count in counts.most_common(_TOOLS))


def _network(record: Record) -> str:
    network = record.network
    if not network.summaries and not network.hosts:
        return ""
    names: Sequence[str] = [cut(harmless(host), _LONGEST_NAME) for host in sorted(network.hosts)[:_TOOLS]]
    return " · ".join([f"{network.granted:,} granted, {network.refused:,} refused", *names])


def _outcome(record: Record) -> str:
    """What the producer's own grader said, in short."""
    said = [f"{harmless(str(key))} {_short(value)}" for key, value in list(record.outcome.items())[:_TOOLS]]
    return " · ".join(cut(text, 120) for text in said)


def _short(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:g}"
        case str():
            lines = value.strip().split("\n")
            more = f" (+ {number(len(lines) - 1, 'line')})" if len(lines) > 1 else ""
            return f"{cut(harmless(lines[0]), 80)}{more}"
        case dict():
            return ", ".join(f"{harmless(str(key))} {_short(part)}" for key, part in list(value.items())[:4])
        case list():
            return number(len(value), "entry").replace("entrys", "entries")
        case _:
            return "none"


def _not_told(record: Record) -> str:
    """What this very file leaves open of what rules like to ask."""
    words = {"tool_calls": "which tools were called", "messages": "what was said", "results": "what tools answered"}
    return " · ".join(text for fact, text in words.items() if fact not in record.carries)
