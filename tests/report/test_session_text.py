"""A session as people read it: goldens in `sessions/<name>.txt` of our own session files, and what holds of each view."""

import re
from pathlib import Path

import pytest
import yaml

from rulebook.evidence.formats import read_session
from rulebook.evidence.record import Record
from rulebook.evidence.transcript import Cost, End, Message, Source, Thread, ToolCall, ToolResult, Transcript, Usage
from rulebook.evidence.transcript_record import record_of
from rulebook.report.session_head import duration
from rulebook.report.session_lines import View
from rulebook.report.transcript_text import render_session
from rulebook.services.files import MachineFiles
from rulebook.terminal import columns

OWN = Path(__file__).parents[1] / "evidence/sessions"
FOLDER = Path(__file__).parent / "sessions"
GOLDEN = {
    "claude_code": "claude_code/session.jsonl",
    "spans": "otel/semconv.json",
    "not_captured": "otel/not_captured.jsonl",
    "refused": "otel/vercel.json",
    "no_end": "swe_agent/thoughts.traj",
}
SESSIONS = [
    f"{path.parent.name}/{name}"
    for path in sorted(OWN.glob("*/expected.yaml"))
    for name in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def record(path: Path) -> Record:
    return record_of(read_session(str(path), MachineFiles()))


def made(*messages: Message, **more: object) -> Record:
    for index, message in enumerate(messages):
        message.index = index
    return record_of(Transcript(Source("openai_chat", "chat.json", "0" * 64), messages=list(messages), **more))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    shown = render_session(record(OWN / GOLDEN[name]))
    golden = FOLDER / f"{name}.txt"
    if request.config.getoption("--write-golden"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("full", [False, True])
def test_no_line_is_wider_than_the_page_and_colour_only_marks(name: str, width: int, full: bool) -> None:
    plain = render_session(record(OWN / GOLDEN[name]), View(width, full))
    assert max(columns(line) for line in plain.split("\n")) <= width
    coloured = render_session(record(OWN / GOLDEN[name]), View(width, full, colour=True))
    assert coloured != plain
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain


def test_nothing_is_left_out_of_the_full_view() -> None:
    text = "word " * 300 + "\n" + "x" * 500 + "\n" + "\n".join(f"line {n}" for n in range(200))
    call = ToolCall("c", "run", {"script": text, "n": 1}, "{}")
    answer = Message(0, "tool", tool_result=ToolResult("c", text), injected=True)
    told = made(Message(0, "system", text), Message(0, "assistant", text, tool_calls=(call,), reasoning=text), answer)
    full = re.sub(r"\s", "", render_session(told, View(full=True)).replace("·", ""))
    assert full.count(re.sub(r"\s", "", text)) == 4
    short = render_session(told)
    assert len(short.split("\n")) < 90
    assert "… 201 more lines" in short


def test_the_head_counts_calls_by_tool_with_what_went_wrong() -> None:
    names = ["bash"] * 3 + ["edit"]
    calls = tuple(ToolCall(f"c{n}", name, {}, "{}") for n, name in enumerate(names))
    results = [ToolResult("c0", "", is_error=True), ToolResult("c1", "", ran=False), ToolResult("c3", "", is_error=False)]
    answers = [Message(0, "tool", tool_result=result) for result in results]
    shown = render_session(made(Message(0, "assistant", tool_calls=calls), *answers))
    assert "  calls     4: bash 3, 1 error, 1 refused, 1 without result · edit 1\n" in shown


def test_unknown_is_never_zero_and_what_is_known_is_said() -> None:
    dark = render_session(made(Message(0, "user", "Dig.")))
    assert "  tokens    not known\n  cost      not known\n" in dark
    usage = Usage(1200, 30, cache_read=900, reasoning=20)
    light = render_session(
        made(Message(0, "user", "Dig."), usage=usage, cost=Cost(0.25, "USD"), outcome={"reward": 1.0, "solved": True})
    )
    assert "  tokens    1,200 in, of which 900 from the cache\n            30 out, of which 20 reasoning\n" in light
    assert "  cost      0.25 USD\n  outcome   reward 1 · solved yes\n" in light


def test_where_it_ended() -> None:
    call = ToolCall("c", "dig", {}, "{}")
    stopped = render_session(made(Message(0, "assistant", tool_calls=(call,)), end=End("turn_limit", "20 turns", "max")))
    assert "Ended: stopped at its limit of turns (max), after message [0].\n    20 turns\n" in stopped
    open_ = render_session(made(Message(0, "assistant", tool_calls=(call,))))
    assert "Nothing says how it ended. The last message is [0], the assistant's; without a\nresult: dig.\n" in open_
    assert "Ended: odd word.\n" in render_session(made(end=End("odd_word")))


def test_an_injected_message_is_marked_and_short() -> None:
    text = "\n".join(f"rule {n}" for n in range(9))
    shown = render_session(made(Message(0, "user", text, injected=True, hidden=True)))
    assert "[0] user  put there by the program · hidden\n    rule 0\n    rule 1\n    rule 2\n    … 6 more lines\n" in shown


def test_colours_of_a_program_are_left_out_where_texts_are_cut() -> None:
    told = made(Message(0, "assistant", "\x1b[1;31mred\x1b[0m \x1b[2J\r\n\n\n\nend"))
    assert "    red \\x1b[2J\n\n    end\n" in render_session(told)
    assert "    \\x1b[1;31mred\\x1b[0m \\x1b[2J\\r\n\n\n\n    end\n" in render_session(told, View(full=True))


def test_the_same_note_is_said_once_with_a_count_and_many_are_cut() -> None:
    told = made(Message(0, "user", "Dig."))
    told.warnings = ["odd"] * 3 + [f"note {n}" for n in range(20)]
    shown = render_session(told)
    assert "Note: odd (3 times)\n" in shown
    assert "… 9 more notes\n" in shown
    assert "note 19" in render_session(told, View(full=True))


def test_threads_stand_after_the_conversation_in_full() -> None:
    call = ToolCall("t", "dig", {"deep": True}, "{}")
    thread = Thread("a", [Message(0, "assistant", "I dig.", tool_calls=(call,)),
                          Message(1, "tool", tool_result=ToolResult("t", "A bone.", is_error=False))], name="Digger")  # fmt: skip
    shown = render_session(made(Message(0, "user", "Dig.")), View(full=True), threads=[thread])
    assert "\nSub-agent Digger\n\n[0] assistant\n    I dig.\n  → dig\n" in shown
    assert "\n    [1] ok\n        A bone.\n" in shown


@pytest.mark.parametrize(("seconds", "said"), [
    (0.01, "under 0.1 s"), (0.3, "0.3 s"), (9.96, "10 s"), (59.7, "1 min 0 s"), (3725, "1 h 2 min"), (999_999, "11 days"),
])  # fmt: skip
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_moment_that_no_calendar_has() -> None:
    shown = render_session(made(Message(0, "user", "Dig.", at_ms=2**62), Message(0, "user", "Dig.", at_ms=5)))
    assert "at no time that a calendar has" not in shown
    assert "1970-01-01" in shown


@pytest.mark.parametrize("name", SESSIONS)
def test_every_session_of_ours_can_be_shown(name: str) -> None:
    told = record(OWN / name)
    for view in (View(), View(40, full=True)):
        shown = render_session(told, view)
        assert all(line.isprintable() for line in shown.split("\n"))
        assert max(columns(line) for line in shown.split("\n")) <= view.width
