"""What a source's text is made of, where a log of our own cannot show it."""

from pathlib import Path

import pytest
from given import evidence_of

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.reading_sources import read_source
from rulebook.evidence.reading_text import filled, place_in, text_of
from rulebook.evidence.record import Call, Record, Wants
from rulebook.evidence.run_events import AnswersSubmittedEvent, event_from
from rulebook.evidence.run_transcript import Transcript, record_of_run
from rulebook.evidence.sources import RepositoryDiff
from rulebook.evidence.transcript import Message, SideEvent, Source
from rulebook.evidence.transcript import Transcript as Foreign
from rulebook.evidence.transcript_record import record_of
from rulebook.judges import AnswersContext
from rulebook.languages.template import read_template
from rulebook.outcome import Seen
from rulebook.services.ports import machine_ports


def said(*messages: Message) -> Evidence:
    return Evidence(record=Record(messages=list(messages), turns=1))


SESSION = said(
    Message(0, "user", "Go."),
    Message(1, "assistant", "One."),
    Message(2, "assistant", "Never shown.", hidden=True),
    Message(3, "assistant", "Put there.", injected=True),
    Message(4, "assistant", ""),
    Message(5, "assistant", "Two."),
    Message(6, "assistant", "  \n"),
)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("assistant", "One.\n\nTwo.\n\n  \n"),
        ("final_message", "Two."),
        ({"transcript": {}}, "user: Go.\nassistant: One.\nassistant: Put there.\nassistant: Two."),
        ({"transcript": {"last": 1, "roles": ["user"]}}, "user: Go."),
    ],
)
def test_messages(source: object, text: str) -> None:
    assert text_of(read_source(source), SESSION) == text


def test_a_match_is_placed_in_its_message() -> None:
    source = read_source("assistant")
    text = text_of(source, SESSION)
    assert place_in(source, SESSION, text, text.index("One.")) == (Seen(message=1),)
    assert place_in(source, SESSION, text, text.index("Two.")) == (Seen(message=5),)


@pytest.mark.parametrize("status", ["ok", "error", None])
def test_a_call_that_was_answered_counts_also_where_the_format_has_no_status(status: str | None) -> None:
    record = Record(calls=[Call(0, "c", "grep", {}, "{}", result="x", status=status)])
    assert text_of(read_source({"tool": "grep"}), Evidence(record=record)) == "x"


def test_a_template_that_the_session_made_too_large_is_the_students_doing() -> None:
    evidence = said(Message(0, "assistant", "a" * 1_000_000))
    with pytest.raises(NotHandedIn):
        filled(read_template("{% for m in messages %}{{ m.text }}{{ m.text }}{% endfor %}"), evidence)


def test_a_template_that_only_parameters_made_too_large_is_ours() -> None:
    with pytest.raises(Missing):
        filled(read_template("{{ params.a }}{{ params.a }}"), Evidence(params={"a": "a" * 1_000_000}))


def test_a_template_that_reads_what_is_not_there_is_unmeasured() -> None:
    with pytest.raises(Missing) as caught:
        filled(read_template("{{ cost }}"), Evidence(record=Record()))
    assert caught.value.category == "harness"


def test_a_change_beyond_its_limit_hides_nothing(tmp_path: Path) -> None:
    case = {"base": {"a.txt": "one\n"}, "files": {"a.txt": "one\ntwo\n"}}
    evidence = evidence_of(case, Wants(), tmp_path, machine_ports())
    size = len(text_of(RepositoryDiff(), evidence).encode())
    assert text_of(RepositoryDiff(size), evidence).endswith("+two\n")
    with pytest.raises(NotHandedIn):
        text_of(RepositoryDiff(size - 1), evidence)


def answered(*answers: dict[str, str]) -> Evidence:
    events = [AnswersSubmittedEvent(answers=each) for each in answers]
    return Evidence(record=record_of_run(Transcript(run_id="r", events=events)))


def test_answers_are_shown_behind_their_names_and_the_later_of_two_counts() -> None:
    evidence = answered({"total": "41", "note": "one\ntotal: 7"}, {"total": "42", "blank": " "})
    assert text_of(read_source({"answers": True}), evidence) == "total: 42\n\nnote: one\n    total: 7"
    assert text_of(read_source({"answers": "note"}), evidence) == "one\ntotal: 7"


@pytest.mark.parametrize(("source", "why"), [(True, "no answer was submitted"), ("total", "the answer `total` was not submitted")])
def test_an_answer_that_was_not_submitted_is_the_students_doing(source: object, why: str) -> None:
    for evidence in (answered(), answered({"total": ""})):
        with pytest.raises(NotHandedIn, match=why) as caught:
            text_of(read_source({"answers": source}), evidence)
        assert caught.value.cause == "absent"


def test_another_programs_session_is_not_taken_for_one_without_answers() -> None:
    record = record_of(Foreign(Source("hermes", "", ""), events=[SideEvent("answers_submitted", {"answers": {"a": "1"}})]))
    with pytest.raises(Missing, match="does not record answers"):
        text_of(read_source({"answers": True}), Evidence(record=record))


@pytest.mark.parametrize("odd", [{"answers": {"total": 5}}, {"answers": ["42"]}])
def test_answers_that_cannot_be_read_are_no_students_fault(odd: dict[str, object]) -> None:
    run = Transcript(run_id="r", events=[event_from({"type": "answers_submitted", **odd})])
    with pytest.raises(Missing, match="can be read"):
        text_of(read_source({"answers": "total"}), Evidence(record=record_of_run(run)))
    with pytest.raises(Missing, match="can be read"):
        AnswersContext("total").render(run)
