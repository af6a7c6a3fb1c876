"""The evidence document's types: every name and field that an expression, a path or a template may read."""

from collections.abc import Iterable, Mapping

from rulebook.evidence.ends import END_REASONS
from rulebook.evidence.event_types import DECISIONS, EVENT_NAMES, payload_type
from rulebook.languages.types import (
    ANYTHING,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Scope,
    Type,
    optional,
)

COUNT = Scalar("number", least=0)

RUN: dict[str, Type] = {
    "id": TEXT,
    "end_reason": Scalar("text", choices=END_REASONS),
    "turns": COUNT,
    "duration_s": optional(COUNT),
    "cost": optional(COUNT),
    "currency": optional(TEXT),
    "model": optional(TEXT),
    "provider": optional(TEXT),
    "seed": optional(Scalar("number")),
}

USAGE: dict[str, Type] = {
    "input_tokens": COUNT,
    "output_tokens": COUNT,
    "cache_read_tokens": optional(COUNT),
    "cache_write_tokens": optional(COUNT),
}

TOOL_CALL = RecordOf(
    "a tool call",
    {
        "index": COUNT,
        "id": TEXT,
        "name": TEXT,
        "arguments": optional(MapOf(ANYTHING)),
        "result": optional(TEXT),
        "status": Scalar("text", choices=("ok", "error", "refused", "unfinished")),
        "turn": COUNT,
        "duration_s": optional(COUNT),
    },
)

MESSAGE = RecordOf(
    "a message",
    {
        "index": COUNT,
        "role": Scalar("text", choices=("system", "user", "assistant", "tool")),
        "text": TEXT,
        "reasoning": optional(TEXT),
        "tool_calls": ListOf(TOOL_CALL),
        "injected": YES_NO,
    },
)

APPROVAL = RecordOf(
    "an approval", {"tool": TEXT, "decision": Scalar("text", choices=DECISIONS), "reason": TEXT, "action": TEXT}
)

SUBAGENT = RecordOf(
    "a subagent",
    {
        "id": TEXT,
        "status": Scalar(
            "text", choices=("finished", "no_progress", "budget", "refused", "died", "rate_limited", "lost")
        ),
        "task": TEXT,
        "turns": optional(COUNT),
    },
)

CHANGED_FILE = RecordOf(
    "a changed file",
    {
        "path": TEXT,
        "status": Scalar("text", choices=("added", "modified", "deleted", "renamed", "untracked", "ignored")),
        "added": optional(COUNT),
        "removed": optional(COUNT),
    },
)

TEST_RUN = RecordOf(
    "a test's run", {"exit": Scalar("number"), "passed": YES_NO, "stdout": TEXT, "stderr": TEXT, "duration_s": COUNT}
)


SUBMISSION: dict[str, Type] = {
    "path": TEXT,
    "kind": Scalar("text", choices=("file", "folder", "absent")),
    "exists": YES_NO,
    "bytes": COUNT,
    "text": TEXT,
}

WRITE_TO: dict[str, Type] = {"write_to": TEXT}
"""What instructions know of a submission: where the student is to write it."""


def event_record(name: str | None) -> RecordOf:
    """The type of one event; `name` None is any event, narrowed where its name is compared."""
    fields: dict[str, Type] = {"seq": COUNT, "time": optional(COUNT), "name": TEXT}
    if name is not None:
        return RecordOf(f"an event `{name}`", {**fields, "data": payload_type(name)})
    narrow = {"name": {known: event_record(known) for known in EVENT_NAMES}}
    return RecordOf("an event", {**fields, "data": MapOf(ANYTHING)}, narrow=narrow)


ROOTS: dict[str, Type] = {
    "run": RecordOf("`run`", RUN),
    "messages": ListOf(MESSAGE),
    "tool_calls": ListOf(TOOL_CALL),
    "events": ListOf(event_record(None)),
    "usage": RecordOf("`usage`", USAGE),
    "network": RecordOf("`network`", {"requests": COUNT, "hosts": ListOf(TEXT), "refused": COUNT}),
    "approvals": ListOf(APPROVAL),
    "subagents": ListOf(SUBAGENT),
    "repository": RecordOf(
        "`repository`",
        {
            "base_commit": TEXT,
            "head": TEXT,
            "tree": TEXT,
            "changed": ListOf(CHANGED_FILE),
            "dirty": YES_NO,
        },
    ),
}

SCOPE = Scope("the session", {**ROOTS, **RUN, **USAGE})
"""What every rule over a session may read, before the file's own names are added."""

RESERVED: frozenset[str] = frozenset((*SCOPE.names, "submissions", "tests", "steps", "params", "row", "them"))
"""Names that a file cannot give to a thing of its own in expressions."""


def submissions_record(names: Iterable[str], fields: Mapping[str, Type]) -> RecordOf:
    """The type of `submissions` where these are declared, each with the same `fields`."""
    return RecordOf("`submissions`", {name: RecordOf(f"the submission `{name}`", fields) for name in names})


def file_scope(params: Mapping[str, Type], tests: tuple[str, ...], submissions: Iterable[str] | None = None) -> Scope:
    """The scope of one rule file: the session's names, its parameters and its declared tests.

    `submissions` None: a file whose rules read none.
    """
    names: dict[str, Type] = {
        "params": RecordOf("`params`", dict(params)),
        "tests": RecordOf("`tests`", dict.fromkeys(tests, TEST_RUN)),
    }
    if submissions is not None:
        names["submissions"] = submissions_record(submissions, SUBMISSION)
    return SCOPE.plus(names)


def event_scope(name: str, scope: Scope) -> Scope:
    """The scope of a `where` over events called `name`: its fields, and the file's parameters."""
    return Scope(f"an event `{name}`", {**event_record(name).fields, "params": scope.names.get("params", ANYTHING)})


def item_scope(record: RecordOf, scope: Scope) -> Scope:
    """The scope of an expression over one item of a list: its fields, and the file's parameters."""
    return Scope(record.place, {**record.fields, "params": scope.names.get("params", ANYTHING)})
