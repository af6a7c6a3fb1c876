"""The text of a source, read out of the evidence."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import assert_never

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.escapes import unescaped
from rulebook.evidence.record import Call, Record, Spoken
from rulebook.evidence.sources import (
    AssistantText,
    FinalMessage,
    GivenText,
    JsonPath,
    Messages,
    RepositoryDiff,
    RepositoryFile,
    Source,
    SubmissionText,
    SubmittedAnswers,
    TestOutput,
    ToolText,
)
from rulebook.evidence.transcript import Message
from rulebook.languages.select import SelectLimit
from rulebook.languages.template import MissingInTemplate, Template, TemplateError
from rulebook.languages.types import MissingValue
from rulebook.outcome import Seen


def text_of(source: Source, evidence: Evidence) -> str:
    """What stands in `source`.

    Raises NotHandedIn when the student wrote nothing there, or what cannot be read as text; Missing when
    our side cannot tell.
    """
    match source:
        case AssistantText():
            return _written(_spoken(evidence.session).joined, "the assistant wrote nothing")
        case FinalMessage():
            last = _spoken(evidence.session).last
            return _written("" if last is None else last.text, "the assistant wrote nothing")
        case Messages():
            return _written(_transcript(source, evidence.session), "the transcript is empty")
        case ToolText():
            return _written(_tool(source, evidence.session), f"no completed call of `{source.tool}` left any text")
        case SubmittedAnswers(name):
            return _answered_by_name(name, evidence.session)
        case SubmissionText(name, file, limit):
            submission = evidence.submission(name)
            return _written(submission.text(limit, file), f"{submission.called(file)} is empty")
        case RepositoryFile(path, limit):
            return _decoded(evidence.repository.read(path, limit), f"`{path}`")
        case RepositoryDiff(limit):
            return _diff(evidence.repository.diff(limit + 1), limit)
        case TestOutput():
            return _printed(source, evidence)
        case JsonPath():
            return _found(source, evidence)
        case GivenText(template):
            return filled(template, evidence)
        case _:
            assert_never(source)


def filled(template: Template, evidence: Evidence, own: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text that `template` becomes over this evidence, and over the names of a check's `own`.

    Raises Missing when a value is not there, or when the author's parameters do not fit; NotHandedIn when
    what the session left behind grew too large for it, or is of a kind that cannot be used there.
    """
    try:
        return template.render(lambda name: own[name] if name in own else evidence.document.lookup(name))
    except MissingInTemplate as missing:
        raise evidence.document.absent(missing.what) from missing
    except TemplateError as error:
        if template.names() <= {"params"}:
            raise Missing("harness", str(error)) from error
        raise NotHandedIn(str(error)) from error


def place_in(source: Source, evidence: Evidence, text: str, at: int) -> tuple[Seen, ...]:
    """Where the character `at` of the source's `text` stands in the evidence; empty when nowhere."""
    match source:
        case AssistantText():
            spoken = _spoken(evidence.session)
            return (Seen(message=spoken.messages[bisect_right(spoken.starts, at) - 1].index),)
        case FinalMessage():
            last = _spoken(evidence.session).last
            return () if last is None else (Seen(message=last.index),)
        case Messages():
            chosen = _chosen(source, evidence.session)
            return (Seen(message=chosen[text.count("\n", 0, at)].index),)
        case ToolText():
            start = 0
            for call in _calls(source, evidence.session):
                start += len(_of_call(source, call)) + len("\n\n")
                if at < start:
                    return (call.seen,)
            return ()
        case SubmissionText(submission, file):
            line = text.count("\n", 0, at) + 1
            return (Seen(note=f"submission {submission}{'/' if file else ''}{file}, line {line}"),)
        case RepositoryFile(path):
            return (Seen(path=path, line=text.count("\n", 0, at) + 1),)
        case _:
            return ()


def _spoken(record: Record) -> Spoken:
    """What the student itself said: neither what its harness put into its mouth nor what was never shown."""
    record.need("messages", "what the assistant said")
    record.need_texts()
    if record.spoken is None:
        own = [m for m in record.messages if m.role == "assistant" and m.text and not m.hidden and not m.injected]
        starts = list(accumulate((len(message.text) + len("\n\n") for message in own), initial=0))
        last = next((message for message in reversed(own) if message.text.strip()), None)
        record.spoken = Spoken(own, starts[:-1], "\n\n".join([message.text for message in own]), last)
    return record.spoken


def _transcript(source: Messages, record: Record) -> str:
    # One line a message, so that no message can hold what looks like another one.
    return "\n".join(f"{m.role}: {' '.join(m.text.split())}" for m in _chosen(source, record))


def _chosen(source: Messages, record: Record) -> Sequence[Message]:
    record.need("messages", "messages")
    record.need_texts()
    chosen = [m for m in record.messages if m.role in source.roles and not m.hidden and m.text.strip()]
    return chosen if source.last is None else chosen[-source.last :]


def _tool(source: ToolText, record: Record) -> str:
    return "\n\n".join(_of_call(source, call) for call in _calls(source, record))


def _of_call(source: ToolText, call: Call) -> str:
    if source.part == "call":
        return _whole_call(call)
    return (call.result or "") if source.part == "result" else unescaped(call.arguments_raw)


def _whole_call(call: Call) -> str:
    status = "" if call.status in ("ok", None) else f"Status: {call.status}\n"
    head = f"Tool: {call.name}\nArguments: {unescaped(call.arguments_raw)}\n{status}"
    return head.rstrip() if call.result is None else f"{head}Result:\n{call.result}"


def _calls(source: ToolText, record: Record) -> Sequence[Call]:
    record.need("tool_calls", "tool calls")
    record.need_texts()
    if source.part != "arguments":
        record.need("results", "what tools answered")
    # what was asked of a tool was asked even where it was refused; what it answered is only there when it ran
    asked = [c for c in record.calls if source.tool in ("*", c.name)]
    done = asked if source.part != "result" else [c for c in asked if _answered(c)]
    return done if source.last is None else done[-source.last :]


def _answered(call: Call) -> bool:
    return call.result is not None and call.status in ("ok", "error", None)


def _answered_by_name(name: str | None, record: Record) -> str:
    if record.answers is None:
        why = "does not record answers that are submitted by name, or not so that they can be read"
        raise Missing("harness", f"{record.title} {why}")
    if name is None:
        return _written(answers_in_all(record.answers), "no answer was submitted")
    return _written(record.answers.get(name, ""), f"the answer `{name}` was not submitted")


def answers_in_all(answers: Mapping[str, str]) -> str:
    """All answers, each behind its name, with blank lines between; none can hold what looks like another one."""
    return "\n\n".join(f"{_indented(name)}: {_indented(text)}" for name, text in answers.items() if text.strip())


def _indented(text: str) -> str:
    return "\n    ".join(text.splitlines())


def _written(text: str, nothing: str) -> str:
    if not text.strip():
        raise NotHandedIn(nothing, cause="absent")
    return text


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotHandedIn(f"{what} is not text in UTF-8", cause="excess") from error


def _diff(text: str, limit: int) -> str:
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise NotHandedIn(f"the change from the base commit is larger than {limit} bytes", cause="excess")
    return text


def _printed(source: TestOutput, evidence: Evidence) -> str:
    done = evidence.test(source.test)
    if done.failure is not None:
        raise Missing("harness", f"the test `{source.test}` could not be started: {done.failure}")
    if done.timed_out:
        raise NotHandedIn(f"the test `{source.test}` ran out of time")
    if done.stdout_cut if source.stream == "stdout" else done.stderr_cut:
        raise NotHandedIn(f"the test `{source.test}` printed more than can be kept", cause="excess")
    return done.stdout if source.stream == "stdout" else done.stderr


def _found(source: JsonPath, evidence: Evidence) -> str:
    select, document = source.select, evidence.document
    try:
        found = [value for value in select.find(document.lookup) if not isinstance(value, MissingValue)]
    except SelectLimit as limit:
        raise NotHandedIn(str(limit), cause="excess") from limit
    if found:
        return "\n".join(value if isinstance(value, str) else _as_json(value) for value in found)
    absent = document.absent(select.root)
    if isinstance(document.lookup(select.root), MissingValue) or not isinstance(absent, Missing):
        raise absent
    raise Missing(absent.category, f"`{select.text}` finds nothing")


def _as_json(value: object) -> str:
    import json  # lint, which imports this module for the kinds of check, does without

    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case MissingValue():
            return None
        case _:
            return value
