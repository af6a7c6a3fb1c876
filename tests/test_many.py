"""`eval check` over many sessions: a line and a report each, and none that vanishes."""

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from given import log_of
from logs import write_log
from repositories import commit, repository

from rulebook.cli.main import main

OWN = Path(__file__).parent / "evidence/sessions"
RULES = "schema: chock.eval\nversion: 1\nname: tidy\nexpect: {forbidden_tools: [dig], max_turns: 2}\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with a spec, and a folder `runs` for sessions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "tidy.yaml").write_text(RULES, encoding="utf-8")
    (tmp_path / "runs").mkdir()
    return tmp_path


def session(path: str, *tools: str, ended: bool = True) -> None:
    """Write a chained log of a session that calls these tools, one a turn."""
    messages = [{"assistant": "On it.", "calls": [{"name": tool, "result": "done"}]} for tool in tools]
    write_log(Path(path), log_of({"messages": messages, "end": "finished" if ended else "none"}))


def check(*argv: str) -> int:
    return main(["eval", "check", "tidy.yaml", *argv])


def test_a_line_each_and_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    session("runs/deep/b.jsonl", "dig")
    session("runs/deep/c.jsonl", "grep", ended=False)
    assert check("--session", "runs") == 3
    assert capsys.readouterr().out == (
        "PASSED      score 1.00  reward 1.00  a.jsonl\n"
        "FAILED      score 0.67  reward 0.67  deep/b.jsonl                      forbidden_tools[dig]\n"
        "FAILED      score 0.00  no reward    deep/c.jsonl                      session.ended, forbidden_too…\n"
        "\n"
        "3 sessions: 1 passed, 2 failed. Mean reward 0.83 over the 2 that have one.\n"
        "Most often not passed: forbidden_tools[dig] 2, session.ended 1, max_turns 1.\n"
    )


def test_all_hold(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    session("other.jsonl", "grep")
    assert check("--session", "runs", "--session", "other.jsonl") == 0
    assert "2 sessions: 2 passed. Mean reward 1.00.\n" in capsys.readouterr().out


@pytest.mark.parametrize("workers", ["1", "2"])
def test_each_report_is_that_of_the_session_alone(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        session(f"runs/{name}.jsonl", "grep" if name != "b" else "dig")
    assert check("--session", "runs", "--output", "reports", "--parallel", workers) == 3
    assert sorted(os.listdir("reports")) == [f"{name}.jsonl.report.json" for name in "abc"]
    for name in ("a", "b", "c"):
        check("--session", f"runs/{name}.jsonl", "--format", "json", "--output", "alone.json")
        assert Path(f"reports/{name}.jsonl.report.json").read_bytes() == Path("alone.json").read_bytes()
    capsys.readouterr()


def test_a_damaged_session_does_not_vanish(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    Path("runs/b.jsonl").write_bytes(b"")
    assert check("--session", "runs", "--format", "json") == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["label"], line["verdict"]) for line in lines[:-1]] == [("a.jsonl", "passed"), ("b.jsonl", "not read")]
    assert lines[1]["reason"].startswith("is an empty file")
    assert lines[-1]["verdicts"]["not read"] == 1


def test_a_broken_log_is_an_audit_gap(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    data = Path("runs/a.jsonl").read_bytes()
    session("runs/b.jsonl", "grep")
    Path("runs/a.jsonl").write_bytes(data.replace(b"On it.", b"Off it"))
    session("runs/c.jsonl", "dig")
    assert check("--session", "runs") == 9
    assert capsys.readouterr().out.startswith("AUDIT GAP   no score    no reward    a.jsonl")


def test_what_is_no_session_of_its_own_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    shutil.copytree(OWN / "claude_code/lead", "runs/lead")
    shutil.copy(OWN / "claude_code/lead/subagents/agent-ab12.jsonl", "runs/agent-ab12.jsonl")
    Path("runs/lead/subagents/agent-ab12.meta.json").write_text("{}")
    os.symlink("a.jsonl", "runs/link.jsonl")
    os.mkfifo("runs/pipe.jsonl")
    Path("runs/.hidden.jsonl").write_text("x")
    Path("runs/notes.txt").write_text("x")
    check("--session", "runs/a.jsonl", "--format", "json", "--output", "runs/report.json")
    capsys.readouterr()
    assert check("--session", "runs") == 0
    assert capsys.readouterr().out.count("\n") == 3


def test_only_some_names(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    Path("runs/settings.json").write_text("{}")
    assert check("--session", "runs", "--only", "*.jsonl") == 0
    assert check("--session", "runs", "--only", "*.zip") == 1
    assert "no file whose name matches `*.zip`" in capsys.readouterr().err


def test_an_empty_folder_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--session", "runs") == 1
    assert "There is no session in the folder `runs`" in capsys.readouterr().err


def test_a_session_that_is_not_there_stops_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    session("a.jsonl", "grep")
    assert check("--session", "a.jsonl", "--session", "nowhere.jsonl") == 3
    assert "1 passed, 1 not read" in capsys.readouterr().out


def test_what_belongs_to_one_session_is_refused_for_many(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    Path("taken").write_text("")
    assert check("--session", "runs", "--project", ".") == 1
    assert "`--project` is one session's repository" in capsys.readouterr().err
    assert check("--session", "runs", "--output", "taken") == 1
    assert "`taken` is no folder" in capsys.readouterr().err
    assert check("--session", "runs", "--parallel", "0") == 1
    assert "`--parallel 0` is no number of processes" in capsys.readouterr().err


def test_a_shared_fixture_is_nobodys_work(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(place / "fixture", {"answer": "42\n"})
    commit(place / "fixture", {"more": "x\n"})
    text = "schema: chock.eval\nversion: 1\nname: f\nfixture: fixture\nexpect: {required_paths: [answer]}\n"
    Path("tidy.yaml").write_text(text, encoding="utf-8")
    session("runs/a.jsonl", "grep")
    session("runs/b.jsonl", "grep")
    assert check("--session", "runs/a.jsonl", "--format", "json") == 3
    assert '"source": "fixture"' in capsys.readouterr().out
    assert check("--session", "runs", "--output", "reports") == 3
    report = json.loads(Path("reports/a.jsonl.report.json").read_text())
    asked = next(finding for finding in report["findings"] if finding["id"] == "required_paths[answer]")
    assert (asked["status"], report["repository"], report["reward"]) == ("unmeasured", None, None)
    assert "several sessions share the fixture" in asked["reason"]


def test_a_report_that_cannot_be_written_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    session("runs/b.jsonl", "grep")
    os.makedirs("reports/a.jsonl.report.json")
    assert check("--session", "runs", "--output", "reports") == 2
    lines = capsys.readouterr().out
    assert lines.startswith("FAULT       no score    no reward    a.jsonl ")
    assert "a.jsonl                           no report: `reports/a.jsonl.…" in lines
    assert os.path.isfile("reports/b.jsonl.report.json")


def test_a_session_on_several_ways_counts_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    session("runs/b.jsonl", "dig")
    os.symlink("runs", "same")
    ways = ("runs", "./runs/a.jsonl", str(place / "runs/a.jsonl"), "same/b.jsonl", "same", "runs/", "same/../runs/a.jsonl")
    check(*(word for way in ways for word in ("--session", way)))
    assert "\n2 sessions: 1 passed, 1 failed. Mean reward 0.83.\n" in capsys.readouterr().out


def test_it_says_how_many_reports_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    Path("runs/b.jsonl").write_text("junk")
    check("--session", "runs", "--output", "reports")
    assert "Wrote 1 report into reports.\n" in capsys.readouterr().err
    os.remove("runs/a.jsonl")
    check("--session", "runs", "--output", "others")
    assert "Wrote no report into others.\n" in capsys.readouterr().err


def test_a_long_summary_keeps_within_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/passed.jsonl", "grep")
    session("runs/failed.jsonl", "dig")
    session("runs/torn.jsonl", "grep")
    torn = Path("runs/torn.jsonl").read_bytes()
    Path("runs/torn.jsonl").write_bytes(torn[:-20])
    Path("runs/junk.jsonl").write_text("junk")
    os.makedirs("reports/failed2.jsonl.report.json")
    session("runs/failed2.jsonl", "dig")
    check("--session", "runs", "--output", "reports")
    out = capsys.readouterr().out
    assert "5 sessions: 1 passed, 1 failed, 1 audit gap, 1 not read, 1 fault. Mean reward" in out
    assert max(map(len, out.splitlines())) <= 100


def test_names_of_files_send_no_commands_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[31m\n'.jsonl"
    assert check("--session", name) == 1
    session(name, "grep")
    check("--session", name, "--format", "json", "--output", f"{name}.json")
    assert main(["show", f"{name}.json"]) == 0
    assert main(["show", f"{name}.json#nothing\x1b[2J"]) == 1
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert len(said.splitlines()) == 5
    assert r"""rulebook show 'a\x1b[31m\n'"'"'.jsonl.json#FINDING'""" in said


def test_one_part_that_cannot_be_read_hides_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    header = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "results": {}}
    sample = {"epoch": 1, "input": "Dig.", "target": "", "messages": [{"role": "user", "content": "Dig."}]}
    with zipfile.ZipFile("runs/log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name in ("1", "2", "3"):
            written = json.dumps({**sample, "id": name}) if name != "2" else "{"
            archive.writestr(f"samples/{name}_epoch_1.json", written)
    assert check("--session", "runs", "--format", "json") == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()][:-1]
    assert [line["label"] for line in lines] == ["log.eval#1-1", "log.eval#2-1", "log.eval#3-1"]
    assert [line["verdict"] for line in lines][1] == "not read"
    assert "not read" not in (lines[0]["verdict"], lines[2]["verdict"])


def test_a_reason_does_not_say_again_which_session(capsys: pytest.CaptureFixture[str]) -> None:
    session("runs/a.jsonl", "grep")
    os.mkfifo("pipe")
    Path("file").write_text("")
    check("--session", "runs/a.jsonl", "--session", "pipe")
    assert "NOT READ    no score    no reward    pipe                              it is not a regular file" in (
        capsys.readouterr().out
    )
    assert check("--session", "runs", "--output", "file/reports") == 2
    assert "no report: not a directory:" in capsys.readouterr().out


def test_what_models_may_be_asked_is_counted_over_all_sessions() -> None:
    for name in "abc":
        session(f"runs/{name}.jsonl", "grep")
    models = '[models]\nmodel = "any"\nmax_calls = 2\n[[providers]]\nname = "played"\nkind = "scripted"\nanswers = "answers.toml"\n'
    Path("rulebook.toml").write_text(models)
    Path("answers.toml").write_text('[[answers]]\nreply = "VERDICT: YES"\n')
    Path("tidy.yaml").write_text(RULES.replace("expect:", "checks: {good: {rubric: [{criterion: good, weight: 1}]}}\nexpect:"))
    check("--session", "runs", "--parallel", "3", "--output", "out")
    told = [json.loads(Path(f"out/{name}.jsonl.report.json").read_text())["findings"] for name in "abc"]
    states = [finding["status"] for found in told for finding in found if finding["id"] == "checks[good]"]
    assert states == ["pass", "pass", "unmeasured"]
