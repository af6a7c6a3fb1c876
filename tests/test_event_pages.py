"""The page of every event: each field of its payload stands in it, and its example is a rule that lints clean."""

from pathlib import Path

import pytest

import rulebook
from rulebook.cli.pages import page_named
from rulebook.evidence.event_types import PAYLOADS


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_page(name: str, tmp_path: Path) -> None:
    page = page_named(name)
    assert page is not None
    assert page.startswith(f"# {name}\n")
    for field in PAYLOADS[name]:
        assert f"| `{field}` |" in page
    example = page.split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "x.yaml"
    path.write_text(f"schema: chock.eval\nversion: 1\nname: x\n{example}", encoding="utf-8")
    assert [found.code for found in rulebook.lint(str(path)).diagnostics] == []


def test_no_page() -> None:
    assert page_named("tool.cal") is None
