"""What a student, or a careless author, tried against the whole engine; each test is named after the attack."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from logs import write_log
from repositories import commit, git, repository
from test_cases import HEAD, checked, finding, session_of

from rulebook.api.linting import lint_file
from rulebook.api.loading import load
from rulebook.errors import UsageError
from rulebook.report.rewards import exit_status

LONG = "a" * (1024 * 1024 + 10)
IDLE = [{"session.start": {"agent_kind": "m", "model_alias": "m", "parent_session": ""}}, {"session.end": {"reason": "finished", "detail": ""}}]


def test_a_text_too_large_to_search_does_not_dodge_misbehaviour(tmp_path: Path) -> None:
    rules = "checks: {a: {misbehavior: {if: {regex: {patterns: ['SECRETKEY']}}, reason: leaked}}}\n"
    report = checked(tmp_path, rules, session_of(LONG + "SECRETKEY"))
    assert finding(report, "checks[a]").status == "misbehavior"
    assert (report.score, report.reward) == (0, 0)


def test_a_tool_that_was_never_used_is_no_misbehaviour(tmp_path: Path) -> None:
    rules = "checks: {a: {misbehavior: {if: {regex: {from: {tool: x}, patterns: ['SECRETKEY']}}, reason: leaked}}}\n"
    assert finding(checked(tmp_path, rules, session_of("done")), "checks[a]").status == "skipped"


def test_a_probe_that_is_slow_neither_convicts_nor_clears(tmp_path: Path) -> None:
    probe = "command: {argv: [sleep, '60'], timeout: 1s}"
    rules = f"checks: {{a: {{misbehavior: {{if: {{any: [{{{probe}}}, {{contains: x}}]}}, reason: leaked}}}}}}\n"
    repository(tmp_path / "work", {"a.txt": "a\n"})
    report = checked(tmp_path, rules, session_of("done"), project=tmp_path / "work")
    assert (finding(report, "checks[a]").status, finding(report, "checks[a]").score) == ("fail", 0.0)


def test_a_text_too_large_for_matches_is_the_students_fault(tmp_path: Path) -> None:
    rules = "checks: {a: {expr: \"not any(messages, \\\"matches('SECRETKEY', text)\\\")\"}}\n"
    assert finding(checked(tmp_path, rules, session_of("SECRETKEY")), "checks[a]").status == "fail"
    assert finding(checked(tmp_path, rules, session_of(LONG + "SECRETKEY")), "checks[a]").status == "fail"


def test_a_look_ahead_cannot_be_deceived_by_the_cut(tmp_path: Path) -> None:
    rules = "checks: {a: {regex: {patterns: ['\\A(?![\\s\\S]*TODO)']}}}\n"
    assert finding(checked(tmp_path, rules, session_of("done")), "checks[a]").status == "pass"
    assert finding(checked(tmp_path, rules, session_of(LONG + " TODO")), "checks[a]").status == "fail"


def test_a_resumed_log_that_is_cut_has_no_end(tmp_path: Path) -> None:
    first = session_of("one")
    more = [{"session.config": {"config_hash": None}}, {"tool.call": {"call_id": "z", "tool": "grep", "arguments": "{}"}}]
    report = checked(tmp_path, "expect: {forbidden_tools: [fetch_url], end_reason: finished}\n", [*first, *more])
    found = {f.id: f.status for f in report.findings}
    assert found == {"session.ended": "fail", "forbidden_tools[fetch_url]": "unmeasured", "end_reason": "unmeasured"}
    late = [{"agent.complete": {"child_session": "c", "child_agent_kind": "k", "outcome": "finished", "result": "", "scratchpad_path": ""}}]
    report = checked(tmp_path, "expect: {end_reason: finished}\n", [*first, *late])
    assert finding(report, "session.ended").status == "pass"


WRAPPED = {
    "weighted": "{weighted: [{forbidden_tools: [x]}], threshold: 1}",
    "formula": "{formula: {let: {a: {forbidden_tools: [x]}}, score: a}, threshold: 1}",
    "at_least": "{at_least: {count: 1, of: [{forbidden_tools: [x]}]}}",
    "min": "{min: [{forbidden_tools: [x]}], threshold: 1}",
    "all mean": "{all: {of: [{forbidden_tools: [x]}], score: mean}}",
    "not": "{not: {event: tool.call}}",
    "invert": "{invert: {event: tool.call}, threshold: 1}",
    "half": "{weighted: [{forbidden_tools: [x]}, {event: tool.call}], threshold: 1}",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_doing_nothing_earns_nothing_in_any_wrapping(name: str, tmp_path: Path) -> None:
    report = checked(tmp_path, f"checks: {{a: {WRAPPED[name]}}}\nreward_weights: {{harness: 0}}\n", IDLE)
    assert report.reward in (None, 0.0)
    assert report.reward_components.get("policy", 0.0) == 0.0
    assert report.reward_components.get("model", 0.0) == 0.0


def test_a_file_of_which_nothing_is_judged_passes_nobody(tmp_path: Path) -> None:
    report = checked(tmp_path, "checks: {a: {always_pass: {}, when: turns > 99}}\n", session_of("done"))
    assert (report.passed, report.reward, exit_status(report.judged)) == (False, None, 3)


def test_skipping_the_tests_runs_none_of_them(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    rules = f"tests: [{{name: t, argv: [touch, '{ran}']}}]\nchecks: {{c: {{expr: known(tests.t.exit)}}}}\n"
    root = tmp_path / "repository"
    repository(root, {"a.txt": "a"})
    report = checked(tmp_path, rules, session_of("done"), project=root, skip_tests=True)
    assert not ran.exists()
    assert (report.passed, report.reward) == (False, None)


@pytest.mark.parametrize(
    "rule",
    [
        "not: {expr: tests.slow.passed}",
        "expr: tests.slow.stdout == ''",
        "not: {contains: {from: {test: slow}, expected: x}}",
        "expr: not tests.slow.passed",
    ],
)
def test_a_test_that_hangs_makes_no_rule_about_it_pass(rule: str, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    repository(root, {"a.txt": "a"})
    rules = f"tests: [{{name: slow, argv: [sleep, '60'], timeout: 300ms}}]\nchecks: {{c: {{{rule}}}}}\n"
    rules = rules.replace("300ms", "0.3s")
    report = checked(tmp_path, rules, session_of("done"), project=root)
    assert finding(report, "checks[c]").status == "fail"
    assert finding(report, "tests[slow]").status == "fail"


def test_a_condition_over_a_test_that_cannot_start_is_unmeasured(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    repository(root, {"a.txt": "a"})
    rules = "tests: [{name: unit, argv: [./run.sh]}]\nchecks: {a: {regex: {patterns: ['.']}, when: tests.unit.passed}}\n"
    report = checked(tmp_path, rules, session_of("done"), project=root)
    assert finding(report, "checks[a]").status == "unmeasured"


@pytest.mark.parametrize("moved", [True, False])
def test_a_tag_in_the_students_repository_proves_nothing(moved: bool, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    repository(root, {"tests/t.py": "import sys; sys.exit(1)\n"})
    base = git(root, "rev-parse", "HEAD").strip()
    git(root, "tag", "v1")
    if moved:
        commit(root, {"tests/t.py": "pass\n"})
        git(root, "tag", "-f", "v1")
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}]))
    test = f"tests: [{{name: t, argv: ['{sys.executable}', tests/t.py], take: ['src/**']}}]\n"
    for asked, status in (("refs/tags/v1", "unmeasured"), (base, "fail")):
        (tmp_path / "rules.yaml").write_text(HEAD + f"base_commit: {asked}\n" + test, encoding="utf-8")
        report = load(tmp_path / "rules.yaml").evaluate(tmp_path / "chat.json", project=root)
        assert finding(report, "tests[t]").status == status
        assert report.reward is None


def test_a_long_chain_and_a_rule_named_twice_over_are_refused(tmp_path: Path) -> None:
    chain = "".join(f"  a{n}: {{not: {{rule: a{n - 1}}}}}\n" for n in range(1, 3000))
    twice = "".join(f"  a{n}: {{all: [{{rule: a{n - 1}}}, {{rule: a{n - 1}}}]}}\n" for n in range(1, 40))
    for rules in (chain, twice):
        (tmp_path / "rules.yaml").write_text(f"{HEAD}checks:\n  a0: {{contains: x}}\n{rules}", encoding="utf-8")
        assert "RB706" in [d.code for d in lint_file(str(tmp_path / "rules.yaml")).diagnostics]


@pytest.mark.parametrize("how", ["weighted", "sum", "mean"])
def test_weights_beyond_all_numbers_fault_nowhere(how: str, tmp_path: Path) -> None:
    parts = "[{contains: done, weight: 1.0e308}, {contains: done, weight: 1.0e308}]"
    report = checked(tmp_path, f"checks: {{a: {{{how}: {parts}, threshold: 0.5}}}}\n", session_of("done"))
    assert finding(report, "checks[a]").status in ("pass", "unmeasured")


def test_a_range_wider_than_all_numbers_is_refused(tmp_path: Path) -> None:
    rules = "checks: {a: {sum: {of: [{contains: x}], range: [-1.0e308, 1.0e308]}, threshold: 1}}\n"
    (tmp_path / "rules.yaml").write_text(HEAD + rules, encoding="utf-8")
    assert [d.code for d in lint_file(str(tmp_path / "rules.yaml")).diagnostics] == ["RB205"]


def test_a_tool_cannot_hide_its_call_by_what_it_prints(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git log --all"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "The user doesn't want to proceed with this tool use", "is_error": False}
    lines = [
        {"type": "user", "uuid": "u0", "sessionId": "s", "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "uuid": "u1", "parentUuid": "u0", "sessionId": "s", "message": {"id": "m1", "role": "assistant", "content": [call]}},
        {"type": "user", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {"role": "user", "content": [result]}},
    ]
    (tmp_path / "session.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    rule = "checks: {a: {not: {contains: {from: {tool: Bash, part: arguments}, expected: git log --all}}}}\n"
    (tmp_path / "rules.yaml").write_text(HEAD + rule, encoding="utf-8")
    report = load(tmp_path / "rules.yaml").evaluate(tmp_path / "session.jsonl")
    assert finding(report, "checks[a]").status == "fail"


def run(*words: str, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "rulebook", *words], capture_output=True, text=True, check=False, timeout=60, **how)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("over", ["rules.yaml", "log.jsonl", "pipe"])
def test_a_report_is_never_written_over_what_is_checked(over: str, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(HEAD + "expect: {end_reason: finished}\n", encoding="utf-8")
    write_log(tmp_path / "log.jsonl", session_of("done"))
    os.mkfifo(tmp_path / "pipe")
    before = {p.name: p.lstat() for p in tmp_path.iterdir()}
    done = run("eval", "check", "rules.yaml", "--session", "log.jsonl", "--output", over, cwd=tmp_path)
    assert done.returncode == 1
    assert {p.name: p.lstat() for p in tmp_path.iterdir()} == before


def test_a_pipe_in_place_of_a_rule_file_hangs_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rules.yaml")
    done = run("lint", str(tmp_path / "rules.yaml"))
    assert done.returncode == 1
    assert "RB101" in done.stdout


def test_a_full_disk_is_no_verdict() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "rulebook", "explain"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_escape_of_json_hides_no_command(tmp_path: Path) -> None:
    call = {"tool.call": {"call_id": "c", "tool": "bash", "arguments": r'{"command": "\u0072m -rf \/srv \ud83d\ude00 \\u0072"}'}}
    asked = "{from: {tool: bash, part: arguments}, expected: 'rm -rf /srv \U0001f600 \\\\u0072'}"
    rules = f"checks: {{a: {{contains: {asked}}}, b: {{event: {{name: tool.call, where: \"'rm -rf /srv' in data.arguments\"}}}}}}\n"
    report = checked(tmp_path, rules, [IDLE[0], call, *session_of("done")[1:]])
    assert [finding(report, f"checks[{name}]").status for name in "ab"] == ["pass", "pass"]


LAUNDERED = {
    "max": "{max: [{forbidden_tools: [x]}, {not: {event: tool.call}}], threshold: 1}",
    "at_least": "{at_least: {count: 2, of: [{forbidden_tools: [x]}, {end_reason: finished}]}}",
    "unsure": "{at_least: {count: 2, of: [{forbidden_tools: [x]}, {end_reason: finished}, {expr: cost > 1}]}}",
    "any mean": "{any: {of: [{forbidden_tools: [x]}, {event: tool.call}], score: mean}}",
    "weighted": "{weighted: [{forbidden_tools: [x], weight: 3}, {end_reason: turn_limit}], threshold: 0.5}",
    "failed": "{weighted: [{forbidden_tools: [x]}, {event: tool.call}], threshold: 0.9}",
    "sum": "{sum: {of: [{end_reason: finished}, {event: tool.call, weight: -1}], range: [-1, 1]}, threshold: 1}",
    "formula": "{formula: {let: {a: {event: tool.call}}, score: 1 - a}, threshold: 1}",
}


@pytest.mark.parametrize("name", LAUNDERED)
def test_what_proves_nothing_makes_up_for_nothing(name: str, tmp_path: Path) -> None:
    report = checked(tmp_path, f"checks: {{a: {LAUNDERED[name][:-1]}, category: model}}}}\n", IDLE)
    assert report.reward_components.get("model", 0.0) == 0.0


@pytest.mark.parametrize("how", ["weighted: [{part}, {real}], threshold: 1", "min: [{part}, {real}], threshold: 1", "all: [{part}, {real}]"])
def test_work_beside_what_proves_nothing_is_worth_what_it_is(how: str, tmp_path: Path) -> None:
    body = how.replace("{part}", "{forbidden_tools: [browser]}").replace("{real}", "{contains: done}")
    report = checked(tmp_path, f"checks: {{a: {{{body}, category: model}}}}\n", session_of("done"))
    assert (finding(report, "checks[a]").status, finding(report, "checks[a]").vacuous) == ("pass", False)


def test_a_failed_share_is_not_padded_by_what_proves_nothing(tmp_path: Path) -> None:
    parts = "[{forbidden_tools: [x], weight: 3}, {end_reason: finished}, {event: tool.call}]"
    report = checked(tmp_path, f"checks: {{a: {{weighted: {parts}, threshold: 0.9, category: model}}}}\n", IDLE)
    assert report.reward_components["model"] == 0.5


SPOILED = "{regex: {patterns: [SECRETKEY]}}"
GAINED = {
    "not": f"{{not: {{weighted: [{SPOILED}, {{end_reason: finished}}], threshold: 0.9}}}}",
    "none": f"{{none: [{{weighted: [{SPOILED}, {{end_reason: finished}}], threshold: 0.9}}]}}",
    "invert": f"{{invert: {{weighted: [{SPOILED}, {{end_reason: finished, weight: 0.1}}], threshold: 0.01}}, threshold: 0.5}}",
    "required": f"{{invert: {{weighted: [{{end_reason: errored, required: true}}, {SPOILED}]}}, threshold: 1}}",
}


@pytest.mark.parametrize("name", GAINED)
def test_no_negation_gains_by_what_the_student_spoiled(name: str, tmp_path: Path) -> None:
    found = finding(checked(tmp_path, f"checks: {{a: {GAINED[name]}}}\n", session_of(LONG)), "checks[a]")
    assert (found.status, found.score) == ("fail", 0.0)


def _recorded(asked: list[dict], reply: dict, path: str = "chat/completions") -> dict:
    body = {"choices": [{"message": {"role": "assistant", **reply}, "finish_reason": "stop"}]}
    return {
        "request": {"uri": f"https://models.example/v1/{path}", "parsed_body": {"messages": asked}},
        "response": {"parsed_body": body},
    }


def _judged(folder: Path, session: object, rules: str) -> dict[str, str]:
    (folder / "session.json").write_text(json.dumps(session), encoding="utf-8")
    (folder / "rules.yaml").write_text(HEAD + rules, encoding="utf-8")
    return {found.id: found.status for found in load(folder / "rules.yaml").evaluate(folder / "session.json").findings}


NO_BASH = "expect: {forbidden_tools: [bash]}\n"
BASH = {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}


def test_a_call_beside_the_main_conversation_of_a_recording_is_not_unmade(tmp_path: Path) -> None:
    go, more = {"role": "user", "content": "go"}, {"role": "user", "content": "and more"}
    main = _recorded([go, {"role": "assistant", "content": "one"}, more], {"content": "done"})
    title = _recorded([{"role": "user", "content": "a title"}], {"content": "Title"})
    side = _recorded([{"role": "user", "content": "aside"}], BASH)
    streamed = {**_recorded([go], {}), "response": {"body": {"string": "data: {}"}}}
    embedded = {"request": {"uri": "https://models.example/v1/embeddings"}, "response": {}}
    wanted = {
        "pass": [title, embedded, main],
        "unmeasured": [side, main],
        "unmeasured ": [main, {**streamed, "request": {"uri": "https://models.example/v1/responses"}}, streamed],
    }
    for status, interactions in wanted.items():
        found = _judged(tmp_path, {"interactions": interactions}, NO_BASH)
        assert found["forbidden_tools[bash]"] == status.strip(), status


def test_a_command_that_the_reader_does_not_see_is_not_unmade(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": "```sh\nrm -rf /\n```"}
    shown = {"role": "assistant", "content": "```mswea_bash_command\nls\n```"}
    back = {"role": "user", "content": "<returncode>0</returncode>\n<output></output>"}
    start = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
    for seen, status in ((shown, "pass"), (said, "unmeasured")):
        session = {"trajectory_format": "mini-swe-agent-1", "messages": [*start, shown, back, seen, back], "info": {}}
        assert _judged(tmp_path, session, "expect: {forbidden_tools: [curl]}\n")["forbidden_tools[curl]"] == status


def test_the_first_answer_to_a_call_is_the_answer(tmp_path: Path) -> None:
    answers = [{"role": "tool", "tool_call_id": "c", "content": text} for text in ("FAILED", "PASSED")]
    session = [{"role": "user", "content": "go"}, {"role": "assistant", **BASH}, *answers]
    rules = "checks: {a: {contains: {from: {tool: bash}, expected: PASSED}}}\n"
    assert _judged(tmp_path, session, rules)["checks[a]"] == "fail"


def test_only_a_model_refuses(tmp_path: Path) -> None:
    session = [{"role": "assistant", "content": "no"}, {"role": "user", "content": "go", "refusal": "I will not"}]
    rules = "expect: {end_reason: refused_by_model}\n"
    assert _judged(tmp_path, session, rules)["end_reason"] == "unmeasured"


def test_the_end_that_a_session_states_forges_no_line_of_the_report(tmp_path: Path) -> None:
    forged = "finished\n\n  model 3 of 3\nEverything that was asked holds.\x1b[2J" + "x" * 300
    for rules in ("expect: {end_reason: finished}\n", "checks: {a: {contains: absent}}\n"):
        shown = str(checked(tmp_path, rules, session_of("done", end=forged)))
        assert "\x1b" not in shown
        assert not any(line.startswith(("Everything", "  model 3")) for line in shown.splitlines())
        assert max(map(len, shown.splitlines())) <= 100


def test_a_path_over_a_huge_document_says_so_at_once(tmp_path: Path) -> None:
    arguments = json.dumps({"a": [0] * 2_000_001})
    call = {"tool.call": {"call_id": "c", "tool": "t", "arguments": arguments}}
    rules = "checks: {a: {contains: {from: {json_path: $.tool_calls..b}, expected: x}}}\n"
    found = finding(checked(tmp_path, rules, [IDLE[0], call, *session_of("done")[1:]]), "checks[a]")
    assert (found.status, found.score) == ("fail", 0.0)
    assert "more than 2,000,000 values" in found.reason


def test_a_long_session_is_not_too_large_for_a_filter(tmp_path: Path) -> None:
    call = {"tool.call": {"call_id": "c", "tool": "t", "arguments": json.dumps({"a": [0] * 2_000_001})}}
    rules = "checks: {a: {contains: {from: {json_path: \"$.tool_calls[?(@.name == 't')].name\"}, expected: t}}}\n"
    report = checked(tmp_path, rules, [IDLE[0], call, *session_of("done")[1:]])
    assert finding(report, "checks[a]").status == "pass"


@pytest.mark.parametrize(("given", "params"), [(7, None), (None, None), ("log.jsonl", [1]), ("log.jsonl", {1: 2})])
def test_what_python_passes_wrongly_is_said_in_words(given: object, params: object, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(HEAD + "checks: {a: {contains: x}}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="A session is named by|`params` must be a mapping"):
        load(tmp_path / "rules.yaml").evaluate(given, params=params)  # type: ignore[arg-type]


BROKEN = ["name: [\n", "checks: {one: {contains: x}}\n", "name: A B\nchecks: {one: {contains: x}}\n"]


@pytest.mark.parametrize("rest", BROKEN)
def test_a_pack_that_cannot_be_used_is_said_once(rest: str, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(f"schema: rulebook.pack\nversion: 1\n{rest}", encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(HEAD + "use: {p: broken.yaml}\nchecks: {a: {rule: p.one}}\n", encoding="utf-8")
    found = [found.code for found in lint_file(str(tmp_path / "rules.yaml")).diagnostics if found.severity == "error"]
    assert len(found) == 1
    assert "RB302" not in found
