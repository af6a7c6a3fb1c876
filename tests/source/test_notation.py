"""What messages show as YAML or ZON means, to the readers of these, the data that it was written from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulebook.source.notation import entry, written
from rulebook.source.yaml_reader import read_yaml
from rulebook.source.zon_reader import read_zon

words = st.sampled_from(["yes", "NO", "null", "12", "-1", "-", "-rf", ".inf", "1:30", "0755", "a: b", "#x", "it's", "", "!x"])
texts = st.one_of(words, st.text("aZ0 .,:'\"\\[]{}#&*!|>%@`é-_/+=~?", max_size=8))
scalars = st.one_of(texts, st.integers(-999, 999), st.sampled_from([0.5, 1.25, -2.5]), st.booleans(), st.none())
data = st.recursive(
    scalars,
    lambda part: st.one_of(
        st.lists(part, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from(["a", "test", "says_done"]), part, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@given(data)
def test_what_is_written_is_read_again(value: object) -> None:
    yaml = read_yaml(f"{{{entry('k', value, 'yaml')}}}", "x")
    zon = read_zon(f".{{ {entry('k', value, 'zon')} }}", "x")
    assert yaml.document is not None
    assert zon.document is not None
    assert yaml.document.data == zon.document.data == {"k": value}
    assert [d.code for d in yaml.diagnostics if d.code != "RB113"] == []


@pytest.mark.parametrize(
    ("value", "yaml", "zon"),
    [
        (["make", "test"], "[make, test]", '.{ "make", "test" }'),
        ({"type": "integer", "default": 12}, "{type: integer, default: 12}", '.{ .type = "integer", .default = 12 }'),
        ("two words", "'two words'", '"two words"'),
        ("…", "…", "…"),
    ],
)
def test_how_it_looks(value: object, yaml: str, zon: str) -> None:
    assert written(value, "yaml") == yaml
    assert written(value, "zon") == zon
