"""Going back to the place where a finding was seen, and making sure that it still is what was read then."""

import json
from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from rulebook.errors import AuditGapError, UsageError
from rulebook.evidence.changed import written_back
from rulebook.evidence.record import EVERYTHING, Call, Record
from rulebook.evidence.transcript import Message
from rulebook.ports import Files
from rulebook.report.stored import StoredReport
from rulebook.session.opening import Opened, located, open_session

_LIMIT_BYTES = 16 * 1024 * 1024
_AROUND = 3
_FIRST_LINES = 20

_KINDS = {"folder": "a folder", "link": "a link", "other": "a pipe, a socket or a device"}


class Located(Struct, frozen=True):
    """One place: what it is called, and its lines as they stand there (`marked` is the 0-based one that is meant)."""

    heading: str
    lines: tuple[str, ...]
    marked: int | None = None


class Evidences:
    """The evidence of one report, opened when a place in it is first asked for.

    `session` and `project` are where it lies now, when that is elsewhere than the report says.
    """

    def __init__(self, report: StoredReport, files: Files, session: str | None, project: str | None) -> None:
        self._report, self._files = report, files
        self._session, self._project = session, project
        self._opened: Opened | None = None

    def locate(self, place: Mapping[str, object]) -> Located:
        """What stands at one of a finding's places.

        Raises UsageError where the evidence is not to be had, AuditGapError where it is no longer what was read.
        """
        path, call, message, offset = (place.get(key) for key in ("path", "call", "message", "log"))
        if isinstance(path, str):
            return self._file(path, place)
        if isinstance(call, int) and 0 <= call < len(self._record.calls):
            return self._call(self._record.calls[call])
        if call is None and isinstance(place.get("call_id"), str):
            for made in (made for thread in self._record.threads for made in thread.calls):
                if made.id == place["call_id"]:
                    return self._call(made)
        if isinstance(message, int) and 0 <= message < len(self._record.messages):
            return self._message(self._record.messages[message])
        if isinstance(offset, int) and offset >= 0:
            return self._event(offset)
        if "note" in place and len(place) == 1:
            return Located(str(place["note"]), ())
        raise AuditGapError("missing", "the place is not in the session: the report and the session are not of one run")

    @property
    def _word(self) -> str:
        word = self._session or self._report.session
        if word is None:
            raise UsageError(f"`{self._report.path}` does not say where its session lies. Give it with `--session`.")
        part = self._report.part
        return word if part is None or word.endswith(f"#{part}") else f"{word}#{part}"

    @property
    def _record(self) -> Record:
        return self._check_session().record

    def _check_session(self) -> Opened:
        """The session, read once. Raises AuditGapError when its bytes are not those that were judged."""
        if self._opened is None:
            opened = open_session(self._word, EVERYTHING, self._files, allow_unchained=True)
            if opened.audit.sha256 != self._report.sha256:
                changed = f"the session `{self._word}` is no longer what was read for `{self._report.path}`"
                raise AuditGapError("changed", f"{changed}: check it again")
            self._opened = opened
        return self._opened

    def _call(self, call: Call) -> Located:
        where = [f"tool call {call.index}", call.name, call.id]
        where += [f"in the thread of the sub-agent {call.thread}"] if call.thread is not None else []
        where += [f"message {call.message}"] if call.message is not None else []
        where += [f"byte {call.offset} of the log"] if call.offset is not None else []
        arguments = _as_json(call.arguments) if call.arguments is not None else call.arguments_raw.split("\n")
        answer = ["no result"] if call.result is None else call.result.split("\n")
        status = f"result: {call.status}" if call.status else "result"
        return Located(" · ".join(where), ("arguments", *_indented(arguments), status, *_indented(answer)))

    def _message(self, message: Message) -> Located:
        where = [f"message {message.index}", message.role]
        where += ["put there by the harness"] if message.injected else []
        if message.src is not None:
            where.append(f"at {message.src} of {self._word}")
        calls = [f"calls {call.name} ({call.id})" for call in message.tool_calls]
        return Located(" · ".join(where), (*message.text.split("\n"), *calls) if message.text else tuple(calls))

    def _event(self, offset: int) -> Located:
        self._check_session()
        path, _ = located(self._word)
        at = 0
        with self._files.lines(path) as lines:
            for line in lines:
                if at == offset:
                    return _event_line(line, offset)
                at += len(line)
        raise AuditGapError("missing", f"there is no line at byte {offset} of `{self._word}`")

    def _file(self, path: str, place: Mapping[str, object]) -> Located:
        root = self._project or self._report.project
        if root is None:
            gone = f"The repository of `{self._report.path}` was a checkout that is gone since, or none was given"
            raise UsageError(f"{gone}: name one with `--project`.")
        commit = place.get("commit")
        since = f" · base commit {commit[:12]}" if isinstance(commit, str) else ""
        try:
            name = path
            if (facts := self._files.within(root, name)) is None:
                name = written_back(path)
                facts = self._files.within(root, name)
            if facts is None or facts.kind != "file":
                kind = "nothing stands there" if facts is None else f"it is {_KINDS[facts.kind]}"
                if "sha256" in place:
                    raise _changed_file(path)
                return Located(f"{path}{since} · {kind}", ())
            data = self._files.read_within(root, name, _LIMIT_BYTES)
        except ValueError as error:
            raise UsageError(f"`{path}` in `{root}` is no path that a file can have.") from error
        except OSError as error:
            raise UsageError(f"I can't read `{path}` in `{root}`: {(error.strerror or str(error)).lower()}.") from error
        digest = place.get("sha256")
        if isinstance(digest, str) and sha256(data).hexdigest() != digest:
            raise _changed_file(path)
        return _lines_of(path, data, place.get("line"), since)


def _changed_file(path: str) -> AuditGapError:
    return AuditGapError("changed", f"the file `{path}` is no longer what was read: check the session again")


def _lines_of(path: str, data: bytes, line: object, since: str) -> Located:
    if b"\0" in data:
        return Located(f"{path}{since} · {len(data):,} bytes, not text", ())
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    if not isinstance(line, int) or not 1 <= line <= len(lines):
        more = [f"… {len(lines) - _FIRST_LINES} more lines"] if len(lines) > _FIRST_LINES else []
        return Located(f"{path}{since}", (*lines[:_FIRST_LINES], *more))
    first = max(0, line - 1 - _AROUND)
    return Located(f"{path}, line {line}{since}", tuple(lines[first : line + _AROUND]), line - 1 - first)


def _event_line(line: bytes, offset: int) -> Located:
    try:
        envelope = json.loads(line)
        ((kind, payload),) = envelope["event"].items()
        return Located(f"event {kind} · byte {offset} of the log", tuple(_as_json(payload)))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Located(f"byte {offset} of the log", (line.decode("utf-8", "backslashreplace").rstrip("\n"),))


def _as_json(value: object) -> list[str]:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str).split("\n")


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
