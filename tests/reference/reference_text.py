"""Pages of the reference: their statements, and their examples, run as they stand there with only their import lines changed."""

import re
from pathlib import Path

import pytest
from conftest import SHARED

FACES = (
    (r"\bchalk\.judges\b", "rulebook.judges"),
    (r"\bchalk\.schemas\b", "rulebook.schemas"),
    (r"\bchalk\b", "rulebook"),
    (r"from environment\.(paths|submissions) import", "from rulebook import"),
    (r"from typing import override", "from typing_extensions import override"),
)


HEADINGS = {
    "scorers.txt": (
        "Evaluation Scorers", "---", "Choosing a scorer", "Built-in scorers", "Scorer\tWhat it measures", "LLM judges",
        "Escalating judges", "SQL expression scorers", "Writing your own scorer", "Scorer results",
    )
}  # fmt: skip
"""The lines of a page that say nothing, where they do not end in a sign that tells them."""

_CODE = re.compile(r"(?:import|from|class|raise|if|def) |@|\w+(?:, \w+)* = |\w+\((?:\[|.*[(\])]$|$)| ", re.M)
_SENTENCES = re.compile(r"(?<=[.:])(?<!\":) (?=\w)")


def statements(page: str) -> list[str]:
    """Every sentence of a page of the reference and every piece of code in it, in their order; headings say nothing."""
    text, headings = reference(page), HEADINGS.get(page, ())
    found: list[str] = []
    in_code = False
    for block in re.split(r"\n\s*\n", text):
        if _CODE.match(block.lstrip("\n")):
            found.append(f"{found.pop()}\n\n{block}" if in_code else block)
            in_code = True
            continue
        in_code = False
        for line in block.splitlines():
            if line.strip() and line not in headings and not line.endswith("¶"):
                found += _SENTENCES.split(re.sub(r"^(?:• |\d+\. )", "", line.strip()))
    return found


def reference(page: str = "scoring.txt") -> str:
    """A page of the reference. Skips the test where it is not at hand."""
    path = SHARED / "reference" / page
    if not path.is_file():
        pytest.skip(f"the reference is not here: looked for {path} (set RULEBOOK_SHARED)")
    return path.read_text(encoding="utf-8")


def example(first: str, last: str, number: int = 1) -> str:
    """The reference's code from its line `first` to the next line `last`, its imports changed.

    `number` says which of several that begin alike is meant.
    """
    lines = reference().splitlines()
    begin = [place for place, line in enumerate(lines) if line == first][number - 1]
    end = next(place for place in range(begin, len(lines)) if lines[place] == last)
    return "\n".join(_changed(line) if line.startswith(("from ", "import ")) else line for line in lines[begin : end + 1])


def piece_of_code(page: str, line: str) -> str:
    """The one piece of code of a page that holds the line `line`, with only its import changed."""
    (found,) = [each for each in statements(page) if line in each.splitlines()]
    assert found.startswith("import chalkcompute\n")
    return found.replace("import chalkcompute\n", "import rulebook as chalkcompute\n", 1)


def write_package(folder: Path, task: str, script: str) -> None:
    """A package `environment` as a task's author has one, with the scoring script of one task."""
    place = folder / "environment" / "tasks" / task
    place.mkdir(parents=True)
    for package in (folder / "environment", folder / "environment" / "tasks", place):
        (package / "__init__.py").write_text("")
    (place / "scoring_script.py").write_text(script)


def _changed(line: str) -> str:
    for theirs, ours in FACES:
        line = re.sub(theirs, ours, line)
    return line
