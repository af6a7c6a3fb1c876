"""Conditions over named rules: their grammar, their limits, and how they are mended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulebook.languages.condition import Condition, Joined, Name, NotOf, Several, read_condition
from rulebook.languages.faults import LanguageError


def shown(condition: Condition) -> str:
    match condition:
        case Name(name=name):
            return name
        case NotOf(part=part):
            return f"not({shown(part)})"
        case Joined(word=word, parts=parts):
            return f"{word}({', '.join(map(shown, parts))})"
        case Several(count=count, every=every, pattern=pattern):
            return f"{'all' if every else count or 'any'} of {pattern}"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", "a"),
        ("not a and b or c", "or(and(not(a), b), c)"),
        ("a or b and not c", "or(a, and(b, not(c)))"),
        ("a and (b or c) and d", "and(a, or(b, c), d)"),
        ("~a & (b | c)", "and(not(a), or(b, c))"),
        ("~~a", "not(not(a))"),
        ("a and b and c", "and(a, b, c)"),
        ("((a))", "a"),
        ("all of them", "all of them"),
        ("any of them and not c", "and(any of them, not(c))"),
        ("2 of them", "2 of them"),
        ("all of safe_*", "all of safe_*"),
        ("all of safety.*", "all of safety.*"),
        ("2 of safety.no_* or d", "or(2 of safety.no_*, d)"),
        ("safety.no_answer_key and a", "and(safety.no_answer_key, a)"),
        ("all and any", "and(all, any)"),
        ("nothing_and or android", "or(nothing_and, android)"),
        ("a\n  and b", "and(a, b)"),
    ],
)
def test_tree(text: str, tree: str) -> None:
    assert shown(read_condition(text)) == tree


def test_places() -> None:
    condition = read_condition("ab and 2 of safe_*")
    assert condition == Joined("and", (Name("ab", 0, 2), Several(2, False, "safe_*", 7, 18)))


@pytest.mark.parametrize(
    ("text", "sentence", "found", "mended"),
    [
        ("", "I expected the name of a rule here, and the condition ends.", "", None),
        ("a and", "I expected the name of a rule here, and the condition ends.", "", None),
        ("and a", "I expected the name of a rule before `and`.", "and", None),
        ("a or or b", "I expected the name of a rule before `or`.", "or", None),
        ("a not b", "I expected `and`, `or` or the end, not `not`.", "not", None),
        ("a ? b", "I expected `and`, `or` or the end, not `?`.", "?", None),
        ("()", "I expected the name of a rule, not `)`.", ")", None),
        ("(a", "This `(` is never closed.", "(", None),
        ("a)", "This `)` was never opened.", ")", None),
        ("them", "I expected the name of a rule before `them`.", "them", None),
        ("one of them", "Before `of` write `all`, `any` or a number from 1, not `one`.", "one", None),
        ("0 of them", "Before `of` write `all`, `any` or a number from 1, not `0`.", "0", None),
        ("all of", "After `of` write `them`, or a beginning with a star such as `safe_*`.", "", None),
        (
            "a and not b | c",
            "This mixes words (`and`) and signs (`|`). Use one of them: `a and not b or c`.",
            "|",
            "a and not b or c",
        ),
        ("~a or b", "This mixes words (`or`) and signs (`~`). Use one of them: `not a or b`.", "or", "not a or b"),
        ("a&&!b", "Write `and` instead of `&&`.", "&&", "a and not b"),
        ("a OR b", "Write `or` instead of `OR`.", "OR", "a or b"),
        ("a,b", "Write `and` instead of `,`.", ",", "a and b"),
    ],
)
def test_refused(text: str, sentence: str, found: str, mended: str | None) -> None:
    with pytest.raises(LanguageError) as refused:
        read_condition(text)
    fault = refused.value.faults[0]
    assert (fault.code, fault.words["sentence"]) == ("RB311", sentence)
    assert text[fault.start : fault.end] == found
    assert fault.mended == mended
    if mended is not None:
        read_condition(mended)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a or " * 200 + "b", {"what": "condition", "count": 1001, "parts": "characters", "limit": 1000}),
        ("a&" * 100 + "b", {"what": "condition", "count": 201, "parts": "parts", "limit": 200}),
        ("(" * 20 + "a" + ")" * 20, {"what": "condition", "count": 21, "parts": "levels", "limit": 20}),
        ("~" * 20 + "a", {"what": "condition", "count": 21, "parts": "levels", "limit": 20}),
    ],
)
def test_too_much(text: str, words: dict[str, object]) -> None:
    with pytest.raises(LanguageError) as refused:
        read_condition(text)
    assert [(fault.code, fault.words) for fault in refused.value.faults] == [("RB706", words)]


def test_as_much_as_there_may_be() -> None:
    read_condition("~" * 19 + "a")
    read_condition("a&" * 99 + "b")


@given(st.text(alphabet="ab_*.2 ~&|()!,andortof", max_size=30))
def test_any_text_is_a_condition_or_has_faults_within_it(text: str) -> None:
    try:
        read_condition(text)
    except LanguageError as error:
        for fault in error.faults:
            assert 0 <= fault.start <= (fault.end or 0) <= len(text)
