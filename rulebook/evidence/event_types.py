"""The payloads of the log's events as types, for expressions over `data`. Source: the chock log's 27 kinds."""

from rulebook.evidence.ends import END_REASONS
from rulebook.languages.types import ANYTHING, NUMBER, TEXT, YES_NO, ListOf, MapOf, RecordOf, Scalar, Type, optional

DECISIONS: tuple[str, ...] = (
    "allowed_by_policy",
    "denied_by_policy",
    "approved_by_user",
    "approved_by_user_for_session",
    "refused_by_user",
    "expired",
    "approved_by_review",
    "refused_by_review",
    "review_unavailable",
)
"""How an approval can be decided."""

_COUNT = Scalar("number", least=0)
_LIST = ListOf(ANYTHING)

_SPAWN_CHAIN = ListOf(RecordOf("an agent of the chain", {"agent_kind": TEXT, "reason": TEXT}))

_CALLED: dict[str, Type] = {"call_id": TEXT, "tool": TEXT, "arguments": TEXT}

_PART = RecordOf(
    "a part of a message",
    {
        "text": optional(TEXT),
        "reasoning": optional(RecordOf("a part `reasoning`", {"text": TEXT, "signature": optional(TEXT)})),
        "tool_use": optional(RecordOf("a part `tool_use`", _CALLED)),
        "tool_result": optional(
            RecordOf("a part `tool_result`", {"call_id": TEXT, "output": TEXT, "is_error": optional(YES_NO)})
        ),
        "image": optional(RecordOf("a part `image`", {"call_id": optional(TEXT), "media_type": TEXT, "data": TEXT})),
    },
)

_PLAN_STEP = RecordOf(
    "a step of the plan",
    {
        "id": optional(ANYTHING),
        "subject": TEXT,
        "status": Scalar("text", choices=("pending", "in_progress", "done", "abandoned")),
        "blocked_by": optional(TEXT),
    },
)

_RESTRICTION = RecordOf(
    "a restriction",
    {
        "action": TEXT,
        "ceiling": Scalar("text", choices=("deny", "agent_then_human", "ask", "agent_review", "allow")),
        "reason": TEXT,
    },
)

_HOST = RecordOf("a host", {"host": TEXT, "port": optional(_COUNT), "granted": _COUNT, "refused": _COUNT})

_SYSCALL = RecordOf("a system call", {"name": TEXT, "count": _COUNT, "unverified_paths": optional(ANYTHING)})

_IMAGE = RecordOf("an image", {"media_type": TEXT, "byte_count": _COUNT, "content_hash": TEXT})

PAYLOADS: dict[str, dict[str, Type]] = {
    "session.start": {"agent_kind": TEXT, "model_alias": TEXT, "parent_session": TEXT, "spawn_chain": _SPAWN_CHAIN},
    "session.config": {
        "config_hash": optional(TEXT),
        "sandbox_hash": optional(TEXT),
        "sandbox_driver": optional(TEXT),
        "provider": optional(TEXT),
        "model": optional(TEXT),
        "seed": optional(NUMBER),
        "instructions": optional(ListOf(TEXT)),
        "policy_rules": optional(ListOf(TEXT)),
        "dev_shell": optional(TEXT),
        "allow_dirty": optional(YES_NO),
        "tools": optional(ListOf(TEXT)),
    },
    "session.end": {"reason": Scalar("text", choices=END_REASONS), "detail": TEXT, "raw": optional(TEXT)},
    "session.spawn": {
        "child_session": TEXT,
        "child_agent_kind": TEXT,
        "reason": TEXT,
        "budget_max_cost": optional(NUMBER),
        "budget_currency": optional(TEXT),
    },
    "session.title": {"title": TEXT},
    "session.imported": {
        "from": TEXT,
        "source_path": TEXT,
        "content_hash": TEXT,
        "imported_ms": NUMBER,
        "source_started_ms": optional(NUMBER),
        "source_ended_ms": optional(NUMBER),
        "messages": optional(NUMBER),
        "outcome": optional(ANYTHING),
        "warnings": optional(_LIST),
    },
    "message": {
        "role": Scalar("text", choices=("user", "assistant", "system", "tool")),
        "content": ListOf(_PART),
        "model_alias": optional(TEXT),
        "thread": optional(TEXT),
        "injected": optional(YES_NO),
        "hidden": optional(YES_NO),
        "id": optional(TEXT),
        "model": optional(TEXT),
        "stop": optional(TEXT),
        "src": optional(NUMBER),
    },
    "tool.call": _CALLED,
    "tool.result": {
        "call_id": TEXT,
        "output": TEXT,
        "is_error": YES_NO,
        "truncated": YES_NO,
        "note": optional(TEXT),
        "image": optional(_IMAGE),
    },
    "approval.request": {
        "action": TEXT,
        "summary": TEXT,
        "detail": TEXT,
        "reason": TEXT,
        "agent_kind": TEXT,
        "spawn_chain": _SPAWN_CHAIN,
        "timeout_at_ms": NUMBER,
        "tool_call_id": TEXT,
        "review": optional(TEXT),
        "review_note": optional(TEXT),
        "source": optional(TEXT),
    },
    "approval.response": {
        "request_id": NUMBER,
        "decision": Scalar("text", choices=DECISIONS),
        "responder": TEXT,
        "action": optional(TEXT),
        "tool_call_id": optional(TEXT),
        "review": optional(TEXT),
        "review_note": optional(TEXT),
    },
    "prompt.password": {"correlation_id": TEXT, "prompt": TEXT},
    "diff": {"path": TEXT, "patch": TEXT, "change_set_id": TEXT, "review": TEXT, "review_note": TEXT},
    "compaction": {
        "summary": TEXT,
        "from_id": NUMBER,
        "through_id": NUMBER,
        "kept_ranges": ListOf(RecordOf("a range", {"from_id": NUMBER, "through_id": NUMBER})),
        "model_alias": TEXT,
        "stand_in_reason": optional(TEXT),
    },
    "usage": {
        "input_tokens": _COUNT,
        "output_tokens": _COUNT,
        "cache_creation_input_tokens": optional(_COUNT),
        "cache_read_input_tokens": optional(_COUNT),
        "cost": optional(NUMBER),
        "currency": optional(TEXT),
        "price_table_version": optional(TEXT),
        "model": optional(TEXT),
        "model_alias": optional(TEXT),
        "request_id": optional(TEXT),
        "inference_ms": optional(NUMBER),
        "reasoning_effort_applied": optional(ANYTHING),
    },
    "task.complete": {
        "task_id": TEXT,
        "command": ANYTHING,
        "status": Scalar("text", choices=("exited", "signaled", "timed_out", "did_not_run")),
        "code": NUMBER,
        "output_path": TEXT,
        "output_bytes": NUMBER,
        "truncated": YES_NO,
    },
    "agent.complete": {
        "child_session": TEXT,
        "child_agent_kind": TEXT,
        "outcome": Scalar("text", choices=("finished", "no_progress", "budget", "refused", "died", "rate_limited")),
        "result": TEXT,
        "scratchpad_path": TEXT,
    },
    "plan.update": {"steps": ListOf(_PLAN_STEP)},
    "policy.self": {"restrictions": ListOf(_RESTRICTION), "authorised": optional(YES_NO)},
    "workspace.open": {
        "kind": Scalar("text", choices=("worktree", "overlay")),
        "attempt": TEXT,
        "path": TEXT,
        "base_commit": TEXT,
    },
    "workspace.integrate": {
        "ref": TEXT,
        "mode": TEXT,
        "decision": TEXT,
        "branch": TEXT,
        "branch_from": TEXT,
        "branch_to": TEXT,
        "parked": TEXT,
    },
    "workspace.adopt": {"attempt": TEXT, "path": TEXT, "files": NUMBER, "deleted": NUMBER, "skipped": NUMBER},
    "sandbox.open": {"attempt": TEXT, "write_execute": Scalar("text", choices=("strict", "relaxed")), "decision": TEXT},
    "sandbox.supervisor": {
        "process": TEXT,
        "layer": TEXT,
        "fail_mode": optional(TEXT),
        "confined": optional(ANYTHING),
        "unconfined": optional(ANYTHING),
        "unreported": optional(ANYTHING),
        "reason": optional(TEXT),
    },
    "sandbox.syscalls": {
        "mechanism": TEXT,
        "observed": optional(NUMBER),
        "unobserved": optional(NUMBER),
        "calls": optional(ListOf(_SYSCALL)),
        "paths_verified": optional(YES_NO),
        "path_readers_unreported": optional(ANYTHING),
        "path_readers_absent": optional(ANYTHING),
    },
    "device.exposed": {"attempt": TEXT, "action": TEXT, "decision": TEXT, "enforced": optional(YES_NO)},
    "network.summary": {
        "granted": _COUNT,
        "refused": _COUNT,
        "diagnostic": optional(TEXT),
        "hosts": optional(ListOf(_HOST)),
        "hosts_complete": optional(YES_NO),
    },
    "secret.used": {"name": TEXT, "action": TEXT, "bind": TEXT, "variable": TEXT},
}

EVENT_NAMES: tuple[str, ...] = tuple(sorted(PAYLOADS))


def payload_type(name: str) -> Type:
    """The type of the payload of an event called `name`; one whose name is not known may hold anything.

    Records are open: later versions of the log add fields.
    """
    if name not in PAYLOADS:
        return MapOf(ANYTHING)
    return RecordOf(f"an event `{name}`", PAYLOADS[name])
