"""Running programs: bounded in time and output, and nothing is left running."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rulebook.ports import Command, Completed
from rulebook.services.descendants import adopting, brood_of
from rulebook.services.processes import MachineProcesses

PROCESSES = MachineProcesses()


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process on the machine sleeps, to find what was left running."""
    number = f"9{os.getpid()}.{time.monotonic_ns()}"
    yield number
    for pid in running(number):
        os.kill(pid, signal.SIGKILL)


def run(*argv: str, timeout_s: float = 20, **options: object) -> Completed:
    return PROCESSES.run(Command(argv, "/", timeout_s, {}, inherit=("PATH",), **options))  # type: ignore[arg-type]


def running(mark: str) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(pid))
    return found


def test_how_it_ended_and_what_it_printed() -> None:
    done = run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.exit, done.stdout, done.stderr, done.timed_out, done.failure) == (3, "out\n", "err\n", False, None)
    assert 0 < done.duration_s < 10
    assert run("sh", "-c", "kill -TERM $$").exit == -signal.SIGTERM


def test_its_environment_is_what_it_was_given() -> None:
    done = PROCESSES.run(Command(["/usr/bin/env"], "/", 10, {"A": "1"}, inherit=("PATH", "NO_SUCH_VARIABLE")))
    assert set(done.stdout.split("\n")[:-1]) == {"A=1", f"PATH={os.environ['PATH']}"}


def test_its_standing_in_input() -> None:
    assert run("cat", stdin=b"hello").stdout == "hello"
    assert run("cat").stdout == ""
    assert run("true", stdin=b"x" * 10_000_000).exit == 0


@pytest.mark.parametrize(
    ("argv", "failure"),
    [
        (["no-such-program"], "`no-such-program` is not installed, or not on the PATH"),
        (["./no-such-script"], "`./no-such-script` is not there"),
        (["/etc/passwd"], "`/etc/passwd` may not be run"),
        (["a\0b"], "a word of the command holds a character that no command can have"),
        ([""], "the command is empty"),
        ([], "the command is empty"),
    ],
)
def test_a_program_that_cannot_start(argv: list[str], failure: str) -> None:
    done = run(*argv)
    assert (done.exit, done.failure) == (None, failure)


def test_a_script_whose_interpreter_is_missing(tmp_path: Path) -> None:
    script = tmp_path / "run"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = PROCESSES.run(Command(["./run"], str(tmp_path), 10, {}))
    assert done.failure == "the first line of `./run` names an interpreter that is not there"
    script.write_text("no first line\n")
    assert "could not be started" in str(PROCESSES.run(Command(["./run"], str(tmp_path), 10, {})).failure)


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    done = PROCESSES.run(Command(["true"], str(tmp_path / "gone"), 10, {}, inherit=("PATH",)))
    assert "is not there" in str(done.failure)
    (tmp_path / "file").write_text("")
    done = PROCESSES.run(Command(["true"], str(tmp_path / "file"), 10, {}, inherit=("PATH",)))
    assert "is not there" in str(done.failure)


def test_odd_bytes() -> None:
    assert run("printf", r"a\377").stdout == "a\ufffd"
    assert run("printf", r"a\377", odd_bytes="escape").stdout == "a\udcff"


def test_a_gigabyte_of_output_keeps_memory_flat() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run("head", "-c", "1G", "/dev/zero", timeout_s=60)
    assert done.exit == 0
    assert done.stdout_cut
    assert len(done.stdout) < 1024 * 1024 + 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


def test_the_beginning_and_the_end_are_kept() -> None:
    done = run("sh", "-c", "echo first; head -c 100000 /dev/zero; echo last", output_limit_bytes=1000)
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "… 99011 bytes left out …" in done.stdout
    assert done.stdout_cut
    assert not done.stderr_cut
    assert run("printf", "x" * 1000, output_limit_bytes=1000).stdout == "x" * 1000


def test_one_that_never_ends(mark: str) -> None:
    done = run("sh", "-c", f"echo started; trap '' TERM; sleep {mark} & sleep {mark}", timeout_s=0.5)
    assert (done.exit, done.timed_out, done.stdout) == (None, True, "started\n")
    assert done.duration_s < 5
    assert running(mark) == []


def test_one_that_prints_for_ever_is_stopped_in_time() -> None:
    done = run("yes", timeout_s=0.3, output_limit_bytes=100)
    assert done.timed_out
    assert done.duration_s < 5


def test_one_that_closes_its_output_is_waited_for() -> None:
    done = run("sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 7")
    assert done.exit == 7


@pytest.mark.parametrize(
    "escape",
    [
        "sleep {mark} &",
        "setsid sh -c 'trap \"\" TERM; sleep {mark}' &",
        "setsid setsid sleep {mark} >/dev/null 2>&1 &",
        "(env -i setsid sleep {mark} >/dev/null 2>&1 &)",
        "(setsid sh -c 'setsid sleep {mark} & setsid sleep {mark} & sleep {mark}' >/dev/null 2>&1 &)",
        "(setsid sh -c 'ulimit -c 0; env -i sleep {mark}' >/dev/null 2>&1 &)",
    ],
)
def test_nothing_outlives_it(escape: str, mark: str) -> None:
    done = run("sh", "-c", escape.format(mark=mark) + "\necho done; exit 4")
    assert (done.exit, done.stdout) == (4, "done\n")
    assert done.duration_s < 2
    assert running(mark) == []


def test_attack_a_descendant_that_hides_its_mark(mark: str, tmp_path: Path) -> None:
    lower = "import os, resource; os.setsid(); resource.setrlimit(10, (5, 5)); open('lowered', 'w').close()"
    program = f"{lower}; os.execve('/bin/sleep', ['sleep', '{mark}'], {{}})"
    script = 'nohup "$0" -c "$1" >/dev/null 2>&1 & while ! test -f lowered; do :; done'
    done = PROCESSES.run(
        Command(["sh", "-c", script, sys.executable, program], str(tmp_path), 20, {}, inherit=("PATH",))
    )
    assert done.exit == 0
    assert running(mark) == []


def test_a_child_that_prints_for_ever_does_not_hold_us_up() -> None:
    done = run("sh", "-c", "setsid yes & exit 0")
    assert done.exit == 0
    assert done.duration_s < 5


def test_several_threads_at_once_kill_only_their_own(mark: str) -> None:
    ended: list[tuple[int | None, str]] = []
    script = f"(env -i setsid sleep {mark} >/dev/null 2>&1 &) ; setsid sh -c 'sleep 0.3; echo late' & wait; echo end"

    def work() -> None:
        for _ in range(3):
            done = run("sh", "-c", script)
            ended.append((done.exit, done.stdout))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [(0, "late\nend\n")] * 18
    assert running(mark) == []


def test_children_of_others_live_on(mark: str) -> None:
    ours = [
        subprocess.Popen(["sleep", mark]),
        subprocess.Popen(["sleep", mark], start_new_session=True),
        subprocess.Popen(["/bin/sleep", mark], start_new_session=True, env={}),
    ]
    try:
        for _ in range(3):
            assert run("sh", "-c", "setsid true &").exit == 0
        assert [child.poll() for child in ours] == [None, None, None]
    finally:
        for child in ours:
            child.kill()
            child.wait()


def test_what_was_before_is_restored() -> None:
    from rulebook.services import descendants

    before = resource.getrlimit(10)
    assert descendants._subreaper() == 0
    run("true")
    assert descendants._subreaper() == 0
    assert resource.getrlimit(10) == before
    before_fds = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run("true", stdin=b"x")
        run("no-such-program", stdin=b"x")
    assert len(os.listdir("/proc/self/fd")) == before_fds


def test_a_fault_of_ours_leaves_nothing_running(mark: str) -> None:
    program = ["sh", "-c", f"setsid sleep {mark} & sleep {mark}"]
    with (
        adopting(),
        pytest.raises(ZeroDivisionError),
        brood_of(lambda: subprocess.Popen(program, start_new_session=True, env={"PATH": os.environ["PATH"]})),
    ):
        raise ZeroDivisionError
    assert running(mark) == []


def test_a_host_that_ignores_its_children_gets_no_false_success() -> None:
    program = (
        "import signal; from rulebook.ports import Command; from rulebook.services.processes import MachineProcesses\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "done = MachineProcesses().run(Command(['sh', '-c', 'exit 1'], '/', 10, {}, inherit=('PATH',)))\n"
        "print(done.exit, done.failure, done.machine_failed)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "None it ended, and nobody can say how True\n"
