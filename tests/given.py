"""Evidence from the data of a test case: a real chained log, a real git repository, declared tests."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from logs import write_log

from rulebook.evidence.audit_log import read_log
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.repository import Repository
from rulebook.evidence.submission import Submission
from rulebook.evidence.transcript_record import title_of
from rulebook.ports import Completed, Ports

Case = Mapping[str, Any]


def evidence_of(case: Case, wants: Wants, folder: Path, ports: Ports) -> Evidence:
    """What the case says was left behind; the log keeps no more than `wants`.

     `session` is `none`, `{events: […]}` as they stand in the log (a `_time_ms` beside an event is its time), or `{messages: […], events: […], end}`: a
    conversation in short, then these events, then the end (`finished`, another reason, or `none`); `format`
    and `carries` make it a session of another program. `files` is the repository's final state, `base` its
    first commit, and `git` what was then done to it, a list of words each; `tests` is how declared tests ended.
    `row` is the row of a dataset. `submissions` is what was handed in by name, as `write_tree` writes it; `none` is one that was not handed in.
    """
    tree = _repository(case, folder / "repository", ports) if "files" in case or "base" in case else None
    runs = {name: _run(ended) for name, ended in case.get("tests", {}).items()}
    return Evidence(
        record=_record(case.get("session", "none"), wants, folder / "log.jsonl", ports),
        tree=tree,
        tests={name: (lambda done=done: done) for name, done in runs.items()},
        params=case.get("params", {}),
        row=case.get("row"),
        submissions=submissions_of(case.get("submissions", {}), folder / "submissions", ports),
    )


def submissions_of(given: Case, folder: Path, ports: Ports) -> dict[str, Submission]:
    """The saved copies of what was handed in; a mapping of files is a folder."""
    write_tree(folder, {n: c for n, c in given.items() if c != "none" and not (isinstance(c, dict) and "tree" in c)})
    found: dict[str, Submission] = {}
    for name, content in given.items():
        if isinstance(content, dict) and "tree" in content:
            (folder / name).mkdir(parents=True)
            write_tree(folder / name, content["tree"])
        path = folder / name
        kind = "folder" if path.is_dir() else "file" if path.is_file() else "absent"
        found[name] = Submission(name, str(path), kind, ports.files)
    return found


def log_of(session: Case) -> list[dict[str, Any]]:
    """The events of a session that a case gives in short."""
    if "messages" not in session:
        return [_event(event) for event in session["events"]]
    start = {"session.start": {"agent_kind": "main", "model_alias": "coder", "parent_session": ""}}
    events: list[dict[str, Any]] = [start]
    for message in session["messages"]:
        events += _message(message, len(events))
    events += [_event(event) for event in session.get("events", [])]
    end = session.get("end", "finished")
    return events if end == "none" else [*events, {"session.end": {"reason": end, "detail": session.get("detail", "")}}]


def write_tree(folder: Path, files: Case) -> None:
    """Write files by path: a text, or `{link}`, `{folder: true}`, `{fifo: true}`, `{hex}`, `{repeat, times}`, `{repeat, times}`, `{text, mode}`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case str():
                path.write_text(content, encoding="utf-8", newline="")
            case {"link": str(target)}:
                path.symlink_to(target)
            case {"folder": True}:
                path.mkdir()
            case {"fifo": True}:
                os.mkfifo(path)
            case {"repeat": str(text), "times": int(times)}:
                path.write_text(text * times, encoding="utf-8")
            case {"repeat": str(text), "times": int(times)}:
                path.write_text(text * times, encoding="utf-8")
            case {"hex": str(digits)}:
                path.write_bytes(bytes.fromhex(digits))
            case {"text": str(text), "mode": int(mode)}:
                path.write_text(text, encoding="utf-8", newline="")
                path.chmod(mode)
            case _:
                raise ValueError(f"{name}: {content!r} is no file")


def _record(session: Any, wants: Wants, path: Path, ports: Ports) -> Record | None:
    if session == "none":
        return None
    reading = read_log(str(write_log(path, log_of(session))), ports.files, wants)
    assert reading.verdict == "intact", reading.reason
    if "format" in session:
        reading.record.format = session["format"]
        reading.record.title = title_of(session["format"])
        reading.record.carries = frozenset(session["carries"])
    return reading.record


_DEFAULTS: dict[str, dict[str, Any]] = {
    "session.start": {"agent_kind": "main", "model_alias": "coder", "parent_session": ""},
    "session.end": {"reason": "finished", "detail": ""},
    "session.spawn": {"child_agent_kind": "main", "reason": "look around"},
    "agent.complete": {
        "child_agent_kind": "main",
        "outcome": "finished",
        "result": "",
        "scratchpad_path": "",
    },
    "approval.response": {"request_id": 0, "responder": "policy"},
    "tool.result": {"output": "", "is_error": False, "truncated": False},
    "prompt.password": {"correlation_id": "p1", "prompt": "Password:"},
}
"""What a case need not write: the fields that a log must have and that do not matter to it."""


def _event(event: Case) -> dict[str, Any]:
    kind, *rest = event
    return {kind: {**_DEFAULTS.get(kind, {}), **(event[kind] or {})}, **{key: event[key] for key in rest}}


def _message(message: Case, number: int) -> list[dict[str, Any]]:
    ((role, text),) = ((key, message[key]) for key in ("system", "user", "assistant") if key in message)
    calls = [(f"call-{number}-{position}", call) for position, call in enumerate(message.get("calls", []))]
    extra = {key: message[key] for key in ("hidden", "injected") if key in message}
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    if "reasoning" in message:
        parts.append({"reasoning": {"text": message["reasoning"]}})
    for call_id, call in calls:
        parts.append({"tool_use": {"call_id": call_id, "tool": call["name"], "arguments": _arguments(call)}})
    events: list[dict[str, Any]] = [{"message": {"role": role, "content": parts, **extra}}]
    for call_id, call in calls:
        events += _call(call_id, call)
    return events


def _call(call_id: str, call: Case) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"tool.call": {"call_id": call_id, "tool": call["name"], "arguments": _arguments(call)}}
    ]
    status, output = call.get("status", "ok"), call.get("result", "")
    if status == "refused":
        decided = {"decision": "denied_by_policy", "action": f"tool.{call['name']}", "tool_call_id": call_id}
        events.append(_event({"approval.response": decided}))
    if status != "unfinished":
        is_error = status != "ok"
        result = {"call_id": call_id, "output": output, "is_error": is_error}
        events.append(_event({"tool.result": result}))
        events.append({"message": {"role": "tool", "content": [{"tool_result": result}]}})
    return events


def _arguments(call: Case) -> str:
    arguments = call.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _run(ended: Case) -> Completed:
    return Completed(**{"exit": 0, "stdout": "", "stderr": "", "duration_s": 0.1, **ended})


def _repository(case: Case, folder: Path, ports: Ports) -> Repository:
    """A repository whose one commit is `base`, and whose work tree was then changed to `files`."""
    folder.mkdir()
    base = case.get("base", {})
    write_tree(folder, base)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all", "--force")
    _git(folder, "commit", "--quiet", "--allow-empty", "--message=base")
    for name in base if "files" in case else ():
        (folder / name).unlink()
    write_tree(folder, case.get("files", {}))
    commit = _git(folder, "rev-parse", "HEAD").strip()
    for words in case.get("git", []):
        _git(folder, *words)
    return Repository(str(folder), "project", ports.files, ports.git, base=commit)


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "core.hooksPath=/dev/null"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout
