"""Cases that are data: reading them, and what they are called."""

from pathlib import Path

import yaml


def cases_of(folder: Path) -> list[tuple[str, dict]]:
    """Every case of every YAML file in a folder, with the stem of its file."""
    return [
        (file.stem, case) for file in sorted(folder.glob("*.yaml")) for case in yaml.safe_load(file.read_text("utf-8"))
    ]


def ids_of(cases: list[tuple[str, dict]]) -> list[str]:
    """The cases' ids: "file: case name"."""
    return [f"{stem}: {case['name']}" for stem, case in cases]
