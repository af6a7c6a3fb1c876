"""One real session of each format against a rule file whose answers were read off the session by hand."""

from pathlib import Path

import pytest

from rulebook.api.loading import load

HEAD = "schema: chock.eval\nversion: 1\nname: a real session\n"

CLAUDE = """\
expect: {max_turns: 10, forbidden_tools: [Bash, MultiEdit], required_events: [tool.call, usage], max_subagents: 3}
checks:
  planned: {expr: "count(tool_calls, \\"name == 'TodoWrite'\\") == 5"}
  two_errors: {expr: "count(tool_calls, \\"status == 'error'\\") == 2"}
  tokens: {expr: input_tokens == 372135 and output_tokens == 3629}
  task_tool_first: {contains: {from: {tool: Task, part: arguments}, expected: subagent_type}}
  said_in_japanese: {regex: {patterns: ['[ぁ-ん]'], from: final_message}}
  network: {require_no_network: true}
"""

SWE = """\
expect: {end_reason: finished, max_turns: 10, max_cost: 1, currency: USD, required_events: [tool.result]}
checks:
  edited: {expr: "count(tool_calls, \\"name == 'edit'\\") == 3"}
  submitted: {expr: "any(tool_calls, \\"name == 'submit'\\")"}
  never_removed: {not: {contains: {from: {tool: bash, part: arguments}, expected: 'rm -rf'}}}
  tokens: {expr: input_tokens < 10}
"""

MINI = """\
expect: {max_turns: 10, forbidden_tools: [browser]}
checks:
  only_bash: {expr: "count(tool_calls, \\"name != 'bash'\\") == 0"}
  looked_first: {contains: {from: {tool: bash, part: arguments}, expected: missing_colon.py}}
  finished: {end_reason: finished}
  fixed: {contains: {from: {tool: bash, part: result, last: 1}, expected: 'division(a: float, b: float) -> float:'}}
"""

CHAT = """\
expect: {end_reason: finished, max_turns: 1, required_events: [message]}
checks:
  answers: {contains: {from: final_message, expected: Noon}}
  exactly: {exact_match: {from: final_message, expected: The current time is Noon.}}
  called: {expr: "count(tool_calls, \\"name == 'get_current_time'\\") == 1"}
  tokens: {expr: input_tokens == 101 and output_tokens == 18}
  cost: {max_cost: {amount: 1, currency: USD}}
"""

SESSIONS = {
    "claude_code/ccv_subagents_5c03.jsonl": (
        CLAUDE,
        {
            "session.ended": "unmeasured",
            "max_turns": "pass",
            "forbidden_tools[Bash]": "fail",
            "forbidden_tools[MultiEdit]": "fail",
            "required_events[tool.call]": "pass",
            "required_events[usage]": "pass",
            "max_subagents": "pass",
            "checks[planned]": "pass",
            "checks[two_errors]": "pass",
            "checks[tokens]": "pass",
            "checks[task_tool_first]": "pass",
            "checks[said_in_japanese]": "pass",
            "checks[network]": "unmeasured",
        },
    ),
    "swe_agent/marshmallow-1867_function_calling.traj": (
        SWE,
        {
            "session.ended": "pass",
            "end_reason": "pass",
            "max_turns": "fail",
            "max_cost": "unmeasured",
            "required_events[tool.result]": "pass",
            "checks[edited]": "pass",
            "checks[submitted]": "pass",
            "checks[never_removed]": "pass",
            "checks[tokens]": "unmeasured",
        },
    ),
    "mini_swe_agent/github_issue.traj.json": (
        MINI,
        {
            "session.ended": "unmeasured",
            "max_turns": "pass",
            "forbidden_tools[browser]": "pass",
            "checks[only_bash]": "pass",
            "checks[looked_first]": "pass",
            "checks[finished]": "unmeasured",
            "checks[fixed]": "pass",
        },
    ),
    "openai_chat/test_compatible_api_with_tool_calls_without_id.yaml": (
        CHAT,
        {
            "session.ended": "pass",
            "end_reason": "pass",
            "max_turns": "fail",
            "required_events[message]": "pass",
            "checks[answers]": "pass",
            "checks[exactly]": "pass",
            "checks[called]": "pass",
            "checks[tokens]": "pass",
            "checks[cost]": "unmeasured",
        },
    ),
}


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", SESSIONS)
def test_the_findings_are_those_read_by_hand(name: str, shared_sessions: Path, tmp_path: Path) -> None:
    rules, expected = SESSIONS[name]
    (tmp_path / "rules.yaml").write_text(HEAD + rules, encoding="utf-8")
    report = load(tmp_path / "rules.yaml").evaluate(shared_sessions / name)
    found = {f"{finding.id}": finding.status for finding in report.findings}
    assert found == expected
    assert report.judged.audit.verdict == "imported"
    assert report.reward is None
