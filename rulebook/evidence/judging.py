"""Asking a judge that is written in Python, so that nothing leaves it but an outcome."""

from collections.abc import Callable, Mapping
from typing import Protocol, cast

from rulebook.errors import EvidenceError, MisbehaviorError, Missing, NotHandedIn, Stopped, UnfitScoring
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Record
from rulebook.evidence.run_events import MessageAddedEvent
from rulebook.evidence.run_messages import ChatCompletionMessageToolCall, Function, Message
from rulebook.evidence.run_transcript import Transcript
from rulebook.evidence.scoring import Scoring
from rulebook.evidence.transcript import Message as Told
from rulebook.outcome import Measurement, Misbehavior, Outcome, Unmeasured, student_fault
from rulebook.ports import Ports


class Scores(Protocol):
    """Whatever judges a transcript."""

    def evaluate(self, transcript: Transcript) -> Scoring:
        """What the transcript is worth."""
        ...


class Shows(Protocol):
    """Whatever says what a judge model is shown of a transcript."""

    def render(self, transcript: Transcript) -> str:
        """The text."""
        ...


def outcome_of(judge: Scores, transcript: Transcript) -> Outcome:
    """Ask a judge. One that breaks could not judge, which is never a low score."""
    name = type(judge).__name__
    try:
        scoring = judge.evaluate(transcript)
    except MisbehaviorError as tried:
        return Misbehavior(tried.reason, tried.metadata)
    except NotHandedIn as absent:
        return student_fault(absent.reason, cause=absent.cause)
    except Missing as missing:
        return Unmeasured(missing.category, missing.reason, metadata=missing.metadata)
    except (UnfitScoring, EvidenceError) as unfit:
        return Unmeasured("harness", f"`{name}` could not judge: {unfit}")
    except Stopped:
        raise
    except (Exception, SystemExit) as fault:  # a bug of one judge must not lose what the others found
        return Unmeasured("harness", f"`{name}` broke: {type(fault).__name__}: {fault}")
    if not isinstance(scoring, Scoring):
        return Unmeasured("harness", f"`{name}` gave {scoring!r:.80} in place of a `Scoring`")
    return Measurement(scoring.score, scoring.continue_task, metadata=scoring.metadata)


def asked_class(made: Callable[..., object], args: Mapping[str, object], transcript: Transcript) -> Outcome:
    """Make a judge of a class and ask it. Raises Missing in `harness` for a class that is none, or cannot be made."""
    judge = _made(made, args)
    if not callable(getattr(judge, "evaluate", None)):
        raise Missing("harness", f"`{made.__name__}` is no judge: it has no `evaluate`")
    return outcome_of(cast("Scores", judge), transcript)


def shown_by_class(made: Callable[..., object], args: Mapping[str, object], transcript: Transcript) -> str:
    """Make a context provider of a class, and ask it what a judge model is to be shown.

    Raises the EvidenceError that it raises, and Missing in `harness` for whatever else goes wrong with it.
    """
    provider, name = _made(made, args), made.__name__
    if not callable(getattr(provider, "render", None)):
        raise Missing("harness", f"`{name}` is no context: it has no `render`")
    try:
        text = cast("Shows", provider).render(transcript)
    except EvidenceError:
        raise
    except Stopped:
        raise
    except (Exception, SystemExit) as fault:  # whatever a provider of somebody else's does
        raise Missing("harness", f"`{name}` broke: {type(fault).__name__}: {fault}") from fault
    if not isinstance(text, str):
        raise Missing("harness", f"`{name}` gave {text!r:.80} in place of text")
    return text


def class_named(use: str, ports: Ports) -> Callable[..., object]:
    """The class that a rule file names. Raises Missing where code is not allowed, or cannot be had."""
    if ports.code is None:
        allow = "pass `--allow-python`, or `allow_python=True`"
        raise Missing("harness", f"`{use}` is code of your own, which runs only where you allow it: {allow}")
    return ports.code.load(use)


def run_in(evidence: Evidence) -> Transcript:
    """The run as judges in Python read it, whoever recorded it. Raises Missing where there is none."""
    return evidence.run if isinstance(evidence.run, Transcript) else run_of(evidence.session)


def _made(made: Callable[..., object], args: Mapping[str, object]) -> object:
    try:
        return made(**args)
    except Stopped:
        raise
    except (Exception, SystemExit) as fault:
        raise Missing("harness", f"`{made.__name__}` cannot be made: {type(fault).__name__}: {fault}") from fault


def run_of(record: Record) -> Transcript:
    """The messages of a session, whatever program recorded it, as the transcript that judges in Python read.

    Raises Missing where the session does not have them.
    """
    record.need("messages", "messages")
    return Transcript(
        run_id=record.session_id or "",
        events=[MessageAddedEvent(message=_message(each)) for each in record.messages if not each.hidden],
    )


def _message(told: Told) -> Message:
    calls = [
        ChatCompletionMessageToolCall(id=call.id, function=Function(name=call.name, arguments=call.args_raw))
        for call in told.tool_calls
    ]
    result = told.tool_result
    return Message(
        role=told.role,
        content=told.text if result is None else result.text,
        reasoning_content=told.reasoning,
        tool_calls=calls or None,
        tool_call_id=None if result is None else result.call_id,
    )
