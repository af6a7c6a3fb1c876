"""Where the characters of a text value stand, in every style."""

import pytest

from rulebook.source.yaml_reader import read_yaml
from rulebook.source.zon_reader import read_zon

YAML = {
    "plain": "a: one WORD two\n",
    "plain over lines": "a: one\n  two WORD\n\n  three\n",
    "single": "a: 'it''s WORD'\n",
    "single over lines": "a: 'it''s  \n  a \n\n\n  WORD x'\n",
    "double": 'a: "\\t\\u00e9\\x41 é WORD"\n',
    "double over lines": 'a: "one \\\n    two\n\n   \\  WORD"\n',
    "double with a tail": 'a: "x   WORD   \\n"\n',
    "literal": "a: |\n    one\n\n      deeper\n    WORD\n    end\n",
    "literal with a width": "a: |2-\n    one\n   WORD\n",
    "literal kept": "a: |+\n  one\n  WORD\n\n\nb: 1\n",
    "folded": "a: >\n  one\n  two\n\n  three\n    deeper\n  WORD\n  end\n",
    "folded with a width": "a: >1-\n   one\n  WORD\n",
    "folded after blank lines": "a: >\n\n\n  one\n  WORD\n",
    "windows lines": "a: |\r\n  one\r\n  WORD\r\n",
    "windows folds": "a: 'one\r\n  WORD'\r\n",
    "in a list": "- x\n- {a: [q, 'y WORD']}\n",
}
ZON = {
    "text": '.{ .a = "é WORD" }',
    "escapes": '.{ .a = "\\n\\u{1F600}\\x41\\xc3\\xa9\\\\ WORD" }',
    "lines": ".{ .a =\n    \\\\one\n    // note\n    \\\\\n    \\\\two WORD\n}",
    "choice": ".{ .a = .WORD }",
    "quoted choice": '.{ .a = .@"x\\ty WORD" }',
}


CASES = [(read_yaml, text) for text in YAML.values()] + [(read_zon, text) for text in ZON.values()]


@pytest.mark.parametrize(("read", "text"), CASES, ids=[*YAML, *(f"zon {name}" for name in ZON)])
def test_a_word_is_found_again(read, text):
    document = read(text, "x").document
    path = next(p for p in document.values if isinstance(document.at(p), str) and "WORD" in document.at(p))
    value = document.at(path)
    offsets = document.offsets(document, path)
    assert len(offsets) == len(value) + 1
    assert list(offsets) == sorted(offsets)
    start = value.index("WORD")
    span = document.within(path, start, start + 4)
    assert document.text[span.start : span.end] == "WORD"
    for character, offset in zip(value, offsets, strict=False):
        if character.isalpha() and character.isascii() and document.text[offset] != "\\":
            assert document.text[offset] == character


def test_the_end_is_one_past_the_last_character():
    document = read_yaml("a: 'xy'\nb: xy\n", "x").document
    assert document.offsets(document, ("a",)) == [4, 5, 6]
    assert document.offsets(document, ("b",)) == [11, 12, 13]
    assert document.within(("a",), 2, 2).start == 6


def test_what_is_no_text_has_none():
    document = read_yaml("a: 1\nb: {c: d}\n", "x").document
    assert document.offsets(document, ("a",)) is None
    assert document.offsets(document, ("b",)) is None
    assert document.offsets(document, ("nowhere",)) is None
    assert document.within(("a",), 0, 1) == document.span(("a",))
