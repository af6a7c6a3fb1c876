"""What holds of every rule file: linting never raises, and what lints clean never faults on any evidence."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import write_log

from rulebook.api.linting import lint_text
from rulebook.api.loading import load
from rulebook.diagnostic import has_errors

ROOT = Path(__file__).parent.parent
VALID = {
    "yaml": [
        (ROOT / "rules" / name).read_text("utf-8")
        for name in ("parser-eval.yaml", "tidy-session.yaml", "report-version.yaml", "sum-readings.yaml")
    ],
    "zon": [(ROOT / "rules" / "safety-pack.zon").read_text("utf-8")],
}

texts = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="{}[]()&.,:=-'\"\\\n \t#|>!@%*?\x00\x85\u2028\ufeff😀é0aA", max_size=120),
)


@given(texts, st.sampled_from(["yaml", "zon"]))
def test_linting_any_text_never_raises(text: str, language: str) -> None:
    result = lint_text(text, f"any.{language}", language)  # type: ignore[arg-type]
    places_are_inside(result.text or text, result.diagnostics)


@given(st.data())
@settings(max_examples=200)
def test_linting_a_spoiled_file_never_raises(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["yaml", "yaml", "zon"]))
    text = data.draw(st.sampled_from(VALID[language]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + cut :]
    result = lint_text(text, str(ROOT / "rules" / f"spoiled.{language}"), language)  # type: ignore[arg-type]
    places_are_inside(text, result.diagnostics)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 9), st.sampled_from(["", "x", "a.b", "{{ params.n }}", "1 KiB", "last"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["name", "path", "x", ""]), inner, max_size=2)),
    max_leaves=4,
)


@given(st.data())
@settings(max_examples=200)
def test_linting_a_task_with_a_value_of_another_kind_never_raises(data: st.DataObject) -> None:
    task = json.loads(json.dumps(TASK))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = task, data.draw(st.sampled_from(sorted(task)))
        while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.integers(0, 3)):
            holder = holder[key]
            key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        holder[key] = data.draw(values)
    text = json.dumps(task, ensure_ascii=False)
    places_are_inside(text, lint_text(text, str(ROOT / "rules" / "spoiled.yaml"), "yaml").diagnostics)


TASK = {
    "schema": "rulebook.task",
    "version": 1,
    "name": "x",
    "params": {"use_hints": {"type": "boolean", "default": False}, "n": {"type": "integer", "choices": ["a"]}},
    "cases": [{"name": "a", "n": 1}, {"n": 2}],
    "system_prompt": "{{ params.n }}",
    "limits": {"turns": 3, "step_time": "1m", "on_limit": "score"},
    "use": {"safety": "safety-pack.zon"},
    "checks": {"good": {"expr": "submissions.answer.exists"}, "other": {"regex": "x"}},
    "steps": [
        {
            "name": "one",
            "instructions": "{{ submissions.answer.write_to }}",
            "hints": ["{{ params.n }}"],
            "submissions": {"answer": {"path": "a", "missing": "zero", "max_bytes": "1 KiB", "max_depth": 2}},
            "judge": "good and safety.no_answer_key",
            "weight": 2,
        },
        {
            "name": "two",
            "instructions": "go",
            "when": "steps.one.passed",
            "checks": {"own": {"contains": "x"}},
            "judge": {"all": [{"rule": "own"}, {"rule": "other", "weight": 2}]},
        },
    ],
    "score": "weighted",
}

PIECES = ["", "", "{", "}", "]", ":", ": ", "'", '"', "\\", "\t", "- ", "&a ", "*a", "!x ", "#", "é", "😀", "\n", ".", "'''"]


def places_are_inside(text: str, diagnostics: tuple) -> None:
    for found in diagnostics:
        assert found.message
        assert "Traceback" not in found.message
        if found.span is not None and not found.file.endswith("safety-pack.zon"):
            assert 0 <= found.span.start <= found.span.end <= len(text) + 1
            assert found.span.line >= 1
            assert found.span.column >= 1


names = st.sampled_from(["turns", "cost", "input_tokens", "duration_s"])
quoted = st.sampled_from(["status == 'error'", "name == 'bash'", "turn > 2", "contains(default(result, ''), 'x')"])
formulas = st.one_of(
    st.builds("{} {} {}".format, names, st.sampled_from(["<", "<=", "==", ">", "!="]), st.integers(0, 9)),
    st.builds('count(tool_calls, "{}") <= {}'.format, quoted, st.integers(0, 3)),
    st.builds("{} / {} > 0".format, names, names),
    st.just("any(messages, \"role == 'assistant' and contains(text, 'a')\") or len(events) > 3"),
    st.just("network.refused == 0 and count(approvals) >= 0"),
    st.just("mean(tool_calls, 'duration_s') < 3"),
    st.just("matches('a+b', default(path('$.messages[-1].text'), ''))"),
    st.just("repository.dirty or count(subagents) > 0"),
)
sources = st.sampled_from(
    ["assistant", "final_message", {"tool": "bash"}, {"transcript": {"last": 2}}, {"json_path": "$.messages[0].text"}]
)
checks = st.one_of(
    st.builds(lambda f: {"expr": f}, formulas),
    st.builds(lambda s: {"contains": {"from": s, "expected": "a"}}, sources),
    st.builds(lambda s: {"exact_match": {"from": s, "expected": "done"}}, sources),
    st.builds(lambda s: {"regex": {"from": s, "patterns": ["(?i)a.*b", r"\d+"], "need": "fraction"}}, sources),
    st.builds(lambda n: {"event": {"name": "usage", "where": f"data.input_tokens > {n}"}}, st.integers(0, 9)),
    st.sampled_from(
        [
            {"always_pass": {}},
            {"forbidden_tools": ["bash"]},
            {"required_events": ["tool.call"]},
            {"max_cost": {"amount": 1, "currency": "USD"}},
            {"require_no_network": True},
            {"require_no_refusals": True},
            {"end_reason": "finished"},
            {"file": {"path": "a.txt", "exists": True}},
            {"required_paths": ["a.txt"]},
            {"forbidden_network_hosts": ["example.com"]},
            {"tool_calls": ["bash", "bash"]},
            {"tool_calls": {"order": "any_order", "calls": [{"name": "bash", "arguments": {"path": "x"}}, "bash"]}},
            {"tool_calls": {"max": 0, "calls": [{"any_argument": {"matches": "x$"}, "status": "error"}]}},
            {"sequence": {"never_after": {"once": {"event": "usage"}, "then": "bash"}}},
            {"sequence": {"before": {"first": {"tool": "bash", "as": "r"}, "then": {"result": {"from": "r.result"}}}}},
            {"sequence": {"follows": {"each": {"event": "something.new"}, "by": {"event": "message"}, "within": 2}}},
            {"required_tools": ["bash"]},
            {"max_tool_calls": 1},
            {"max_tokens": 20},
            {"max_seconds": 3},
        ]
    ),
)
rules = st.recursive(
    checks,
    lambda part: st.one_of(
        st.builds(lambda p: {"not": p}, part),
        st.builds(lambda p: {"all": p}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda p: {"any": p}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda p: {"none": p}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda p: {"mean": p, "threshold": 0.5}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda p: {"misbehavior": {"if": p, "reason": "it did"}}, part),
    ),
    max_leaves=5,
)

small = st.text(max_size=8)
events = st.one_of(
    st.builds(lambda t: {"message": {"role": "assistant", "content": [{"text": t}]}}, small),
    st.builds(lambda r, t: {"message": {"role": r, "content": [{"text": t}]}}, st.sampled_from(["user", "system"]), small),
    st.builds(
        lambda i, a: {"tool.call": {"call_id": i, "tool": "bash", "arguments": a}},
        st.sampled_from(["1", "2"]),
        st.sampled_from(["{}", '{"path": "x"}', "not json", "[1]"]),
    ),
    st.builds(
        lambda i, e: {"tool.result": {"call_id": i, "output": "x", "is_error": e, "truncated": False}},
        st.sampled_from(["1", "2", "3"]),
        st.booleans(),
    ),
    st.builds(
        lambda n, c: {"usage": {"input_tokens": n, "output_tokens": n, "cost": c}},
        st.integers(0, 50),
        st.sampled_from(
            [{"free": True}, {"unknown": True}, {"known": {"value": 0.5, "currency": "USD"}},
             {"known": {"value": 1.5, "currency": "EUR"}}]
        ),
    ),
    st.builds(lambda n: {"network.summary": {"granted": n, "refused": 0}}, st.integers(0, 2)),
    st.builds(
        lambda d: {"approval.response": {"request_id": 0, "decision": d, "responder": "policy", "action": "net.connect.com.example.443"}},
        st.sampled_from(["allowed_by_policy", "refused_by_user", "something_new"]),
    ),
    st.just({"session.spawn": {"child_session": "c", "child_agent_kind": "k", "reason": "r"}}),
    st.just({"session.end": {"reason": "finished", "detail": ""}}),
    st.just({"something.new": {"x": [1, {"y": None}]}}),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


@given(rule=rules, log=st.lists(events, min_size=1, max_size=8))
@settings(max_examples=150)
def test_what_lints_clean_never_faults(folder: Path, rule: dict, log: list[dict]) -> None:
    spec = {"schema": "chock.eval", "version": 1, "name": "law", "checks": {"a": rule}}
    (folder / "law.yaml").write_text(json.dumps(spec), encoding="utf-8")
    result = lint_text(json.dumps(spec), str(folder / "law.yaml"), "yaml")
    assert not has_errors(result.diagnostics), [(d.code, d.message) for d in result.diagnostics]
    (folder / "log.jsonl").unlink(missing_ok=True)
    write_log(folder / "log.jsonl", log)
    report = load(folder / "law.yaml").evaluate(folder / "log.jsonl")
    assert report.judged.audit.verdict == "intact"
    found = next(f for f in report.findings if f.id == "checks[a]")
    assert found.status in ("pass", "fail", "misbehavior", "unmeasured", "skipped")
    assert found.score is None or 0 <= found.score <= 1
    assert report.reward is None or 0 <= report.reward <= 1
    report.as_dict()
    str(report)
