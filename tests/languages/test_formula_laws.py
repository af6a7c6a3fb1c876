"""Laws of expressions, on generated expressions and evidence."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from rulebook.languages.faults import LanguageError
from rulebook.languages.formula import Formula, Lookup, filter_items, read_formula
from rulebook.languages.types import (
    ANYTHING,
    MISSING,
    NUMBER,
    TEXT,
    YES_NO,
    ListOf,
    MapOf,
    MissingValue,
    RecordOf,
    Scope,
    Type,
    optional,
)

ITEM = RecordOf("an item", {"n": NUMBER, "t": TEXT, "ok": YES_NO, "maybe": optional(NUMBER)})
NAMES: dict[str, Type] = {
    "a": NUMBER,
    "b": optional(NUMBER),
    "t": TEXT,
    "p": YES_NO,
    "q": optional(YES_NO),
    "x": ANYTHING,
    "m": MapOf(ANYTHING),
    "r": RecordOf("the record", {"n": NUMBER, "t": optional(TEXT)}),
    "items": ListOf(ITEM),
    "words": ListOf(TEXT),
    "nums": ListOf(NUMBER),
}
SCOPE = Scope("the session", NAMES)

plain = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["", "a", "ab", "3"])
wild = plain | st.just(10**400) | st.lists(plain, max_size=3) | st.dictionaries(st.sampled_from("nt"), plain)
wild = wild | st.just(MISSING) | st.just(MissingValue("elsewhere"))


def numbers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(["a", "b", "r.n", "x", "m.k", "1", "0", "2.5", "nums", "t", "p"]),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("-{}".format, inner),
        st.builds("abs({})".format, inner),
        st.builds("round({}, 1)".format, inner),
        st.builds("default({}, {})".format, inner, inner),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("{}({})".format, st.sampled_from(["sum", "min", "max", "mean"]), st.sampled_from(["nums", "x"])),
        st.builds(
            "{}(items, '{}')".format,
            st.sampled_from(["sum", "min", "mean"]),
            st.sampled_from(["n", "maybe", "n / maybe"]),
        ),
        st.builds(
            "count(items, '{}')".format, st.sampled_from(["ok", "n > 1", "maybe > 1 or ok", "not ok and n < maybe"])
        ),
        st.just("len(words)"),
        st.just("json(t).n"),
    )


def answers(number: st.SearchStrategy[str], inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(["p", "q", "x", "m.k", "true", "false", "null", "a", "t"]),
        st.builds("{} {} {}".format, number, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), number),
        st.builds("{} < {} <= {}".format, number, number, number),
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("known({})".format, number),
        st.builds("near({}, {}, 1)".format, number, number),
        st.sampled_from(["t in words", "x in words", "a in [1, 2, 'a']", "t not in ('a', 'b')", "'a' in t"]),
        st.sampled_from(["matches('a+', t)", "glob('a*', t)", "contains(t, 'a')", "starts_with(t, r.t)", "t == r.t"]),
        st.builds(
            "{}(items, '{}')".format, st.sampled_from(["any", "all"]), st.sampled_from(["ok", "maybe > 1", 't < "b"'])
        ),
        st.sampled_from(["any(words, 'item == \"a\"')", "all(nums, 'item > 0')", "x == null", "x == m", "r.t > 'a'"]),
    )


number_text = st.deferred(lambda: numbers(st.sampled_from(["a", "b", "x", "1"]) | number_text))
answer_text = st.deferred(lambda: answers(number_text, st.sampled_from(["p", "q"]) | answer_text))
texts = answer_text | number_text
environments = st.fixed_dictionaries({}, optional=dict.fromkeys([*NAMES, "r.n", "r.t"], wild))


def lookup_in(environment: dict[str, object]) -> Lookup:
    return lambda name: environment.get(name, MISSING)


def parsed(text: str, wanted: str) -> Formula | None:
    try:
        return read_formula(text, wanted)  # type: ignore[arg-type]
    except LanguageError as error:
        if {fault.code for fault in error.faults} == {"RB706"}:
            return None
        raise


@given(texts, environments, st.sampled_from(["yes or no", "number", "anything"]))
@settings(max_examples=400, deadline=None)
def test_closures_and_simpleeval_give_the_same_value_on_any_evidence(text, environment, wanted):
    formula = parsed(text, wanted)
    if formula is not None:
        lookup = lookup_in(environment)
        assert repr(formula.value(lookup)) == repr(formula.quick_value(lookup))


@given(texts, environments)
@settings(max_examples=200, deadline=None)
def test_a_value_is_a_finite_scalar_or_missing_and_missing_says_what(text, environment):
    formula = parsed(text, "anything")
    if formula is not None:
        value = formula.value(lookup_in(environment))
        if isinstance(value, MissingValue):
            assert value.what
        else:
            assert value is None or isinstance(value, (str, bool, int, float))


def of_kind(kind: Type) -> st.SearchStrategy[object]:
    match kind:
        case ListOf(item=item):
            found: st.SearchStrategy[object] = st.lists(of_kind(item), max_size=3)
        case RecordOf(fields=fields):
            found = st.fixed_dictionaries({name: of_kind(part) for name, part in fields.items()})
        case MapOf():
            found = st.dictionaries(st.sampled_from(["k", "n"]), plain)
        case _:
            found = {
                "number": st.integers(-3, 3) | st.floats(-5, 5),
                "text": st.sampled_from(["", "a", "ab"]),
                "yes or no": st.booleans(),
                "anything": plain,
                "nothing": st.none(),
            }[kind.name]
    return found | st.just(MISSING) if kind.optional else found


typed_environments = st.fixed_dictionaries({name: of_kind(kind) for name, kind in NAMES.items()})
SUPPLIED = ("x", "m.", "json", "/", "mean(", "min(", "max(")


@given(answer_text, typed_environments)
@settings(max_examples=400, deadline=None)
def test_what_lints_clean_has_a_value_on_evidence_of_its_types(text, environment):
    """Unless it asks for something of which nothing is known, divides, or takes the mean of nothing."""
    formula = parsed(text, "yes or no")
    if formula is None or formula.faults(SCOPE):
        return
    value = formula.value(lookup_in(environment))
    assert isinstance(value, bool) or any(part in text for part in SUPPLIED), (text, value)


@given(answer_text)
@settings(max_examples=300, deadline=None)
def test_what_the_messages_advise_lints_clean_of_the_same_problem(text):
    formula = parsed(text, "yes or no")
    if formula is None:
        return
    for fault in formula.faults(SCOPE):
        if fault.mended is not None and fault.code in ("RB402", "RB410", "RB412"):
            again = read_formula(fault.mended).faults(SCOPE)
            same = [other for other in again if (other.code, dict(other.words)) == (fault.code, dict(fault.words))]
            before = [
                one for one in formula.faults(SCOPE) if (one.code, dict(one.words)) == (fault.code, dict(fault.words))
            ]
            assert len(same) < len(before), (text, fault.mended)


@given(st.text(alphabet="ab.()[]'\"\\ \n+-*/<>=!&|,:?%#_1é\u00a0\U0001f600andornotif", max_size=40))
@settings(max_examples=500, deadline=None)
def test_reading_any_text_gives_an_expression_or_faults_within_it(text):
    try:
        formula = read_formula(text)
    except LanguageError as error:
        faults = error.faults
    else:
        faults = formula.faults(SCOPE)
    for fault in faults:
        assert 0 <= fault.start <= (len(text) if fault.end is None else fault.end) <= len(text)


@given(st.lists(of_kind(ITEM), max_size=5), st.sampled_from(["ok", "maybe > 0", "n > 0 and maybe > 0", "n / 0 > 1"]))
@settings(deadline=None)
def test_filtering_agrees_with_asking_each_item(items, text):
    condition = read_formula(text)
    matching, missing = filter_items(condition, items, lambda _name: MISSING)
    values = [condition.value(lambda name, item=item: item[name]) for item in items]
    assert matching == [position for position, value in enumerate(values) if value is True]
    assert missing == sum(isinstance(value, MissingValue) for value in values)


def test_no_arithmetic_leaves_the_finite_numbers():
    values = {"a": 1.7e308, "b": -1.7e308}
    for text in ("a + a", "a * a", "b - a", "a / 0.0001", "sum(nums)", "mean(nums)"):
        value = read_formula(text, "number").value(lambda name: [1.7e308, 1.7e308] if name == "nums" else values[name])
        assert isinstance(value, MissingValue) or (isinstance(value, (int, float)) and math.isfinite(value)), text
