"""The chain of an audit log: every verdict, where it breaks, and what never breaks it."""

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import HEADER, SESSION, log_lines, offsets, rechained, write_log

from rulebook.evidence.audit_log import LINE_LIMIT_BYTES, LogReading, read_log
from rulebook.evidence.log_events import _KINDS
from rulebook.evidence.record import EVERYTHING, Wants
from rulebook.services.files import MachineFiles

START = {"session.start": {"agent_kind": "main", "model_alias": "m", "parent_session": "", "spawn_chain": []}}
END = {"session.end": {"reason": "finished", "detail": ""}}
TITLES: list[dict[str, object]] = [{"session.title": {"title": f"title {n}"}} for n in range(10)]
TWELVE: list[dict[str, object]] = [START, *TITLES, END]


def read(path: Path, wants: Wants = EVERYTHING) -> LogReading:
    return read_log(str(path), MachineFiles(), wants)


def read_lines(folder: Path, lines: list[bytes], end: bytes = b"\n") -> LogReading:
    path = folder / "log.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    return read(path)


def test_the_header_and_its_hash_are_the_ones_of_the_format(tmp_path: Path) -> None:
    lines = log_lines([START])
    assert lines[0] == b'{"chock_log":1}'
    assert b'"prev":"ec2d45163a1d5e394b485bcf3394804d1cd4f071ce3aab0dd323f7dd3072b116"' in lines[1]
    assert read_lines(tmp_path, lines).verdict == "intact"


def test_intact(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", TWELVE)
    found = read(path)
    data = path.read_bytes()
    assert (found.verdict, found.events, found.chained, found.at, found.after) == ("intact", 12, 12, None, None)
    assert found.sha256 == found.record.sha256 == hashlib.sha256(data).hexdigest()
    assert found.head == hashlib.sha256(data.splitlines()[-1]).hexdigest()
    assert found.size_bytes == len(data)
    assert found.record.session_id == SESSION
    assert found.record.total_events == 12


def test_a_log_without_an_event_is_intact_and_empty(tmp_path: Path) -> None:
    found = read_lines(tmp_path, [HEADER])
    assert (found.verdict, found.events, found.head) == ("intact", 0, hashlib.sha256(HEADER).hexdigest())


def test_cut_at_a_line_boundary_it_verifies_and_has_no_end(tmp_path: Path) -> None:
    found = read_lines(tmp_path, log_lines(TWELVE)[:-3])
    assert found.verdict == "intact"
    assert found.record.end is None


def test_cut_in_the_middle_of_its_last_line_it_is_torn(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    at = offsets(lines)
    lines[-1] = lines[-1][:40]
    found = read_lines(tmp_path, lines, end=b"")
    assert (found.verdict, found.events, found.at, found.after) == ("torn", 11, at[-1], at[-2])
    assert found.head == hashlib.sha256(lines[-2]).hexdigest()


def test_a_whole_last_line_without_its_newline_is_torn(tmp_path: Path) -> None:
    assert read_lines(tmp_path, log_lines(TWELVE), end=b"").verdict == "torn"


def test_without_its_first_event_it_is_broken_at_the_header(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    found = read_lines(tmp_path, [lines[0], *lines[2:]])
    assert (found.verdict, found.at, found.after) == ("broken", 16, 0)
    assert "the header" in found.reason


def test_edited_in_place_it_is_broken_at_the_event_after(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    at = offsets(lines)
    lines[5] = lines[5].replace(b"title 3", b"title X")
    found = read_lines(tmp_path, lines)
    assert (found.verdict, found.at, found.after, found.events) == ("broken", at[6], at[5], 12)


def test_only_the_first_break_is_named(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    at = offsets(lines)
    for number in (3, 8):
        lines[number] = lines[number].replace(b"title", b"Title")
    found = read_lines(tmp_path, lines)
    assert (found.verdict, found.at, found.events, found.chained) == ("broken", at[4], 12, 12)


def test_two_events_swapped_are_broken(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    lines[5], lines[6] = lines[6], lines[5]
    found = read_lines(tmp_path, lines)
    assert (found.verdict, found.after) == ("broken", offsets(lines)[4])


def test_a_log_chained_anew_verifies_and_has_another_digest(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    before = read_lines(tmp_path, lines)
    lines[5] = lines[5].replace(b"title 3", b"title X")
    found = read_lines(tmp_path, rechained(lines))
    assert found.verdict == "intact"
    assert found.sha256 != before.sha256


def test_unchained(tmp_path: Path) -> None:
    found = read(write_log(tmp_path / "log.jsonl", TWELVE, chained=False))
    assert (found.verdict, found.events, found.chained) == ("unchained", 12, 0)


def test_an_old_log_continued_by_a_chaining_writer_is_partly_chained(tmp_path: Path) -> None:
    old, new = log_lines(TWELVE, chained=False), log_lines(TWELVE)
    found = read_lines(tmp_path, [*old[:6], *rechained([old[5], *new[6:]])[1:]])
    assert (found.verdict, found.events, found.chained) == ("partly_chained", 12, 7)


def test_partly_chained_with_a_wrong_hash_is_broken(tmp_path: Path) -> None:
    old, new = log_lines(TWELVE, chained=False), log_lines(TWELVE)
    assert read_lines(tmp_path, [*old[:6], *new[6:]]).verdict == "broken"


def test_torn_and_edited_is_broken(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    lines[5] = lines[5].replace(b"title 3", b"title X")
    assert read_lines(tmp_path, [*lines, b'{"id":0,'], end=b"").verdict == "broken"


def test_undecodable_and_torn_is_undecodable(tmp_path: Path) -> None:
    lines = [*log_lines(TWELVE), b"not json at all", b'{"id":']
    found = read_lines(tmp_path, lines, end=b"")
    assert (found.verdict, found.at) == ("undecodable", offsets(lines)[-2])


def test_odd_spacing_and_key_order_are_no_edit(tmp_path: Path) -> None:
    first = log_lines([START])[1].replace(b'{"id":0,', b'{  "id" : 0 ,  "unheard_of": [1, 2],')
    prev = hashlib.sha256(first).hexdigest()
    second = f'{{"prev":"{prev}", "event":{{"new.kind":[1]}}, "time_ms":5, "session":"{SESSION}", "id":7}}'
    lines = [HEADER, first, second.encode()]
    found = read_lines(tmp_path, lines)
    assert (found.verdict, found.record.event_counts["new.kind"]) == ("intact", 1)
    assert found.record.events[-1].data == {"value": [1]}


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\r"])
def test_only_the_newline_byte_ends_a_line(tmp_path: Path, character: str) -> None:
    raw = log_lines([{"session.title": {"title": f"a{character}b"}}])
    found = read_lines(tmp_path, raw)
    assert (found.verdict, found.events) == ("intact", 1)
    assert found.record.events[0].data["title"] == f"a{character}b"


def test_of_a_key_given_twice_the_last_counts(tmp_path: Path) -> None:
    line = log_lines([END])[1].replace(b'"reason":"finished"', b'"reason":"errored","reason":"finished"')
    found = read_lines(tmp_path, [HEADER, line])
    assert found.verdict == "intact"
    assert found.record.end is not None
    assert found.record.end.end.reason == "finished"


BAD_LINES = {
    "not JSON": b"not json at all",
    "empty": b"",
    "a list": b"[1]",
    "null": b"null",
    "text": b'"event"',
    "cut": b'{"id":0,"session":"s"',
    "NaN": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{"a":NaN}},"version":1}',
    "Infinity": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{"a":-Infinity}},"version":1}',
    "not UTF-8": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{"a":"\xff"}},"version":1}',
    "half a surrogate pair": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{"a":"\\ud800"}},"version":1}',
    "no kind": b'{"id":0,"session":"s","time_ms":1,"event":{},"version":1}',
    "two kinds": b'{"id":0,"session":"s","time_ms":1,"event":{"a":{},"b":{}},"version":1}',
    "a kind that is text": b'{"id":0,"session":"s","time_ms":1,"event":"a","version":1}',
    "a kind in a list": b'{"id":0,"session":"s","time_ms":1,"event":[0],"version":1}',
    "a hash that is a number": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{}},"prev":1}',
    "a hash that is null": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{}},"prev":null}',
    "no session": b'{"id":0,"time_ms":1,"event":{"x":{}},"version":1}',
    "a session that is a number": b'{"id":0,"session":1,"time_ms":1,"event":{"x":{}}}',
    "no time": b'{"id":0,"session":"s","event":{"x":{}},"version":1}',
    "a time with a fraction": b'{"id":0,"session":"s","time_ms":1.5,"event":{"x":{}}}',
    "no id": b'{"session":"s","time_ms":1,"event":{"x":{}},"version":1}',
    "no event": b'{"id":0,"session":"s","time_ms":1,"version":1}',
    "a payload that is text": b'{"id":0,"session":"s","time_ms":1,"event":{"usage":"x"}}',
    "tokens that are text": b'{"id":0,"session":"s","time_ms":1,"event":{"usage":{"input_tokens":"9"}}}',
    "a part of two keys": b'{"id":0,"session":"s","time_ms":1,"event":{"message":{"role":"user",'
    b'"content":[{"text":"a","b":1}]}}}',
    "a part that is text": b'{"id":0,"session":"s","time_ms":1,"event":{"message":{"role":"user","content":["a"]}}}',
    "a part of the wrong type": b'{"id":0,"session":"s","time_ms":1,"event":{"message":{"role":"user",'
    b'"content":[{"text":5}]}}}',
    "nested too deeply": b'{"id":0,"session":"s","time_ms":1,"event":{"x":{"a":' + b"[" * 5000 + b"]" * 5000 + b"}}}",
}


@pytest.mark.parametrize("case", BAD_LINES)
@pytest.mark.parametrize("wants", [Wants(), EVERYTHING], ids=["counts", "everything"])
def test_what_is_no_event_is_undecodable(tmp_path: Path, case: str, wants: Wants) -> None:
    lines = [*log_lines(TWELVE), BAD_LINES[case]]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = read(path, wants)
    assert (found.verdict, found.events) == ("undecodable", 12)
    assert (found.at, found.after) == (offsets(lines)[-1], offsets(lines)[-2])
    assert found.reason.startswith(f"the line at byte {found.at} is no event: ")


EXAMPLES: dict[type, object] = {str: "x", int: 1, bool: True, list: [], dict: {}}
FIELDS = [(kind, name) for kind, shape in _KINDS.items() for name, _ in shape._fields]


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_every_required_field_is_required(tmp_path: Path, kind: str, field: str) -> None:
    whole = {name: EXAMPLES[type_] for name, type_ in _KINDS[kind]._fields}
    assert read(write_log(tmp_path / "a.jsonl", [{kind: whole}])).verdict in ("intact", "imported")
    without = {name: value for name, value in whole.items() if name != field}
    found = read(write_log(tmp_path / "b.jsonl", [{kind: without}]))
    assert found.verdict == "undecodable"
    assert f"`{kind}`: `{field}` is missing" in found.reason
    other = {**whole, field: 1.5}
    assert read(write_log(tmp_path / "c.jsonl", [{kind: other}])).verdict == "undecodable"


def test_reading_goes_on_after_an_undecodable_line(tmp_path: Path) -> None:
    lines = log_lines(TWELVE)
    lines = [*lines[:6], *rechained([b"not json", *log_lines(TWELVE)[6:]])]
    found = read_lines(tmp_path, lines)
    assert (found.verdict, found.events, found.chained) == ("undecodable", 12, 12)


@pytest.mark.parametrize(
    "header",
    [b"", b'{"chock_log":1', b'{"chock_log":2}', b'{"chock_log":01}', b'{"chock_log": 1}', b'{"chock_log":1}\r',
     b'\xef\xbb\xbf{"chock_log":1}', b"{}", b"x" * 100],
)  # fmt: skip
def test_another_header_is_unreadable(tmp_path: Path, header: bytes) -> None:
    found = read_lines(tmp_path, [header, *log_lines(TWELVE)[1:]])
    assert (found.verdict, found.events) == ("unreadable", 0)


def test_an_empty_file_and_a_header_without_its_newline_are_unreadable(tmp_path: Path) -> None:
    assert read_lines(tmp_path, [], end=b"").verdict == "unreadable"
    assert read_lines(tmp_path, [HEADER], end=b"").verdict == "unreadable"


def test_what_is_no_readable_file_is_unreadable_and_nothing_is_created(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.rglob("*"))
    for name in ("missing.jsonl", "no/folder/log.jsonl", "fifo", ".", "dangling", "nul\0", "/dev/zero"):
        found = read(tmp_path / name)
        assert (found.verdict, found.events, found.sha256) == ("unreadable", 0, ""), name
        assert found.reason
    assert sorted(tmp_path.rglob("*")) == before


def test_a_log_without_permission_is_unreadable(tmp_path: Path) -> None:
    class Refusing(MachineFiles):  # root, as which some run the tests, may read everything
        def open(self, path: str):  # type: ignore[no-untyped-def]
            raise PermissionError(13, "Permission denied", path)

    found = read_log(str(write_log(tmp_path / "log.jsonl", TWELVE)), Refusing())
    assert (found.verdict, found.reason) == ("unreadable", "it cannot be read: Permission denied")


def test_a_log_that_fails_in_the_middle_is_unreadable(tmp_path: Path) -> None:
    class Failing(MachineFiles):
        def open(self, _: str):  # type: ignore[no-untyped-def, override]
            class Stream:
                def __init__(self) -> None:
                    self.blocks = [b"\n".join(log_lines(TWELVE)) + b"\n"]

                def read(self, _: int, /) -> bytes:
                    if not self.blocks:
                        raise OSError(5, "Input/output error")
                    return self.blocks.pop()

                def __enter__(self) -> "Stream":
                    return self

                def __exit__(self, *_: object) -> None: ...

            return Stream()

    found = read_log(str(tmp_path), Failing())
    assert (found.verdict, found.reason) == ("unreadable", "it cannot be read: Input/output error")


def test_a_long_line_is_read_in_linear_time(tmp_path: Path) -> None:
    found = read(write_log(tmp_path / "log.jsonl", [START, {"session.title": {"title": "x" * 50_000_000}}, END]))
    assert (found.verdict, found.events) == ("intact", 3)


def test_a_line_beyond_the_limit_is_undecodable(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", TWELVE)
    size = path.stat().st_size
    with path.open("r+b") as log:
        log.truncate(size + LINE_LIMIT_BYTES * 2)
    found = read(path)
    assert (found.verdict, found.at, found.events) == ("undecodable", size, 12)
    assert found.size_bytes == size + LINE_LIMIT_BYTES * 2


def test_lines_of_every_length_around_the_block_size(tmp_path: Path) -> None:
    titles: list[dict[str, object]] = [
        {"session.title": {"title": "x" * (65536 * times // 4 + more)}}
        for times in range(12)
        for more in (-1, 0, 1, 7)
        if times or more > 0
    ]
    found = read(write_log(tmp_path / "log.jsonl", titles))
    assert (found.verdict, found.events) == ("intact", len(titles))


def test_a_log_read_while_it_grows_is_at_worst_torn(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = log_lines(TITLES * 400)
    path.write_bytes(lines[0] + b"\n")

    def grow() -> None:
        with path.open("ab", buffering=0) as log:
            for line in lines[1:]:
                log.write(line + b"\n")

    writer = threading.Thread(target=grow)
    writer.start()
    verdicts = {read(path).verdict for _ in range(20)}
    writer.join()
    assert verdicts <= {"intact", "torn"}
    assert read(path).verdict == "intact"


LINES = log_lines(TWELVE)
BODY = b"\n".join(LINES) + b"\n"
LAST = offsets(LINES)[-1]


@given(at=st.integers(0, LAST - 1), byte=st.integers(0, 255))
def test_any_byte_changed_before_the_last_line_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    found = changed(tmp_path_factory, at, byte)
    if BODY[at] != byte:
        assert found.verdict not in ("intact", "imported")


@given(at=st.integers(0, len(BODY) - 1), byte=st.integers(0, 255))
def test_any_byte_changed_anywhere_changes_the_digest(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    found = changed(tmp_path_factory, at, byte)
    if BODY[at] != byte and found.verdict != "unreadable":
        assert found.sha256 != hashlib.sha256(BODY).hexdigest()


@given(at=st.integers(0, len(BODY)), data=st.binary(max_size=40))
def test_no_bytes_at_all_make_reading_raise(tmp_path_factory: pytest.TempPathFactory, at: int, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(BODY[:at] + data)
    assert read(path).reason


def changed(folders: pytest.TempPathFactory, at: int, byte: int) -> LogReading:
    path = folders.getbasetemp() / "changed.jsonl"
    path.write_bytes(BODY[:at] + bytes((byte,)) + BODY[at + 1 :])
    return read(path)
