"""Regular expressions: mistakes in words, costs proved, warnings that mean something."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from rulebook.codes import CODES
from rulebook.languages.faults import LanguageError
from rulebook.languages.pattern import Engine, read_pattern
from rulebook.languages.pattern_field import PatternField


def refused(text: str, flags: str = "", engine: Engine = "python") -> list[str]:
    """The faults as `start:end CODE message`."""
    with pytest.raises(LanguageError) as error:
        read_pattern(text, flags, engine)
    return [f"{f.start}:{f.end} {f.code} {CODES[f.code].message.format(**f.words)}" for f in error.value.faults]


def warned(text: str, flags: str = "", engine: Engine = "python") -> list[str]:
    return [fault.code for fault in read_pattern(text, flags, engine).faults()]


ENDLESS = {
    "the textbook one": (r"(a+)+$", "(a+)+"),
    "two repeats in one": (r"(x+x+)+y", "(x+x+)+"),
    "words and blanks": (r"^\s*(\w+\s?)*$", r"(\w+\s?)*"),
    "blanks on both sides": (r"^(\s*\S+\s*)*$", r"(\s*\S+\s*)*"),
    "the java class name": (r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(([a-z])+.)+"),
    "a star of a star": (r"(a*)*b", "(a*)*"),
    "choices that overlap": (r"^(a|aa)+$", "(a|aa)+"),
    "two that may be left out": (r"^(a?b?)*c", "(a?b?)*"),
    "counted, and large": (r"^(\w{1,40}\s?){1,40}$", r"(\w{1,40}\s?){1,40}"),
    "inside a look-ahead": (r"(?=(a+)+$)b", "(a+)+"),
    "capitals under i": (r"(?i)(k+K+)+$", "(k+K+)+"),
    "lazy ones too": (r"(a+?)+?$", "(a+?)+?"),
    "fixed lengths that add up": (r"^(a{4}|a{3})+$", "(a{4}|a{3})+"),
}


@pytest.mark.parametrize(("pattern", "part"), ENDLESS.values(), ids=ENDLESS)
def test_what_can_take_forever_is_refused(pattern: str, part: str) -> None:
    start = pattern.index(part)
    found = refused(pattern)
    assert len(found) == 1
    assert found[0].startswith(f"{start}:{start + len(part)} RB704 This pattern can take practically forever")
    assert f"`{part}`" in found[0]


CLEAN = [
    r"answer:\s+42",
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
    r"[\w.+-]+@[\w-]+\.[\w.]+",
    r"(\d+)-(\d+)",
    r"(a+b)+c",
    r"([a-z]{1,63}\.)+[a-z]{2,63}$",
    r"(a{5}b|a{3}b)+c",
    r"(a+)+",
    r"(é+É+)+x",
    r"(?:[^,]*,)*$",
    r"[a-z]+(?:-[a-z]+)*$",
    r"(?>a+)+$",
    r"(a++)+$",
    r"(ab|cd|ef)*x",
    r"(?:(?:a|b)*c)*d",
]


@pytest.mark.parametrize("pattern", CLEAN)
def test_what_is_not_proved_to_take_forever_is_read(pattern: str) -> None:
    assert read_pattern(pattern).text == pattern


MISTAKES = [
    ("(a", "0:1 RB420 This pattern has a mistake at character 1: this `(` is never closed"),
    ("a)", "1:2 RB420 This pattern has a mistake at character 2: this `)` closes nothing"),
    ("x[a", "1:2 RB420 This pattern has a mistake at character 2: this `[` is never closed"),
    ("*a", "0:1 RB420 This pattern has a mistake at character 1: there is nothing before this sign to repeat"),
    ("a**", "2:3 RB420 This pattern has a mistake at character 3: two repeat signs follow each other"),
    ("a{3,1}", "2:3 RB420 This pattern has a mistake at character 3: the first number of `{…}` is greater"),
    ("[z-a]", "1:2 RB420 This pattern has a mistake at character 2: `z-a` is no range"),
    (r"\q", r"0:1 RB420 This pattern has a mistake at character 1: `\q` means nothing here"),
    ("a\\", "1:2 RB420 This pattern has a mistake at character 2: it ends in a single `\\`"),
    (r"\1", "1:2 RB420 This pattern has a mistake at character 2: there is no group 1"),
    ("(?<=a+)b", "0:None RB420 This pattern has a mistake at character 1: what `(?<=…)` or `(?<!…)` looks for"),
    ("a(?i)b", "1:2 RB420 This pattern has a mistake at character 2: flags like `(?i)` stand at the very beginning"),
    ("(?P<a>x)(?P<a>y)", "12:13 RB420 This pattern has a mistake at character 13: two groups are called 'a'"),
    ("a{99999999999}", "0:None RB420 This pattern has a mistake at character 1: the number in `{…}` is too large"),
    ("(?z)", "1:2 RB420 This pattern has a mistake at character 2: `(?z` is no kind of group"),
    (r"\N{no such}", "0:1 RB420 This pattern has a mistake at character 1: no character is called 'no such'"),
]


@pytest.mark.parametrize(("pattern", "message"), MISTAKES, ids=[pattern for pattern, _ in MISTAKES])
def test_mistakes_are_told_in_words(pattern: str, message: str) -> None:
    (found,) = refused(pattern)
    assert found.startswith(message)


RE2_LACKS = [
    ("(?=a)b", "(?="),
    ("(?<!a)b", "(?<!"),
    (r"(a)\1", r"\1"),
    ("(?P<n>a)(?P=n)", "(?P=n)"),
    (r"a\Z", r"\Z"),
    (r"\u1234", r"\u1234"),
    (r"\N{DASH}", r"\N{DASH}"),
    ("a++", "++"),
    ("(?>a)", "(?>"),
    ("(a)(?(1)b)", "(?(1)"),
    ("(?x)a", "(?x)"),
    ("(?#a)", "(?#a)"),
    ("a{1001}", "{1001}"),
    ("(a{500}){3}", "{3}"),
]


@pytest.mark.parametrize(("pattern", "part"), RE2_LACKS, ids=[pattern for pattern, _ in RE2_LACKS])
def test_what_re2_lacks_is_told_without_the_engine(pattern: str, part: str) -> None:
    start = pattern.index(part)
    assert refused(pattern, engine="re2") == [
        f"{start}:{start + len(part)} RB424 `{part}` doesn't exist in the re2 engine. "
        "Use `engine: python`, or rewrite it."
    ]
    re2 = pytest.importorskip("re2")
    with pytest.raises(re2.error):
        re2.compile(pattern, quiet(re2))


def test_a_count_without_a_beginning_is_plain_text_to_re2() -> None:
    assert refused("a{,3}", engine="re2")[0].startswith("1:5 RB424 `{,3}`")


def test_the_flag_x_is_not_re2s() -> None:
    assert refused("a", "x", "re2")[0].startswith("0:None RB424 `the flag x`")


@pytest.mark.parametrize(
    "pattern", [r"\p{L}+", "a(?i)b", r"\Qa.b\E", "[[:alpha:]]", r"\x{41}", "(?<n>a)", "(a+)+$", "[]a]"]
)
def test_what_re2_has_is_read(pattern: str) -> None:
    assert read_pattern(pattern, engine="re2").harmless
    re2 = pytest.importorskip("re2")
    re2.compile(pattern, quiet(re2))


@pytest.mark.parametrize("pattern", ["(a", "a)", "[a", "*a", "a**", "[z-a]", "a\\", "x{2}{3}"])
def test_plain_mistakes_are_found_for_re2_too(pattern: str) -> None:
    assert " RB420 " in refused(pattern, engine="re2")[0]
    re2 = pytest.importorskip("re2")
    with pytest.raises(re2.error):
        re2.compile(pattern, quiet(re2))


PIECES = st.lists(
    st.sampled_from(list("ab.*+?|()[]^$-{}0123,\\") + [r"\d", r"\w", "(?:", "{2,3}", "[a-c]"]), max_size=12
)


@given(PIECES)
def test_what_is_read_for_re2_compiles_there(parts: list[str]) -> None:
    re2 = pytest.importorskip("re2")
    pattern = "".join(parts)
    try:
        read_pattern(pattern, engine="re2")
    except LanguageError:
        return
    re2.compile(pattern, quiet(re2))


WARNINGS = [
    (".*", "", ["RB421"]),
    ("a?", "", ["RB421"]),
    ("(foo)?", "", ["RB421"]),
    ("^a*", "", ["RB423", "RB421"]),
    (r"\Aa*", "", ["RB421"]),
    ("a|", "", ["RB421"]),
    (r"^\s*$", "", []),
    ("^$", "", []),
    (r"^(?!.*secret)", "m", []),
    ("a+", "", []),
    ("3.12", "", ["RB422"]),
    (r"3\.12", "", []),
    ("3.+12", "", []),
    ("[3.1]", "", []),
    ("^ok", "", ["RB423"]),
    ("ok$", "", ["RB423"]),
    ("^ok", "m", []),
    ("(?m)^ok", "", []),
    ("^ok$", "", []),
    (r"\Aok", "", []),
    ("ok$|^no", "", ["RB423"]),
    ("a\n", "", ["RB126"]),
    ("a\n", "x", []),
    (r"\s+$", "m", ["RB705"]),
    (r"x*y", "", ["RB705"]),
    (r".*foo", "", ["RB705"]),
    (r"\Ax\s*\s+y", "", ["RB705"]),
    (r"(.*)(\d+)x", "", ["RB705"]),
    (r"\s+", "", []),
    (r"\d+ passed", "", []),
    (r"a\s+,?\s*b", "", ["RB705"]),
    (r"a\s+,\s*b", "", []),
]


@pytest.mark.parametrize(("pattern", "flags", "codes"), WARNINGS, ids=[f"{p!r} {f}" for p, f, _ in WARNINGS])
def test_warnings(pattern: str, flags: str, codes: list[str]) -> None:
    assert sorted(warned(pattern, flags)) == sorted(codes)


def test_re2_is_never_slow() -> None:
    assert warned(r"\s+x", engine="re2") == []


def test_a_loose_dot_is_shown_and_mended() -> None:
    (fault,) = read_pattern("v3.12.1 or so").faults()
    assert CODES["RB422"].message.format(**fault.words) == (
        "`.` matches any character, so `3.12.1` also matches `3x12x1`. Write `3\\.12\\.1` for a real dot."
    )
    assert (fault.start, fault.end, fault.mended, fault.safe) == (1, 7, r"v3\.12\.1 or so", False)


def test_a_pattern_that_ends_in_a_newline_is_mended() -> None:
    (fault,) = read_pattern("answer\n").faults()
    assert (fault.code, fault.start, fault.mended) == ("RB126", 6, "answer")


HARMLESS = {
    "answer: 42": True,
    r"answer:\s+42": True,
    r"\b[A-Z][a-z]+\s+\d{3,}\b": True,
    r"^\d+$": True,
    '"[^"]*"': True,
    "foo|bar": True,
    r"\s+$": False,
    "a.*b": False,
    "b,+b*y": True,
    "b,*b*y": False,
    "(a?){30}a{30}": False,
    "(?=a)b": False,
    r"(a)\1": False,
    "(a+)+": False,
    "a{5000}b": False,
}


@pytest.mark.parametrize(("pattern", "harmless"), HARMLESS.items())
def test_harmless_means_proved_linear(pattern: str, harmless: bool) -> None:
    assert read_pattern(pattern).harmless is harmless


def test_a_short_text_is_quick_where_a_long_one_is_not() -> None:
    pattern = read_pattern("a.*b.*c")
    assert not pattern.harmless
    assert pattern.quick_on(100)
    assert not pattern.quick_on(100_000)
    assert not read_pattern("(a+)+").quick_on(1)


def test_limits() -> None:
    assert refused("a" * 10_001) == ["0:None RB706 This pattern has 10001 characters; the limit is 10000."]
    assert refused("(" * 41 + ")" * 41) == ["0:None RB706 This pattern has 41 groups in groups; the limit is 40."]
    assert read_pattern("(" * 40 + "a" + ")" * 40)


def test_possible_nested_sets_are_no_trouble() -> None:
    assert read_pattern("[[a]").text == "[[a]"


class Form(BaseModel):
    pattern: PatternField


def test_the_field_reads_text() -> None:
    assert Form(pattern="a+").pattern == read_pattern("a+")  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "code"), [(["ACGT"], "RB127"), ("(", "RB420")])
def test_the_field_keeps_faults(value: object, code: str) -> None:
    with pytest.raises(ValidationError) as error:
        Form(pattern=value)  # type: ignore[arg-type]
    (entry,) = error.value.errors()
    assert entry["type"] == "rulebook_language"
    assert [fault.code for fault in entry["ctx"]["faults"]] == [code]


@pytest.mark.parametrize("value", [3, ["a", "b"], ["a b"], {}])
def test_the_field_refuses_what_is_no_text(value: object) -> None:
    with pytest.raises(ValidationError) as error:
        Form(pattern=value)  # type: ignore[arg-type]
    assert error.value.errors()[0]["type"] == "rulebook_wrong_type"


@given(st.text(), st.sets(st.sampled_from("imsx")).map("".join), st.sampled_from(["python", "re2"]))
def test_any_text_is_read_or_refused(text: str, flags: str, engine: Engine) -> None:
    read_or_refused(text, flags, engine)


@given(PIECES, st.sampled_from(["python", "re2"]))
def test_any_pieces_are_read_or_refused(parts: list[str], engine: Engine) -> None:
    read_or_refused("".join(parts), "", engine)


@given(PIECES.map("".join), st.text("ab0-", max_size=12))
def test_what_is_always_found_is_found_in_every_text(pattern: str, text: str) -> None:
    try:
        read = read_pattern(pattern)
    except LanguageError:
        return
    if any(fault.code == "RB421" for fault in read.faults()):
        assert re.search(pattern, text) is not None


def read_or_refused(text: str, flags: str, engine: Engine) -> None:
    try:
        read = read_pattern(text, flags, engine)
    except LanguageError as error:
        found = error.faults
        assert found
    else:
        found = read.faults()
        assert read.harmless in (True, False)
    for fault in found:
        assert CODES[fault.code].message.format(**fault.words)
        assert 0 <= fault.start <= len(text)
        assert fault.end is None or fault.start <= fault.end <= len(text)


def quiet(re2: object) -> object:
    options = re2.Options()  # type: ignore[attr-defined]
    options.log_errors = False
    return options
