"""`rulebook.evaluation` files: what lint says of them, running them, gates, and going on after a kill."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import rulebook
from rulebook.api.linting import lint_text
from rulebook.cli.main import main

ROOT = Path(rulebook.__file__).parent.parent
TASK = """\
import json, sys
row = json.load(sys.stdin)
if row["n"] == 3:
    sys.exit("no three")
print(row["n"])
"""
ARGV = """\
schema: rulebook.evaluation
version: 1
name: numbers
dataset: {{rows: [{{n: 1, expected: '1'}}, {{n: 2, expected: '3'}}, {{n: 3, expected: '3'}}]}}
task: {{argv: ['{python}', task.py]}}
scorers:
  - exact_match: {{name: same}}
  - sql: {{name: length, expression: 'length("output") / 10.0'}}
gates: {gates}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def lint(body: str) -> list[str]:
    text = "schema: rulebook.evaluation\nversion: 1\nname: s\n" + body
    return [f"{d.code} {d.message}" for d in lint_text(text, "rules.yaml", "yaml").diagnostics]


ROWS = "dataset: {rows: [{output: a, expected: b}]}\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("scorers: [{json_valid: {}}]\n", "RB202 An evaluation needs `dataset`"),
        ("dataset: 3\nscorers: [{json_valid: {}}]\n", "RB203 `dataset` must be a file, or a mapping"),
        ("dataset: {rows: []}\nscorers: [{json_valid: {}}]\n", "RB207 `rows` needs at least one entry"),
        ("dataset: {rows: [x]}\nscorers: [{json_valid: {}}]\n", "RB203 `a row` must be a mapping"),
        ("dataset: {}\nscorers: [{json_valid: {}}]\n", "RB202 `dataset` needs `rows`"),
        ("dataset: {rows: [{output: a}], revision: x}\nscorers: [{json_valid: {}}]\n", "RB215 `revision` has no effect"),
        (ROWS + "scorers: []\n", "RB207 `scorers` needs at least one entry"),
        (ROWS + "scorers: [json_valid]\n", "RB203 `scorers` must be a scorer"),
        (ROWS + "scorers: [{json_valid: {}, contains: {}}]\n", "RB208"),
        (ROWS + "scorers: [{json_vald: {}}]\n", "RB201 I don't know `json_vald` in `scorers`. Did you mean `json_valid`?"),
        (ROWS + "scorers: [{contains: {mod: any}}]\n", "RB201 I don't know `mod` in `contains`. Did you mean `mode`?"),
        (ROWS + "scorers: [{contains: {name: Has It}}]\n", "RB214 I can't read `Has It` as the name of a scorer. Write it like `has-it`."),
        (ROWS + "scorers: [{contains: {inputs: [output]}}]\n", "RB205 `inputs` must be a list of two different columns"),
        (ROWS + "scorers: [{contains: {}}, {contains: {}}]\n", "RB301 Two scorers are called `contains`"),
        (ROWS + "scorers: [{regex_match: '(a'}]\n", "RB420"),
        (ROWS + "scorers: [{python: own}]\n", "RB214 I can't read `own` as a function"),
        (ROWS + "scorers: [{sql: {name: s, expression: 'length(\"outptu\")'}}]\n", "RB403 There is no `outptu`"),
        (ROWS + "scorers: [{sql: {name: s, expression: '\"output\"'}}]\n", "RB408"),
        (ROWS + "scorers: [{sql: {name: s, expression: 'read_text(1)'}}]\n", "RB405"),
        (ROWS + "task: {argv: [cat], python: 'a:b'}\nscorers: [{json_valid: {}}]\n", "RB202 `task` needs `argv`"),
        (ROWS + "task: {python: ab}\nscorers: [{json_valid: {}}]\n", "RB214 I can't read `ab` as a function"),
        (ROWS + "task: {python: 'a:b', timeout: 3s}\nscorers: [{json_valid: {}}]\n", "RB215 `timeout` has no effect"),
        (ROWS + "scorers: [{json_valid: {}}]\ngates: {json_valid: {mean: {min: 1}}}\n", "RB302 `json_valid` isn't defined here. Did you mean `json-valid`?"),
        (ROWS + "scorers: [{json_valid: {}}]\ngates: {json-valid: {men: {min: 1}}}\n", "RB201 I don't know `men` in a gate. Did you mean `mean`?"),
        (ROWS + "scorers: [{json_valid: {}}]\ngates: {json-valid: {p5: {}}}\n", "RB216 `p5` is empty"),
        (ROWS + "scorers: [{json_valid: {}}]\ngates: {json-valid: {p5: {min: 1, max: 0}}}\n", "RB205 `max` must be 1 or more"),
        (ROWS + "scorers: [{json_valid: {}}]\ngates: {json-valid: {unmeasured: {max: -1}}}\n", "RB205 `max` must be 0 or more"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_once_in_words(body: str, said: str) -> None:
    found = lint(body)
    assert len(found) == 1
    assert found[0].startswith(said)


def test_everything_that_a_file_may_say_lints_clean() -> None:
    kinds = "".join(
        f"  - {kind}\n"
        for kind in (
            "exact_match: {strip: false, normalize_whitespace: true, case_insensitive: true, threshold: 0.5}",
            "contains: {mode: fraction, inputs: [output, expected]}",
            "regex_match: 'a+'",
            "regex_match: {name: whole, pattern: 'a+', full_match: true}",
            "levenshtein: {}",
            "string_similarity: token_set",
            "json_valid: {}",
            "json_match: {}",
            "numeric_close: {tolerance: 0.1, relative: true}",
            "sql: {name: Any Name, expression: 'length(\"output\") + 0.0'}",
            "python: 'own:score'",
        )
    )
    gates = "gates: {levenshtein: {mean: {min: 0.5, max: 1}, p95: {max: 1}, unmeasured: {max: 3}}}\n"
    assert lint(ROWS + "scorers:\n" + kinds + gates) == []


def write_numbers(place: Path, gates: str = "{}") -> None:
    (place / "task.py").write_text(TASK, encoding="utf-8")
    (place / "numbers.yaml").write_text(ARGV.format(python=sys.executable, gates=gates), encoding="utf-8")


def report_of(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict]:
    status = main(["evaluation", "run", "numbers.yaml", "--format", "json", *options])
    return status, json.loads(capsys.readouterr().out)


def test_a_command_makes_the_outputs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    status, report = report_of(capsys)
    assert (status, report["rows"]) == (0, {"count": 3, "damaged": 0, "task_failed": 1})
    assert [(each["name"], each["mean"], each["failed"]) for each in report["scorers"]] == [
        ("same", 0.5, 1),
        ("length", 0.1, 1),
    ]
    assert report["failures"][0]["message"] == "it ended with exit status 1: no three"


@pytest.mark.parametrize(
    ("gates", "status"),
    [
        ("{same: {mean: {min: 0.5}, unmeasured: {max: 1}}}", 0),
        ("{same: {mean: {min: 0.5}}}", 3),
        ("{same: {mean: {min: 0.51}, unmeasured: {max: 1}}}", 3),
    ],
)
def test_a_gate_decides_the_exit_status(
    gates: str, status: int, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_numbers(place, gates)
    found, report = report_of(capsys)
    assert (found, report["gates_met"]) == (status, status == 0)
    assert main(["evaluation", "run", "numbers.yaml"]) == status
    assert ("GATES NOT MET" in capsys.readouterr().out) == (status == 3)


def test_only_so_many_rows_are_taken(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    assert report_of(capsys, "--limit", "2")[1]["rows"] == {"count": 2, "damaged": 0, "task_failed": 0}
    assert main(["evaluation", "run", "numbers.yaml", "--limit", "0"]) == 1


def test_a_command_sees_no_keys_unless_they_are_passed(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
    write_numbers(place)
    (place / "task.py").write_text("import os; print(os.environ.get('OPENAI_API_KEY', 'none'))", encoding="utf-8")
    text = (place / "numbers.yaml").read_text(encoding="utf-8").replace("expected: '1'", "expected: none")
    (place / "numbers.yaml").write_text(text, encoding="utf-8")
    assert report_of(capsys, "--limit", "1")[1]["scorers"][0]["mean"] == 1.0
    passed = text.replace("task.py]", "task.py], pass_env: [OPENAI_API_KEY]").replace("none", "sk-nothing")
    (place / "numbers.yaml").write_text(passed, encoding="utf-8")
    assert report_of(capsys, "--limit", "1")[1]["scorers"][0]["mean"] == 1.0


def test_every_row_is_written_as_a_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    assert report_of(capsys, "--limit", "2", "--table", "all.parquet")[0] == 0
    rows = pyarrow.parquet.read_table(place / "all.parquet").to_pylist()
    assert [(row["n"], row["output"], row["same_value"]) for row in rows] == [(1, "1", 1.0), (2, "2", 0.0)]
    assert main(["evaluation", "run", "numbers.yaml", "--table", "numbers.yaml"]) == 1
    assert main(["evaluation", "run", "numbers.yaml", "--table", "rows.xlsx"]) == 1
    assert len(list((place / "home" / "evaluations").glob("*/*"))) == 1


def test_functions_run_only_where_that_is_allowed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    own = "def answer(n):\n    return str(n)\n\ndef even(output: str) -> float:\n    return int(output) % 2 == 0 and 1.0 or 0.0\n"
    (place / "own_numbers.py").write_text(own, encoding="utf-8")
    text = (place / "numbers.yaml").read_text(encoding="utf-8")
    text = text.replace(f"argv: ['{sys.executable}', task.py]", "python: 'own_numbers:answer'")
    text = text.replace("  - sql", "  - python: {name: is-even, function: 'own_numbers:even'}\n  - sql")
    (place / "numbers.yaml").write_text(text, encoding="utf-8")
    assert main(["evaluation", "run", "numbers.yaml"]) == 1
    assert "--allow-python" in capsys.readouterr().err
    _, report = report_of(capsys, "--allow-python")
    assert [each["mean"] for each in report["scorers"]] == pytest.approx([2 / 3, 1 / 3, 0.1])


def test_a_run_that_came_to_its_end_can_be_told_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    first, again = report_of(capsys), report_of(capsys, "--resume")
    assert first == again
    assert report_of(capsys)[1]["run"] != first[1]["run"]


def test_another_file_or_other_rows_are_another_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_numbers(place)
    (place / "rows.csv").write_text("n,expected\n1,1\n", encoding="utf-8")
    text = (place / "numbers.yaml").read_text(encoding="utf-8")
    rows = text[text.index("dataset") : text.index("task:")]
    (place / "numbers.yaml").write_text(text.replace(rows, "dataset: rows.csv\n"), encoding="utf-8")
    first = report_of(capsys)[1]["run"]
    assert report_of(capsys, "--resume")[1]["run"] == first
    assert report_of(capsys, "--resume", "--limit", "5")[1]["run"] != first
    (place / "rows.csv").write_text("n,expected\n1,2\n", encoding="utf-8")
    _, changed = report_of(capsys, "--resume")
    assert (changed["run"] != first, changed["scorers"][0]["mean"]) == (True, 0.0)


SLOW = """\
schema: rulebook.evaluation
version: 1
name: slow
dataset: rows.jsonl
task: {python: 'slow_task:count'}
scorers:
  - numeric_close: {name: near}
  - levenshtein: {name: text}
gates: {near: {mean: {min: 0.1}, unmeasured: {max: 999}}}
"""
SLOW_TASK = """\
import os, signal
def count(n):
    with open("asked.txt", "a") as file:
        file.write(f"{n}\\n")
    if n == int(os.environ.get("DIE_AT", "-1")):
        os.kill(os.getpid(), signal.SIGKILL)
    if n % 7 == 0:
        raise ValueError("seven")
    return str(n * 1.5)
"""


def run_slow(place: Path, *options: str, die_at: int = -1) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "rulebook", "evaluation", "run", "slow.yaml", "--allow-python", "--format", "json"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}", "DIE_AT": str(die_at)}
    return subprocess.run([*argv, *options], cwd=place, env=env, capture_output=True, text=True, check=False)


def write_slow(place: Path, rows: int) -> None:
    (place / "slow.yaml").write_text(SLOW, encoding="utf-8")
    (place / "slow_task.py").write_text(SLOW_TASK, encoding="utf-8")
    lines = [json.dumps({"n": n, "expected": str(n)}) for n in range(rows)]
    (place / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def without_run(text: str) -> dict:
    report = json.loads(text)
    del report["run"]
    return report


def test_a_run_that_is_killed_again_and_again_comes_to_the_same(place: Path) -> None:
    write_slow(place, 3000)
    whole = run_slow(place)
    assert whole.returncode == 0, whole.stderr
    (place / "home").rename(place / "other")
    for die_at in (0, 1500, 2999):
        killed = run_slow(place, "--resume", die_at=die_at)
        assert killed.returncode == -signal.SIGKILL
    resumed = run_slow(place, "--resume")
    assert without_run(resumed.stdout) == without_run(whole.stdout)
    assert json.loads(resumed.stdout)["rows"] == {"count": 3000, "damaged": 0, "task_failed": 429}
    (journal,) = (place / "home").rglob("journal.jsonl")
    (first,) = (place / "other").rglob("journal.jsonl")
    assert journal.read_bytes().split(b"\n")[1:] == first.read_bytes().split(b"\n")[1:]


def test_a_journal_cut_anywhere_goes_on_where_it_is_whole(place: Path) -> None:
    write_slow(place, 40)
    whole = run_slow(place)
    (journal,) = (place / "home").rglob("journal.jsonl")
    data = journal.read_bytes()
    head = data.index(b"\n") + 1
    for cut in (head, head + 1, len(data) // 2, len(data) - 1):
        journal.write_bytes(data[:cut])
        resumed = run_slow(place, "--resume")
        assert resumed.stdout == whole.stdout
        assert journal.read_bytes() == data


@pytest.mark.parametrize("size", [0, 5, -1])
def test_a_journal_without_its_first_line_is_no_run(size: int, place: Path) -> None:
    write_slow(place, 10)
    whole = run_slow(place)
    (journal,) = (place / "home").rglob("journal.jsonl")
    head = journal.read_bytes().partition(b"\n")[0]
    journal.write_bytes(head[:size])
    resumed = run_slow(place, "--resume")
    assert without_run(resumed.stdout) == without_run(whole.stdout)
    assert resumed.stdout != whole.stdout


def test_what_was_journaled_is_not_asked_again(place: Path) -> None:
    write_slow(place, 2500)
    run_slow(place, die_at=2400)
    (journal,) = (place / "home").rglob("journal.jsonl")
    done = journal.read_bytes().count(b"\n") - 1
    assert done > 0
    (place / "asked.txt").unlink()
    run_slow(place, "--resume")
    asked = [int(line) for line in (place / "asked.txt").read_text(encoding="utf-8").split()]
    assert asked == list(range(done, 2500))


def test_a_damaged_journal_is_no_result(place: Path) -> None:
    write_slow(place, 10)
    run_slow(place)
    (journal,) = (place / "home").rglob("journal.jsonl")
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([lines[0], *lines[2:]]))
    resumed = run_slow(place, "--resume")
    assert (resumed.returncode, "has row 2 where row 1 should be" in resumed.stderr) == (1, True)


def test_two_programs_do_not_write_one_journal(place: Path) -> None:
    write_slow(place, 10)
    run_slow(place)
    (journal,) = (place / "home").rglob("journal.jsonl")
    holder = f"import fcntl,sys; f=open({str(journal)!r}); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        resumed = run_slow(place, "--resume")
    assert (resumed.returncode, "is still going on" in resumed.stderr) == (1, True)


def test_the_report_is_the_golden_one(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluation", "run", str(ROOT / "rules" / "support-triage.yaml"), "--format", "json"]) == 0
    got = re.sub(r'"run": "\w+"', '"run": "RUN"', capsys.readouterr().out)
    golden = Path(__file__).parent / "report" / "evaluation_report.json"
    if pytestconfig.getoption("--write-golden"):
        golden.write_text(got, encoding="utf-8")
    assert got == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("scorers", "gates", "word", "status"),
    [
        ("[{exact_match: {name: m}}]", "", "NOT MEASURED", 3),
        ("[{exact_match: {name: m}}, {json_valid: {name: v, inputs: [q]}}]", "", "NOT MEASURED", 3),
        ("[{exact_match: {name: m}}]", "gates: {m: {unmeasured: {max: 9}, mean: {min: 0}}}\n", "GATES NOT MET", 3),
    ],
)
def test_a_run_in_which_a_scorer_measured_nothing_is_never_done_well(
    scorers: str, gates: str, word: str, status: int, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A task that fails for every row, without a gate: a failure to judge is never a pass."""
    text = "schema: rulebook.evaluation\nversion: 1\nname: e\ndataset: {rows: [{q: a, expected: a}]}\ntask: {argv: ['false']}\n"
    (place / "e.yaml").write_text(f"{text}scorers: {scorers}\n{gates}", encoding="utf-8")
    assert main(["evaluation", "run", str(place / "e.yaml")]) == status
    assert word in capsys.readouterr().out.splitlines()[0]
