"""Scores of whole columns: the same as row by row, and nothing made up for what cannot be scored."""

import gc
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rulebook
from rulebook.errors import UnfitKind, UnfitOption, UsageError
from rulebook.languages.pattern import Pattern
from rulebook.measures import levenshtein as levenshtein_module
from rulebook.measures.regex_match import Sought, regex_match_scores
from rulebook.ports import SearchPattern
from rulebook.services.collector import collecting_seldom

VALUES: list[object] = [
    "", "   ", "a", "A", " a ", "aaa", "abc", "é", "E\u0301", "straße", "STRASSE",
    "1", "1.5", "1.0", " 42 ", "-5", "1e400", "nan", "1_000", "0", "99999999999999999999", "true", "null", "[]", "{}", "[1, 2]",
    '["a", "b"]', '["A", null, 3.00, true]', "[a", '{"a": 1}', '{"a": 1.0, "b": 2}', '{"a": true}', '{"a": {"b": 1}}',
    '{"a": {"b": [1]}}', '{"b": "a"}', '"a"', '{"a": 1, "a": 2}', "[" * 2_000 + "]" * 2_000, "NaN", "x" * 3_000,
    None, True, False, 0, 1, 2.5, 10**30, ["a", 1], {"a": 1}, {"a": {"b": 1}},
]  # fmt: skip



@rulebook.function
def own_scorer(output: str) -> float:
    return float(len(output))


SCORERS = [
    rulebook.scorers.exact_match(),
    rulebook.scorers.exact_match(name="exact-cased", strip=False),
    rulebook.scorers.exact_match(name="exact-loose", normalize_whitespace=True, case_insensitive=True),
    rulebook.scorers.contains(),
    rulebook.scorers.contains(name="any-contained", mode="any", case_insensitive=True),
    rulebook.scorers.contains(name="share-contained", mode="fraction"),
    rulebook.scorers.regex_match("(?P<word>[a-c]+)"),
    rulebook.scorers.regex_match("a+", name="whole-regex", full_match=True),
    rulebook.scorers.levenshtein(),
    rulebook.scorers.levenshtein(name="levenshtein-folded", case_insensitive=True),
    *(rulebook.scorers.string_similarity(each) for each in ("jaro_winkler", "jaccard", "token_set", "sequence")),
    rulebook.scorers.json_valid(),
    rulebook.scorers.json_match(),
    rulebook.scorers.json_match(name="one-key", paths=["a"]),
    rulebook.scorers.json_match(name="one-path", paths=["a.b"]),
    rulebook.scorers.json_match(name="two-keys", paths=["a", "b"]),
    rulebook.scorers.numeric_close(),
    rulebook.scorers.numeric_close(name="within", tolerance=0.5),
    rulebook.scorers.numeric_close(name="within-share", tolerance=0.1, relative=True),
]


def rows() -> list[dict[str, object]]:
    return [{"output": one, "expected": other} for one in VALUES for other in VALUES]


def test_every_scorer_says_the_same_of_columns_as_of_rows() -> None:
    given = rows()
    found = rulebook.scorers.score_columns(SCORERS, given)
    assert list(found) == [each.name for each in SCORERS]
    for scorer in SCORERS:
        read = [{name: row[name] for name in scorer.inputs} for row in given]
        assert found[scorer.name] == [scorer(**columns).score for columns in read], scorer.name


def test_metadata_of_columns_are_those_of_rows() -> None:
    given = rows()
    for scorer in SCORERS:
        measure = scorer.measure
        columns = [list(map(way, (row[name] for row in given))) for name, way in zip(measure.inputs, measure.readings, strict=True)]
        assert list(measure.of_columns(columns)) == [measure.of_row(row) for row in given], scorer.name


def test_texts_that_are_too_long_for_one_another_fail_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levenshtein_module, "MOST_PAIRS", 20)
    given = [("ab", "abc"), ("abcdefgh", "abcdefgh"), ("", "")]
    found = levenshtein_module.distance_scores(*zip(*given, strict=True))
    assert found == [levenshtein_module.distance_score(*pair) for pair in given]
    assert [sorted(metadata) for _, metadata in found] == [["distance"], ["error"], ["distance"]]


def test_a_search_that_takes_too_long_fails_its_row_alone() -> None:
    class Searches:
        def search(self, pattern: SearchPattern, text: str, limit_s: float) -> tuple[int, int] | None:
            if len(text) > 3:
                raise TimeoutError
            found = re.search(pattern.text, text)
            return None if found is None else found.span()

    sought = Sought(Pattern("(a+)+$"))
    found = regex_match_scores(["aa", "aaaa!", "b"], sought, Searches())
    assert [score for score, _ in found] == [1.0, 0.0, 0.0]
    assert ["error" in metadata for _, metadata in found] == [False, True, False]


def test_columns_of_one_length_are_scored_as_they_stand() -> None:
    columns = {"output": ["1", "2", "x"], "expected": ["1", "1", "1"], "other": [1]}
    found = rulebook.scorers.score_columns([rulebook.scorers.exact_match(), rulebook.scorers.json_valid()], columns)
    assert found == {"exact-match": [1.0, 0.0, 0.0], "json-valid": [1.0, 1.0, 0.0]}
    assert rulebook.scorers.score_columns([rulebook.scorers.exact_match()], {"output": [], "expected": []}) == {
        "exact-match": []
    }


def test_long_columns_are_scored_piece_by_piece() -> None:
    columns = {"output": list(range(2_500)), "expected": ["7"] * 2_500}
    (found,) = rulebook.scorers.score_columns([rulebook.scorers.exact_match()], columns).values()
    assert found == [float(number == 7) for number in range(2_500)]


def test_a_file_is_scored_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"output": str(n % 3), "expected": "0"}) + "\n" for n in range(3_000)))
    (found,) = rulebook.scorers.score_columns([rulebook.scorers.exact_match()], str(path)).values()
    assert found == [1.0, 0.0, 0.0] * 1_000


def test_nothing_is_made_up_for_a_row_without_a_score(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    exact = [rulebook.scorers.exact_match()]
    path.write_text('{"output": "a", "expected": "a"}\n{"output": "a"}\n')
    with pytest.raises(rulebook.DatasetError, match=r"row 2 \(line 2\): it has no column `expected`"):
        rulebook.scorers.score_columns(exact, str(path))
    path.write_text('{"output": "a", "expected": "a"}\n{"output": \n')
    with pytest.raises(rulebook.DatasetError, match=r"row 2 \(line 2\)"):
        rulebook.scorers.score_columns(exact, str(path))


@pytest.mark.parametrize(
    ("scorers", "data", "said"),
    [
        ([rulebook.scorers.exact_match()], {"output": ["a"], "expcted": ["a"]}, "Did you mean `expcted`"),
        ([rulebook.scorers.exact_match()], {"output": ["a"], "expected": []}, r"different lengths: .*output \(1\)"),
        ([rulebook.scorers.exact_match()] * 2, {"output": [], "expected": []}, "Two scorers are called `exact-match`"),
        ([own_scorer], {"output": []}, "Only deterministic built-in scorers"),
    ],
)
def test_what_cannot_be_scored_by_columns_is_refused(scorers: list[object], data: object, said: str) -> None:
    with pytest.raises((UnfitOption, UnfitKind), match=said):
        rulebook.scorers.score_columns(scorers, data)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [(700, 10, 10), (0, 10, 10), (200_000, 5, 5)])
def test_the_collector_is_as_it_was_afterwards(threshold: tuple[int, int, int]) -> None:
    before = gc.get_threshold()
    gc.set_threshold(*threshold)
    try:
        with collecting_seldom():
            assert gc.get_threshold() == ((100_000, 10, 10) if threshold[0] == 700 else threshold)
        assert gc.get_threshold() == threshold
        rulebook.scorers.score_columns([rulebook.scorers.json_valid()], {"output": ["1"]})
        assert gc.get_threshold() == threshold
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("column", ["ab", b"ab", {"a": 1, "b": 2}, iter("ab")], ids=["text", "bytes", "mapping", "iterator"])
def test_a_column_is_a_list_of_values(column: object) -> None:
    with pytest.raises(UnfitKind, match="The column `output` must be a list of its values"):
        rulebook.scorers.score_columns([rulebook.scorers.json_valid()], {"output": column})


def test_sql_over_columns_gives_none_where_there_is_no_score(tmp_path: Path) -> None:
    rows = [{"n": number, "output": "a" * number} for number in range(3)]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": [0, 1, 2], "output": ["", "a", "aa"]}), path)
    share = rulebook.scorers.sql("share", 'length("output") / n')
    for data in (rows, {"n": [0, 1, 2], "output": ["", "a", "aa"]}, str(path), path):
        both = rulebook.scorers.score_columns([share, rulebook.scorers.json_valid()], data)
        assert both == {"share": [None, 1.0, 1.0], "json-valid": [0.0, 0.0, 0.0]}
    with pytest.raises(UsageError, match="m"):
        rulebook.scorers.score_columns([rulebook.scorers.sql("share", "m")], path)
    broken = tmp_path / "rows.jsonl"
    broken.write_text('{"n": 1}\n{"n": \n')
    with pytest.raises(rulebook.DatasetError, match=r"row 2 \(line 2\)"):
        rulebook.scorers.score_columns([rulebook.scorers.sql("n", "n + 0.0")], broken)
