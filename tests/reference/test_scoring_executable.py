"""Scoring reference: ExecutableJudge."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reference_text import example, write_package

from rulebook import StudentMisbehaviorError, UnmeasuredError
from rulebook.judges import ExecutableJudge
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import Transcript

RUN = Transcript(run_id="r")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the test's own, in which nothing may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def writes(score: object, metadata: str = "{}") -> str:
    return f"printf '{{\"score\": {score}, \"metadata\": {metadata}}}' > \"$0\""


def judged(text: str, **options: object) -> Scoring:
    return ExecutableJudge(["sh", "-c", text, "score_output.txt"], **options).evaluate(RUN)  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "score"), [("3.12.11\n", 1.0), ("3.11\n", 0.0)])
def test_the_examples_run_with_only_their_import_lines_changed(
    answer: str, score: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = example("import json", '    Path(output_path).write_text(json.dumps({"score": score, "metadata": {}}))')
    write_package(tmp_path, "example_task", script)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "answer.txt").write_text(answer)

    class Self:
        saved_submissions = (tmp_path / "answer.txt",)

    source = example("ExecutableJudge(", ")")
    judge = eval(source, {"ExecutableJudge": ExecutableJudge, "sys": sys, "self": Self})
    scoring = judge.evaluate(RUN)
    assert scoring == Scoring(score, {"stdout": "", "stderr": ""}, True)
    (tmp_path / "answer.txt").unlink()
    scoring = judge.evaluate(RUN)  # a script that does not check for a file that is not there
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "FileNotFoundError" in str(scoring.metadata["stderr"])


def test_it_does_not_look_at_the_transcript() -> None:
    assert ExecutableJudge(["sh", "-c", writes(1), "s"]).evaluate(None).score == 1.0  # type: ignore[arg-type]


def test_the_first_argument_is_the_program_and_the_rest_reach_it_as_they_are() -> None:
    words = ["a b", "$HOME", "; touch x", "", "*"]
    text = 'printf "[%s]" "$@"; for each; do :; done; ' + writes(1).replace("$0", "$each")
    scoring = ExecutableJudge(["sh", "-c", text, "sh", *words, "s"]).evaluate(RUN)
    assert str(scoring.metadata["stdout"]).startswith("[a b][$HOME][; touch x][][*][/")
    assert scoring.score == 1.0


def test_the_environments_python_finds_what_this_process_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path, "t", "import sys, json\njson.dump({'score': 2, 'metadata': {}}, open(sys.argv[-1], 'w'))")
    judge = ExecutableJudge([sys.executable, "-m", "environment.tasks.t.scoring_script", "s"])
    assert judge.evaluate(RUN).score == 0.0
    monkeypatch.syspath_prepend(str(tmp_path))
    judge = ExecutableJudge([sys.executable, "-m", "environment.tasks.t.scoring_script", "s"])
    assert judge.evaluate(RUN).score == 2.0


def test_the_score_file_lies_in_a_fresh_folder_that_is_deleted_afterwards(temporary: Path) -> None:
    scoring = judged(f'echo "$0"; ls -A "$(dirname "$0")"; {writes(1)}')
    path = str(scoring.metadata["stdout"]).removesuffix("\n")
    assert path.endswith("/score_output.txt")
    assert path.startswith(str(temporary))
    assert os.listdir(temporary) == []


def test_only_the_name_of_the_last_argument_counts(tmp_path: Path) -> None:
    judge = ExecutableJudge(["sh", "-c", 'echo "$0"; ' + writes(1), str(tmp_path / "planted.json")])
    (tmp_path / "planted.json").write_text('{"score": 9, "metadata": {}}')
    scoring = judge.evaluate(RUN)
    assert scoring.score == 1.0
    assert str(scoring.metadata["stdout"]).endswith("/planted.json\n")


def test_metadata_values_become_text_and_stdout_and_stderr_are_added() -> None:
    metadata = '{"number": 123, "yes": true, "none": null, "list": [1, "a"], "map": {"a": 1}, "text": "b"}'
    scoring = judged(f"echo out; echo err >&2; {writes(1, metadata)}")
    assert scoring.metadata == {
        "number": "123", "yes": "True", "none": "None", "list": "[1, 'a']", "map": "{'a': 1}", "text": "b",
        "stdout": "out\n", "stderr": "err\n",
    }  # fmt: skip


@pytest.mark.parametrize("written", ['{"score": 1}', '{"metadata": {}}', "{}"])
def test_both_keys_must_be_written(written: str) -> None:
    scoring = judged(f"printf '{written}' > \"$0\"")
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "the score file has no" in str(scoring.metadata["json_read_error"])


def test_stdin_is_empty() -> None:
    assert judged(f'test -z "$(cat)" && {writes(1)}').score == 1.0


def test_a_non_zero_exit_scores_0_with_the_error_in_the_metadata() -> None:
    scoring = judged(f"{writes(1)}; echo out; echo err >&2; exit 3")
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert list(scoring.metadata) == ["CalledProcessError", "stdout", "stderr"]
    assert "score_output.txt` ended with exit 3" in str(scoring.metadata["CalledProcessError"])
    assert (scoring.metadata["stdout"], scoring.metadata["stderr"]) == ("out\n", "err\n")


def test_a_missing_executable_scores_0_with_the_error_in_the_metadata() -> None:
    scoring = ExecutableJudge(["no-such-program", "s"]).evaluate(RUN)
    assert (scoring.score, scoring.continue_task, list(scoring.metadata)) == (0.0, False, ["FileNotFoundError"])


@pytest.mark.parametrize("text", ["true", ': > "$0"', 'echo no > "$0"', 'printf "\\377" > "$0"', 'echo "{}" > "$0"'])
def test_an_output_file_that_is_missing_or_not_valid_scores_0_with_the_error_in_the_metadata(text: str) -> None:
    scoring = judged(text)
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert list(scoring.metadata) == ["json_read_error", "stdout", "stderr"]


@pytest.mark.parametrize("score", ['"1"', "null", "true", "NaN", "Infinity", "-Infinity", "[1]", "1e999"])
def test_a_score_that_is_no_finite_number_scores_0_and_breaks_nothing(score: str) -> None:
    scoring = judged(writes(score))
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "json_read_error" in scoring.metadata


def test_what_breaks_karotte_scores_0_and_is_labelled(tmp_path: Path) -> None:
    for metadata in ("[]", "null", '"a"'):
        assert "json_read_error" in judged(writes(1, metadata)).metadata
    assert list(ExecutableJudge([str(tmp_path), "s"]).evaluate(RUN).metadata) == ["PermissionError"]
    assert judged(f'printf "\\377"; {writes(1)}').metadata["stdout"] == "\ufffd"
    assert judged(f"exec >&- 2>&-; sleep 0.2; {writes(1)}").score == 1.0


def test_scoring_ends_when_the_script_exits_and_what_it_started_is_killed() -> None:
    mark = f"9{os.getpid()}.{time.monotonic_ns()}"
    began = time.monotonic()
    scoring = judged(f"sleep {mark} & setsid sleep {mark} & {writes(1)}")
    assert time.monotonic() - began < 2
    assert scoring.score == 1.0
    running = [pid for pid in processes() if mark.encode() in words_of(pid)]
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    assert running == []


def processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def words_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


@pytest.mark.parametrize(("score", "goes_on"), [(0, True), (-1, True), (-0.5, True), (-1.01, False), (1, True)])
def test_by_default_every_score_of_minus_1_or_higher_continues(score: float, goes_on: bool) -> None:
    scoring = judged(writes(score))
    assert (scoring.score, scoring.continue_task) == (score, goes_on)


@pytest.mark.parametrize(("score", "goes_on"), [(0, True), (-0.5, False), (0.5, True)])
def test_a_continue_threshold_of_0_is_one(score: float, goes_on: bool) -> None:
    assert judged(writes(score), continue_threshold=0).continue_task is goes_on


def test_cwd_sets_the_scripts_working_directory(tmp_path: Path) -> None:
    assert judged(f"pwd; {writes(1)}", cwd=str(tmp_path)).metadata["stdout"] == f"{tmp_path}\n"
    assert list(judged(writes(1), cwd=str(tmp_path / "gone")).metadata) == ["FileNotFoundError"]


def test_without_cwd_it_runs_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").write_text("")
    monkeypatch.chdir(tmp_path)
    assert judged(f"ls -A; {writes(1)}").metadata["stdout"] == ""


def test_the_environment_holds_no_key_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    text = f'echo "[$SOME_API_KEY]"; {writes(1)}'
    assert judged(text).metadata["stdout"] == "[]\n"
    assert judged(text, inherit=("PATH", "SOME_API_KEY")).metadata["stdout"] == "[secret]\n"
    assert judged(text, environment={"SOME_API_KEY": "other"}).metadata["stdout"] == "[other]\n"


def test_a_script_that_never_ends_scores_0() -> None:
    scoring = judged(f"{writes(1)}; sleep 60", timeout_s=0.2)
    assert (scoring.score, scoring.continue_task) == (0.0, False)
    assert "TimeoutExpired" in scoring.metadata


def test_a_script_can_say_misbehaviour_and_unmeasured() -> None:
    with pytest.raises(StudentMisbehaviorError, match="a FIFO"):
        judged("echo a FIFO; exit 77")
    with pytest.raises(UnmeasuredError, match="no compiler"):
        judged("echo no compiler; exit 78")
    with pytest.raises(UnmeasuredError, match="ended with exit 3"):
        judged("exit 3", crash_scores=False)


@pytest.mark.parametrize("arguments", [[], ["sh"], ["sh", ""], ["sh", "/"], ["sh", ".."]])
def test_a_command_without_a_name_for_the_score_file_is_refused(arguments: list[str]) -> None:
    with pytest.raises(ValueError, match="name of the score file"):
        ExecutableJudge(arguments)


def test_a_command_in_one_line_is_refused() -> None:
    with pytest.raises(TypeError, match="list of words"):
        ExecutableJudge("sh score.json")


def test_the_callers_list_is_never_changed_and_one_judge_serves_many_threads(temporary: Path) -> None:
    arguments = ["sh", "-c", 'sleep 0.05; test ! -e "$0" && ' + writes(1), "s"]
    kept = list(arguments)
    judge = ExecutableJudge(arguments)
    found: list[Scoring] = []
    threads = [threading.Thread(target=lambda: found.append(judge.evaluate(RUN))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [scoring.score for scoring in found] == [1.0] * 8
    assert arguments == kept
    assert os.listdir(temporary) == []
