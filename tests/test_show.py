"""`rulebook show`: the very place of a finding, or a word that it is no longer what was read."""

import json
import os
from pathlib import Path

import pytest
from given import log_of
from logs import write_log
from repositories import repository

from rulebook.cli.main import main

RULES = """\
schema: chock.eval
version: 1
name: tidy
expect:
  forbidden_tools: [dig, sow]
  required_events: [usage]
  max_turns: 1
  required_paths: [notes.txt, gone.txt]
checks:
  answer: {regex: {patterns: ['4[23]'], from: assistant}}
  prints: {contains: {from: {tool: grep, part: result}, expected: needle}}
  user: {contains: {from: {transcript: {roles: [user]}}, expected: Please}}
  hay: {file: {path: hay.txt, contains: hay}}
  second: {contains: {from: {tool: grep, part: result}, expected: thread}}
  note: {regex: {patterns: ['beds'], from: {file: notes.txt}}}
  old: {when: 'turns > 100', regex: {patterns: ['x'], from: assistant}}
"""
USAGE = {"usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0, "cost": {"free": True}}}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checked session in the current folder: `report.json`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "tidy.yaml").write_text(RULES, encoding="utf-8")
    messages = [
        {"user": "Please look."},
        {
            "assistant": "I look.\x1b[2J",
            "calls": [
                {"name": "grep", "arguments": {"pattern": "needle"}, "result": "a needle\nin hay"},
                {"name": "grep", "arguments": {"pattern": "thread"}, "result": "a thread"},
                {"name": "dig", "arguments": {"depth": 2}, "status": "refused", "result": "denied"},
            ],
        },
        {"assistant": "It is 42."},
    ]
    write_log(tmp_path / "log.jsonl", log_of({"messages": messages, "events": [USAGE]}))
    repository(tmp_path / "project", {"hay.txt": "hay\n", "notes.txt": "one\ntwo\nof beds\nfour\nfive\nsix\nseven\n"})
    main([
        "eval", "check", "tidy.yaml", "--session", "log.jsonl", "--project", "project",
        "--format", "json", "--output", "report.json",
    ])  # fmt: skip
    return tmp_path


def show(word: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["show", word, *more])
    got = capsys.readouterr()
    return status, got.out if status == 0 else got.err


def finding(id: str) -> dict[str, object]:
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    found: dict[str, object] = next(finding for finding in report["findings"] if finding["id"] == id)
    return found


def test_a_tool_call(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = show("report.json#forbidden_tools[dig]", capsys)
    assert status == 0
    assert "FAIL  forbidden_tools[dig]\n      expected not called · actual called once\n" in text
    assert "tool call 2 · dig · call-2-2 · message 1 · byte " in text
    assert '  | arguments\n  |   {\n  |     "depth": 2\n  |   }\n  | result: refused\n  |   denied\n' in text
    (at,) = finding("forbidden_tools[dig]")["at"]  # type: ignore[misc]
    assert (at["call"], at["call_id"], at["message"]) == (2, "call-2-2", 1)
    assert b'"tool.call":{"call_id":"call-2-2"' in Path("log.jsonl").read_bytes()[at["log"] :].split(b"\n")[0]


def test_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert "message 5 · assistant" in show("report.json#checks[answer]", capsys)[1]
    assert show("report.json#checks[answer]", capsys)[1].endswith("\n  | It is 42.\n")
    assert show("report.json#checks[user]", capsys)[1].endswith("\n  | Please look.\n")


def test_the_call_whose_result_matched(capsys: pytest.CaptureFixture[str]) -> None:
    text = show("report.json#checks[prints]", capsys)[1]
    assert "tool call 0 · grep" in text
    assert "  |   a needle\n  |   in hay\n" in text
    assert "tool call 1 · grep" in show("report.json#checks[second]", capsys)[1]


def test_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    text = show("report.json#required_events[usage]", capsys)[1]
    assert "event usage · byte " in text
    assert '  |   "input_tokens": 1,\n' in text


def test_a_line_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = show("report.json#checks[note]", capsys)[1]
    assert "notes.txt, line 3\n" in text
    assert "  | one\n  | two\n  > of beds\n  | four\n  | five\n  | six\n" in text
    assert "seven" not in text
    read = finding("checks[note]")["read"]
    assert list(read["repository"]["files_sha256"]) == ["notes.txt"]  # type: ignore[index]


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "gone.txt · nothing stands there" in show("report.json#required_paths[gone.txt]", capsys)[1]


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ("max_turns", "it rests on the session as a whole, not on one place"),
        ("forbidden_tools[sow]", "it rests on the session as a whole, not on one place"),
        ("checks[old]", "it was not evaluated"),
    ],
)
def test_a_finding_without_a_place_says_why(id: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"Seen nowhere: {why}." in show(f"report.json#{id}", capsys)[1]


def test_every_finding_has_a_place_or_says_why_and_a_digest_of_what_was_read() -> None:
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    for found in report["findings"]:
        assert bool(found["at"]) != bool(found["no_place"]), found["id"]
        for part in ("session",):
            if part in found["read"]:
                assert found["read"][part]["sha256"] == report["audit"]["sha256"]
    assert {tuple(found["read"]) for found in report["findings"]} >= {("session",), ("repository",)}


def test_without_a_finding_it_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    text = show("report.json", capsys)[1]
    assert "FAIL  forbidden_tools[dig]       1 place\n" in text
    assert "FAIL  max_turns                  seen nowhere\n" in text


def test_a_session_that_was_changed_since_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    data = Path("log.jsonl").read_bytes()
    Path("log.jsonl").write_bytes(data.replace(b"It is 42", b"It is 43"))
    status, text = show("report.json#checks[answer]", capsys)
    assert status == 9
    assert "the session `log.jsonl` is no longer what was read for `report.json`" in text
    assert show("report.json#required_events[usage]", capsys)[0] == 9


def test_a_file_that_was_changed_since_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("project/notes.txt").write_text("of beds\n")
    assert show("report.json#checks[note]", capsys)[0] == 9
    os.remove("project/notes.txt")
    status, text = show("report.json#checks[note]", capsys)
    assert status == 9
    assert "the file `notes.txt` is no longer what was read" in text


def test_evidence_that_was_moved(capsys: pytest.CaptureFixture[str]) -> None:
    os.rename("log.jsonl", "moved.jsonl")
    os.rename("project", "elsewhere")
    assert show("report.json#checks[answer]", capsys)[0] == 1
    assert show("report.json#checks[answer]", capsys, "--session", "moved.jsonl")[0] == 0
    assert show("report.json#checks[note]", capsys, "--project", "elsewhere")[0] == 0


def test_nothing_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    report["findings"][0] |= {"id": "x", "reason": "\x1b[2J", "at": [{"message": 1}]}
    Path("report.json").write_text(json.dumps(report), encoding="utf-8")
    text = show("report.json#x", capsys)[1]
    assert "\x1b" not in text
    assert text.count("\\x1b[2J") == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "chock.eval"}', "[" * 100_000, "\xff"])
def test_what_is_no_report(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.json").write_text(text, encoding="latin-1")
    status, said = show("x.json#a", capsys)
    assert (status, "`x.json` is no report of a checked session" in said) == (1, True)


@pytest.mark.parametrize(
    "forged", [{"message": 99}, {"call": -1}, {"log": 3}, {"log": 10**9}, {"message": "1"}, {"path": "../log.jsonl"}, {}]
    + [{"path": "a\0b"}, {"path": "\ud800"}],
)
def test_a_forged_place_is_an_error_of_ours_alone(forged: object, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    report["findings"][0] |= {"id": "x", "at": [forged]}
    Path("report.json").write_text(json.dumps(report), encoding="utf-8")
    status, _ = show("report.json#x", capsys)
    assert status in (1, 9)


def test_a_file_whose_name_is_no_text(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = repository(place / "odd", {"a": "1\n"})
    odd = os.fsencode(place / "odd") + b"/lat\xff"
    Path(os.fsdecode(odd)).write_text("in Latin\n")
    text = f"schema: chock.eval\nversion: 1\nname: o\nbase_commit: {base}\nchecks:\n  c: {{changes: {{never: ['lat*']}}}}\n"
    Path("odd.yaml").write_text(text, encoding="utf-8")
    asked = ["--session", "log.jsonl", "--project", "odd", "--format", "json", "--output", "odd.json"]
    assert main(["eval", "check", "odd.yaml", *asked]) == 3
    status, said = show("odd.json#checks[c]", capsys)
    assert (status, "  | in Latin\n" in said) == (0, True)
    Path(os.fsdecode(odd)).write_text("in Greek\n")
    status, said = show("odd.json#checks[c]", capsys)
    assert (status, r"the file `lat\xff` is no longer what was read" in said) == (9, True)


def test_a_pipe_hangs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.json")
    assert show("pipe.json#x", capsys)[0] == 1


def test_a_finding_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = show("report.json#forbiden_tools[dig]", capsys)
    assert status == 1
    assert "Did you mean `forbidden_tools[dig]`?" in said


@pytest.mark.needs_shared
def test_a_call_of_a_sub_agent(shared_sessions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "schema: chock.eval\nversion: 1\nname: x\nchecks: {a: {tool_calls: {max: 0, calls: [{any_argument: {contains: git}}]}}}\n"
    Path("git.yaml").write_text(rules, encoding="utf-8")
    session = str(shared_sessions / "claude_code" / "ccv_subagents_5c03.jsonl")
    main(["eval", "check", "git.yaml", "--session", session, "--format", "json", "--output", "git.json"])
    status, text = show("git.json#checks[a]", capsys)
    assert status == 0
    assert "in the thread of the sub-agent 83e2917c" in text
    assert "toolu_01KDiLyJT1VsszVhG4d3p6jV" in text
    assert "  | arguments\n" in text
