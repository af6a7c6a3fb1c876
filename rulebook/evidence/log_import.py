"""What a log says of the session that it was imported from, restored into the record's facts.

`session.imported` keeps, beside what the log's format says itself: `session`, `parent_session`, `agent_name`,
`models`, `format_version`, `producer`, `producer_version`, `carries`, `threads`, `outcome`, `warnings`.
"""

from typing import Any

from rulebook.evidence.log_events import Payload
from rulebook.evidence.record import ALL_FACTS, Fact, Record

_TOLD_BY: dict[str, frozenset[Fact]] = {
    "message": frozenset(("messages",)),
    "tool.call": frozenset(("tool_calls",)),
    "tool.result": frozenset(("results",)),
    "session.end": frozenset(("end",)),
    "usage": frozenset(("usage", "cost")),
}


def restore(record: Record, said: Payload) -> None:
    """Make `record`, folded from an imported log, say what the source's format can and cannot tell."""
    record.format = said["from"]
    record.carries = _carries(record, said.get("carries"))
    record.session_id = optional_text(said.get("session")) or record.session_id
    record.models = texts(said.get("models")) or record.models
    record.warnings = [warning["text"] for warning in objects(said.get("warnings")) if "text" in warning]
    outcome = said.get("outcome")
    record.outcome = outcome if isinstance(outcome, dict) else {}


def texts(value: Any) -> list[str]:
    """The texts of a list; nothing for what is no list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def objects(value: Any) -> list[Payload]:
    """The objects of a list; nothing for what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def optional_text(value: Any) -> str | None:
    """The value when it is text."""
    return value if isinstance(value, str) else None


def _carries(record: Record, named: Any) -> frozenset[Fact]:
    if isinstance(named, list):
        return frozenset(fact for fact in ALL_FACTS if fact in named)
    told = (facts for kind, facts in _TOLD_BY.items() if kind in record.event_counts)
    return frozenset[Fact]().union(*told)
