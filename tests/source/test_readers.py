"""Text, and what the readers make of it: data, places, styles, messages, and the text after every fix."""

from pathlib import Path

import pytest
import yaml

from rulebook.place import dotted
from rulebook.source.files import read_text

FOLDER = Path(__file__).parent
CASES = [
    (language, case)
    for language in ("yaml", "zon")
    for file in sorted(FOLDER.glob(f"{language}_*.yaml"))
    for case in yaml.safe_load(file.read_text("utf-8"))
]


@pytest.mark.parametrize(("language", "case"), CASES, ids=[f"{lang}: {case['name']}" for lang, case in CASES])
def test_reading(language, case):
    text = case["text"]
    reading = read_text(text, "rules", language)
    said = [f"{d.span.line}:{d.span.column} {d.code}" for d in reading.diagnostics]
    assert said == case.get("says", []), [d.message for d in reading.diagnostics]
    for part in case.get("words", []):
        assert any(part in f"{d.message} {d.help}" for d in reading.diagnostics), part
    if "fixed" in case:
        assert mended(text, reading.diagnostics) == case["fixed"]
    if "data" not in case:
        assert reading.document is None
        return
    document = reading.document
    assert document.data == case["data"]
    assert kinds(document.data) == kinds(case["data"])
    for places, name in ((document.values, "spans"), (document.keys, "keys")):
        found = {dotted(path): f"{s.line}:{s.column}-{s.end_line}:{s.end_column}" for path, s in places.items()}
        assert {key: found[key] for key in case.get(name, {})} == case.get(name, {})
    styles = {dotted(path): style for path, style in document.styles.items()}
    assert {key: styles[key] for key in case.get("styles", {})} == case.get("styles", {})


def kinds(data):
    """The kinds of all parts, so that `1` and `true` and `1.0` are told apart."""
    if isinstance(data, dict):
        return {key: kinds(value) for key, value in data.items()}
    return [kinds(value) for value in data] if isinstance(data, list) else type(data).__name__


def mended(text, diagnostics):
    edits = [edit for d in diagnostics if d.fix for edit in d.fix.edits]
    last = len(text) + 1
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end), reverse=True):
        assert edit.end <= last, "two fixes overlap"
        text = text[: edit.start] + edit.text + text[edit.end :]
        last = edit.start
    return text
