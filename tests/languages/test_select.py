"""Paths: a small language, strict comparisons, types, limits."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from rulebook.codes import CODES
from rulebook.languages.faults import Fault, LanguageError
from rulebook.languages.select import SelectField, SelectLimit, read_select
from rulebook.languages.select_find import MAX_RESULTS
from rulebook.languages.types import (
    ANYTHING,
    MISSING,
    NUMBER,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Scope,
    optional,
)

DATA = {
    "a": [
        {"x": "v", "y": 2, "z": None, "n": {"k": "deep", "l": [7, 8]}},
        {"x": 5, "y": "2"},
        {"y": 1},
        {"x": "5", "b": True, "c": 1, "t": 2.0},
        {"x": MISSING, "it's": "quoted\\"},
    ],
    "tool.call": {"name": "outer"},
    "m": {"é": 1, "name": 3, "*": 4},
    "text": "abc",
    "nothing": None,
    "gone": MISSING,
}
A = DATA["a"]

FINDS = {
    # plain ways
    "$.text": ["abc"],
    "$.nothing": [None],
    "$.a[0].x": ["v"],
    "$['a'][0]['x']": ["v"],
    '$["a"][ 0 ]["x"]': ["v"],
    "$.a[-1].x": [],
    "$.a[-2].x": ["5"],
    "$.a[99]": [],
    "$.a[-99]": [],
    "$.a[99999999999999999999999]": [],
    "$.a[*].y": [2, "2", 1],
    "$.m[*]": [1, 3, 4],
    "$.m.é": [1],
    "$.m['*']": [4],
    "$.a[1:3].y": ["2", 1],
    "$.a[:1].y": [2],
    "$.a[-1:].x": [],
    "$.a[0].n.l[-1]": [8],
    "$['tool.call'].name": ["outer"],
    "$.tool.call": [],
    "$.gone": [],
    "$.text.x": [],
    "$.text[0]": [],
    "$.text[0:1]": [],
    "$.text[*]": [],
    "$.m[0]": [],
    "$.a.x": [],
    # anywhere
    "$..name": ["outer", 3],
    "$..k": ["deep"],
    "$..['tool.call'].name": ["outer"],
    "$.a..x": ["v", 5, "5"],
    # filters
    "$.a[?(@.x == 'v')].y": [2],
    '$.a[?(@.x == "v")].y': [2],
    "$.a[?@.x == 'v'].y": [2],
    "$.a[?(@.x == 'v' && @.y > 1)].y": [2],
    "$.a[?(@.x == 'v' && @.y > 2)].y": [],
    "$.a[?(@.n.k == 'deep')].y": [2],
    "$.a[?(@.n.l[1] == 8)].y": [2],
    "$.a[?(@['x'] == 'v')].y": [2],
    "$.a[?(@['it\\'s'] == 'quoted\\\\')]": [{"it's": "quoted\\"}],
    "$.m[?(@ == 3)]": [3],
    "$.a[?(@.y)].y": [2, "2", 1],
    "$.a[?(@.x == 'v')][?(@ == 2)]": [2],
    "$.text[?(@ == 'a')]": [],
}


@pytest.mark.parametrize(("path", "values"), FINDS.items())
def test_finds(path: str, values: list[object]) -> None:
    assert read_select(path).find_in(DATA) == values


STRICT = {
    "a number is not a text": ("$.a[?(@.x == 5)].y", ["2"]),
    "a text is not a number": ("$.a[?(@.x == '5')].c", [1]),
    "yes is not 1": ("$.a[?(@.b == 1)]", []),
    "1 is not yes": ("$.a[?(@.c == true)]", []),
    "a whole decimal is the number": ("$.a[?(@.t == 2)].c", [1]),
    "text is never above a number": ("$.a[?(@.y >= 0)].y", [2, 1]),
    "nothing is there": ("$.a[?(@.z)].y", [2]),
    "nothing is nothing": ("$.a[?(@.z == null)].y", [2]),
    "missing is not nothing": ("$.a[?(@.q == null)]", []),
    "missing differs from nothing at all": ("$.a[?(@.q != 1)]", []),
    "missing does not differ": ("$.a[?(@.x != 'v')].y", ["2"]),
    "nothing is never below a number": ("$.a[?(@.z < 1)]", []),
    "a list is no text": ("$.a[?(@.n == 'deep')]", []),
    "true is text in quotes": ("$.a[?(@.b == 'true')]", []),
    "yes is yes": ("$.a[?(@.b == true)].c", [1]),
}


@pytest.mark.parametrize(("path", "values"), STRICT.values(), ids=STRICT)
def test_comparisons_are_strict(path: str, values: list[object]) -> None:
    assert read_select(path).find_in(DATA) == values


REFUSED = {
    # attacks and traps of reference 4.4 and 3.5
    "no dollar": ("a.b", 0, "RB413"),
    "empty": ("", 0, "RB413"),
    "trailing dot": ("$.a.", 3, "RB413"),
    "unclosed bracket": ("$.a[0", 4, "RB413"),
    "bare name in brackets": ("$.a[x]", 4, "RB413"),
    "bare word as a value": ("$.a[?(@.x == v)]", 13, "RB413"),
    "exponent": ("$.a[?(@.x == 1e9)]", 13, "RB413"),
    "blanks": ("$ .a", 1, "RB413"),
    "unclosed filter": ("$.a[?(@.x == 1]", 14, "RB413"),
    "star": ("$.a.*", 3, "RB416"),
    "single equals": ("$.a[?(@.x = 'y')]", 10, "RB416"),
    "single ampersand": ("$.a[?(@.x == 1 & @.y == 2)]", 15, "RB416"),
    "the word and": ("$.a[?(@.x == 1 and @.y == 2)]", 15, "RB416"),
    "or": ("$.a[?(@.x == 1 || @.y == 2)]", 15, "RB416"),
    "not": ("$.a[?(!@.x)]", 6, "RB416"),
    "regular expression in a filter": ("$.a[?(@.x =~ '(a+)+$')]", 10, "RB416"),
    "the word contains": ("$.a[?(@.x contains 'y')]", 10, "RB416"),
    "value first": ("$.a[?(1 == @.x)]", 6, "RB416"),
    "two fields": ("$.a[?(@.x == @.y)]", 13, "RB416"),
    "the root in a filter": ("$.a[?(@.x == $.b)]", 13, "RB416"),
    "nested filter": ("$.a[?(@.b[?(@.c)])]", 9, "RB416"),
    "many items in a filter": ("$.a[?(@.b[*] == 1)]", 9, "RB416"),
    "anywhere in a filter": ("$.a[?(@..b == 1)]", 7, "RB416"),
    "text in order": ("$.a[?(@.x > '5')]", 12, "RB416"),
    "sort down": ("$.a[\\x]", 3, "RB416"),
    "sort up": ("$.a[/x]", 3, "RB416"),
    "len": ("$.a.`len`", 3, "RB416"),
    "sub": ("$.a.`sub(/a/, b)`", 3, "RB416"),
    "parent": ("$.a.`parent`", 3, "RB416"),
    "length()": ("$.a.length()", 3, "RB416"),
    "arithmetic": ("$.a + 1", 3, "RB416"),
    "names": ("$['a','b']", 1, "RB416"),
    "positions": ("$.a[0,1]", 3, "RB416"),
    "stride": ("$.a[::2]", 3, "RB416"),
    "everything anywhere": ("$..*", 1, "RB416"),
    "a star in quotes anywhere": ("$..['*']", 1, "RB416"),
    "a star in quotes in a filter": ("$.a[?(@['*'] == 1)]", 7, "RB416"),
    "too long": ("$" + ".a" * 251, 0, "RB706"),
    "too many steps": ("$" + ".a" * 21, 0, "RB706"),
    "three filters": ("$" + ".a[?(@.b)]" * 3, 0, "RB706"),
    "anywhere twice": ("$..a..b", 0, "RB706"),
}


@pytest.mark.parametrize(("path", "start", "code"), REFUSED.values(), ids=REFUSED)
def test_refused(path: str, start: int, code: str) -> None:
    with pytest.raises(LanguageError) as error:
        read_select(path)
    (fault,) = error.value.faults
    assert (fault.code, fault.start) == (code, start)
    assert told(fault)


def test_what_to_write_instead_is_said_and_mended() -> None:
    with pytest.raises(LanguageError) as error:
        read_select("$.a[?(@.x = 1)]")
    (fault,) = error.value.faults
    assert told(fault) == "A single `=` isn't part of rule paths; write `==`."
    assert (fault.mended, fault.safe) == ("$.a[?(@.x == 1)]", True)


CALL = RecordOf(
    "a tool call",
    {"name": TEXT, "arguments": optional(MapOf(ANYTHING)), "status": Scalar("text", choices=("ok", "error"))},
)
USAGE = RecordOf("an event `usage`", {"name": TEXT, "data": RecordOf("a payload", {"cost": optional(NUMBER)})})
EVENT = RecordOf(
    "an event", {"name": TEXT, "data": RecordOf("a payload", {}, open=True)}, narrow={"name": {"usage": USAGE}}
)
SCOPE = Scope(
    "the session",
    {
        "turns": NUMBER,
        "passed": YES_NO,
        "messages": ListOf(RecordOf("a message", {"role": TEXT, "text": TEXT, "tool_calls": ListOf(CALL)})),
        "tool_calls": ListOf(CALL),
        "events": ListOf(EVENT),
        "params": MapOf(ANYTHING),
        "row": RecordOf("the row", {"tool.call": TEXT, "a.b.c": NUMBER}),
        "any": ANYTHING,
    },
)

TYPED = {
    "$.turns": "",
    "$.messages[-1].text": "",
    "$.tool_calls[*].arguments.path": "",
    "$.params.x.y[3]": "",
    "$.any.thing[0][?(@.x == 1)].y": "",
    "$.tool_calls[?(@.name == 'bash' && @.status == 'ok')].arguments": "",
    "$.events[?(@.name == 'usage')].data.cost": "",
    "$.events[*].data.cost": "",
    "$['row']['tool.call']": "",
    "$": "0 RB416 `$` without a name behind it isn't part of rule paths; begin with a name, like `$.messages`.",
    "$..text": "0 RB416 `$` without a name behind it isn't part of rule paths; begin with a name, like `$.messages`.",
    "$.turn": "1 RB414 `turn` doesn't exist at this point of the path. Did you mean `turns`? -> $.turns",
    "$.messages[0].txt": "13 RB414 `txt` doesn't exist at this point of the path. Did you mean `text`? "
    "-> $.messages[0].text",
    "$.messages.text": "10 RB414 `text` doesn't exist at this point of the path. -> $.messages[*].text",
    "$.turns.x": "7 RB414 `x` doesn't exist at this point of the path.",
    "$.turns[0]": "7 RB414 `[0]` doesn't exist at this point of the path.",
    "$.tool_calls..anything": "",
    "$.row..x": "5 RB414 `x` doesn't exist at this point of the path.",
    "$.events[?(@.name == 'usage')]..cots": "30 RB414 `cots` doesn't exist at this point of the path. "
    "Did you mean `cost`?",
    "$.turns[?(@.x == 1)]": "7 RB414 `[?(@.x == 1)]` doesn't exist at this point of the path.",
    "$.tool_calls[?(@.nam == 'x')]": "16 RB414 `nam` doesn't exist at this point of the path. Did you mean `name`? "
    "-> $.tool_calls[?(@.name == 'x')]",
    "$.tool_calls[?(@.name == 5)]": "15 RB407 This compares text with a number; that never holds.",
    "$.tool_calls[?(@.name == null)]": "",
    "$.messages[?(@.tool_calls == 'x')]": "13 RB407 This compares a list with text; that never holds.",
    "$.tool_calls[?(@.status == 'okay')]": "15 RB204 `okay` isn't one of the choices for `@.status`: `ok`, `error`. "
    "Did you mean `ok`?",
    "$.events[?(@.name == 'usage')].data.cots": "35 RB414 `cots` doesn't exist at this point of the path. "
    "Did you mean `cost`? -> $.events[?(@.name == 'usage')].data.cost",
    "$.row.tool.call": "5 RB415 `tool.call` has a dot in its name; write `['tool.call']`. -> $.row['tool.call']",
    "$.row.a.b.c": "5 RB415 `a.b.c` has a dot in its name; write `['a.b.c']`. -> $.row['a.b.c']",
}


@pytest.mark.parametrize(("path", "expected"), TYPED.items())
def test_typed(path: str, expected: str) -> None:
    found = [
        f"{f.start} {f.code} {told(f)}" + (f" -> {f.mended}" if f.mended else "")
        for f in read_select(path).faults(SCOPE)
    ]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize("path", [path for path, expected in TYPED.items() if "-> " in expected])
def test_what_is_mended_is_right(path: str) -> None:
    (fault,) = read_select(path).faults(SCOPE)
    assert fault.mended is not None
    assert read_select(fault.mended).faults(SCOPE) == ()


def test_only_the_root_is_looked_up() -> None:
    asked: list[str] = []

    def lookup(name: str) -> object:
        asked.append(name)
        return DATA[name]

    assert read_select("$.a[?(@.x == 'v')].y").find(lookup) == [2]
    assert asked == ["a"]
    assert read_select("$.gone.x").find(lambda _: MISSING) == []
    assert read_select("$").root == ""
    assert read_select("$['a'].b").root == "a"


def test_a_result_cannot_reach_the_evidence_through_a_filter() -> None:
    data = {"a": [{"x": [1]}]}
    (found,) = read_select("$.a[?(@.x)].x").find_in(data)
    found.append(2)  # type: ignore[attr-defined]
    assert data == {"a": [{"x": [1]}]}


@pytest.mark.parametrize("path", ["$[*][*]", "$..x", "$[*][?(@ == 1)]"])
def test_too_many_results(path: str) -> None:
    many = [[1] * (MAX_RESULTS // 2 + 1)] * 2 if path != "$..x" else [{"x": 1}] * (MAX_RESULTS + 1)
    with pytest.raises(SelectLimit):
        read_select(path).find_in(many)
    assert len(read_select("$[*]").find_in([1] * MAX_RESULTS)) == MAX_RESULTS


def test_values_nested_too_deep() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SelectLimit):
        read_select("$..x").find_in(deep)


def test_plain_paths_never_load_jsonpath_ng() -> None:
    program = (
        "import sys\n"
        "from rulebook.languages.select import read_select\n"
        "read_select('$.a[0].b[-1][*][1:2]').find_in({'a': [{'b': [[1, 2]]}]})\n"
        "read_select('$..a')\n"
        "assert 'jsonpath_ng' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


class Form(BaseModel):
    path: SelectField


def test_the_field() -> None:
    assert Form(path="$.a").path == read_select("$.a")  # type: ignore[arg-type]
    with pytest.raises(ValidationError) as error:
        Form(path="a")  # type: ignore[arg-type]
    assert [fault.code for fault in error.value.errors()[0]["ctx"]["faults"]] == ["RB413"]
    with pytest.raises(ValidationError) as error:
        Form(path=3)  # type: ignore[arg-type]
    assert error.value.errors()[0]["type"] == "rulebook_wrong_type"


PARTS = st.sampled_from(
    ["$", ".a", "['a.b']", "[0]", "[-1]", "[*]", "[1:2]", "..b", "[?(", "@", ".x", " == ", " > ", "'v'", "1", "true"]
    + [" && ", ")]", "]", "'", "*", "[", "(", ",", "\\", "null", ".", "-", "[?(@.x == 'v')]", "[?(@.a)]"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["v", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "x", "a.b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(
    st.text() | st.text().map(lambda rest: f"$.{rest}") | st.lists(PARTS, max_size=8).map(lambda p: "$" + "".join(p)),
    JSON,
)
def test_any_text_is_read_or_refused(text: str, data: object) -> None:
    try:
        path = read_select(text)
    except LanguageError as error:
        faults = error.faults
        assert faults
    else:
        assert isinstance(path.find_in(data), list)
        faults = path.faults(SCOPE)
    for fault in faults:
        assert told(fault)
        assert 0 <= fault.start <= len(text)


@given(JSON, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.sampled_from([1, 0, "v", "1", True, None]))
def test_filters_agree_with_a_plain_reading(data: object, operator: str, value: object) -> None:
    if operator not in {"==", "!="} and (isinstance(value, bool) or not isinstance(value, int)):
        return
    written = (
        {None: "null", True: "true"}.get(value) if not isinstance(value, int | str) or value is True else repr(value)
    )
    found = read_select(f"$.a[?(@.x {operator} {written})]").find_in({"a": data})
    items = data if isinstance(data, list) else list(data.values()) if isinstance(data, dict) else []
    assert found == [
        item for item in items if isinstance(item, dict) and "x" in item and holds(item["x"], operator, value)
    ]


def holds(left: object, operator: str, right: object) -> bool:
    alike = type(left) is type(right)
    match operator:
        case "==":
            return alike and left == right
        case "!=":
            return not (alike and left == right)
    if not alike or isinstance(left, bool) or not isinstance(left, int):
        return False
    assert isinstance(right, int)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def told(fault: Fault) -> str:
    return CODES[fault.code].message.format(**fault.words)
