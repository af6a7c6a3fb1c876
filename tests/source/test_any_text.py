"""Laws that hold for every text: no reader raises, and every place lies inside the text."""

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rulebook.source.located import Located, Reading
from rulebook.source.yaml_reader import read_yaml
from rulebook.source.zon_reader import read_zon

YAML_PARTS = st.sampled_from(
    [
        *("a", "b: ", "key:", "- ", "? ", ": ", "\n", "\n  ", "\n    ", "\t", "\r\n", " #", "# c", "'", '"', "\\d"),
        *("[", "]", "{", "}", "{{ x }}", ",", "&a ", "*a", "!t ", "<<: *a", "|\n  x", ">-\n  y", "|2", "%", "@", "`"),
        *("1", "0755", "1:30", "NO", "1.10", "~", "---\n", "...\n", "\u201cx\u201d", "\u00a0", "\uff1a", "\ufeff"),
        *("\x01", "\x85", "\u2028", "\ud800", "é", "😀", '"\\b"', "9" * 30, ".inf"),
    ]
)
ZON_PARTS = st.sampled_from(
    [
        *(".{", "}", ".a", " = ", ",", "&", ".", "-", "1", "0x1F", "1.5e3", '"x"', '"', "'", "'a'", "\\\\x\n", "//c\n"),
        *("\n", " ", "\t", "\r", '.@"a b"', "@x", "true", "nan", "inf", "error", "[", "]", "{", "(", ":", ";", "+"),
        *("#", "/*", "///", "$1", ".5", "1,000", "\u201cx\u201d", "\u00a0", "\uff0c", "\x01", "\ud800", "é", "\\x41"),
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(), st.lists(YAML_PARTS, max_size=25).map("".join)))
@example("a: [\n" * 80)
@example("? {{ a }}\n: b")
def test_yaml(text):
    check(read_yaml(text, "x.yaml"), text)
    check(read_yaml(text, "x.yaml", yaml.SafeLoader), text)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(), st.lists(ZON_PARTS, max_size=25).map("".join)))
def test_zon(text):
    check(read_zon(text, "x.zon"), text)


def check(reading: Reading, text: str) -> None:
    text = text.removeprefix("\ufeff")
    for diagnostic in reading.diagnostics:
        inside(diagnostic.span, text)
        for edit in diagnostic.fix.edits if diagnostic.fix else ():
            assert 0 <= edit.start <= edit.end <= len(text)
    if reading.document is None:
        assert any(d.severity == "error" for d in reading.diagnostics)
        return
    document = reading.document
    assert document.text == text
    check_places(document)


def check_places(document: Located) -> None:
    assert set(document.values) == set(document.styles)
    for path, span in document.keys.items():
        inside(span, document.text)
        written = document.text[span.start : span.end]
        plain = written[:1] not in ("'", '"', ".", "|", ">") and "\n" not in written
        assert not plain or written == path[-1] or document.text[span.end - 1] in ("\x85", "\u2028")
        assert path in document.values
    for path, span in document.values.items():
        inside(span, document.text)
        value = document.at(path)
        offsets = document.offsets(document, path)
        if isinstance(value, str):
            assert offsets is None or len(offsets) == len(value) + 1
            assert offsets is None or list(offsets) == sorted(offsets)
            assert offsets is None or all(span.start <= at for at in offsets)
        else:
            assert offsets is None


def inside(span, text):
    if span is not None:
        assert 0 <= span.start <= span.end <= len(text)
        assert 1 <= span.line <= span.end_line <= text.count("\n") + 1
        assert span.column >= 1
        assert span.end_column >= 1
