"""Text in terminal columns: width, cutting, and what is written out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulebook.terminal import columns, cut, harmless, padded, painted, wrapped


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("👍", 2), ("cafe\u0301", 4), ("é", 1), ("", 0), ("→…›", 3), ("ａ", 2)],
)
def test_columns(text, width):
    assert columns(text) == width


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 1, "…")],
)
def test_cut(text, most, kept):
    assert cut(text, most) == kept


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_harmless(text, shown):
    assert harmless(text) == shown


@given(st.text())
def test_nothing_harmful_is_left(text):
    shown = harmless(text)
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in shown)


@given(st.text(), st.integers(1, 40))
def test_what_is_cut_fits(text, most):
    assert columns(cut(harmless(text), most)) <= most


@given(st.lists(st.text("ab日", min_size=1, max_size=9), max_size=20), st.integers(20, 40))
def test_wrapping_keeps_every_word_and_the_width(words, most):
    lines = wrapped(" ".join(words), most)
    assert " ".join(lines).split() == words
    assert all(columns(line) <= most for line in lines)


def test_padding_counts_columns():
    assert padded("日", 4) == "日  "
    assert painted("x", "red", colour=False) == "x"
    assert painted("x", "red", colour=True) == "\x1b[31mx\x1b[0m"
