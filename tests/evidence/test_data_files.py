"""Documents of strangers as data: what they become, and that whatever is wrong with them is said and is theirs."""

import time

import pytest

from rulebook.errors import NotHandedIn
from rulebook.evidence.data_files import Notation, read_data
from rulebook.languages.comparison import equal


@pytest.mark.parametrize(
    ("notation", "text", "data"),
    [
        ("json", '\ufeff{"a": [1, 1.5, "x", true, null]}', {"a": [1, 1.5, "x", True, None]}),
        ("yaml", "a: [1, 1.5, x, true, null, ~]\n", {"a": [1, 1.5, "x", True, None, None]}),
        ("toml", 'a = [1, 1.5, "x", true]\n', {"a": [1, 1.5, "x", True]}),
        ("yaml", "on: push\nno: yes\n1: 1:30\nx: 0o17\ny: 017\nz: 1_000\n",
         {"on": "push", "no": "yes", "1": "1:30", "x": 15, "y": 17, "z": "1_000"}),
        ("yaml", "day: 2026-01-01\nhex: 0x1F\nquoted: '1'\ntagged: !!str 1\n",
         {"day": "2026-01-01", "hex": 31, "quoted": "1", "tagged": "1"}),
        ("yaml", "a: &x {k: 1}\nb: {<<: *x, l: 2}\nc: *x\n", {"a": {"k": 1}, "b": {"k": 1, "l": 2}, "c": {"k": 1}}),
        ("yaml", "a: &x {k: 1}\nb: {k: 2, <<: *x}\n", {"a": {"k": 1}, "b": {"k": 2}}),
        ("yaml", "a: !Ref name\nb: !Sub [x, {y: 1}]\nc: !If {z: 2}\n", {"a": "name", "b": ["x", {"y": 1}], "c": {"z": 2}}),
        ("yaml", "", None),
        ("yaml", "# nothing\n", None),
        ("yaml", "id: 12345678901234567890\n", {"id": 12345678901234567890}),
        ("json", "12345678901234567890123", 12345678901234567890123),
        ("toml", "day = 2026-01-01\nat = 2026-01-01T10:00:00Z\nt = 10:00:00\n",
         {"day": "2026-01-01", "at": "2026-01-01T10:00:00+00:00", "t": "10:00:00"}),
    ],
)  # fmt: skip
def test_data(notation: Notation, text: str, data: object) -> None:
    found = read_data(text.encode(), notation, "f")
    assert equal(found, data), found


LONG = "a" + ".a" * 20_000
LAUGHS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12))


@pytest.mark.parametrize(
    ("notation", "text", "reason"),
    [
        ("json", "{", "`f` cannot be read: it is not valid JSON at line 1, column 2"),
        ("json", "", "it is not valid JSON at line 1, column 1"),
        ("json", "{'a': 1}", "it is not valid JSON at line 1, column 2"),
        ("json", '{"a": 1, "b": {"c": 1, "c": 1}}', "the key `c` is in it twice"),
        ("json", "[NaN]", "`NaN` is no number"),
        ("json", "[-Infinity]", "`-Infinity` is no number"),
        ("json", "[1e999]", "`1e999` is no number, or too large for one"),
        ("json", "1" * 10_000, "a number of 10000 digits"),
        ("json", "[" * 100_000, "nested too deep"),
        ("json", "[" * 200 + "]" * 200, "nested more than 100 deep"),
        ("json", "[" + "0," * 2_000_001 + "0]", "more than 2000000 values"),
        ("json", " " * (8 * 1024**2 + 1), "has 8388609 bytes; at most 8388608 are read as JSON"),
        ("yaml", "a: [", "it is not valid YAML at line "),
        ("yaml", "a: 1\na: 2\n", "the key `a` is in it twice"),
        ("yaml", "x: {a: 1, 'a': 2}\n", "the key `a` is in it twice"),
        ("yaml", "a: 1\n---\nb: 2\n", "several documents"),
        ("yaml", "? [a]\n: 1\n", "a key in it is no text"),
        ("yaml", "a: .nan\n", "a number that is none, or infinite"),
        ("yaml", "a: 1e999\n", "a number that is too large"),
        ("yaml", f"a: {'1' * 1000}\n", "a number that is too large"),
        ("yaml", "a: !!int x\n", "not what its tag says"),
        ("yaml", f"a: !!int {'1' * 10_000}\n", "not what its tag says"),
        ("yaml", "!!python/object/apply:os.system [ls]\n", "it is not valid YAML at line 1"),
        ("yaml", "a: !!binary aGVsbG8=\n", "something else than data"),
        ("yaml", "a: !!set {x}\n", "something else than data"),
        ("yaml", "a: &a [*a]\n", "an alias in it contains itself"),
        ("yaml", LAUGHS, "more than 2000000 values"),
        ("yaml", "[" * 200 + "]" * 200, "nested more than 100 deep"),
        ("yaml", "[" * 100_000, "it is not valid YAML"),
        ("yaml", "a: \x00\n", "character that no YAML may hold"),
        ("toml", "a = ", "it is not valid TOML at"),
        ("toml", "a = 1\na = 2\n", "it is not valid TOML at"),
        ("toml", "a = nan\n", "a number or a date in it is none"),
        ("toml", "a = 1e999\n", "a number or a date in it is none"),
        ("toml", f"a = {'1' * 10_000}\n", "a number or a date in it is none"),
        ("toml", "a = 0000-01-01\n", "it is not valid TOML"),
        ("toml", "a = " + "[" * 10_000, "nested too deep"),
        ("toml", f"{LONG} = 1\n", "a key in it has more than 100 parts"),
        ("toml", f"[{LONG}]\n", "a key in it has more than 100 parts"),
        ("toml", f"x = {{ {LONG.replace('.', ' . ')} = 1 }}\n", "a key in it has more than 100 parts"),
        ("toml", f"[['a'.{LONG}]]\n", "a key in it has more than 100 parts"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_soon(notation: Notation, text: str, reason: str) -> None:
    began = time.monotonic()
    with pytest.raises(NotHandedIn) as caught:
        read_data(text.encode(), notation, "f")
    assert reason in caught.value.reason
    assert caught.value.cause == "excess"
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("notation", ["json", "yaml", "toml"])
def test_what_is_no_text(notation: Notation) -> None:
    with pytest.raises(NotHandedIn, match="`f` is not text in UTF-8"):
        read_data(b"\xff\xfe\x00", notation, "f")


@pytest.mark.parametrize("text", ["a" * 1_000_000, '"' * 900_000, "a." * 90, "x = '" + "a." * 100_000 + "'", ",{[" * 300_000])
def test_looking_for_long_keys_takes_no_time(text: str) -> None:
    began = time.monotonic()
    try:
        read_data(text.encode(), "toml", "f")
    except NotHandedIn as error:
        assert "more than 100 parts" not in error.reason  # noqa: PT017 - either is right
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("2", 2, False), (2, "2", False), (True, 1, False), (1, True, False), (0, False, False), (True, True, True),
        (1, 1.0, True), (1, 1.5, False), (None, None, True), (None, False, False), (None, 0, False), ("", None, False),
        ([1, 2], [2, 1], False), ([1], [1, 1], False), ([True], [1], False), ([], {}, False), ([], [], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ({"a": 1}, {"a": 1, "b": None}, False), ({"a": "1"}, {"a": 1}, False),
        (10**30, float(10**30), False), (2**53 + 1, float(2**53), False),
    ],
)  # fmt: skip
def test_values_keep_their_kind(left: object, right: object, same: bool) -> None:
    assert equal(left, right) is same
