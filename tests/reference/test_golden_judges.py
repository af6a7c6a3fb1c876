"""Judges against what karotte 3.0.100 gives for the same input: equal, or different for a reason that is written down."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from golden_cases import FILES, cases, replayed, run_of, wanted
from model_server import Act, Handler, endpoint, says
from recorded.shared import Case, common, composed, joined, plain, prepare, with_mark

from rulebook import UnfitScoring, UnmeasuredError
from rulebook.evidence.rubric_question import question
from rulebook.evidence.verdict import verdict_of
from rulebook.judges import (
    ExecutableJudge,
    FileContext,
    Judge,
    RegexJudge,
    RubricContext,
    RubricJudge,
    TranscriptContext,
)
from rulebook.model_port import ModelReply
from rulebook.outcome import Spent
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import ScoringEvent, Transcript, TranscriptLog, read_transcript


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUDGE_KEY", "k")


@pytest.mark.parametrize("file", FILES)
def test_where_ours_is_another_the_reason_is_written_down(file: str) -> None:
    for case in cases(file):
        assert set(case) in ({"name", "given", "karotte"}, {"name", "given", "karotte", "ours", "why"}), case["name"]
        if "ours" in case:
            assert case["ours"] != case["karotte"], case["name"]
            assert re.match(r"claim (1?\d)\b", case["why"]), case["name"]


def judged(judge: Callable[[], Judge], transcript: Transcript) -> Case:
    try:
        found = judge().evaluate(transcript)
    except Exception as error:
        return {"raises": type(error).__name__}
    return {"score": repr(found.score), "continue_task": found.continue_task, "metadata": dict(found.metadata)}


@replayed("scoring")
def test_a_scoring_in_memory_in_its_file_and_read_again(case: Case, tmp_path: Path) -> None:
    given = {name: eval(text) for name, text in case["given"].items()}
    try:
        scoring = Scoring(**{"score": 1.0, "metadata": {}, "continue_task": True} | given)
    except UnfitScoring:
        assert wanted(case) == {"made": False}
        return
    with TranscriptLog(tmp_path / "log", "r") as log:
        log.append(ScoringEvent(scoring=scoring))
    again = read_transcript(tmp_path / "log").events[0].scoring  # type: ignore[attr-defined]
    found = {"made": True, "written": True, "read": True, "score": again.score, "metadata": again.metadata}
    assert found == wanted(case)


@replayed("caps")
def test_what_is_left_of_long_metadata(case: Case) -> None:
    values = {name: eval(text) for name, text in case["given"].items()}
    kept = Scoring(1.0, values, True).metadata
    assert {name: common(value, str(kept[name])) for name, value in values.items()} == wanted(case)


@replayed("composites")
def test_the_combined_scoring_keeps_the_score_and_continue_task_of_the_judge_it_returns(case: Case) -> None:
    assert composed(case["given"], Judge, Scoring, Transcript(run_id="r")) == wanted(case)


@replayed("trees")
def test_what_a_composite_tells_of_its_children(case: Case) -> None:
    judge = joined(case["given"], Judge, Scoring, [])
    try:
        found = judged(lambda: judge, Transcript(run_id="r"))
        if "raises" in found:
            judge.evaluate(Transcript(run_id="r"))
    except UnmeasuredError as lost:
        found["metadata"] = lost.metadata
    assert found == wanted(case)


@replayed("regex")
def test_patterns_over_messages(case: Case) -> None:
    def judge() -> Judge:
        return RegexJudge([eval(text, {"re": re}) for text in case["given"]["patterns"]])

    assert judged(judge, run_of(case["given"])) == wanted(case)


@replayed("executable")
def test_what_a_script_leaves(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case["given"]
    monkeypatch.setenv("SOME_API_KEY", "secret")
    words, left = with_mark(given)
    kept = list(words)
    found = judged(lambda: ExecutableJudge(words, **given.get("options", {})), Transcript(run_id="r"))
    if "metadata" in found:
        found["metadata"] = plain(found["metadata"])
    found |= {name: look() for name, look in (("left", left), ("argv_kept", lambda: words == kept)) if name in given}
    expected = dict(wanted(case))
    if "score" in expected:
        expected["score"] = repr(float(expected["score"]))
    assert found == expected


@replayed("replies")
def test_what_a_reply_decides(case: Case) -> None:
    found = verdict_of(ModelReply(case["given"]["reply"], "judge", "stop", Spent()))
    expected = wanted(case)
    assert found.met is expected["met"]
    if case["given"]["reply"].strip().count("\n"):
        assert found.reason == expected.get("reason", found.reason)


def replies_to(replies: dict[str, str]) -> Act:
    """The reply to whichever criterion is asked about: they are asked about at the same time."""

    def act(handler: Handler) -> None:
        asked = handler.body["messages"][-1]["content"]
        says(next(reply for criterion, reply in replies.items() if criterion in asked))(handler)

    return act


@replayed("sums")
def test_the_sum_of_a_rubric(case: Case) -> None:
    given = case["given"]
    verdicts = {each["criterion"]: f"VERDICT: {'YES' if each['criterion'].startswith('met') else 'NO'}" for each in given["rubric"]}
    shown = TranscriptContext() if given.get("context", True) else TranscriptContext(tool="none")
    with endpoint(replies_to(verdicts)) as server:
        asked = {"model": "judge", "base_url": server.url, "api_key_env": "JUDGE_KEY", "context": [shown]}
        work = run_of({"messages": [{"role": "assistant", "content": "work"}]})
        found = judged(lambda: RubricJudge(given["rubric"], **asked, **given.get("options", {})), work)
    found.pop("metadata", None)
    assert found == wanted(case)


@replayed("contexts")
def test_what_a_model_is_shown(case: Case, tmp_path: Path) -> None:
    given = case["given"]
    for name, text in given.get("files", {}).items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))

    prepare(str(tmp_path), given.get("prepared", []))

    def provider() -> RubricContext:
        if "paths" in given:
            return FileContext([tmp_path / name for name in given["paths"]])
        return TranscriptContext(**given["options"])

    try:
        found = {"text": provider().render(run_of(given)).replace(str(tmp_path), "{folder}")}
    except Exception as error:
        found = {"raises": type(error).__name__}
    assert found == wanted(case)


@replayed("question")
def test_how_a_model_is_asked(case: Case) -> None:
    context, criterion = case["given"]["context"], case["given"]["criterion"]
    system, text = question(criterion, context, "=mark=")
    found = {
        "context_as_it_is": context in text,
        "criterion_as_it_is": criterion in text,
        "context_first": text.find(context) < text.find(criterion),
        "times_the_context": text.count(context),
        "asks_yes_or_no": "YES" in text and "NO" in text,
    }
    assert found == wanted(case)
    assert text.count("\n=mark=\n") == 2
    assert "=mark=" in system


@replayed("asked")
def test_what_a_model_is_asked_and_what_is_told_of_it(case: Case) -> None:
    rubric = [{"criterion": name, "weight": 1} for name in case["given"]["replies"]]
    work = run_of({"messages": [{"role": "assistant", "content": "work"}]})
    score, raises = None, None
    with endpoint(replies_to(case["given"]["replies"])) as server:
        try:
            scoring = RubricJudge(rubric, model="judge", base_url=server.url, api_key_env="JUDGE_KEY").evaluate(work)
            score, metadata = repr(scoring.score), scoring.metadata
        except UnmeasuredError as lost:
            raises, metadata = type(lost).__name__, lost.metadata
    told = {name: text for name, text in metadata.items() if name.startswith("criterion_")}
    found = {
        "calls": len(server.bodies),
        "roles": sorted({message["role"] for body in server.bodies for message in body["messages"]}),
        "temperature": server.bodies[0].get("temperature"),
        "score": score, "raises": raises, "told": told, "beside": [name for name in metadata if name not in told],
    }  # fmt: skip
    assert found == wanted(case)
