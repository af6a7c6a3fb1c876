"""Zig's own verdict and value for each text, and where the design differs on purpose."""

import json
import math
from pathlib import Path

import pytest

from rulebook.source.located import EmptyZon, Located
from rulebook.source.zon_reader import read_zon

CASES = json.loads(Path(__file__).with_name("zon.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_verdict_and_value(case):
    reading = read_zon(case["zon"], "case.zon")
    errors = [d for d in reading.diagnostics if d.severity == "error"]
    if case["valid"] or "ours" in case:
        assert errors == []
        assert reading.document is not None
    else:
        assert errors
        assert all(d.span is not None for d in errors)
    if case["valid"]:
        assert reading.diagnostics == ()
        assert_value(case["value"], reading.document, ())
    if "ours" in case:
        assert [d.severity for d in reading.diagnostics] == ["info"]


def test_the_corpus_is_whole():
    assert len(CASES) == 130 or len({case["name"] for case in CASES}) == len(CASES)
    assert sum("ours" in case for case in CASES) == 5


def assert_value(expected, document: Located, path):
    value, (kind, wanted) = document.at(path), next(iter(expected.items()))
    match kind:
        case "struct":
            assert isinstance(value, dict)
            assert list(value) == [name for name, _ in wanted]
            for name, part in wanted:
                assert_value(part, document, (*path, name))
        case "array":
            assert isinstance(value, list)
            assert len(value) == len(wanted)
            for index, part in enumerate(wanted):
                assert_value(part, document, (*path, index))
        case "int":
            assert type(value) is int
            assert value == int(wanted)
        case "char":
            assert value == wanted
        case "float":
            assert type(value) is float
            same = math.isnan(value) if wanted == "nan" else value == float(wanted)
            assert same
            assert math.copysign(1, value) == math.copysign(1, float(wanted))
        case "str" | "enum":
            assert value == wanted
            assert (document.styles[path] == "zon-name") is (kind == "enum")
        case "bool":
            assert value is wanted
        case "null":
            assert value is None
        case "empty":
            assert type(value) is EmptyZon
        case _:
            raise AssertionError(kind)
