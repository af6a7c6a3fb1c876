"""What a judge model is shown: the texts of several sources, each under a heading that says what it is."""

import codecs
from collections.abc import Sequence

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.context_sources import ContextSource, OwnContext, context_in_words
from rulebook.evidence.reading_text import text_of
from rulebook.evidence.scoring import spelt_out
from rulebook.evidence.sources import (
    AssistantText,
    FinalMessage,
    GivenText,
    Messages,
    RepositoryDiff,
    RepositoryFile,
    SubmissionText,
    SubmittedAnswers,
    ToolText,
)
from rulebook.ports import Ports

_TALK = (AssistantText, FinalMessage, Messages, SubmittedAnswers, ToolText)


def context_of(sources: Sequence[ContextSource], evidence: Evidence, ports: Ports) -> str:
    """The sources' texts in their order, joined by blank lines.

    What is larger than its `max_bytes` is cut, with a note that says so. A conversation in which nothing of the kind
    was said is noted where other sources have something. Raises NotHandedIn where nothing at all is there by the
    student's doing, or a file or a submission is not; Missing where our side cannot tell.
    """
    parts: list[str] = []
    nothing: list[str] = []
    for source in sources:
        text = ""
        try:
            text = _text(source, evidence, ports)
        except NotHandedIn as absent:
            if absent.cause != "absent" or not isinstance(source, _TALK):
                raise
            nothing.append(absent.reason)
        if isinstance(source, GivenText):
            parts.append(text)
            continue
        if not text.strip() and not isinstance(source, _TALK):
            nothing.append(f"{context_in_words(source)} is empty")
        parts.append(f"# {_heading(source)}\n\n{text if text.strip() else f'[{nothing[-1]}]'}")
    students = sum(not isinstance(source, GivenText) for source in sources)
    if students and len(nothing) == students:
        raise NotHandedIn("there is nothing to judge: " + "; ".join(nothing), cause="absent")
    context = "\n\n".join(part for part in parts if part.strip())
    if not context:
        raise Missing("harness", "the context is empty: its texts are")
    return context


def _heading(source: ContextSource) -> str:
    words = context_in_words(source)
    return words[:1].upper() + words[1:]


def _text(source: ContextSource, evidence: Evidence, ports: Ports) -> str:
    match source:
        case OwnContext():
            return _own(source, evidence, ports)
        case RepositoryFile(path, limit):
            tree = evidence.repository
            facts = tree.facts(path)
            if facts is not None and facts.kind == "file" and facts.size_bytes > limit:
                return _beginning(tree.read(path, limit, cut=True), facts.size_bytes, f"`{path}`")
        case SubmissionText(name, file, limit):
            submission = evidence.submission(name)
            facts = submission.facts(file)
            if facts is not None and facts.kind == "file" and facts.size_bytes > limit:
                return _beginning(submission.read(file, limit, cut=True), facts.size_bytes, submission.called(file))
        case RepositoryDiff(limit):
            data = evidence.repository.diff(limit + 1).encode("utf-8", "surrogatepass")
            if len(data) > limit:
                return _beginning(data[:limit], None, "the change from the base commit")
        case _:
            pass
    return text_of(source, evidence)


def _own(source: OwnContext, evidence: Evidence, ports: Ports) -> str:
    from rulebook.evidence.judging import class_named, run_in, shown_by_class  # only a harness's own code needs it

    text = spelt_out(shown_by_class(class_named(source.use, ports), source.args, run_in(evidence)))
    data = text.encode("utf-8")
    if len(data) <= source.max_bytes:
        return text
    return _beginning(data[: source.max_bytes], len(data), context_in_words(source))


def _beginning(data: bytes, size: int | None, what: str) -> str:
    """The text of a file's first bytes; a character that the cut went through is left out."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")("strict").decode(data)
    except UnicodeDecodeError as error:
        raise NotHandedIn(f"{what} is not text in UTF-8", cause="excess") from error
    whole = f" of {size}" if size is not None else ""
    return f"{text}\n\n[… cut here: the first {len(data)}{whole} bytes are shown …]"
