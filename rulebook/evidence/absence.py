"""What may be concluded from something not being in a session."""

from collections.abc import Iterable

from rulebook.errors import Missing
from rulebook.evidence.record import Record
from rulebook.outcome import Category
from rulebook.spelling import listed

HARNESS_TOOLS: frozenset[str] = frozenset(
    (
        "read_file", "read_image", "list_directory", "glob", "grep", "write_file", "edit_file",
        "run_command", "read_guidance", "read_skill", "read_memory", "write_memory", "spawn_agent",
        "update_plan", "provide_tool", "nix_eval", "nix_build", "restrict_self", "fetch_url", "web_search",
        "ask_user", "set_title", "request_action",
    )
)  # fmt: skip
"""The tools of our own harness and of the one whose logs we read."""

_OUR_FORMATS = frozenset(("chock_log", "karotte"))


_NAMED, _NAME_AT_MOST = 8, 40
"""So many tools are named, and so much of each name."""


def need_possible(record: Record, names: Iterable[str]) -> None:
    """Raise Missing in `harness` when an event of one of these names could not stand in a session of this format."""
    possible = record.possible_events
    for name in names if possible is not None else ():
        if possible is not None and name not in possible:
            raise Missing("harness", f"{record.title} does not record `{name}` events")


def need_whole(record: Record, category: Category) -> None:
    """Raise Missing in `category` when the log does not reach the session's end.

    A hash chain proves order and not completeness: a log that was cut at a line's end still verifies, and
    what it no longer holds must not count as something that never happened.
    """
    if record.format == "chock_log" and "end" in record.carries and record.end is None:
        raise Missing(category, "the log has no `session.end`, so what came after its last line is not known")


def need_every_call(record: Record, category: Category) -> None:
    """Raise Missing when the session may hold calls that are not seen: a log without its end, a lost sub-agent."""
    need_whole(record, category)
    hidden = hidden_calls(record)
    if hidden:
        raise Missing("harness", hidden)


def hidden_calls(record: Record) -> str:
    """What to say of a foreign session that does not hold the calls of all its sub-agents; empty when it does."""
    if not record.unseen_calls:
        return ""
    return f"{record.title} does not hold what all its sub-agents called: {record.unseen_calls}"


def unknown_tools(record: Record, names: Iterable[str]) -> list[str]:
    """Those of `names` that no tool known in this session bears, nor one of our harness where it is a session of that.

    Another program's tools have names of their own: that it never called ours proves nothing.
    """
    ours = HARNESS_TOOLS if record.format in _OUR_FORMATS else frozenset[str]()
    known = ours | (record.known_tools or frozenset()) | record.tool_counts.keys() | record.delegated.keys()
    return [name for name in names if name not in known]


def called_instead(record: Record, names: Iterable[str]) -> str:
    """Which tools were called, to say beside `names`: a tool that was sought under another program's name is found so.

    Empty when one of them was called: then the name was right.
    """
    called = [*record.tool_counts, *(name for name in record.delegated if name not in record.tool_counts)]
    if any(name in called for name in names):
        return ""
    if not called:
        return "no call is recorded"
    shown = listed(name if len(name) <= _NAME_AT_MOST else f"{name[:_NAME_AT_MOST]}…" for name in called[:_NAMED])
    return f"what was called: {shown}{f' and {len(called) - _NAMED} more' if len(called) > _NAMED else ''}"


def unseen_agents(record: Record) -> str:
    """What to say of sub-agents whose calls stand in logs of their own; empty when there are none."""
    if record.format != "chock_log" or not record.children:
        return ""
    count = len(record.children)
    whose = "a sub-agent stand in a log of its own" if count == 1 else f"{count} sub-agents stand in logs of their own"
    return f"the calls of {whose}"


def times(count: int) -> str:
    """How often, in words: "once", "3 times"."""
    return "once" if count == 1 else f"{count} times"
