"""The measures of scorers against plain definitions of what they mean, and on what broke other tools."""

import json
import math
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rulebook.measures.contains import needles
from rulebook.measures.json_depth import read_deep
from rulebook.measures.json_match import at_path, json_match_score, json_path_to, same_json
from rulebook.measures.json_reading import HugeNumber, NotJson, decimal_number, read_json, whole_number
from rulebook.measures.levenshtein import DistanceOptions, levenshtein_score
from rulebook.measures.numeric_close import CloseOptions, NotANumber, numeric_close_score, read_number
from rulebook.measures.sequence import sequence_ratio
from rulebook.measures.string_similarity import METHODS, SimilarityOptions, string_similarity_score
from rulebook.measures.table import BoundMeasure, MissingColumn, over_rows
from rulebook.measures.texts import as_text

TEXTS = st.text("abcd eéß\u00a0", max_size=14)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(TEXTS, TEXTS)
def test_levenshtein_is_the_least_number_of_changes(one: str, other: str) -> None:
    score, metadata = levenshtein_score(one, other, DistanceOptions())
    ours, theirs = one.strip(), other.strip()
    row = list(range(len(theirs) + 1))
    for at, character in enumerate(ours, 1):
        before, row = row, [at]
        for place, wanted in enumerate(theirs, 1):
            row.append(min(row[-1] + 1, before[place] + 1, before[place - 1] + (character != wanted)))
    assert metadata == {"distance": row[-1]}
    assert score == pytest.approx(1 - row[-1] / max(len(ours), len(theirs), 1))


@given(TEXTS, TEXTS)
@example("tide", "diet")
def test_sequence_is_the_better_of_both_orders_without_junk(one: str, other: str) -> None:
    ratios = [SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in ((one, other), (other, one))]
    assert sequence_ratio(one, other) == pytest.approx(max(ratios))
    assert sequence_ratio(one, other) == sequence_ratio(other, one)


def test_sequence_counts_frequent_characters() -> None:
    one, other = "ab" * 200, "ba" * 200
    assert sequence_ratio(one, other) == pytest.approx(399 / 400)


@given(TEXTS, TEXTS, st.sampled_from(METHODS), st.booleans())
def test_every_similarity_is_a_share_and_symmetric(one: str, other: str, method: Any, folded: bool) -> None:
    options = SimilarityOptions(method, folded)
    score, metadata = string_similarity_score(one, other, options)
    assert 0 <= score <= 1
    assert metadata == {"method": method, "ratio": score}
    assert string_similarity_score(other, one, options)[0] == pytest.approx(score)
    assert string_similarity_score(one, one, options)[0] == 1


@given(TEXTS, TEXTS)
def test_token_sort_is_twice_the_common_subsequence_of_the_sorted_words(one: str, other: str) -> None:
    ours, theirs = (" ".join(sorted(text.split())) for text in (one, other))
    if ours and theirs:
        row = [0] * (len(theirs) + 1)
        for character in ours:
            before, row = row, [0]
            for place, wanted in enumerate(theirs, 1):
                row.append(before[place - 1] + 1 if character == wanted else max(row[-1], before[place]))
        want = 2 * row[-1] / (len(ours) + len(theirs))
        assert string_similarity_score(one, other, SimilarityOptions("token_sort"))[0] == pytest.approx(want)


@pytest.mark.parametrize("method", METHODS)
def test_one_empty_text_is_like_no_other(method: Any) -> None:
    assert string_similarity_score("", "  ", SimilarityOptions(method))[0] == 1
    assert string_similarity_score("abc", " ", SimilarityOptions(method))[0] == 0


@pytest.mark.parametrize("method", ["jaro_winkler", "token_set", "token_sort", "partial", "sequence"])
def test_texts_that_take_too_long_say_so(method: Any) -> None:
    one, other = ("a" * 200_000, "ab" * 100_000) if method != "partial" else ("a" * 5_000, "ab" * 2_500)
    score, metadata = string_similarity_score(one, other, SimilarityOptions(method))
    assert (score, set(metadata)) == (0, {"method", "error"})


@given(JSON)
def test_json_is_read_as_the_standard_reader_does(value: object) -> None:
    text = json.dumps(value)
    assert same_json(read_json(text), value)
    assert same_json(read_deep(text, whole_number, decimal_number), value)


@given(st.text('[]{}",:0123456789.eE+-truefalsn \\u', max_size=12))
@example('{"a":1 "b"}')
@example("[1,]")
@example("{1:2}")
@example('{"a" 1}')
@example("1 2")
def test_what_is_no_json_is_none_for_both_readers(text: str) -> None:
    try:
        valid = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    except ValueError:
        with pytest.raises(ValueError, match="."):
            read_deep(text, whole_number, decimal_number)
        assert isinstance(read_json(text), NotJson)
    else:
        assert same_json(read_json(text), valid) or "e" in text.lower()
        assert same_json(read_deep(text, whole_number, decimal_number), read_json(text))


@given(JSON, JSON)
def test_equal_json_is_equal_in_both_directions(one: object, other: object) -> None:
    assert same_json(one, json.loads(json.dumps(one)))
    assert same_json(one, other) == same_json(other, one)
    score, metadata = json_match_score(one, other, None, ("a", "b"))
    assert (score == 1) == same_json(one, other)
    if isinstance(one, list) and isinstance(other, list):
        assert (score == 1) == (metadata["mismatched"] == [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9" * 19, int("9" * 19)),
        ("-" + "9" * 19, -int("9" * 19)),
        ("-9223372036854775809", -9223372036854775809),
        ('"\\ud800"', "\ud800"),
        ("\t1\n", 1),
    ],
)
def test_json_is_exact(text: str, value: object) -> None:
    assert read_json(text) == value
    assert type(read_json(text)) is type(value)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "[NaN]", "", " ", "\ufeff1", "\u00a01", "01", "1.", "'a'", "9" * 19 + "x", None, math.nan])
def test_what_is_no_json(text: object) -> None:
    found = read_json(text)
    assert isinstance(found, NotJson)
    assert found.reason


def test_numbers_of_any_size_are_compared_exactly() -> None:
    assert not same_json(read_json("1e400"), read_json("1e401"))
    assert same_json(read_json("1e400"), read_json("10e399"))
    assert same_json(read_json("9" * 5000), read_json("9" * 5000))
    assert not same_json(read_json("9" * 5000), read_json("9" * 4999 + "8"))
    endless = "1e" + "9" * 30
    assert same_json(read_json(endless), HugeNumber(endless))
    assert not same_json(read_json(endless), read_json("-" + endless))


def test_documents_of_any_depth_are_read_and_compared() -> None:
    deep = '{"a":[' * 50_000 + "1" + "]}" * 50_000
    assert same_json(read_json(deep), read_json(deep.replace("1", " 1.0")))
    assert not same_json(read_json(deep), read_json(deep.replace("1", "true")))
    assert isinstance(read_json(deep[:-1]), NotJson)


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.0", 1), ("a.-1", 2), ("a.01", 2), ("a.-0", 1), ("", 3), ("a", [1, 2])],
)
def test_a_path_leads_to_a_value(path: str, found: object) -> None:
    assert at_path({"a": [1, 2], "": 3}, json_path_to(path)) == found


@pytest.mark.parametrize("path", ["a.2", "a.-3", "a.--1", "a.²", "a.１", "a.+1", "a.x", "b", "a.0.0", "a." + "9" * 5000])
def test_a_path_leads_nowhere(path: str) -> None:
    score, metadata = json_match_score({"a": [1, 2]}, {"a": [1, 2], "b": 1}, [json_path_to(path)], ("a", "b"))
    assert (score, metadata) == ((0.0, {"mismatched": ["b"]}) if path == "b" else (1.0, {"mismatched": []}))


@pytest.mark.parametrize(
    ("expected", "wanted"),
    [
        ('["a", " b ", null, ""]', ["a", "b"]),
        ('[true, 3.00, 1e2, ["x", 1.50], {"k" :  1}, false, "z", null]', ["true", "3.00", "1e2", '["x", 1.50]', '{"k" :  1}', "false", "z"]),
        ("[true, false]", ["true", "false"]),
        ("[citation]", ["[citation]"]),
        ("[" * 100_000, ["[" * 100_000]),
        (f"[{'9' * 5000}]", ["9" * 5000]),
        ("[]", []),
    ],
)
def test_a_list_asks_for_its_entries_as_it_spells_them(expected: str, wanted: list[str]) -> None:
    assert needles(expected) == wanted


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS, st.none() | st.floats(0, 1e308), st.booleans())
@example(1.7e308, -1.7e308, 2.0, True)
@example(1.7e308, -1.7e308, 1e308, False)
@example(-1.7e308, 1.7e308, None, False)
def test_no_two_numbers_are_beyond_comparison(one: float, other: float, tolerance: float | None, relative: bool) -> None:
    options = CloseOptions(tolerance, relative)
    score, metadata = numeric_close_score(one, other, options, ("a", "b"))
    assert 0 <= score <= 1
    difference = metadata["difference"]
    assert isinstance(difference, float)
    assert math.isfinite(difference)
    assert difference == 0 or (difference > 0) == (one > other)
    assert numeric_close_score(other, one, options, ("a", "b"))[0] == score


def test_the_ends_of_the_scale_are_two_apart() -> None:
    assert numeric_close_score(1.7e308, -1.7e308, CloseOptions(2.0, True), ("a", "b"))[0] == 1
    assert numeric_close_score(1.7e308, -1.7e308, CloseOptions(1.9, True), ("a", "b"))[0] == 0
    assert numeric_close_score(1e308, -1e308, CloseOptions(1.79e308), ("a", "b"))[0] == 0


@pytest.mark.parametrize(
    ("pair", "score"),
    [
        ("711|11", 0), ("149|49", 0), ("5|-5", 0), ("33.14|3.14", 0), ("1e2|100", 1), (" 42 |42.0", 1),
        ("42!|42", None), ("20%|20", None), ("nan|nan", None), ("|0", None),
    ],
)  # fmt: skip
def test_numbers_are_never_compared_as_text(pair: str, score: float | None) -> None:
    one, other = map(read_number, pair.split("|"))
    found, metadata = numeric_close_score(one, other, CloseOptions(0.0), ("output", "expected"))
    assert found == (score or 0)
    assert ("error" in metadata) == (score is None)


@pytest.mark.parametrize(("value", "number"), [(3, 3.0), (2.5, 2.5), ("1_000", 1000.0), (" 1e3\n", 1000.0)])
def test_a_number_is_read(value: object, number: float) -> None:
    assert read_number(value) == number


@pytest.mark.parametrize("value", [True, None, "", "x", math.inf, 10**400, "1" * 400, [1], "−7"])
def test_no_number_is_read(value: object) -> None:
    assert isinstance(read_number(value), NotANumber)


def test_what_is_no_text_is_read_as_json_writes_it() -> None:
    given = [None, "a", True, 3.0, 7, ["a", True], {"é": None}]
    assert list(map(as_text, given)) == ["", "a", "true", "3.0", "7", '["a", true]', '{"é": null}']


def test_a_column_is_read_once_for_all_measures_of_a_row() -> None:
    read: list[object] = []

    def reading(value: object) -> object:
        read.append(value)
        return value

    measures = [
        BoundMeasure(("a", "b"), (reading, reading), lambda one, other: (1.0, {"pair": (one, other)})),
        BoundMeasure(("b",), (reading,), lambda one: (0.5, {"one": one})),
        BoundMeasure(("b", "a"), (reading, reading), lambda one, other: (0.0, {"pair": (one, other)})),
        BoundMeasure(("c",), (str,), lambda one: (0.0, {"text": one})),
    ]
    rows = iter([{"a": 1, "b": 2, "c": 3}, {"a": 4, "c": 5}])
    found = over_rows(measures, rows)
    assert next(found) == [(1.0, {"pair": (1, 2)}), (0.5, {"one": 2}), (0.0, {"pair": (2, 1)}), (0.0, {"text": "3"})]
    assert read == [1, 2]
    assert next(found) == [MissingColumn("b"), MissingColumn("b"), MissingColumn("b"), (0.0, {"text": "5"})]
    assert list(found) == []


def test_data_is_its_own_document() -> None:
    given = {"a": (1, True), "b": {1: 2, "c": 3}}
    assert json_match_score(read_json(given["a"]), [1, True], None, ("a", "b"))[0] == 1
    assert json_match_score(read_json(given["b"]), {"c": 3, "d": 4}, None, ("a", "b"))[1] == {"mismatched": ["1", "d"]}
    assert [read_json(value) for value in (True, 3, 2.5, [None])] == [True, 3, 2.5, [None]]
