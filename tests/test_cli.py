"""The command line: cases in `tests/cli/*.yaml` (argv, files, exit, stdout, stderr), and real processes."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import rulebook
from rulebook.cli import main as cli
from rulebook.cli.main import COMMANDS, main
from rulebook.errors import AuditGapError

FOLDER = Path(__file__).parent / "cli"
CASES = {
    f"{path.stem}: {case['name']}": case
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty current folder and an environment without colour settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_case(name, place, monkeypatch, capsys):
    case = CASES[name]
    for file, text in case.get("files", {}).items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text, encoding="utf-8")
    for variable, value in case.get("environment", {}).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.get("stdin", "").encode("utf-8"))))
    status = main(case["argv"])
    got = capsys.readouterr()
    assert (status, got.out, got.err) == (
        case["exit"],
        wanted(case, "stdout", got.out),
        wanted(case, "stderr", got.err),
    )
    for file, text in case.get("wrote", {}).items():
        assert (place / file).read_text(encoding="utf-8") == text


def wanted(case, stream, got):
    """The expected text; under `<stream>_has` a list of pieces that must stand in it."""
    pieces = case.get(f"{stream}_has")
    if pieces is None:
        return case.get(stream, "")
    missing = [piece for piece in pieces if piece not in got]
    assert not missing, f"{stream} lacks {missing}:\n{got}"
    return got


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "example:\n  rulebook " in shown
    assert all(len(line) <= 100 for line in shown.splitlines())


def test_what_breaks_is_a_bug_report_without_evidence(monkeypatch, capsys):
    broken(monkeypatch, ValueError("the student's secret words"))
    assert main(["lint", "--param", "key=hidden"]) == 2
    shown = capsys.readouterr().err
    assert f"rulebook {rulebook.__version__}, Python 3." in shown
    assert "ValueError" in shown
    assert "rulebook/cli/main.py:" in shown
    assert "secret words" not in shown
    assert "hidden" not in shown
    assert "Traceback" not in shown


def test_interrupted_is_130(monkeypatch, capsys):
    broken(monkeypatch, KeyboardInterrupt())
    assert main(["lint"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_an_audit_gap_is_9(monkeypatch, capsys):
    broken(monkeypatch, AuditGapError("broken", "the event at byte 412 does not follow from the header"))
    assert main(["lint"]) == 9
    assert "the event at byte 412" in capsys.readouterr().err


def broken(monkeypatch, error):
    """Let whatever command is looked up raise `error`."""

    def fail(_):
        raise error

    monkeypatch.setattr(cli, "import_module", fail)


def run_process(*argv, cwd, **options):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(rulebook.__file__).parent.parent),
        **options.pop("env", {}),
    }
    return subprocess.run(
        [sys.executable, "-m", "rulebook", *argv],
        cwd=cwd,
        env=environment,
        capture_output=True,
        check=False,
        **options,
    )


def test_process_version(place):
    done = run_process("--version", cwd=place)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"rulebook {rulebook.__version__}\n".encode(),
        b"",
    )


def test_process_usage_is_1(place):
    done = run_process("lnit", cwd=place)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"Did you mean `lint`?" in done.stderr


def test_process_with_an_encoding_that_lacks_our_characters(place):
    done = run_process("--help", cwd=place, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert rb"COMMAND \u2026" in done.stdout


def test_process_whose_reader_has_gone_keeps_its_status(place):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "rulebook", "explain", "nonsense-word"]
    environment = {**os.environ, "PYTHONPATH": str(Path(rulebook.__file__).parent.parent)}
    done = subprocess.run(command, cwd=place, env=environment, stdout=writing, stderr=writing, check=False)
    assert done.returncode == 1
    done = subprocess.run([*command[:3], "--help"], cwd=place, env=environment, stdout=writing, check=False)
    assert done.returncode == 0
    os.close(writing)


def test_process_that_is_interrupted(place):
    environment = {**os.environ, "PYTHONPATH": str(Path(rulebook.__file__).parent.parent)}
    child = subprocess.Popen(
        [sys.executable, "-m", "rulebook", "lint", "-"],
        cwd=place,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    # It blocks on stdin, so the signal meets it there; a line first, so that it is past start-up.
    wait_until_reading(child.pid)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert child.returncode == 130
    assert b"Traceback" not in said


def wait_until_reading(pid):
    """Wait, without sleeping, until the process waits in the kernel for its stdin."""
    import select

    poller = select.poll()
    for _ in range(2000):
        if Path(f"/proc/{pid}/wchan").read_text() == "pipe_read" or "0x0" in syscall(pid):
            return
        poller.poll(5)


def syscall(pid):
    """The system call that a process is in, as far as the kernel tells: `0 0x0 …` is read(0, …)."""
    try:
        words = Path(f"/proc/{pid}/syscall").read_text().split()
    except OSError:
        return ""
    return words[1] if words[:1] == ["0"] and len(words) > 1 else ""


@pytest.mark.parametrize("argv", [["parser"], ["parser", "--zon"], ["an odd: name #1"], ['a "quoted" one', "--zon"]])
@pytest.mark.parametrize("kind", ["eval", "task"])
def test_a_starter_is_lint_clean(kind, argv, capsys):
    assert main(["new", kind, *argv]) == 0
    capsys.readouterr()
    assert main(["lint", ".", "--strict"]) == 0, capsys.readouterr().out


def test_force_replaces_a_whole_file(place):
    (place / "parser.yaml").write_text("mine\n", encoding="utf-8")
    assert main(["new", "eval", "parser", "--force"]) == 0
    assert (place / "parser.yaml").read_text(encoding="utf-8").startswith("# yaml-language-server")
    assert [path.name for path in place.iterdir()] == ["parser.yaml"]


def test_linting_changes_nothing(place):
    (place / "bad.yaml").write_text("schema: chock.eval\nexpct: 1\n", encoding="utf-8")
    before = (place / "bad.yaml").stat()
    assert main(["lint", "bad.yaml"]) == 1
    after = (place / "bad.yaml").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (before.st_ino, before.st_mtime_ns, before.st_ctime_ns)
