"""Inspect logs: samples as sessions, what stands in the events alone, graders, and archives from strangers."""

import builtins
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from golden import Golden, exclusive, golden, wrong
from sessions_read import OWN, check_invariants, read, real_sessions

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_sessions
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

FOLDER = OWN / "inspect"
GRADED = json.loads((FOLDER / "graded.json").read_text(encoding="utf-8"))
SECURITY = "inspect_ai/2025-05-12T20-28-26-04-00_security-guide.json"
NO_SAMPLES = "inspect_ai/2025-05-12T20-28-13-04-00_no-samples.json"


def every(path: Path) -> list[Transcript]:
    return list(read_sessions(str(path), MachineFiles()))


def codes(transcript: Transcript) -> list[str]:
    return [warning.code for warning in transcript.warnings]


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    rows = golden("inspect_ai")
    held = {f"inspect_ai/{path.name}" for path in (real_sessions() / "inspect_ai").iterdir()}
    assert {row.file for row in rows} == held - {NO_SAMPLES, "inspect_ai/parallel_spans.json"}
    found = {row.file: wrong(_of_the_sample(row), _words, part=_first(row)) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


def _first(row: Golden) -> str | None:
    return "1-1" if row.file == SECURITY else None


def _of_the_sample(row: Golden) -> Golden:
    """The row's usage is the whole log's, with what its graders used; of a log of several samples it is not the first's."""
    if row.file != SECURITY:
        return row
    samples = json.loads((real_sessions() / SECURITY).read_text(encoding="utf-8"))["samples"]
    model = "openai/gpt-4o-mini"
    assert row.usage is not None
    for key, total in row.usage[model].items():
        assert sum(sample["model_usage"][model][key] for sample in samples) == total
    return row._replace(usage={model: samples[0]["output"]["usage"]})


def _words(transcript: Transcript, row: dict[str, Any]) -> dict[str, Any] | None:
    usage = transcript.usage
    if usage is None:
        return {}
    ((model, told),) = row.items()
    words = exclusive(usage) or {}
    ours = {
        "input_tokens": words["input_tokens"],
        "output_tokens": usage.output,
        "total_tokens": usage.total,
        "input_tokens_cache_read": words["cache_read_input_tokens"],
        "input_tokens_cache_write": words["cache_creation_input_tokens"],
        "reasoning_tokens": usage.reasoning,
    }
    return {model: {key: ours[key] for key in told}}


@pytest.mark.needs_shared
def test_trap_11_a_log_of_nothing_but_its_header_is_no_session() -> None:
    with pytest.raises(UnknownFormat, match="an Inspect log without samples .its status is `cancelled`."):
        read(real_sessions() / NO_SAMPLES)
    with pytest.raises(UnknownFormat, match="without samples"):
        every(real_sessions() / NO_SAMPLES)


@pytest.mark.needs_shared
def test_spans_without_their_log_are_no_session() -> None:
    with pytest.raises(UnknownFormat, match="without the log and the messages around them"):
        read(real_sessions() / "inspect_ai/parallel_spans.json")


@pytest.mark.needs_shared
def test_every_sample_is_a_session() -> None:
    transcripts = every(real_sessions() / SECURITY)
    assert [t.source.part for t in transcripts] == ["1-1", "2-1", "3-1"]
    assert len({t.source.sha256 for t in transcripts}) == 1
    assert len({t.session_id for t in transcripts}) == 3
    assert [t.usage and t.usage.output for t in transcripts] == [17, 9, 23]
    assert all("time" in record_of(t).carries for t in transcripts)


@pytest.mark.needs_shared
def test_shared_messages_of_events_repeat_nothing() -> None:
    transcript = read(real_sessions() / "inspect_ai/log_message_deduplication.eval")
    assert not transcript.threads
    record = record_of(transcript)
    assert record.tool_counts == {"bash": 5}
    assert record.known_tools == {"bash", "python"}
    assert [round(call.duration_s or 0, 2) for call in record.calls] == [0.09, 0.07, 0.05, 0.06, 0.06]


def test_a_log_and_an_archive_tell_the_same() -> None:
    log, archive = read(FOLDER / "graded.json"), read(FOLDER / "graded.eval")
    assert log.messages == archive.messages
    assert (log.usage, log.end, log.outcome) == (archive.usage, archive.end, archive.outcome)
    assert (archive.source.part, archive.source.producer_version) == ("pear/1-1", "0.3.200")


def test_texts_that_the_log_keeps_apart_are_put_back() -> None:
    messages = read(FOLDER / "graded.json").messages
    assert messages[0].text == "dig the whole of bed 4"
    assert messages[2].tool_calls[0].args == {"cmd": "dig the whole of bed 4"}


def test_calls_their_faults_and_what_a_provider_served() -> None:
    transcript = read(FOLDER / "graded.json")
    calls = {call.id: call for message in transcript.messages for call in message.tool_calls}
    assert (calls["k2"].args, calls["k2"].args_error) == (None, "no JSON")
    assert calls["w1"].args is None
    assert calls["w1"].args_raw == '{"query":"pears"}'
    assert {call.id: call.status for call in record_of(transcript).calls} == {
        "k1": "ok", "k2": "error", "k3": "ok", "k4": "refused", "w1": "ok",
    }  # fmt: skip
    assert transcript.messages[2].reasoning == "Hm."


def test_an_agent_that_was_called_is_a_thread() -> None:
    transcript = read(FOLDER / "graded.json")
    (thread,) = transcript.threads
    assert [(m.role, m.text, m.copied) for m in thread.messages] == [
        ("user", "Count the beds.", True), ("assistant", "", False), ("tool", "7", False), ("assistant", "7", False),
    ]  # fmt: skip
    record = record_of(transcript)
    assert record.delegated == {"count": 1}
    assert [(child.task, child.outcome, child.turns) for child in record.children.values()] == [
        ("counter", "finished", 2)
    ]


def test_what_graders_used_is_not_the_sessions() -> None:
    usage = read(FOLDER / "graded.json").usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read) == (600 - 40, 60 - 20, 100)


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], object], log: dict[str, Any] | None = None) -> Path:
    given = json.loads(json.dumps(log or GRADED))
    change(given["samples"][0])
    path = tmp_path / "log.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    return path


def test_graders_that_state_no_usage_leave_it_open(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda sample: sample["events"][-2]["output"].pop("usage"))
    transcript = read(path)
    assert "usage_differs" in codes(transcript)
    assert "usage" not in record_of(transcript).carries


def test_one_grader_of_two_that_states_no_usage_leaves_it_open(tmp_path: Path) -> None:
    def grade_again(sample: dict[str, Any]) -> None:
        silent = json.loads(json.dumps(sample["events"][-2]))
        del silent["output"]["usage"]
        sample["events"].insert(-1, silent)

    assert "usage_differs" in codes(read(changed(tmp_path, grade_again)))


def test_a_result_without_its_call_loses_calls(tmp_path: Path) -> None:
    stray = {"role": "tool", "tool_call_id": "gone", "content": "burnt"}
    path = changed(tmp_path, lambda sample: sample["messages"].append(stray))
    assert not {"tool_calls", "results"} & record_of(read(path)).carries


def test_graders_of_older_logs_stand_between_steps(tmp_path: Path) -> None:
    def age(sample: dict[str, Any]) -> None:
        for event in sample["events"]:
            if event.get("id") == "sc":
                begins = event["event"] == "span_begin"
                event.clear()
                event.update({"event": "step", "action": "begin" if begins else "end", "type": "scorer"})
        sample["events"][-2].pop("span_id")

    usage = read(changed(tmp_path, age)).usage
    assert usage is not None
    assert usage.output == 40


def test_calls_of_a_history_that_was_shortened_are_not_out_of_sight(tmp_path: Path) -> None:
    def shorten(sample: dict[str, Any]) -> None:
        sample["messages"] = [m for m in sample["messages"] if m["id"] not in ("m2", "m3", "m4")]

    transcript = read(changed(tmp_path, shorten))
    assert record_of(transcript).delegated == {"bash": 2, "count": 1}
    assert [thread.id for thread in transcript.threads] == ["beside the messages", "sub"]


def test_a_call_that_only_a_nested_event_tells_is_not_out_of_sight(tmp_path: Path) -> None:
    inner: dict[str, Any] = {"event": "tool", "id": "deep", "function": "burn", "arguments": {}, "result": "burnt"}
    for nth in range(40):
        inner = {"event": "subtask", "name": f"s{nth}", "events": [inner]}
    path = changed(tmp_path, lambda sample: sample["events"].append(inner))
    assert record_of(read(path)).delegated["burn"] == 1


def test_a_reply_that_borrows_a_known_id_hides_no_call(tmp_path: Path) -> None:
    def forge(sample: dict[str, Any]) -> None:
        message = sample["events"][1]["output"]["choices"][0]["message"]
        message["tool_calls"].append({"id": "k9", "function": "burn", "arguments": {}})

    assert record_of(read(changed(tmp_path, forge))).delegated["burn"] == 1


ENDS = {
    "message-1": ("turn_limit", "message"), "token-1": ("budget_reached", "token"),
    "working-1": ("time_limit", "working"), "context-1": ("context_limit", "context"),
    "operator-1": ("canceled_by_user", "operator"), "custom-1": ("unknown", "custom"),
    "broken-1": ("errored", "error"), "cut-1": ("truncated_output", "max_tokens"),
    "old_cut-1": ("truncated_output", "length"), "long-1": ("context_limit", "model_length"),
    "filtered-1": ("refused_by_model", "content_filter"), "asked-1": ("unknown", "tool_calls"),
    "done-1": ("finished", "stop"),
}  # fmt: skip


def test_ends() -> None:
    found = {t.source.part: (t.end.reason, t.end.raw) for t in every(FOLDER / "ends.json")}
    assert found == ENDS


def test_a_log_that_was_stopped_says_nothing_of_what_was_scored_before() -> None:
    scored, unscored, never = every(FOLDER / "cancelled.json")
    assert [t.end.reason for t in (scored, unscored, never)] == ["finished", "canceled_by_user", "errored"]
    assert scored.outcome == {"scores": {"match": 1.0}, "score": 1.0}
    assert unscored.outcome == {}
    assert record_of(never).carries == {"end", "cost"}


def test_a_text_that_is_not_there_leaves_all_texts_open() -> None:
    transcript = read(FOLDER / "lost_text.json")
    assert transcript.messages[1].text == "attachment://short"
    assert not {"messages", "tool_calls", "results"} & record_of(transcript).carries


def test_one_text_that_is_referred_to_a_million_times(tmp_path: Path) -> None:
    digest = "0" * 32
    call = {"id": "c", "function": "f", "arguments": {"a": [f"attachment://{digest}"] * 70_000}}
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}
    sample["attachments"] = {digest: "x" * 4096}
    path = changed(tmp_path, lambda _: None, {**GRADED, "samples": [sample]})
    with pytest.raises(UnknownFormat, match="its attachments come to more than 256 million characters"):
        read(path)


def test_a_sample_lasts_from_its_first_event(tmp_path: Path) -> None:
    record = record_of(read(FOLDER / "graded.json"))
    assert record.first_ms is not None
    assert record.last_ms is not None
    assert record.last_ms - record.first_ms == 9000
    ended = read(changed(tmp_path, lambda sample: sample.update(completed_at="2026-03-01T09:01:00+00:00")))
    assert record_of(ended).last_ms == record.first_ms + 60_000


def test_usage_of_nothing_is_unknown(tmp_path: Path) -> None:
    zero = {"sage/sage-1": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}}
    transcript = read(changed(tmp_path, lambda sample: sample.update(model_usage=zero)))
    assert "usage_zero" in codes(transcript)
    assert "usage" not in record_of(transcript).carries


def test_epochs_and_names_that_are_used_again(tmp_path: Path) -> None:
    def again(log: dict[str, Any]) -> dict[str, Any]:
        plain = {"messages": [{"role": "user", "content": "Dig."}]}
        log["samples"] = [{"id": i, "epoch": e, **plain} for i, e in ((1, 1), (1, 2), ("a b", 1), (1, 1))]
        return log

    path = tmp_path / "log.json"
    path.write_text(json.dumps(again(json.loads(json.dumps(GRADED)))), encoding="utf-8")
    assert [t.source.part for t in every(path)] == ["1-1", "1-2", "a b-1", "1-1~2"]


def test_a_log_of_a_version_to_come_is_read_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**GRADED, "version": 9}), encoding="utf-8")
    assert codes(read(path)) == ["unknown_version"]


HEADER = {"version": 2, "status": "success", "eval": {"task": "pears"}}
SAMPLE = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "Dig."}]}


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def members(**more: bytes) -> dict[str, bytes]:
    return {
        "header.json": json.dumps(HEADER).encode(),
        "samples/1_epoch_1.json": json.dumps(SAMPLE).encode(),
        **more,
    }


def zstd_archive(path: Path, data: bytes, packed: bytes | None = None, size: int | None = None) -> Path:
    """An archive whose sample is packed with method 93, which Python before 3.14 can neither write nor read."""
    stored = zstandard.ZstdCompressor().compress(data) if packed is None else packed
    archive(path, {"header.json": json.dumps(HEADER).encode(), "samples/1_epoch_1.json": stored}, zipfile.ZIP_STORED)
    whole = bytearray(path.read_bytes())
    real = len(data) if size is None else size
    for signature, method, checksum in ((b"PK\x03\x04", 8, 14), (b"PK\x01\x02", 10, 16)):
        at = whole.rfind(signature)
        whole[at + method : at + method + 2] = (93).to_bytes(2, "little")
        whole[at + checksum : at + checksum + 4] = zlib.crc32(data).to_bytes(4, "little")
        whole[at + checksum + 8 : at + checksum + 12] = real.to_bytes(4, "little")
    path.write_bytes(whole)
    return path


def test_zstd_members_are_read(tmp_path: Path) -> None:
    data = json.dumps(SAMPLE).encode()
    path = zstd_archive(tmp_path / "log.eval", data)
    assert [m.text for m in read(path).messages] == ["Dig."]
    half = len(data) // 2
    frames = b"".join(zstandard.ZstdCompressor().compress(part) for part in (data[:half], data[half:]))
    assert [m.text for m in read(zstd_archive(path, data, frames)).messages] == ["Dig."]


def test_zstd_without_its_package_is_refused_with_what_to_type(tmp_path: Path, monkeypatch: Any) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *args, **more)

    path = zstd_archive(tmp_path / "log.eval", json.dumps(SAMPLE).encode())
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnknownFormat, match=r"needs the extra `rulebook-engine\[zstd\]`"):
        read(path)


@pytest.mark.parametrize(
    ("packed", "size", "words"),
    [
        (b"not zstd at all", None, "it is broken"),
        (zstandard.ZstdCompressor().compress(b'{"messages": []}'), None, "not what the directory says"),
        (zstandard.ZstdCompressor().compress(b" " * 300_000_000), 300_000_000, "larger than 256 MB"),
    ],
)
def test_zstd_members_that_lie(packed: bytes, size: int | None, words: str, tmp_path: Path) -> None:
    path = zstd_archive(tmp_path / "log.eval", json.dumps(SAMPLE).encode(), packed, size)
    with pytest.raises(UnknownFormat, match=words):
        read(path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", json.dumps(HEADER))
        with made.open("samples/1_epoch_1.json", "w") as member:
            for _ in range(300):
                member.write(b" " * 1_000_000)
    assert path.stat().st_size < 500_000
    with pytest.raises(UnknownFormat, match="`samples/1_epoch_1.json`, it is larger than 256 MB"):
        read(path)


def test_a_directory_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("header.json", json.dumps(HEADER))
        for nth in range(300):
            made.writestr("x" * 60_000 + str(nth), b"")
    with pytest.raises(UnknownFormat, match="its directory is larger than 16 MB"):
        read(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", members())
    with zipfile.ZipFile(path, "a") as made, pytest.warns(UserWarning, match="Duplicate name"):
        made.writestr("samples/1_epoch_1.json", json.dumps({**SAMPLE, "messages": []}))
    with pytest.raises(UnknownFormat, match="two members bear the same name"):
        read(path)


def flag(path: Path, encrypted: int = 0, method: int | None = None) -> Path:
    whole = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = whole.rfind(signature)
        whole[at + flags] |= encrypted
        if method is not None:
            whole[at + flags + 2] = method
    path.write_bytes(whole)
    return path


def test_what_nobody_can_unpack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match="it is encrypted"):
        read(flag(archive(tmp_path / "a.eval", members()), encrypted=1))
    with pytest.raises(UnknownFormat, match="it is packed with ZIP method 14"):
        read(flag(archive(tmp_path / "b.eval", members()), method=14))


def test_a_member_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", members(), zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"Dig.", b"Dug."))
    with pytest.raises(UnknownFormat, match="it is broken"):
        read(path)


@pytest.mark.parametrize("end", [60, 200, 300])
def test_an_archive_that_was_cut_is_refused(end: int, tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", members())
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(UnknownFormat, match="cannot be read as a ZIP archive: it is broken"):
        read(path)


def test_names_lead_nowhere(tmp_path: Path) -> None:
    given = json.dumps(SAMPLE).encode()
    hostile = ["../../x", "/etc/passwd", "a/b", "\x1b[2J", "x" * 500, ".."]
    path = archive(tmp_path / "log.eval", members(**{f"samples/{name}_epoch_1.json": given for name in hostile}))
    transcripts = every(path)
    assert [t.source.part for t in transcripts][1:4] == ["../../x-1", "/etc/passwd-1", "a/b-1"]
    assert len(transcripts) == 1 + len(hostile)
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_that_is_still_written_has_its_journal_for_a_header(tmp_path: Path) -> None:
    started = {"version": 2, "eval": {"task": "pears", "model": "sage/sage-1"}}
    given = {"_journal/start.json": json.dumps(started).encode(), "samples/1_epoch_1.json": json.dumps(SAMPLE).encode()}
    transcript = read(archive(tmp_path / "log.eval", given))
    assert (transcript.models, transcript.end.reason) == (["sage/sage-1"], "unknown")


def test_another_archive_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match="a ZIP archive: it holds no Inspect log"):
        read(archive(tmp_path / "x.eval", {"word/document.xml": b"<x/>"}))
    with pytest.raises(UnknownFormat, match="without samples"):
        read(archive(tmp_path / "y.eval", {"header.json": json.dumps(HEADER).encode()}))
    with pytest.raises(UnknownFormat, match="`header.json` is not valid JSON"):
        read(archive(tmp_path / "z.eval", {"header.json": b"{"}))


def test_an_archive_is_never_written_out() -> None:
    data = io.BytesIO((FOLDER / "graded.eval").read_bytes())
    assert zipfile.ZipFile(data).namelist()[1] == "samples/pear/1_epoch_1.json"
    check_invariants(read(FOLDER / "graded.eval"), FOLDER / "graded.eval")
