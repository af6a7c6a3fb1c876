"""Scoring reference: RegexJudge."""

import re
import time

import pytest
from reference_text import example

from rulebook.judges import RegexJudge
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import (
    ChatCompletionMessageToolCall,
    Function,
    Message,
    MessageAddedEvent,
    StepStartedEvent,
    Transcript,
)

NO_MATCH = "Transcript contains no match."


def run(*messages: Message) -> Transcript:
    return Transcript(run_id="r", events=[MessageAddedEvent(message=message) for message in messages])


def says(content: object, **fields: object) -> Message:
    return Message(role="assistant", content=content, **fields)  # type: ignore[arg-type]


def judged(transcript: Transcript, *patterns: "re.Pattern[str]") -> Scoring:
    return RegexJudge(patterns).evaluate(transcript)


def test_the_example_runs_with_only_its_import_lines_changed() -> None:
    source = example("import re", 'RegexJudge([re.compile(r"answer: 42")])')
    names: dict[str, object] = {}
    exec(source.replace("RegexJudge([", "judge = RegexJudge([", 1), names)
    judge = names["judge"]
    assert judge.evaluate(run(says("The answer: 42."))) == Scoring(1.0, {}, True)  # type: ignore[attr-defined]
    assert judge.evaluate(run(says("The answer: 43."))) == Scoring(0.0, {"answer: 42": NO_MATCH}, False)  # type: ignore[attr-defined]


def test_every_pattern_must_match_and_the_metadata_lists_those_that_did_not() -> None:
    patterns = [re.compile(text) for text in ("a", "x", "y")]
    assert judged(run(says("abc")), *patterns) == Scoring(0.0, {"x": NO_MATCH, "y": NO_MATCH}, False)
    assert judged(run(says("a x y")), *patterns) == Scoring(1.0, {}, True)


def test_it_searches_as_re_search_does() -> None:
    assert judged(run(says("in the middle")), re.compile("the")).score == 1.0
    assert judged(run(says("a\nb")), re.compile("^b")).score == 0.0
    assert judged(run(says("a\nb")), re.compile("^b", re.MULTILINE)).score == 1.0
    assert judged(run(says("a\nb")), re.compile("a.b", re.DOTALL)).score == 1.0
    assert judged(run(says("ANSWER")), re.compile("answer", re.IGNORECASE)).score == 1.0
    assert judged(run(says("ab")), re.compile("a  b  # both", re.VERBOSE)).score == 1.0
    assert judged(run(says("é")), re.compile(r"\w")).score == 1.0
    assert judged(run(says("é")), re.compile(r"\w", re.ASCII)).score == 0.0
    assert judged(run(says("é E")), re.compile(r"(?i)\we", re.ASCII)).score == 0.0
    assert judged(run(says("xE")), re.compile(r"(?i)\we", re.ASCII)).score == 1.0


def test_messages_are_joined_with_blank_lines() -> None:
    assert judged(run(says("a"), Message(role="tool", content="t"), says("b")), re.compile(r"\Aa\n\nb\Z")).score == 1.0


def test_text_blocks_of_multipart_messages_are_joined_too() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "b"}]
    assert judged(run(says(parts)), re.compile(r"\Aa\n\nb\Z")).score == 1.0


@pytest.mark.parametrize("role", ["system", "user", "tool", "function"])
def test_system_messages_instructions_and_tool_results_are_excluded(role: str) -> None:
    hidden = Message(role=role, content="answer: 42")
    assert judged(run(hidden, says("Hm.")), re.compile("answer")).score == 0.0


def test_reasoning_and_tool_call_arguments_are_excluded() -> None:
    call = ChatCompletionMessageToolCall(id="c", function=Function(name="bash", arguments='{"a": "answer"}'))
    blocks = [{"type": "thinking", "thinking": "answer"}]
    message = says("Hm.", reasoning_content="answer", thinking_blocks=blocks, tool_calls=[call])
    assert judged(run(message), re.compile("answer")).score == 0.0


def test_non_text_blocks_are_excluded() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:answer"}}, {"type": "text", "text": "Hm."}]
    assert judged(run(says(parts)), re.compile("answer")).score == 0.0


def test_assistant_text_of_earlier_steps_of_the_same_task_counts() -> None:
    events = [StepStartedEvent(step=0), MessageAddedEvent(message=says("answer")), StepStartedEvent(step=1)]
    events.append(MessageAddedEvent(message=says("done")))
    assert judged(Transcript(run_id="r", events=events), re.compile("answer")).score == 1.0


def test_a_student_that_wrote_nothing_matches_nothing() -> None:
    for transcript in (run(), run(says(None)), run(says("")), run(Message(role="user", content="x"))):
        scoring = judged(transcript, re.compile(".*"))
        assert (scoring.score, scoring.continue_task) == (0.0, False)
        assert scoring.metadata == {".*": "The assistant wrote nothing."}


def test_patterns_of_one_text_and_other_flags_are_told_apart() -> None:
    patterns = (re.compile("answer"), re.compile("answer", re.IGNORECASE))
    assert judged(run(says("ANSWER")), *patterns).metadata == {"answer (flags: none)": NO_MATCH}


def test_a_search_that_would_take_forever_ends_after_2_seconds() -> None:
    began = time.monotonic()
    scoring = judged(run(says("a" * 40 + "b")), re.compile("^(a+)+$"))
    assert time.monotonic() - began < 4
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "did not end within 2 s" in str(scoring.metadata["^(a+)+$"])


def test_a_text_that_is_too_long_is_searched_at_its_beginning_and_that_is_said() -> None:
    text = "answer" + "x" * (1024 * 1024) + "late"
    assert judged(run(says(text)), re.compile("answer")).score == 1.0
    assert "Only the first 1048576 characters" in str(judged(run(says(text)), re.compile("late")).metadata["late"])
    assert judged(run(says(text)), re.compile(r"x\Z")).score == 0.0


@pytest.mark.parametrize("expected", [["answer"], [re.compile(b"answer")], [None], "answer"])
def test_what_is_no_compiled_pattern_is_refused(expected: object) -> None:
    with pytest.raises(TypeError, match=re.escape("re.compile(")):
        RegexJudge(expected)  # type: ignore[arg-type]


def test_no_patterns_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="one or more"):
        RegexJudge([])
