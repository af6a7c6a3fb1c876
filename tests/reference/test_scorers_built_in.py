"""Scorers reference: "Choosing a scorer", "Built-in scorers" and "SQL expression scorers", sentence by sentence."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from alone import alone  # noqa: F401
from model_server import Handler, endpoint, gives

import rulebook
from rulebook import Evaluation, EvaluationScorerResult, scorers
from rulebook.errors import UnfitKind, UnfitOption, UsageError

pytestmark = pytest.mark.usefixtures("alone")

TWELVE = {
    "exact_match", "contains", "regex_match", "levenshtein", "string_similarity", "json_valid", "json_match", "numeric_close",
    "embedding_similarity", "llm_judge", "jev", "sql",
}  # fmt: skip
PAIRS: list[Callable[..., Any]] = [
    scorers.exact_match, scorers.contains, scorers.levenshtein, lambda **given: scorers.string_similarity("partial", **given),
    scorers.json_match, scorers.numeric_close, scorers.embedding_similarity,
]  # fmt: skip
SINGLE: list[Callable[..., Any]] = [lambda **given: scorers.regex_match("a", **given), scorers.json_valid]
NINE = [*PAIRS, *SINGLE]
NAMES = [
    "exact-match", "contains", "levenshtein", "partial", "json-match", "numeric-close", "embedding-similarity", "regex-match", "json-valid"
]  # fmt: skip


def score(scorer: Any, output: object, *expected: object) -> float:
    found = scorer(output=output, **({"expected": expected[0]} if expected else {}))
    assert isinstance(found, EvaluationScorerResult)
    return found.score


def in_a_new_process(code: str, *given: str) -> str:
    """What a program that begins with nothing loaded prints."""
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rulebook.__file__))}
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_twelve_and_all_of_them_are_declared_by_a_call() -> None:
    assert {name for name in scorers.__all__ if name.islower()} - {"score_columns"} == TWELVE
    assert all(callable(getattr(scorers, name)) for name in TWELVE)


def test_whatever_a_row_holds_its_score_is_a_number_between_0_and_1() -> None:
    rows = [{"output": a, "expected": b} for a in ("", "a b", "{", '{"a": 1}', "-3", None, 7) for b in ("a", "[]", '["a"]', "3", None)]
    plain = [each() for each in NINE if each is not scorers.embedding_similarity]
    for scorer in [*plain, *(scorers.contains(mode=mode) for mode in ("any", "fraction")), scorers.numeric_close(tolerance=1)]:
        for result in scorer.score_rows(rows):
            assert isinstance(result, EvaluationScorerResult), scorer.name
            assert 0.0 <= result.score <= 1.0


def test_they_are_cheap_and_repeatable() -> None:
    """Scored again, also in another process, a row has the same score, and no model is asked."""
    rows = [{"output": "the refund of 12", "expected": "a refund of 13"}, {"output": '{"a": 1}', "expected": '{"a": 2}'}]
    names = ["exact_match", "contains", "levenshtein", "json_match", "numeric_close"]

    def told() -> str:
        found = [[[each.score, each.metadata] for each in getattr(scorers, name)().score_rows(rows)] for name in names]
        return json.dumps(found)

    code = (
        "import json, sys; from rulebook import scorers; rows = json.loads(sys.argv[1])\n"
        "print(json.dumps([[[each.score, each.metadata] for each in getattr(scorers, name)().score_rows(rows)]"
        f" for name in {names!r}]))\n"
        "assert 'openai' not in sys.modules and 'rulebook.services.models' not in sys.modules"
    )
    assert told() == told() == in_a_new_process(code, json.dumps(rows)).strip()


def test_a_built_in_that_was_not_called_is_no_scorer() -> None:
    with pytest.raises(UnfitKind, match="`exact_match` is no scorer.* call it"):
        Evaluation.create("a", dataset=[{"output": "a", "expected": "a"}], scorers=[scorers.exact_match])


def test_a_call_gives_a_handle_also_when_nothing_is_changed() -> None:
    rows = [{"output": "a", "expected": "a"}]
    for declare in NINE:
        handle = declare()
        assert handle.retries == 0
        assert handle.without_effect == ()
        assert callable(handle.score_rows)
    run = Evaluation.create("a", dataset=rows, scorers=[scorers.exact_match(), scorers.contains()]).run()
    assert run.means() == {"exact-match": 1.0, "contains": 1.0}


@pytest.mark.parametrize(("declare", "name"), list(zip(NINE, NAMES, strict=True)), ids=NAMES)
def test_name_labels_the_scorer_and_inputs_names_its_columns(declare: Callable[..., Any], name: str) -> None:
    columns = ("output",) if declare in SINGLE else ("output", "expected")
    assert (declare().name, declare().inputs) == (name, columns)
    other = declare(name="label-1", inputs=tuple(f"{column}_x" for column in columns))
    assert (other.name, other.inputs) == ("label-1", tuple(f"{column}_x" for column in columns))


def test_the_scorers_name_labels_its_line_and_its_columns() -> None:
    rows = [{"answer": "a", "wanted": "a", "output": ""}]
    run = Evaluation.create("a", dataset=rows, scorers=[scorers.exact_match(inputs=("answer", "wanted"), name="same-text")]).run()
    assert run.means() == {"same-text": 1.0}
    assert str(run.table()).splitlines()[1].startswith("same-text ")


@pytest.mark.parametrize("declare", NINE, ids=NAMES)
def test_further_keywords_are_those_of_a_function(declare: Callable[..., Any]) -> None:
    given = {"image": "python:3.12", "cpu": "1", "memory": "2Gi", "secrets": [], "concurrency": 4}
    handle = declare(retries=2, **given)
    own = rulebook.function(retries=2, **given)(lambda_of("own"))
    assert (handle.retries, handle.without_effect) == (2, tuple(given))
    # a function may also be a task, which takes so many rows at once
    assert (own.retries, own.concurrency, own.without_effect) == (2, 4, ("image", "cpu", "memory", "secrets"))
    with pytest.raises(UnfitKind, match="does not know `replicas`"):
        declare(replicas=2)


def lambda_of(name: str) -> Callable[..., float]:
    def body(output: str) -> float:
        return float(len(output))

    body.__name__ = name
    return body


@pytest.mark.parametrize(
    ("scorer", "row", "metadata"),
    [
        (scorers.exact_match(), ("a", "b"), {"matched": False}),
        (scorers.contains(), ("a", '["a", "b"]'), {"matched": ["a"], "missing": ["b"]}),
        (scorers.regex_match("a(?P<n>.)"), ("xay",), {"match": "ay", "groups": {"n": "y"}}),
        (scorers.levenshtein(), ("ab", "cd"), {"distance": 2}),
        (scorers.string_similarity("jaccard"), ("ab", "bc"), {"method": "jaccard", "ratio": 1 / 3}),
        (scorers.json_valid(), ("{}",), {}),
        (scorers.json_match(), ('{"a": 1}', '{"a": 2}'), {"mismatched": ["a"]}),
        (scorers.numeric_close(), ("3", "5"), {"difference": -2.0}),
    ],
    ids=lambda each: getattr(each, "kind", None),
)
def test_each_records_metadata_that_explain_its_score(scorer: Any, row: tuple[str, ...], metadata: object) -> None:
    assert scorer(**dict(zip(scorer.inputs, row, strict=True))).metadata == metadata


def test_json_that_is_none_says_why() -> None:
    assert scorers.json_valid()(output="{").metadata == {"error": scorers.json_valid()(output="{").metadata["error"]}
    assert "{" not in scorers.json_valid()(output="{").metadata
    assert "expected" in scorers.json_match()(output="{}", expected="{").metadata["error"]


def test_exact_match_strips_each_side_unless_told_otherwise() -> None:
    assert score(scorers.exact_match(), " a\n", "\ta ") == 1.0
    assert score(scorers.exact_match(strip=False), " a", "a") == 0.0
    assert score(scorers.exact_match(), "a  b", "a b") == 0.0
    assert score(scorers.exact_match(), "A", "a") == 0.0


def test_white_space_is_collapsed_and_case_folded_where_that_is_asked_for() -> None:
    assert score(scorers.exact_match(normalize_whitespace=True), " a \n b", "a b") == 1.0
    assert score(scorers.exact_match(normalize_whitespace=True, strip=False), " a ", "a") == 1.0
    assert score(scorers.exact_match(case_insensitive=True), "STRASSE", "straße") == 1.0


def test_contains_reads_one_text_or_a_json_array_of_them() -> None:
    assert score(scorers.contains(), "a refund of 12", "refund") == 1.0
    assert score(scorers.contains(), "a refund of 12", '["refund", "12"]') == 1.0
    assert score(scorers.contains(), "a refund of 12", '["refund", "13"]') == 0.0
    assert score(scorers.contains(), "a [b] c", "[b]") == 1.0


@pytest.mark.parametrize(("mode", "found"), [("all", 0.0), ("any", 1.0), ("fraction", 2 / 3)])
def test_the_mode_says_what_several_texts_come_to(mode: str, found: float) -> None:
    assert score(scorers.contains(mode=mode), "a b", '["a", "b", "c"]') == pytest.approx(found)
    assert score(scorers.contains(mode=mode), "x", '["a", "b", "c"]') == 0.0


def test_a_pattern_comes_first_and_may_have_to_cover_the_whole_column() -> None:
    assert score(scorers.regex_match(r"\d+"), "order 12") == 1.0
    assert score(scorers.regex_match(r"\d+", full_match=True), "order 12") == 0.0
    assert score(scorers.regex_match(r"\d+", full_match=True), "12") == 1.0


def test_named_groups_pull_a_value_out_of_the_row() -> None:
    found = scorers.regex_match(r"order (?P<number>\d+)(?P<mark>!)?(x)?")(output="my order 12")
    assert found.metadata == {"match": "order 12", "groups": {"number": "12", "mark": None}}


@pytest.mark.parametrize(
    ("measure", "pair", "found"),
    [
        ("jaro_winkler", ("martha", "marhta"), 0.9611111111),
        ("jaccard", ("listen", "silent"), 1.0),
        ("token_set", ("refund my order", "order refund"), 1.0),
        ("token_sort", ("order refund", "refund order"), 1.0),
        ("partial", ("a refund, please", "refund"), 1.0),
        ("sequence", ("abcd", "bcde"), 0.75),
    ],
)
def test_a_measure_is_named_first(measure: str, pair: tuple[str, str], found: float) -> None:
    assert score(scorers.string_similarity(measure), *pair) == pytest.approx(found)
    with pytest.raises(UnfitOption):
        scorers.string_similarity(measure.replace("_", "-") + "-x")


def test_levenshtein_is_the_edit_distance_as_a_share_of_the_longer_text() -> None:
    assert score(scorers.levenshtein(), "kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert score(scorers.levenshtein(), "", "") == 1.0
    assert score(scorers.levenshtein(), "abc", "") == 0.0


def test_json_valid_takes_any_document_and_nothing_else() -> None:
    assert [score(scorers.json_valid(), text) for text in ("{}", " 1 ", '"a"', "{", "NaN", "")] == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("options", "pair", "found"),
    [
        ({"tolerance": 1}, ("10", "11"), 1.0),
        ({"tolerance": 1}, ("10", "11.5"), 0.0),
        ({"tolerance": 0.1, "relative": True}, ("90", "100"), 1.0),
        ({"tolerance": 0.1, "relative": True}, ("100", "90"), 1.0),
        ({"tolerance": 0.1, "relative": True}, ("89", "100"), 0.0),
        ({"tolerance": 0}, ("1e2", "100"), 1.0),
    ],
)
def test_a_tolerance_scores_1_or_0(options: dict[str, Any], pair: tuple[str, str], found: float) -> None:
    assert score(scorers.numeric_close(**options), *pair) == found


def test_without_a_tolerance_the_score_falls_with_the_gap() -> None:
    close = scorers.numeric_close()
    found = [score(close, each, "100") for each in ("100", "90", "50", "10", "-100")]
    assert found == [1.0, 0.9, 0.5, pytest.approx(0.1), 0.0]


def test_whole_documents_agree_whatever_the_order_of_their_keys_but_not_of_their_lists() -> None:
    assert score(scorers.json_match(), '{"a": 1, "b": [1, 2]}', '{"b": [1, 2], "a": 1}') == 1.0
    assert score(scorers.json_match(), '{"a": 1, "b": [2, 1]}', '{"b": [1, 2], "a": 1}') == 0.0


def test_with_paths_the_score_is_the_share_that_agrees() -> None:
    scorer = scorers.json_match(paths=["user.id", "user.tags.0", "total"])
    ours = '{"user": {"id": 7, "tags": ["a"]}, "total": 1, "more": true}'
    assert score(scorer, ours, '{"user": {"id": 7, "tags": ["a", "b"]}, "total": 2}') == pytest.approx(2 / 3)
    assert scorer(output=ours, expected='{"user": {"id": 8}, "total": 2}').metadata == {
        "mismatched": ["user.id", "user.tags.0", "total"]
    }


def by_meaning(handler: Handler) -> None:
    known = {"the queue is full": [1.0, 0.0], "no room is left in the queue": [0.8, 0.6], "all is well": [-1.0, 0.0]}
    gives(200, {"data": [{"embedding": known[text]} for text in handler.body["input"]]})(handler)


def test_vectors_of_both_columns_are_compared_by_their_cosine() -> None:
    with endpoint(by_meaning) as server:
        meaning = scorers.embedding_similarity(base_url=server.url)
        found = meaning(output="the queue is full", expected="no room is left in the queue")
        other = meaning(output="the queue is full", expected="all is well")
        assert (server.bodies[0]["model"], server.paths[0]) == ("text-embedding-3-small", "/embeddings")
        scorers.embedding_similarity(base_url=server.url, model="vectors-1")(output="all is well", expected="the queue is full")
        assert server.bodies[-1]["model"] == "vectors-1"
    assert found.score == pytest.approx(0.8)
    assert found.metadata == {"cosine": pytest.approx(0.8)}
    assert (other.score, other.metadata) == (0.0, {"cosine": -1.0})


def test_it_catches_what_the_scorers_of_texts_mark_wrong() -> None:
    row = {"output": "the queue is full", "expected": "no room is left in the queue"}
    with endpoint(by_meaning) as server:
        meaning = scorers.embedding_similarity(base_url=server.url)(**row).score
    assert scorers.exact_match()(**row).score == scorers.contains()(**row).score == 0.0
    assert max(score(each, *row.values()) for each in (scorers.levenshtein(), scorers.string_similarity("sequence"))) < meaning


def test_the_secret_of_an_endpoint_is_sent_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "local")
    with endpoint(by_meaning) as server:
        meaning = scorers.embedding_similarity(base_url=server.url, api_key=rulebook.Secret("LOCAL_KEY"))
        meaning(output="the queue is full", expected="all is well")
        assert server.headers[0]["authorization"] == "Bearer local"


def test_declaring_deploys_nothing_and_loads_no_engine() -> None:
    code = (
        "import sys; from rulebook import scorers\n"
        "scorers.sql('answered', '''CASE WHEN \"output\" <> '' THEN 1.0 ELSE 0.0 END'''), scorers.exact_match()\n"
        "heavy = [name for name in ('duckdb', 'openai', 'pyarrow', 'rapidfuzz') if name in sys.modules]\n"
        "assert not heavy, heavy\n"
        "import threading; assert threading.active_count() == 1"
    )
    in_a_new_process(code)


@rulebook.function
def shouted(message: str) -> str:
    return message.upper()


def test_sql_reads_every_column_of_the_dataset_and_the_output() -> None:
    rows = [{"message": "ab", "weight": 2, "select": 5}, {"message": "", "weight": 3, "select": 7}]
    expression = """CASE WHEN "output" = 'AB' THEN "weight" * "select" ELSE length("message") END"""
    run = Evaluation.create("a", dataset=rows, task=shouted, scorers=[scorers.sql("weighed", expression)]).run()
    assert [list(record.results[0]) for record in run.rows()] == [[(10.0, None)], [(0.0, None)]]


@pytest.mark.parametrize(("expression", "words"), [('"message"', "a text, not a number"), ('"weight" > 1', "yes or no, not a number")])
def test_sql_must_give_a_number(expression: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Evaluation.create("a", dataset=[{"message": "a", "weight": 2}], task=shouted, scorers=[scorers.sql("s", expression)])


def test_a_score_of_sql_is_not_bound_to_0_to_1() -> None:
    run = Evaluation.create("a", dataset=[{"output": "abc"}], scorers=[scorers.sql("long", 'length("output")')]).run()
    assert run.means() == {"long": 3.0}


def test_the_name_of_sql_labels_the_line_and_the_column_of_results() -> None:
    import pyarrow.parquet

    run = Evaluation.create("a", dataset=[{"output": "abc"}], scorers=[scorers.sql("how long", 'length("output")')]).run()
    assert str(run.table()).splitlines()[1].startswith("how long ")
    assert pyarrow.parquet.read_table(run.to_parquet()).column("how long_value").to_pylist() == [3.0]


def test_a_column_that_bears_a_word_of_sql_is_quoted() -> None:
    rows = [{"output": "a", "order": 4}]
    assert Evaluation.create("a", dataset=rows, scorers=[scorers.sql("s", '"order"')]).run().means() == {"s": 4.0}
    with pytest.raises(UsageError, match="can't be used"):
        Evaluation.create("a", dataset=rows, scorers=[scorers.sql("s", "order")])


