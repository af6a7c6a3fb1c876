"""The schemas under `schemas/` are what `rulebook schema` prints, and agree with the linter about shape."""

import json
from pathlib import Path

import pytest

from rulebook.spec.json_schema import schema_names, schema_text

FOLDER = Path(__file__).parent.parent / "schemas"


@pytest.mark.parametrize("name", schema_names())
def test_the_file_is_up_to_date(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == schema_text(name), "run `make schemas`"


def test_there_is_no_other_schema() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(schema_names())


@pytest.mark.parametrize("name", schema_names())
def test_no_union_blames_the_wrong_branch(name: str) -> None:
    def walk(value: object, path: str) -> None:
        if isinstance(value, dict):
            assert not {"oneOf", "anyOf", "$defs"} & set(value), path
            for key, inner in value.items():
                walk(inner, f"{path}/{key}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                walk(inner, f"{path}/{index}")

    walk(json.loads(schema_text(name)), name)
