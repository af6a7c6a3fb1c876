"""Events, runs and submissions against what karotte 3.0.100 gives for the same input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from golden_cases import cases, replayed, wanted
from recorded.shared import Case, contents, covers, prepare, steps_of, tree
from students import needs_root

import rulebook
from rulebook import EvaluationRunConfig, Step, StudentMisbehaviorError, UnmeasuredError, save_artifact, save_submission
from rulebook.judges import Judge
from rulebook.outcome import Measurement, Misbehavior, Unmeasured
from rulebook.report.task_scores import StepJudged, task_score
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript, read_transcript
from rulebook.services import custody_collection


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RULEBOOK_ARTIFACT_DIR", raising=False)


@replayed("events")
def test_an_event_read_and_written_again(case: Case) -> None:
    transcript = Transcript.from_bytes(json.dumps({"run_id": "r", "events": [case["given"]["event"]]}).encode())
    event = transcript.events[0]
    found = {"read": type(event).__name__, "lossless": covers(event.as_data(), case["given"]["event"])}
    assert found == wanted(case)


Played = steps_of(Step, Judge, Scoring, StudentMisbehaviorError)


def played(does: Case, scored: list[Scoring]) -> StepJudged:
    """One step, played as a harness does that takes what is raised for what it is: no score."""
    step = Played(EvaluationRunConfig(), does)
    try:
        scored.append(step.score(Transcript(run_id="r")))
    except UnmeasuredError as lost:
        return StepJudged("", Unmeasured(lost.category, lost.reason))
    found = scored[-1]
    if "misbehavior" in found.metadata:
        return StepJudged("", Misbehavior(str(found.metadata["misbehavior"])))
    return StepJudged("", Measurement(found.score, found.continue_task))


@replayed("runs")
def test_a_whole_run(case: Case) -> None:
    scored: list[Scoring] = []
    steps: list[StepJudged] = []
    errored = ""
    for does in case["given"]["steps"]:
        try:
            steps.append(played(does, scored))
            if steps[-1].passed is None:
                break
            Played(EvaluationRunConfig(), does).post_hook()
        except (KeyError, StudentMisbehaviorError) as fault:
            errored = repr(fault)
            break
        if not steps[-1].passed:
            break
    total = task_score("last", steps, {}, errored=errored)
    karotte = case["karotte"]
    assert [f"scoring:{each.score}" for each in scored] == [each for each in karotte["events"] if "scoring" in each]
    assert [dict(each.metadata) for each in scored] == karotte["metadata"]
    if "ours" in case:
        found = {"scored": [each.score for each in scored], "score": total.score, "partial_score": total.partial_score}
        assert (found, total.passed) == (case["ours"], None)
    else:
        assert (total.score, total.passed) == (karotte["score"], {"passed": True, "failed": False}[karotte["status"]])


def script_of(does: Case) -> str:
    """A step's judge in a rule file, that does what the step of the recording does."""
    ends = {"misbehavior": f"echo {does.get('says')}; exit 77", "bug": "exit 78"}
    writes = f"""printf "{{\\"score\\": {does.get("score", 1.0)}, \\"metadata\\": {{}}}}" > $0"""
    script = ends[does["raises"]] if "raises" in does else writes
    threshold = -1 if does.get("goes_on", True) else 100
    return f"{{executable: {{argv: [sh, -c, '{script}', s.json], continue_threshold: {threshold}}}}}"


IN_A_FILE = [case for case in cases("runs") if case["given"]["steps"] and "post_hook" not in json.dumps(case["given"])]


@pytest.mark.parametrize("case", [case for case in IN_A_FILE if "udcff" not in json.dumps(case)], ids=lambda case: case["name"])
def test_the_events_of_a_run_that_is_played_by_a_rule_file(case: Case, tmp_path: Path) -> None:
    steps = [
        f"  - {{name: step{number}, instructions: Go., judge: {script_of(does)}}}\n"
        for number, does in enumerate(case["given"]["steps"])
    ]
    (tmp_path / "task.yaml").write_text(f"schema: rulebook.task\nversion: 1\nname: t\nsteps:\n{''.join(steps)}", "utf-8")
    task = rulebook.load(tmp_path / "task.yaml")
    report = task.run(["sh", "-c", "echo done"], transcript=tmp_path / "run.jsonl", isolation="none")  # type: ignore[union-attr]
    told = []
    for event in read_transcript(tmp_path / "run.jsonl").events:
        if not event.type.startswith(("task_started", "task_pre", "message")):
            told.append(f"scoring:{event.scoring.score}" if event.type == "scoring" else event.type)  # type: ignore[attr-defined]
            told[-1] += f":{event.status}" if event.type == "task_completed" else ""  # type: ignore[attr-defined]
    assert told == case["karotte"]["events"]
    assert report.total.score == case.get("ours", case["karotte"])["score"]


@needs_root
@replayed("submissions")
def test_a_submission_is_saved(case: Case, tmp_path: Path) -> None:
    given, place = case["given"], tmp_path / "out"
    place.mkdir()
    prepare(str(place), given["prepared"])
    dest = tmp_path / "copy" if given.get("dest") else None
    try:
        found = {"saved": tree(str(save_submission(place / given.get("source", ""), dest, **given.get("options", {}))))}
    except StudentMisbehaviorError as error:
        found = {"misbehavior": str(error).replace(str(place), "{out}")}
    assert found == wanted(case)


@replayed("artifacts")
def test_artifacts_of_a_run(case: Case, tmp_path: Path) -> None:
    given = case["given"]
    for name in given.get("earlier", []):
        (tmp_path / "run" / name).mkdir(parents=True)
    wants = given.get("save_artifacts", True)
    config = EvaluationRunConfig("r", transcript_file=str(tmp_path / "run" / "transcript.json"), save_artifacts=wants)
    for number, (name, text) in enumerate(given["saved"]):
        path = tmp_path / str(number) / name
        if text is not None:
            path.parent.mkdir(parents=True)
            path.write_text(text)
        save_artifact(config, path)
    assert {"kept": contents(tmp_path / "run")} == wanted(case)


@replayed("collected")
def test_submissions_are_collected_in_order(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stubbed as in the recording; `test_scoring_submissions.py` has the same order of the real ones."""
    monkeypatch.setenv("RULEBOOK_STUDENT_UID", "1000")
    called: list[list[object]] = []

    def noting(name: str, gives: Path | None = None) -> Callable[..., Path | None]:
        def note(*words: object, **options: object) -> Path | None:
            theirs = [option for option in options if option in ("extend_exclude", *case["given"].get("options", {}))]
            called.append([name, *(str(word) for word in words if isinstance(word, Path)), *theirs])
            return gives

        return note

    for name in ("kill_processes", "delete_files", "save_artifact"):
        monkeypatch.setattr(custody_collection, name, noting(name))
    monkeypatch.setattr(custody_collection, "save_submission", noting("save_submission", Path("/copy")))
    paths = tuple(map(Path, case["given"]["paths"]))
    copies = custody_collection.collect_submission(EvaluationRunConfig(), paths, case["given"].get("options"))
    assert {"called": called, "copies": list(map(str, copies))} == wanted(case)
