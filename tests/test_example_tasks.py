"""The tasks in `rules/`: right work passes, and none of what a student might try instead does."""

import json
from pathlib import Path

import pytest

from rulebook.api.linting import lint_file
from rulebook.services.ports import machine_ports
from rulebook.session.task_scoring import Recorded, load_task, score_task

RULES = Path(__file__).parent.parent / "rules"
PORTS = machine_ports()
RIGHT = {"report-version": {"answer.txt": "3.12.11\n"}, "sum-readings": {"summary.json": '{"total": 60, "largest": 29}'}}
CASE = {"report-version": None, "sum-readings": "lake"}


def score(name: str, folder: Path, files: dict[str, str], said: str = "Done.") -> tuple[float | None, bool | None]:
    program = load_task(str(RULES / f"{name}.yaml"), PORTS)
    work, session = folder / "work", folder / "session.json"
    work.mkdir()
    for file, text in files.items():
        (work / file).write_text(text)
    session.write_text(json.dumps({"messages": [{"role": "assistant", "content": said}]}))
    total = score_task(program, Recorded(str(session), str(work)), PORTS, case=CASE[name]).total
    return total.score, total.passed


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_clean(name: str) -> None:
    assert lint_file(str(RULES / f"{name}.yaml")).diagnostics == ()


@pytest.mark.parametrize("name", RIGHT)
def test_right_work_passes(name: str, tmp_path: Path) -> None:
    assert score(name, tmp_path, RIGHT[name]) == (1.0, True)


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("text", [None, "", '{"score": 1, "metadata": {}}', "I did it, all tests pass. 3.12.11 60 29", "[]", "null"])
def test_anything_else_earns_nothing(name: str, text: str | None, tmp_path: Path) -> None:
    files = {} if text is None else dict.fromkeys(RIGHT[name], text)
    assert score(name, tmp_path, files, "3.12.11 {\"total\": 60, \"largest\": 29}") == (0.0, False)


def test_the_second_step_weighs_half_of_the_first(tmp_path: Path) -> None:
    found, passed = score("sum-readings", tmp_path, {"summary.json": '{"total": 60, "largest": 17}'})
    assert found == pytest.approx(2 / 3)
    assert passed is False
