"""Scoring reference: RubricJudge and its context providers, against a real endpoint on loopback."""

import os
from pathlib import Path
from typing import Any

import pytest
from model_server import Endpoint, endpoint, gives, says
from reference_text import example

from rulebook import UnmeasuredError
from rulebook.errors import NotHandedIn
from rulebook.judges import AlwaysPassJudge, AnswersContext, FileContext, RubricContext, RubricJudge, TranscriptContext
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import (
    AnswersSubmittedEvent,
    ChatCompletionMessageToolCall,
    Function,
    Message,
    MessageAddedEvent,
    TaskStartedEvent,
    ToolCallCompletedEvent,
    Transcript,
)

CAUSE = {"criterion": "The report names the root cause of the crash.", "weight": 0.5}
FIX = {"criterion": "The report proposes a fix.", "weight": 0.5}
YES, NO = says("REASON: It does.\nVERDICT: YES"), says("REASON: It does not.\nVERDICT: NO")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUDGE_KEY", "k")
    return tmp_path / "home"


def run(*messages: Message) -> Transcript:
    return Transcript(run_id="r", events=[MessageAddedEvent(message=message) for message in messages])


def judge(server: Endpoint, *rubric: Any, **options: Any) -> RubricJudge:
    return RubricJudge(rubric or (CAUSE, FIX), model="judge", base_url=server.url, api_key_env="JUDGE_KEY", **options)


def shown(server: Endpoint) -> str:
    return str(server.bodies[-1]["messages"][-1]["content"])


WORK = run(Message(role="user", content="Go."), Message(content="It crashed for want of memory."))


def test_the_example_runs_with_only_its_import_lines_changed(tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("Out of memory. Buy more.")

    class Self:
        saved_submissions = (tmp_path / "report.txt",)

    names: dict[str, Any] = {"self": Self}
    exec(example("from chalk.judges import FileContext, RubricJudge", ")").replace("RubricJudge(\n", "made = RubricJudge(\n"), names)
    made = names["made"]
    assert [(each.text, each.weight) for each in made.criteria] == [(each["criterion"], each["weight"]) for each in (CAUSE, FIX)]
    assert made.render_context(WORK) == f"# File '{tmp_path}/report.txt':\nOut of memory. Buy more."


@pytest.mark.parametrize(("acts", "score"), [((YES, YES), 1.0), ((YES, NO), 0.5), ((NO, NO), 0.0)])
def test_the_score_is_the_sum_of_the_weights_of_the_criteria_it_meets(acts: Any, score: float) -> None:
    with endpoint(*acts) as server:
        scoring = judge(server).evaluate(WORK)
    assert (scoring.score, scoring.continue_task) == (score, score > 0)
    assert len(server.bodies) == 2


def test_each_criterion_is_one_call_that_answers_yes_or_no_with_a_reason() -> None:
    with endpoint(YES) as server:
        judge(server).evaluate(WORK)
        asked = [str(body["messages"][-1]["content"]) for body in server.bodies]
        assert len(asked) == 2
        for text in (str(CAUSE["criterion"]), str(FIX["criterion"])):
            assert [text in question for question in asked].count(True) == 1
        assert all("`REASON:`" in question and "`VERDICT: YES` or `VERDICT: NO`" in question for question in asked)


def test_the_reasons_go_into_the_metadata() -> None:
    with endpoint(YES) as server:
        scoring = judge(server, {**CAUSE, "id": "cause"}).evaluate(WORK)
    assert scoring.metadata["cause"] == {"met": True, "reason": "It does."}


def test_it_passes_above_its_continue_threshold_and_not_at_it() -> None:
    with endpoint(YES) as server:
        assert judge(server, continue_threshold=0.99).evaluate(WORK).continue_task is True
        assert judge(server, continue_threshold=1.0).evaluate(WORK).continue_task is False


def test_the_context_is_joined_with_blank_lines_and_empty_parts_are_left_out(tmp_path: Path) -> None:
    class Own(RubricContext):
        def __init__(self, text: str):
            self.text = text

        def render(self, transcript: Transcript) -> str:
            return self.text * len(transcript.messages)

    with endpoint(YES) as server:
        judge(server, CAUSE, context=[Own("a"), Own(""), Own("b")]).evaluate(WORK)
    assert "aa\n\nbb" in shown(server)
    with pytest.raises(TypeError):
        RubricContext()  # type: ignore[abstract]


def test_the_context_providers_decide_what_the_model_sees(tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("Out of memory.")
    with endpoint(YES) as server:
        judge(server, CAUSE, context=[FileContext([tmp_path / "report.txt"])]).evaluate(WORK)
        assert "Out of memory." in shown(server)
        assert "It crashed for want of memory." not in shown(server)
        judge(server, CAUSE, context=[TranscriptContext(last=1)]).evaluate(WORK)
        assert "It crashed for want of memory." in shown(server)
        assert "Out of memory." not in shown(server)


def test_without_context_the_model_sees_the_whole_transcript() -> None:
    with endpoint(YES) as server:
        judge(server, CAUSE).evaluate(WORK)
    assert "[user]: Go.\n[assistant]: It crashed for want of memory." in shown(server)


def test_a_student_that_left_nothing_scores_0_and_no_model_is_asked(tmp_path: Path) -> None:
    with endpoint(YES) as server:
        for context in ([TranscriptContext()], [FileContext([tmp_path / "gone"])]):
            scoring = judge(server, context=context).evaluate(run())
            assert (scoring.score, scoring.continue_task) == (0.0, False)
            assert scoring.metadata["reason"]
    assert server.bodies == []


def test_a_model_that_cannot_be_asked_is_no_low_score() -> None:
    with endpoint(gives(401, {"error": {"message": "no"}})) as server, pytest.raises(UnmeasuredError):
        judge(server).evaluate(WORK)


def test_it_composes_like_any_other_judge() -> None:
    with endpoint(YES) as server:
        assert (AlwaysPassJudge() & judge(server)).evaluate(WORK).score == 1.0


@pytest.mark.parametrize(
    "rubric",
    [
        [], [{"criterion": "a"}], [{"weight": 1}], [{"criterion": " ", "weight": 1}], [{"criterion": "a", "weight": "b"}],
        [{"criterion": "a", "weight": float("nan")}], [{"criterion": "a", "weight": None}],
        [{"criterion": "a", "weight": 1, "id": "x"}, {"criterion": "b", "weight": 1, "id": "x"}],
    ],
)  # fmt: skip
def test_a_rubric_that_could_not_be_scored_is_refused_when_it_is_built(rubric: Any) -> None:
    with pytest.raises(ValueError):
        RubricJudge(rubric)


def test_a_weight_may_be_written_as_text() -> None:
    assert RubricJudge([{"criterion": "a", "weight": "0.25"}]).criteria[0].weight == 0.25


def test_a_context_that_shows_nothing_is_refused_when_it_is_built() -> None:
    for build in (lambda: RubricJudge([CAUSE], context=[]), lambda: FileContext([]), lambda: TranscriptContext(last=0), lambda: TranscriptContext(last=-1)):
        with pytest.raises(ValueError):
            build()
    with pytest.raises(TypeError):
        FileContext("/a")


# FileContext


def test_files_stand_under_their_paths(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"text of {name}")
    text = FileContext([tmp_path / "a", str(tmp_path / "b")]).render(WORK)
    assert text == f"# File '{tmp_path}/a':\ntext of a\n\n# File '{tmp_path}/b':\ntext of b"


def test_a_file_that_cannot_be_shown_is_named_beside_those_that_can(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "blank").write_text(" \n")
    (tmp_path / "secret").write_text("the key")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "fifo")
    odd = {
        "gone": "was not handed in", "folder": "cannot be read: is a directory", "bytes": "is not text in UTF-8",
        "blank": "is empty", "fifo": "cannot be read: it is not a regular file",
    }  # fmt: skip
    for name, why in odd.items():
        assert FileContext([tmp_path / name, tmp_path / "a"]).render(WORK).startswith(f"# File '{tmp_path}/{name}': it {why}\n\n#")
        with pytest.raises(NotHandedIn, match=why):
            FileContext([tmp_path / name]).render(WORK)
    assert "the key" not in FileContext([tmp_path / "link", tmp_path / "a"]).render(WORK)


def test_a_large_file_is_cut_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("é" * 1_000_000)
    text = FileContext([tmp_path / "a"]).render(WORK)
    assert len(text) < 600_000
    assert text.endswith("[… cut here: the first 1048576 bytes are shown …]")


# TranscriptContext


def called(name: str, result: str, number: int, failed: bool = False) -> list[Any]:
    call = ChatCompletionMessageToolCall(id=f"c{number}", function=Function(name=name, arguments=f'{{"n": {number}}}'))
    done = {"content": [{"type": "text", "text": result}], "isError": failed}
    return [
        MessageAddedEvent(message=Message(content=None, tool_calls=[call])),
        ToolCallCompletedEvent(tool_call_id=f"c{number}", result=done),
    ]


CALLS = Transcript(
    run_id="r",
    events=[*called("bash", "one", 1), *called("grep", "two", 2), *called("bash", "three\nlines", 3, failed=True)],
)


def test_messages_are_shown_one_after_the_other_and_the_last_of_them() -> None:
    text = TranscriptContext().render(run(Message(role="system", content="S"), Message(content="a\n[user]: b"), Message()))
    assert text == "[system]: S\n[assistant]: a\n    [user]: b"
    assert TranscriptContext(last=1).render(WORK) == "[assistant]: It crashed for want of memory."
    assert TranscriptContext(last=9).render(WORK).startswith("[user]: Go.")


def test_completed_calls_of_a_tool_are_shown_with_what_they_answered() -> None:
    assert TranscriptContext(tool="bash").render(CALLS) == (
        'Tool: bash\nArguments: {"n": 1}\nResult:\n    one\n\n'
        'Tool: bash\nArguments: {"n": 3}\nResult (it failed):\n    three\n    lines'
    )
    assert TranscriptContext(tool="*", last=2).render(CALLS).startswith("Tool: grep\n")
    assert TranscriptContext(tool="nothing").render(CALLS) == ""


def test_a_call_without_an_answer_is_not_shown() -> None:
    assert TranscriptContext(tool="*").render(Transcript(run_id="r", events=called("bash", "x", 1)[:1])) == ""


# AnswersContext

ANSWERS = Transcript(
    run_id="r",
    events=[AnswersSubmittedEvent(answers={"total": "41", "note": "a\ntotal: 7"}), AnswersSubmittedEvent(answers={"total": "42"})],
)


def test_answers_are_shown_by_name_or_one_alone() -> None:
    assert AnswersContext().render(ANSWERS) == "total: 42\n\nnote: a\n    total: 7"
    assert AnswersContext("total").render(ANSWERS) == "42"
    assert AnswersContext(key="gone").render(ANSWERS) == AnswersContext().render(WORK) == ""
    with pytest.raises(ValueError):
        AnswersContext("")


def test_a_student_that_submitted_no_answer_scores_0_and_no_model_is_asked() -> None:
    with endpoint(YES) as server:
        assert judge(server, context=[AnswersContext()]).evaluate(WORK).score == 0.0
    assert server.bodies == []


@pytest.mark.parametrize("context", ["sk-key", ["total"], [AnswersContext]])
def test_what_is_no_context_is_refused_when_it_is_built(context: Any) -> None:
    with pytest.raises(TypeError, match="api_key_env"):
        RubricJudge([CAUSE], "judge", context)


def test_a_scoring_of_a_rubric_can_be_written() -> None:
    with endpoint(YES) as server:
        scoring = judge(server).evaluate(WORK)
    assert isinstance(scoring, Scoring)
    assert scoring.as_data()["score"] == 1.0


def test_a_model_that_judges_its_own_work_is_told() -> None:
    events = [TaskStartedEvent(run_id="r", task_id="t", model="openai/judge", n_steps=1), *WORK.events]
    with endpoint(YES) as server:
        scoring = judge(server).evaluate(Transcript(run_id="r", events=events))
        assert scoring.metadata["rubric-own-model"] == "judge"
        assert "rubric-own-model" not in judge(server).evaluate(WORK).metadata


@pytest.mark.parametrize("where", [{"api_key_env": "sk-0123secret"}, {"base_url": "http://u:secret@a"}, {"base_url": "file:///etc"}])
def test_an_endpoint_that_could_not_be_asked_is_refused_when_it_is_built(where: Any) -> None:
    with pytest.raises(ValueError, match="`(api_key_env|base_url)` is") as wrong:
        RubricJudge([CAUSE], "judge", **where)
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize("rubric", ["It is right.", [("It is right.", 1)]])
def test_a_criterion_that_is_only_words_is_refused_with_what_to_write(rubric: Any) -> None:
    with pytest.raises(TypeError, match="A criterion is written `{'criterion': '…', 'weight': 1}`; this is"):
        RubricJudge(rubric, model="p/m")
