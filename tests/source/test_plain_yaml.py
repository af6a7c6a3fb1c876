"""YAML that is data: what it becomes, and what is refused before any of it is built."""

import pytest

from rulebook.source.plain_yaml import load_plain_yaml


def test_plain_data() -> None:
    text = "a: 1\nday: 2026-03-01\nlist: &x [yes, 'no', null]\nagain: *x\n"
    assert load_plain_yaml(text) == {
        "a": 1,
        "day": "2026-03-01",
        "list": [True, "no", None],
        "again": [True, "no", None],
    }
    assert load_plain_yaml("") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "not valid YAML"),
        ("!!python/object/apply:os.system [ls]", "not valid YAML"),
        ("a: &a [*a]", "an alias in it contains itself"),
        ("[" * 200 + "]" * 200, "nested more than 100 deep"),
        (
            "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12)),
            "more than 2000000 values",
        ),
        ("a: 1\n---\nb: 2\n", "not valid YAML"),
    ],
)
def test_refusals(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load_plain_yaml(text)
