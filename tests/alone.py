"""A test that sees no configuration, store or proxy of the machine's, and leaves none behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rulebook.api.own_machine import own_ports


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The working folder, which is empty."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    own_ports.cache_clear()
    yield tmp_path
    own_ports.cache_clear()
