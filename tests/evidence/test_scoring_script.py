"""Scoring scripts: where they run, what they leave behind, and many at once."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rulebook.api.linting import lint_text
from rulebook.checks import Check
from rulebook.errors import OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.scope import file_scope
from rulebook.evidence.scoring_script import Script, scored_by
from rulebook.expression.compile import FINDING, Compiler, Stands
from rulebook.outcome import Measurement, Misbehavior, Outcome, Unmeasured
from rulebook.ports import Ports
from rulebook.services.ports import machine_ports
from rulebook.source.files import read_rules
from rulebook.spec.reader import Reader
from rulebook.spec.reading import read_named

WRITES = 'printf \'{"score": 1, "metadata": {}}\' > "$0"'


@pytest.fixture
def ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ports:
    """The machine, with its throw-away folders in a folder of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return machine_ports()


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process on the machine sleeps, to find what was left running."""
    number = f"9{os.getpid()}.{time.monotonic_ns()}"
    yield number
    for pid in running(number):
        os.kill(pid, signal.SIGKILL)


def running(mark: str) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(mark.encode() in word for word in words):
            found.append(int(pid))
    return found


def sh(text: str, ports: Ports, threshold: float = 1.0, **options: object) -> Outcome:
    script = Script(lambda score_file: ["sh", "-c", text, score_file], **options)  # type: ignore[arg-type]
    return scored_by(script, threshold, ports)


def left_over(tmp_path: Path) -> list[str]:
    return os.listdir(tmp_path / "temporary")


def test_nothing_is_left_in_the_temporary_folder(ports: Ports, tmp_path: Path) -> None:
    texts = (WRITES, "touch a; mkdir -p b/c; chmod 0 b; exit 3", "touch $0.more a", "exit 77", "exit 78")
    for text in texts:
        sh(text, ports)
    sh("sleep 9", ports, timeout_s=0.1)
    scored_by(Script(lambda score_file: ["no-such-program", score_file]), 1, ports)
    assert left_over(tmp_path) == []


def test_no_folder_for_the_score_file(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "temporary").rmdir()
    outcome = sh(WRITES, ports)
    assert isinstance(outcome, Measurement)
    assert (outcome.score, outcome.passed, outcome.student_fault) == (0.0, False, True)
    assert list(outcome.metadata) == ["tempdir_error"]
    assert isinstance(sh(WRITES, ports, crash_scores=False), Unmeasured)


@pytest.mark.parametrize("crash_scores", [True, False])
def test_a_machine_that_is_short_of_descriptors_measures_nothing(crash_scores: bool, tmp_path: Path) -> None:
    """Wherever it runs out of them while a script is judged, that is never a low score, nor an error."""
    score = tmp_path / "written.json"
    score.write_text('{"score": 1, "metadata": {}}')
    program = f"""
import resource
from rulebook.evidence.scoring_script import Script, scored_by
from rulebook.services.ports import machine_ports
ports, script = machine_ports(), Script(lambda file: ["/bin/cp", {str(score)!r}, file], crash_scores={crash_scores})
most = resource.getrlimit(resource.RLIMIT_NOFILE)
for number in range(3, 32):
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, most[1]))
    outcome = scored_by(script, 1.0, ports)
    resource.setrlimit(resource.RLIMIT_NOFILE, most)
    print(type(outcome).__name__, getattr(outcome, "score", "-"), getattr(outcome, "category", "-"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert set(done.stdout.splitlines()) == {"Unmeasured - harness", "Measurement 1.0 -"}


def test_a_script_that_a_host_reaped_behind_our_back_measures_nothing() -> None:
    """Nobody knows how it ended: a host that ignores the end of its children says nothing of the student's work."""
    program = f"""
import signal
from rulebook.evidence.scoring_script import Script, scored_by
from rulebook.services.ports import machine_ports
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(scored_by(Script(lambda file: ["/bin/sh", "-c", {WRITES!r}, file]), 1.0, machine_ports()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Unmeasured(category='harness', reason='it ended, and nobody can say how'" in done.stdout


def test_o8_files_that_the_student_left_are_not_read(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "score_output.txt").write_text('{"score": 1, "metadata": {}}')
    outcome = sh("test -f score_output.txt", ports, file_name="score_output.txt", cwd=str(tmp_path))
    assert isinstance(outcome, Measurement)
    assert outcome.reason == "the script wrote no score file"
    assert (outcome.score, outcome.passed) == (0.0, False)


@pytest.mark.parametrize(
    "escape",
    [
        "sleep {mark} &",
        "setsid sh -c 'trap \"\" TERM; sleep {mark}' &",
        "(env -i setsid sleep {mark} >/dev/null 2>&1 &)",
    ],
)
def test_o11_what_it_leaves_running_neither_holds_us_up_nor_lives_on(escape: str, ports: Ports, mark: str) -> None:
    began = time.monotonic()
    outcome = sh(f"{escape.format(mark=mark)}\n{WRITES}", ports)
    assert time.monotonic() - began < 2
    assert isinstance(outcome, Measurement)
    assert (outcome.score, outcome.passed) == (1.0, True)
    assert running(mark) == []


def test_o11_output_is_capped_while_it_is_read(ports: Ports) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = sh(f"head -c 300M /dev/zero; {WRITES}", ports)
    assert isinstance(outcome, Measurement)
    assert outcome.passed
    assert "bytes left out" in str(outcome.metadata["stdout"])
    assert len(str(outcome.metadata["stdout"])) < 1024 * 1024 + 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


def test_a_file_that_grows_without_end_is_stopped_before_it_fills_the_memory(ports: Ports) -> None:
    """What a script was handed may write without end, and the score file may lie in memory."""
    bounded = 'while [ "$(ulimit -f)" = unlimited ]; do :; done'  # it is, a moment after it starts
    outcome = sh(f'{bounded}; truncate -s 4G "$0" && echo x >> "$0"; status=$?; exit $status', ports, timeout_s=20.0)
    assert isinstance(outcome, Measurement)
    assert (outcome.score, outcome.passed) == (0.0, False)
    assert "CalledProcessError" in outcome.metadata


def test_what_runs_out_of_time_is_killed_with_all_its_children(ports: Ports, mark: str) -> None:
    outcome = sh(f"{WRITES}; setsid sleep {mark} & sleep {mark}", ports, timeout_s=0.2)
    assert isinstance(outcome, Measurement)
    assert (outcome.score, outcome.passed, outcome.student_fault) == (0.0, False, True)
    assert "TimeoutExpired" in outcome.metadata
    assert running(mark) == []


def test_the_rules_own_time_may_end_first(ports: Ports) -> None:
    hurried = ports.until(ports.clock.monotonic_s() + 0.1)
    with pytest.raises(OutOfTime) as late:
        sh("sleep 9", hurried, timeout_s=30)
    assert late.value.material


def test_the_callers_words_are_never_changed(ports: Ports) -> None:
    words = ["sh", "-c", WRITES, "score.txt"]
    kept = list(words)
    scored_by(Script(lambda score_file: [*words[:-1], score_file]), 1, ports)
    assert words == kept


def test_many_at_once_lose_no_result_and_leave_nothing(
    ports: Ports, tmp_path: Path, mark: str, request: pytest.FixtureRequest
) -> None:
    count = request.config.getoption("--judges")
    found: dict[int, Outcome] = {}

    def judge(number: int) -> None:
        endings = {0: "exit 77", 1: "exit 78", 2: "exit 3"}
        ending = endings.get(number % 10, f'printf \'{{"score": {number}, "metadata": {{}}}}\' > "$0"')
        found[number] = sh(f"setsid sleep {mark} & echo {number}; touch a; {ending}", ports, file_name="score_output.txt")

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == count
    for number, outcome in found.items():
        match number % 10:
            case 0:
                assert isinstance(outcome, Misbehavior)
                assert outcome.reason == str(number)
            case 1:
                assert isinstance(outcome, Unmeasured)
                assert outcome.reason == str(number)
            case kind:
                assert isinstance(outcome, Measurement)
                assert outcome.score == (0.0 if kind == 2 else number)
                assert outcome.metadata["stdout"] == f"{number}\n"
    assert running(mark) == []
    assert left_over(tmp_path) == []


def rules_in(folder: Path, checks: str) -> Compiler:
    path = folder / "rules.yaml"
    path.write_text(f"schema: chock.eval\nversion: 1\nname: x\nchecks:\n{checks}", encoding="utf-8")
    document = read_rules(str(path), machine_ports().files).document
    assert document is not None
    reader = Reader(document)
    named = {rule.name: rule.rule for rule in read_named(reader, ("checks",))}
    return Compiler({document.file: reader}, file_scope({}, ()), named, {}, tuple(named))


def check_in(folder: Path, rule: str) -> Check:
    node = rules_in(folder, f"  a: {{executable: {rule}}}\n").lookup("a", FINDING, "")
    check: Check = node.check  # type: ignore[union-attr]
    return check


def grade(folder: Path, name: str = "grade.sh") -> None:
    (folder / name).write_text("echo graded $1; printf '{\"score\": 1, \"metadata\": {}}' > $2")


def test_a_file_beside_the_rule_file_is_found_wherever_the_script_runs(
    ports: Ports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(tmp_path)
    check = check_in(tmp_path, "{argv: [sh, grade.sh, grade.sh.bak, score.txt], continue_threshold: 1}")
    monkeypatch.chdir("/")
    outcome = check.measure(Evidence(), ports)
    assert isinstance(outcome, Measurement)
    assert outcome.passed, outcome
    assert outcome.metadata["stdout"] == "graded grade.sh.bak\n"


def test_a_program_beside_the_rule_file_needs_a_path(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "sh").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "sh").chmod(0o755)
    kept = check_in(tmp_path, f"{{argv: [sh, -c, '{WRITES.replace(chr(39), chr(39) * 2)}', s], continue_threshold: 1}}")
    assert kept.measure(Evidence(), ports).passed  # type: ignore[union-attr]
    found = check_in(tmp_path, "{argv: [./sh, s], continue_threshold: 1}").measure(Evidence(), ports)
    assert isinstance(found, Measurement)
    assert found.reason == "the script ended with exit 9"


def test_a_folder_to_run_in_is_looked_for_from_the_rule_file(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "within").mkdir()
    grade(tmp_path / "within")
    rule = "{argv: [sh, grade.sh, x, score.txt], cwd: within, continue_threshold: 1}"
    outcome = check_in(tmp_path, rule).measure(Evidence(), ports)
    assert isinstance(outcome, Measurement)
    assert outcome.metadata["stdout"] == "graded x\n"


def test_with_a_folder_to_run_in_the_author_has_taken_over(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "within").mkdir()
    grade(tmp_path / "within")
    (tmp_path / "grade.sh").write_text("exit 9")
    rule = "{argv: [sh, grade.sh, x, score.txt], cwd: within, continue_threshold: 1}"
    assert check_in(tmp_path, rule).measure(Evidence(), ports).passed  # type: ignore[union-attr]


def test_a_program_without_a_path_is_looked_for_on_the_path_alone(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "grade.sh").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "grade.sh").chmod(0o755)
    found = check_in(tmp_path, "{argv: [grade.sh, s], continue_threshold: 1}").measure(Evidence(), ports)
    assert isinstance(found, Measurement)
    assert list(found.metadata) == ["FileNotFoundError"]


def test_a_broken_script_passes_under_no_threshold_and_no_negation(tmp_path: Path) -> None:
    from rulebook.interpreter.evaluate import evaluate

    rules = (
        "{executable: [sh, -c, 'exit 3', s], threshold: 0}",
        "{not: {executable: [sh, -c, 'exit 3', s], threshold: 1}}",
        "{none: [{executable: [sh, -c, 'exit 3', s], threshold: 1}]}",
    )
    for rule in rules:
        node = rules_in(tmp_path, f"  a: {rule}\n").lookup("a", FINDING, "")
        assert node is not None
        outcome = evaluate(node, Evidence(), machine_ports()).outcome
        assert isinstance(outcome, Measurement)
        assert (outcome.score, outcome.passed, outcome.student_fault) == (0.0, False, True), rule


STEP = Stands(lenient=True)


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ("{executable: [g, s]}", []),
        ("{all: [{contains: x}, {executable: [g, s]}]}", []),
        ("{first: [{then: {executable: [g, s]}}]}", []),
        ("{any: [{contains: x}, {executable: [g, s]}]}", ["RB610"]),
        ("{any: [{contains: x}, {all: [{executable: [g, s]}]}]}", ["RB610"]),
        ("{not: {executable: [g, s]}}", ["RB610"]),
        ("{none: [{executable: [g, s]}]}", ["RB610"]),
        ("{at_least: {count: 1, of: [{executable: [g, s]}]}}", ["RB610"]),
        ("{not: {executable: {argv: [g, s], continue_threshold: 0}}}", []),
        ("{not: {executable: [g, s], threshold: 0}}", []),
        ("{sum: [{executable: [g, s]}]}", ["RB610"]),
    ],
)
def test_only_a_steps_judge_may_leave_the_pass_mark_of_a_script_unwritten(
    rule: str, codes: Sequence[str], tmp_path: Path
) -> None:
    compiler = rules_in(tmp_path, f"  a: {rule}\n")
    compiler.lookup("a", STEP, "")
    assert [problem.code for problem in compiler.problems] == codes


def test_text_without_a_file_lints(tmp_path: Path) -> None:
    text = "schema: chock.eval\nversion: 1\nname: x\nchecks:\n  a: {executable: [g, s], threshold: 1}\n"
    assert lint_text(text, str(tmp_path / "no.yaml"), "yaml").diagnostics == ()
