"""Scorers as Python callers hold them: declared, called in place, in batches; functions of their own."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import rulebook
from rulebook import EvaluationScorerResult, scorers
from rulebook.api.functions import results_in
from rulebook.api.row_scorers import output_kind
from rulebook.api.scorer_result import proven_result
from rulebook.errors import UnfitKind, UnfitOption

QUICK_START = [
    ('{"intent": "refund", "amount": 1182.0}', '{"intent": "refund", "amount": 49.99}', "refund"),
    ('{"intent": "status", "amount": 0.0}', '{"intent": "status", "amount": 0.0}', "status"),
    ('{"intent": "refund", "amount": 0.0}', '{"intent": "cancel", "amount": 12.0}', "cancel"),
    ("unclassified", '{"intent": "status", "amount": 0.0}', "status"),
]


def test_the_quick_start_scores_as_the_reference_says() -> None:
    rows = [{"output": out, "expected": want, "expected_intent": intent} for out, want, intent in QUICK_START]
    declared = [
        scorers.json_valid(inputs=("output",), name="valid-json"),
        scorers.json_match(inputs=("output", "expected"), name="full-match"),
        scorers.json_match(inputs=("output", "expected"), paths=["intent"], name="intent-match"),
        scorers.contains(inputs=("output", "expected_intent"), name="mentions-intent"),
    ]
    means = {each.name: sum(result.score for result in each.score_rows(rows)) / len(rows) for each in declared}
    assert means == {"valid-json": 0.75, "full-match": 0.25, "intent-match": 0.5, "mentions-intent": 0.5}


def test_a_handle_knows_what_it_was_declared_with() -> None:
    scorer = scorers.numeric_close(inputs=["a", "b"], name="close", tolerance=1, retries=3, image="x", memory="1Gi")
    assert (scorer.kind, scorer.name, scorer.inputs) == ("numeric_close", "close", ("a", "b"))
    assert scorer.options == {"tolerance": 1.0, "relative": False}
    assert (scorer.retries, scorer.without_effect) == (3, ("image", "memory"))
    assert scorers.string_similarity("token_set").name == "token-set"
    assert scorers.string_similarity("token_set", name="").name == "token-set"


def test_called_with_its_columns_it_gives_a_result() -> None:
    result = scorers.levenshtein()(output="refund", expected="refunds!")
    assert isinstance(result, EvaluationScorerResult)
    assert result == EvaluationScorerResult(0.75, {"distance": 2})
    assert result.metadata_json() == '{"distance":2}'


def test_an_error_names_the_column() -> None:
    scorer = scorers.numeric_close(inputs=("got", "want"))
    assert scorer(got="1", want="x").metadata == {"error": "want: `x` is not a number"}
    assert scorer(got="", want="1").metadata == {"error": "got: there is no number: it is empty"}


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"output": "a"}, "reads the column `expected`, and it was not given"),
        ({"output": "a", "expected": "a", "trace": 1}, "reads `output`, `expected`; it was also given `trace`"),
    ],
)
def test_columns_that_are_missing_or_unknown_are_told(columns: dict[str, object], words: str) -> None:
    with pytest.raises(UnfitKind, match=words):
        scorers.exact_match()(**columns)


def test_a_row_that_lacks_a_column_has_no_score_and_stops_no_other() -> None:
    rows = iter([{"output": "a", "expected": "a"}, {"output": "a"}, {"output": "b", "expected": "a", "more": 1}])
    found = scorers.exact_match(name="same").score_rows(rows)
    assert next(found) == EvaluationScorerResult(1.0, {"matched": True})
    message = "the row has no column `expected`, which the scorer `same` reads"
    assert next(found) == scorers.RowFailure("UnfitKind", message)
    assert next(found) == EvaluationScorerResult(0.0, {"matched": False})
    assert list(found) == []


@pytest.mark.parametrize(
    ("declare", "error", "words"),
    [
        (lambda: scorers.exact_match(case_insensitve=True), UnfitKind, "does not know `case_insensitve`. Did you mean `case_insensitive`?"),
        (lambda: scorers.exact_match(strip="no"), UnfitKind, "`strip` must be True or False"),
        (lambda: scorers.exact_match(name="Same Text"), UnfitOption, "Write `same-text`"),
        (lambda: scorers.exact_match(name=None), UnfitKind, "`name` must be text"),
        (lambda: scorers.exact_match(inputs=("a", "my column")), UnfitOption, "'my column' cannot be one"),
        (lambda: scorers.exact_match(inputs=("a", "class")), UnfitOption, "no word of Python's own"),
        (lambda: scorers.exact_match(inputs=("a",)), UnfitOption, "`exact_match` reads 2 columns; `inputs` names 1"),
        (lambda: scorers.json_valid(inputs=("a", "b")), UnfitOption, "`json_valid` reads 1 column; `inputs` names 2"),
        (lambda: scorers.exact_match(inputs="output"), UnfitKind, "`inputs` is a list of columns"),
        (lambda: scorers.contains(mode="some"), UnfitOption, "`mode` must be one of all, any, fraction"),
        (lambda: scorers.string_similarity("jaro-winkler"), UnfitOption, "Did you mean `jaro_winkler`?"),
        (lambda: scorers.regex_match("("), UnfitOption, "`pattern` has a mistake"),
        (lambda: scorers.regex_match(b"x"), UnfitKind, "`pattern` must be text"),
        (lambda: scorers.regex_match("x", flags=re.DEBUG), UnfitOption, "`flags` may join IGNORECASE"),
        (lambda: scorers.regex_match("x", flags=True), UnfitKind, "`flags` are those of the module `re`"),
        (lambda: scorers.json_match(paths="a.b"), UnfitKind, "`paths` is a list of dotted paths"),
        (lambda: scorers.json_match(paths=[]), UnfitOption, "`paths` is empty"),
        (lambda: scorers.json_match(paths=[1]), UnfitKind, "A path is text"),
        (lambda: scorers.numeric_close(tolerance=True), UnfitKind, "`tolerance` must be a number"),
        (lambda: scorers.numeric_close(tolerance=math.inf), UnfitOption, "`tolerance` must be 0 or more and finite"),
        (lambda: scorers.exact_match(retries=-1), UnfitOption, "`retries` must be 0 or more"),
        (lambda: scorers.exact_match(retries="2"), UnfitKind, "`retries` must be a whole number"),
        (lambda: scorers.sql("a", "1; DROP TABLE t"), UnfitOption, "one expression and no statement"),
        (lambda: scorers.sql("a", 1), UnfitKind, "`expression` must be text"),
        (lambda: scorers.sql("--", "1"), UnfitOption, "`name` needs a letter or a digit"),
        (lambda: scorers.sql("a", "x" * 4001), UnfitOption, "4001 characters"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused_when_declared(
    declare: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        declare()


def test_sql_is_declared_with_texts_trimmed() -> None:
    scorer = scorers.sql(" answered ", " CASE WHEN \"a;b\" <> ';' THEN 1.0 ELSE 0.0 END\n")
    assert (scorer.name, scorer.expression) == ("answered", "CASE WHEN \"a;b\" <> ';' THEN 1.0 ELSE 0.0 END")


def test_flags_and_groups_of_a_pattern() -> None:
    scorer = scorers.regex_match(r"order (?P<number>\w+)", flags=re.IGNORECASE | re.ASCII)
    assert scorer(output="ORDER é").score == 0
    assert scorer(output="ORDER 7é").metadata == {"match": "ORDER 7", "groups": {"number": "7"}}


@pytest.mark.parametrize(
    ("pattern", "flags", "whole", "part"),
    [
        ("a|ab", 0, "ab", "abc"),
        ("(?i)a|ab", 0, "AB", "ABC"),
        ("a b # c", re.VERBOSE, "ab", "abc"),
        (" (?i) a b # c", re.VERBOSE, "AB", "ABC"),
        ("# c\n(?i)(?s)a.", re.VERBOSE, "A\n", "A\nB"),
        ("(?x)a b # c", 0, "ab", "abc"),
        ("^a$", re.MULTILINE, "a", "a\na"),
    ],
)
def test_a_full_match_covers_the_whole_text(pattern: str, flags: int, whole: str, part: str) -> None:
    scorer = scorers.regex_match(pattern, flags=flags, full_match=True)
    assert scorer(output=whole).metadata == {"match": whole, "groups": {}}
    assert scorer(output=part).score == 0


def test_a_search_without_end_ends_and_says_so() -> None:
    result = scorers.regex_match("(?P<a>(x+x+)+)y")(output="x" * 40)
    assert result.score == 0
    assert result.metadata == {
        "match": None,
        "groups": {},
        "error": "the search for `(?P<a>(x+x+)+)y` did not end within 2 s",
    }
    found = scorers.regex_match("(?P<a>(x+x+)+)y")(output="zxxxy")
    assert found.metadata == {"match": "xxxy", "groups": {"a": "xxx"}}


@pytest.mark.parametrize(
    ("score", "error"),
    [(True, TypeError), (None, TypeError), ("x", TypeError), (b"1", TypeError), (1.1, ValueError), (-0.1, ValueError),
     (math.nan, ValueError), (10**400, ValueError)],
)  # fmt: skip
def test_a_score_is_a_share(score: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="`score` must"):
        EvaluationScorerResult(score)


@pytest.mark.parametrize("metadata", [{1: 2}, {"a": math.nan}, {"a": [math.inf]}, {"a": {1, 2}}, [("a", 1)], "a"])
def test_metadata_is_json(metadata: Any) -> None:
    with pytest.raises(TypeError, match="etadata"):
        EvaluationScorerResult(1, metadata)


def test_metadata_that_holds_itself_is_refused() -> None:
    inner: dict[str, object] = {}
    inner["a"] = inner
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        EvaluationScorerResult(1, inner)


def test_a_result_keeps_its_own_metadata() -> None:
    metadata: dict[str, object] = {"z": 1, "a": 2}
    result = EvaluationScorerResult(score=1, metadata=metadata)
    metadata["z"] = math.nan
    assert result.metadata_json() == '{"a":2,"z":1}'
    assert type(result.score) is float
    assert EvaluationScorerResult(0.5).metadata_json() is None
    with pytest.raises(AttributeError):
        result.score = 2  # type: ignore[misc]


@rulebook.function
def amount_is_plausible(message: str, output: str) -> float:
    """Whether the amount stands in the message."""
    try:
        amount = json.loads(output)["amount"]
    except Exception:
        return 0.0
    return 1.0 if amount == 0.0 or str(amount).rstrip("0").rstrip(".") in message else 0.0


@rulebook.function(retries=2, image="python:3.12")
def per_field(output: str, expected: str = "{}") -> list[EvaluationScorerResult]:
    got, want = json.loads(output), json.loads(expected)
    return [EvaluationScorerResult(float(got.get(field) == value), {"field": field}) for field, value in want.items()]


def test_a_function_stays_what_it_was() -> None:
    assert amount_is_plausible("refund 12 please", '{"amount": 12.0}') == 1.0
    assert amount_is_plausible.__name__ == "amount_is_plausible"
    assert amount_is_plausible.__doc__ == "Whether the amount stands in the message."
    assert (amount_is_plausible.name, amount_is_plausible.parameters) == ("amount-is-plausible", ("message", "output"))
    assert (amount_is_plausible.returns, per_field.returns) == ("number", "results")
    assert (per_field.retries, per_field.without_effect, per_field.optional) == (2, ("image",), frozenset({"expected"}))


def test_a_function_reads_the_columns_that_it_names() -> None:
    row = {"message": "12", "output": '{"amount": 12}', "expected": '{"amount": 12, "to": 1}', "trace": None}
    assert amount_is_plausible.scores_of_row(row) == [proven_result(1.0, None)]
    assert [result.score for result in per_field.scores_of_row(row)] == [1.0, 0.0]
    assert per_field.scores_of_row({"output": "{}"}) == []
    with pytest.raises(UnfitKind, match="`amount-is-plausible` reads the column `message`, and the row has none"):
        amount_is_plausible.of_row({"output": ""})


def test_what_a_function_raises_fails_its_row_alone() -> None:
    rows = [{"output": "{}", "expected": '{"a": 1}'}, {"output": "none"}, {"output": "{}", "expected": "{}"}]
    first, second, third = per_field.score_rows(rows)
    assert first == [EvaluationScorerResult(0.0, {"field": "a"})]
    assert isinstance(second, scorers.RowFailure)
    assert second.type == "JSONDecodeError"
    assert "Expecting value" in second.message
    assert third == []


def test_a_function_may_take_every_column() -> None:
    @rulebook.function
    def columns(output: str, **others: object) -> int:
        return len(others)

    assert columns.of_row({"output": "", "a": 1, "b": 2}) == 2
    with pytest.raises(UnfitKind, match="reads the column `output`"):
        columns.of_row({"a": 1})


@pytest.mark.parametrize("returned", [None, "0.5", True, {"score": 1}, [0.5], ["0.5"]])
def test_what_is_no_score_is_refused(returned: object) -> None:
    with pytest.raises(UnfitKind):
        results_in(returned)


def test_a_bare_number_may_lie_outside_of_0_to_1_but_is_finite() -> None:
    assert [result.score for result in results_in(7)] == [7.0]
    with pytest.raises(UnfitOption, match="finite"):
        results_in(math.nan)


def test_an_annotation_that_cannot_be_worked_out_says_nothing() -> None:
    def scorer(output):
        return 1.0

    scorer.__annotations__ = {"output": "1 / 0", "return": "float"}
    assert [result.score for result in rulebook.function(scorer).scores_of_row({"output": ""})] == [1.0]
    assert output_kind(rulebook.function(scorer)) == "text"


def test_functions_that_cannot_be_called_by_name_are_refused() -> None:
    async def waits(output: str) -> float:
        return 1.0

    def by_place(output: str, /) -> float:
        return 1.0

    def many(*columns: str) -> float:
        return 1.0

    for body, words in ((waits, "async"), (by_place, "given by name"), (many, "given by name")):
        with pytest.raises(UnfitKind, match=words):
            rulebook.function(body)
    with pytest.raises(UnfitOption, match="needs a name"):
        rulebook.function(lambda output: 1.0)
    with pytest.raises(UnfitKind, match="does not say what it takes"):
        rulebook.function(max)
    with pytest.raises(UnfitKind, match="stands above a function"):
        rulebook.function(EvaluationScorerResult)
    with pytest.raises(UnfitKind, match="does not know `retrys`. Did you mean `retries`?"):
        rulebook.function(retrys=2)
