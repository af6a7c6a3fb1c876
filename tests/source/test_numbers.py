"""Numbers that no data file of cases can hold."""

import math

import pytest
import yaml

from rulebook.source.yaml_reader import read_yaml
from rulebook.source.zon_reader import read_zon


def test_not_a_number_and_no_end():
    data = read_yaml("a: .nan\nb: .inf\nc: -.INF\nd: +.Inf\ne: nan\nf: .Infinity\n", "x").document.data
    assert math.isnan(data["a"])
    assert (data["b"], data["c"], data["d"]) == (math.inf, -math.inf, math.inf)
    assert (data["e"], data["f"]) == ("nan", ".Infinity")


def test_zon_keeps_whole_numbers_of_any_size():
    digits = "9" * 900
    assert read_zon(f".{{ .a = {digits}, .b = -{digits} }}", "x").document.data == {"a": int(digits), "b": -int(digits)}
    assert read_zon("9" * 5000, "x").document is None


@pytest.mark.parametrize("word", ["123456789012345678", "-123456789012345678", "0x123456789abcdef012", "0o17"])
def test_whole_numbers_of_18_digits(word):
    assert read_yaml(f"a: {word}\n", "x").document.data == {"a": int(word, 0)}


def test_the_pure_parser_reads_the_same():
    text = "a: [1, 'x', \"y\"]\nb:\n  - |\n    z\n  - c: {d: null}\n"
    fast, pure = read_yaml(text, "x").document, read_yaml(text, "x", yaml.SafeLoader).document
    assert fast.data == pure.data
    assert dict(fast.values) == dict(pure.values)
    assert dict(fast.styles) == dict(pure.styles)
