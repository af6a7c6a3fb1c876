"""`rulebook evaluation compare` over real runs: which runs may be compared, which rows are the same, and what is said."""

import json
import os
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

import rulebook
from rulebook.api.spec_options import spec_options
from rulebook.cli.main import main
from rulebook.services.evaluation_journal import read_head
from rulebook.services.evaluation_runs import find_run
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.judged_scorers import JevScorer

HERE = Path(__file__).parent
TASK = """\
import os

def answer(n):
    said = os.environ["SAYS"].split(",")[n]
    if said == "!":
        raise TimeoutError("gave up")
    return said
"""
RULES = """\
schema: rulebook.evaluation
version: 1
name: numbers
dataset: {dataset}
task: {{python: 'compared_task:answer'}}
scorers:
  - exact_match: {{name: same}}
  - levenshtein: {{name: alike, threshold: 0.5}}
"""
ROWS = [{"n": n, "expected": str(n)} for n in range(8)]
RIGHT = "0,1,2,3,4,5,6,7"
WRONG = "x,x,x,x,x,x,6,7"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "compared_task.py").write_text(TASK, encoding="utf-8")
    write_rows(tmp_path, ROWS)
    write_rules(tmp_path, "rows.jsonl")
    return tmp_path


def write_rows(place: Path, rows: list[dict[str, object]]) -> None:
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_rules(place: Path, dataset: str) -> None:
    (place / "numbers.yaml").write_text(RULES.format(dataset=dataset), encoding="utf-8")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(says: str, *options: str) -> str:
        monkeypatch.setenv("SAYS", says)
        argv = ["evaluation", "run", "numbers.yaml", "--allow-python", "--format", "json", "--output", "ran.json"]
        assert main([*argv, *options]) == 0
        capsys.readouterr()
        report: dict[str, str] = json.loads(Path("ran.json").read_text(encoding="utf-8"))
        return report["run"]

    return run


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict]]:
    def compare(*argv: str) -> tuple[int, dict]:
        status = main(["evaluation", "compare", *argv, "--format", "json"])
        said = capsys.readouterr()
        return status, json.loads(said.out) if said.out else {"said": said.err}

    return compare


Ran = Callable[..., str]
Asked = Callable[..., tuple[int, dict]]


def scorer(report: dict, name: str) -> dict:
    return next(each for each in report["scorers"] if each["name"] == name)


def test_two_runs_are_compared_row_by_row(ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    status, report = compared(a, b, "--gate")
    same = scorer(report, "same")
    assert (status, report["rows"], report["gates_met"]) == (0, 8, True)
    assert (same["mean_a"], same["mean_b"], same["difference"]) == (0.25, 1.0, 0.75)
    assert [change["row"] for change in same["fixed"]] == [1, 2, 3, 4, 5, 6]
    assert (same["test"], same["p"], same["p_adjusted"], same["verdict"]) == ("mcnemar-exact", 0.03125, 0.0625, "inconclusive")
    assert report["outputs"][0] == {"row": 1, "a": "x", "b": "0"}
    # one scorer asked about, as one: 90 % is enough for both
    assert [each["verdict"] for each in compared(a, b, "--confidence", "0.9")[1]["scorers"]] == ["better", "better"]
    status, report = compared(b, a, "--gate", "same", "--confidence", "0.9")
    assert (status, report["gates"][0]["reason"]) == (3, "worse")


def test_a_run_is_named_in_many_ways(place: Path, ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    assert find_run(a.lower()) == find_run(a)
    length = next(length for length in range(26) if a[:length] != b[:length])
    wanted = compared(a, b)
    for name in (a[:length], find_run(a), os.path.join(find_run(a), "report.json")):
        assert compared(name, "ran.json") == wanted
    status, found = compared(a[: length - 1], b)
    assert (status, found["said"]) == (1, f"rulebook: The ids of 2 runs begin with `{a[: length - 1]}`. Write more of the one that you mean.\n")
    assert compared("", b)[0] == 1


def test_a_limit_pairs_the_first_rows(ran: Ran, compared: Asked) -> None:
    a, b = ran(RIGHT), ran(RIGHT, "--limit", "3")
    status, report = compared(a, b)
    assert (status, report["rows"], scorer(report, "same")["lost"]) == (0, 3, [])
    assert report["notes"] == ["Only the first 3 of the 8 rows of A are compared: the other run has no more."]


def test_a_candidate_of_fewer_rows_passes_no_gate(ran: Ran, compared: Asked) -> None:
    a, b = ran(RIGHT), ran(RIGHT, "--limit", "3")
    status, report = compared(a, b, "--gate")
    assert (status, report["gates"][1]["reason"]) == (3, "B lost 5 rows (5 beyond its last), more than 0")
    assert compared(a, b, "--gate", "--allow-lost", "5")[0] == 0
    assert compared(b, a, "--gate")[0] == 0


def test_a_candidate_that_loses_rows_does_not_pass(ran: Ran, compared: Asked) -> None:
    a, b = ran("x,1,2,3,4,5,6,7"), ran("0,1,2,!,4,5,6,7")
    status, report = compared(a, b, "--gate")
    same = scorer(report, "same")
    assert (status, same["lost"], same["rows"], same["if_lost"]["difference"]) == (3, [4], 7, 0.0)
    assert same["lost_because"] == [{"row": 4, "type": "TimeoutError", "message": "gave up"}]
    assert compared(a, b, "--gate", "--allow-lost", "1")[0] == 0
    assert compared(b, a, "--gate")[0] == 0
    assert scorer(compared(b, a)[1], "same")["gained"] == [4]


def test_other_rows_are_refused(place: Path, ran: Ran, compared: Asked) -> None:
    a = ran(RIGHT)
    write_rows(place, [*ROWS[:-1], {"n": 7, "expected": "eight"}])
    b = ran(RIGHT)
    status, found = compared(a, b)
    assert status == 3
    assert "The runs are not of the same rows: A is of `file:" in found["said"]


def test_rows_in_the_file_are_told_from_others(place: Path, ran: Ran, compared: Asked) -> None:
    runs = []
    for expected in ("0", "0", "1"):
        write_rules(place, f"{{rows: [{{n: 0, expected: '{expected}'}}]}}")
        runs.append(ran(RIGHT))
    assert compared(runs[0], runs[1])[0] == 0
    assert compared(runs[0], runs[2])[0] == 3


def test_revisions_of_a_stored_dataset_are_told_from_others(place: Path, ran: Ran, compared: Asked) -> None:
    runs = []
    for rows in (ROWS, ROWS, ROWS[:-1]):
        rulebook.DatasetClient().upload("numbers", rows)
        write_rules(place, "{name: numbers}")
        runs.append(ran(RIGHT))
    assert compared(runs[0], runs[1])[1]["notes"] == []
    assert compared(runs[0], runs[2])[0] == 3


def test_an_older_journal_is_compared_with_a_note(ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    journal = Path(find_run(a), "journal.jsonl")
    head, rest = journal.read_text(encoding="utf-8").split("\n", 1)
    kept = {key: value for key, value in json.loads(head).items() if key not in ("dataset", "options")}
    journal.write_text(json.dumps(kept) + "\n" + rest, encoding="utf-8")
    _, report = compared(a, b)
    assert report["notes"] == ["It was not checked that both runs are of the same rows: one of them does not say of which it is."]


def test_other_options_of_a_scorer_are_said(place: Path, ran: Ran, compared: Asked) -> None:
    a = ran(RIGHT)
    text = (place / "numbers.yaml").read_text(encoding="utf-8")
    text = text.replace("{name: same}", "{name: same, case_insensitive: true, strip: true}").replace("0.5", "0.6")
    (place / "numbers.yaml").write_text(text, encoding="utf-8")
    b = ran(RIGHT)
    assert compared(a, b)[1]["notes"] == [
        'The scorer `same` is not the same: {"case_insensitive": false} in A, {"case_insensitive": true} in B.',
        "The scorer `alike` has another threshold in B, which decides here what is fixed and broken.",
    ]


def test_a_run_that_was_stopped_is_refused(ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    os.unlink(os.path.join(find_run(b), "report.json"))
    status, found = compared(a, b, "--gate")
    assert (status, f"The run `{b}` of `numbers` is not finished." in found["said"]) == (3, True)


def damage(run: str, change: Callable[[list[str]], list[str]]) -> None:
    journal = Path(find_run(run), "journal.jsonl")
    journal.write_text("".join(change(journal.read_text(encoding="utf-8").splitlines(keepends=True))), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[:-1], "is damaged: its journal has 7 rows and its report 8. Run the evaluation again."),
        (lambda lines: [*lines, lines[-1].replace('"row":8', '"row":9')], "its journal has 9 rows and its report 8"),
        (lambda lines: [*lines[:3], "{}\n", *lines[4:]], "is damaged at line 4"),
        (lambda lines: [*lines[:3], *lines[4:]], "has row 4 where row 3 should be"),
        (lambda lines: [*lines[:3], '{"row":3,"results":[[[1.0,null]]]}\n', *lines[4:]], "row 3 has no result for each scorer"),
        (lambda lines: [*lines[:3], '{"row":3,"results":[[[NaN,null]],[[1,null]]]}\n', *lines[4:]], "is damaged at line 4"),
        (lambda lines: ["{}\n", *lines[1:]], "it has no journal that I can read"),
        (lambda lines: [], "it has no journal that I can read"),
    ],
)  # fmt: skip
def test_a_damaged_journal_is_refused(
    change: Callable[[list[str]], list[str]], said: str, ran: Ran, compared: Asked
) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    folders = find_run(a), find_run(b)
    damage(b, change)
    for runs in (folders, folders[::-1]):
        status, found = compared(*runs)
        assert status == 1
        assert said in found["said"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "is no report of a run that I can read"), ("[1]", "is no report of a run"), ("\udcff", "is no report of a run")],
)
def test_a_damaged_report_is_refused(text: str, said: str, ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    Path(find_run(b), "report.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    status, found = compared(a, b)
    assert (status, said in found["said"]) == (1, True)


def test_a_report_of_another_run_is_refused(ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    Path(find_run(b), "report.json").write_bytes(Path(find_run(a), "report.json").read_bytes())
    status, found = compared(a, b)
    assert (status, f"is not the report of the run `{b}`" in found["said"]) == (1, True)


def test_the_json_report(place: Path, capsys: pytest.CaptureFixture[str], pytestconfig: pytest.Config) -> None:
    (case,) = [each for each in yaml.safe_load((HERE / "cli/comparison.yaml").read_text(encoding="utf-8")) if each["name"].startswith("two runs")]
    for file, text in case["files"].items():
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(text, encoding="utf-8")
    assert main([*case["argv"], "--format", "json"]) == 3
    got = capsys.readouterr().out
    golden = HERE / "report" / "comparison_report.json"
    if pytestconfig.getoption("--write-golden"):
        golden.write_text(got, encoding="utf-8")
    assert got == golden.read_text(encoding="utf-8")


def python_run(answers: list[str], rows: int | None = None, **options: object) -> rulebook.EvaluationRun:
    data = [{"n": n, "expected": "yes"} for n in range(rows or len(answers))]

    @rulebook.function
    def answer(n: int) -> str:
        if answers[n] == "!":
            raise TimeoutError("too late")
        return answers[n]

    scorers = [rulebook.scorers.exact_match(**options), rulebook.scorers.sql("length", 'length("output") / 10.0')]  # type: ignore[arg-type]
    return rulebook.Evaluation.create("asked", dataset=data, task=answer, scorers=scorers).run()


def test_runs_from_python_are_compared() -> None:
    a, b = python_run(["no"] * 9), python_run(["yes"] * 8 + ["!"])
    found = a.compare(b, lower_is_better=["length"])
    assert found.verdicts() == {"exact-match": "better", "length": "worse"}
    assert found["exact-match"].lost == (9,)
    assert a.compare(b.id).report() == a.compare(b.folder).report() == a.compare(b).report()
    assert a.compare(b).report() != found.report()
    assert "LOST: B has no score of `exact-match` in 1 of the 9 rows that A measured" in str(found)
    assert a.compare(python_run(["yes"] * 9)).verdicts() == {"exact-match": "better", "length": "better"}


def test_what_cannot_be_compared_from_python() -> None:
    a = python_run(["no"] * 3)
    with pytest.raises(rulebook.NotComparable, match="not of the same rows"):
        a.compare(python_run(["no"] * 4))
    with pytest.raises(rulebook.UsageError, match="Both are the run"):
        a.compare(a)
    with pytest.raises(ValueError, match="a share from 0.5"):
        a.compare(python_run(["no"] * 3), confidence=95)
    with pytest.raises(ValueError, match="a list of scorers"):
        a.compare(python_run(["no"] * 3), lower_is_better="length")
    with pytest.raises(rulebook.UsageError, match="No scorer of these runs is called `lenght`. Did you mean `length`"):
        a.compare(python_run(["no"] * 3), lower_is_better=["lenght"])
    with pytest.raises(KeyError):
        a.compare(python_run(["yes"] * 3))["x"]


def test_nothing_names_no_run() -> None:
    python_run(["no"])
    with pytest.raises(rulebook.UsageError, match="There is no run ``"):
        find_run("")


def test_a_file_and_python_say_the_same_of_a_scorer(place: Path, ran: Ran) -> None:
    (place / "numbers.yaml").write_text(
        "schema: rulebook.evaluation\nversion: 1\nname: n\ndataset: {rows: [{output: a, expected: b}]}\nscorers:\n"
        "  - exact_match: {name: exact-match}\n  - sql: {name: length, expression: 'length(\"output\") / 10.0'}\n",
        encoding="utf-8",
    )
    file, python = read_head(find_run(ran(RIGHT))), read_head(python_run(["a"]).folder)
    assert file is not None
    assert python is not None
    assert file.options == python.options
    assert file.options["exact-match"]["strip"] is True


def test_long_options_and_what_may_be_secret_are_kept_as_digests() -> None:
    def kept(**options: object) -> dict[str, object]:
        return spec_options(ScorerSpec("exact_match", "s", (), ("output",), options))

    assert kept(strip=False, note="a" * 200)["note"] == "a" * 200
    digest = sha256(json.dumps("a" * 400).encode()).hexdigest()
    assert kept(note="a" * 400)["note"] == f"sha256:{digest[:16]}"
    assert "hidden" not in str(kept(headers={"key": "hidden"}))
    assert kept(headers={"key": "hidden"}) != kept(headers={"key": "other"})


def test_how_sure_a_judge_must_be_and_whom_it_asks_are_options() -> None:
    def kept(threshold: float, *asks: str) -> dict[str, object]:
        keys = JevScorer.model_construct(threshold=threshold)
        return spec_options(ScorerSpec("jev", "s", (), ("output",), {"rubric": "r"}, keys=keys), asks)

    assert kept(0.7, "small at home")["asks"] == ["small at home"]
    assert kept(0.7)["threshold"] == 0.7
    assert kept(0.7) == kept(0.7) != kept(0.9)


def test_rows_of_another_order_are_other_rows() -> None:
    def run(rows: list[dict[str, object]]) -> str | None:
        head = read_head(rulebook.Evaluation.create("o", dataset=rows, scorers=[rulebook.scorers.json_valid()]).run().folder)
        assert head is not None
        return head.dataset

    first: dict[str, object] = {"output": "1", "big": 2**70, "n": 1}
    second: dict[str, object] = {"output": "2", "n": 1.0}
    assert run([first, second]) == run([dict(reversed(first.items())), dict(second)])
    assert len({run([first, second]), run([second, first]), run([first]), run([{**first, "n": 2}])}) == 4


def test_very_many_rows(place: Path, compared: Asked) -> None:
    for side, shift in (("a", 0), ("b", 1)):
        (place / side).mkdir()
        run = "01M8Q4W2X7N6R5T3V1Y0Z9A8B" + side.upper()
        head = {"run": run, "name": "t", "scorers": ["half", "yes"], "fingerprint": "f", "dataset": "d", "schema": "rulebook.evaluation-journal", "version": 1}
        lines = [
            f'{{"row":{n},"results":[[[{(n * 7919 % 1000 + shift * (n % 3)) / 1000},null]],[[{float((n + shift) % 2)},null]]]}}'
            for n in range(1, 20_001)
        ]
        (place / side / "journal.jsonl").write_text("\n".join([json.dumps(head), *lines, ""]), encoding="utf-8")
        report = {"schema": "rulebook.evaluation-report", "run": run, "rows": {"count": 20_000}, "scorers": [{"name": name, "threshold": 1.0} for name in ("half", "yes")]}
        (place / side / "report.json").write_text(json.dumps(report), encoding="utf-8")
    status, report = compared("a", "b")
    half, yes = scorer(report, "half"), scorer(report, "yes")
    assert (status, half["verdict"], half["interval"]["method"]) == (0, "better", "abc-bootstrap")
    assert half["difference"] == pytest.approx(0.001, rel=1e-4)
    assert half["interval"]["low"] == pytest.approx(0.001 - 1.96 * 0.0008165 / 20_000**0.5, rel=1e-3)
    assert (len(yes["fixed"]), len(yes["broken"]), yes["verdict"], yes["p"]) == (10_000, 10_000, "inconclusive", 1.0)
    assert len(report["outputs"]) == 1_000


def test_a_report_of_other_scorers_is_refused(ran: Ran, compared: Asked) -> None:
    a, b = ran(WRONG), ran(RIGHT)
    report = Path(find_run(b), "report.json")
    report.write_text(report.read_text(encoding="utf-8").replace('"name": "same"', '"name": "some"'), encoding="utf-8")
    status, found = compared(a, b)
    assert (status, "its report is of other scorers than its journal" in found["said"]) == (1, True)
