"""deepeval test runs: the real one, cases with and without a trace, and traces that hide what they should list."""

import json
from pathlib import Path
from typing import Any

import pytest
from sessions_read import OWN, every, read, real_sessions, roles_of

from rulebook.evidence.transcript_record import record_of

FOLDER = OWN / "deepeval"


def changed(tmp_path: Path, **trace: Any) -> Path:
    """Our run with other values in its trace; None leaves a key out."""
    run = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))
    own = run["testCases"][0]["trace"]
    own.update(trace)
    run["testCases"][0]["trace"] = {key: value for key, value in own.items() if value is not None}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


@pytest.mark.needs_shared
def test_the_real_run() -> None:
    """Counts worked out by reading the file: four model calls (one failed), a tool and a retriever that is one."""
    transcript = read(real_sessions() / "deepeval/test_run_sample.json")
    record = record_of(transcript)
    assert (transcript.source.part, roles_of(transcript.messages)) == ("sample_test_case", "0/1/4/2")
    assert record.tool_counts == {"knowledge_base_lookup": 1, "web_search": 1}
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.usage.output) == (1200 + 2200 + 540 + 880, 48 + 180 + 64)
    assert (transcript.end.reason, transcript.end.raw) == ("errored", "ERRORED")
    assert "RateLimitError" in transcript.end.detail
    assert [thread.name for thread in transcript.threads] == ["validator_agent"]
    assert transcript.outcome == {"success": False, "scores": {"Answer Relevancy": 0.92, "Faithfulness": 0.45}}
    assert (record.turns, record.spend.known) == (2, False)


def test_cases_without_a_trace() -> None:
    first, second, talk = every(FOLDER / "kept.json")
    assert [t.source.part for t in (first, second, talk)] == ["a", "a~2", "talk"]
    assert [call.name for call in first.messages[1].tool_calls] == ["dig"]
    assert [m.text for m in first.messages] == ["Dig.", "Dug.", "a bone"]
    assert "tool_calls" in record_of(first).carries
    assert [warning.code for warning in second.warnings] == ["lost_call"]
    assert "tool_calls" not in record_of(second).carries
    assert (roles_of(talk.messages), record_of(talk).tool_counts) == ("0/1/1/0", {"dig": 1})


def test_the_sub_agent_of_an_agent_is_a_thread_and_a_ring_of_agents_ends(tmp_path: Path) -> None:
    (thread,) = read(FOLDER / "run.json").threads
    assert [m.text for m in thread.messages] == ["Yes."]
    assert read(FOLDER / "hidden.json").threads


HIDING: dict[str, dict[str, Any]] = {
    "a_list_is_missing": {"toolSpans": None},
    "a_list_is_none": {"toolSpans": {}},
    "an_entry_is_none": {"toolSpans": ["wipe"]},
    "another_list": {"commandSpans": [{"name": "wipe"}]},
    "another_type": {"toolSpans": [{"name": "wipe", "type": "Tool"}]},
}


@pytest.mark.parametrize("name", HIDING)
def test_a_trace_that_may_hide_calls(name: str, tmp_path: Path) -> None:
    transcript = read(changed(tmp_path, **HIDING[name]))
    assert "lost_call" in {warning.code for warning in transcript.warnings}
    assert "tool_calls" not in record_of(transcript).carries


def test_a_price_that_one_call_lacks_leaves_the_cost_open(tmp_path: Path) -> None:
    spans = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))["testCases"][0]["trace"]["llmSpans"]
    del spans[0]["costPerInputToken"]
    assert read(changed(tmp_path, llmSpans=spans)).cost.value is None
    del spans[0]["inputTokenCount"], spans[0]["outputTokenCount"]
    assert "usage" not in record_of(read(changed(tmp_path, llmSpans=spans))).carries
