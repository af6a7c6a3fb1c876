"""Task files: every mistake at once, in words; and what a sound one is."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rulebook.api.linting import lint_file
from rulebook.expression.program import load_rules
from rulebook.expression.task_program import TaskProgram
from rulebook.services.files import MachineFiles

HEAD = "schema: rulebook.task\nversion: 1\nname: x\n"
CASES = yaml.safe_load((Path(__file__).parent / "tasks" / "mistakes.yaml").read_text(encoding="utf-8"))


def write(case: dict[str, Any], folder: Path) -> Path:
    for name, text in case.get("files", {}).items():
        data = text["latin"].encode("latin-1") if isinstance(text, dict) else text.encode()
        (folder / name).write_bytes(data)
    (folder / "task.yaml").write_text(HEAD + case["text"], encoding="utf-8")
    return folder / "task.yaml"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_mistakes(case: dict[str, Any], tmp_path: Path) -> None:
    found = lint_file(str(write(case, tmp_path))).diagnostics
    said = [f"{d.span.line}:{d.span.column} {d.code} {d.message}" for d in found if d.span]
    assert said == [line.replace("{folder}", str(tmp_path)) for line in case["expect"]]


def task(text: str, folder: Path, **files: str) -> TaskProgram:
    path = write({"text": text, "files": {name.replace("_", "."): content for name, content in files.items()}}, folder)
    loaded = load_rules(str(path), MachineFiles())
    assert isinstance(loaded.content, TaskProgram), [d.message for d in loaded.diagnostics]
    return loaded.content


STEP = "steps: [{name: a, instructions: '{{ params.n }}', judge: {regex: x}}]\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows_csv", "name,n,on\nfirst,1,true\n,2,false\n"),
        ("rows_csv", "\ufeffname,n,on\r\nfirst,1,true\r\n\"\",2,false\r\n"),
        ("rows_jsonl", '{"name": "first", "n": 1, "on": true}\n\n{"n": 2, "on": false}\n'),
        ("rows_yaml", "- {name: first, n: 1, on: true}\n- {n: 2, on: false}\n"),
    ],
)
def test_cases_of_a_file(name: str, content: str, tmp_path: Path) -> None:
    if name == "rows_csv":
        content = content.replace("\n,2", "\n2nd,2").replace('""', "2nd")
    text = f"params: {{n: {{type: integer}}, on: {{type: boolean}}}}\ncases: {name.replace('_', '.')}\n{STEP}"
    first, second = task(text, tmp_path, **{name: content}).spec.cases
    assert (first.name, first.values) == ("first", {"n": 1, "on": True})
    assert (second.name, second.values) == ("2nd" if name == "rows_csv" else "2", {"n": 2, "on": False})


def test_a_case_may_set_a_parameter_called_name(tmp_path: Path) -> None:
    text = "params: {name: {type: string}, n: {type: number}}\ncases: [{name: x, n: 1.5}]\n" + STEP
    (case,) = task(text, tmp_path).spec.cases
    assert (case.name, case.values) == ("x", {"name": "x", "n": 1.5})


def test_them_of_a_step_and_of_the_file(tmp_path: Path) -> None:
    text = """checks: {top: {regex: x}, other: {regex: z}}
steps:
  - {name: a, instructions: go, checks: {own: {regex: x}, two: {regex: y}}, judge: all of them}
  - {name: b, instructions: go, judge: all of them}
  - {name: c, instructions: go, checks: {own: {regex: x}}, judge: own and top}
"""
    judges = [[part.common.name for part in step.judge.parts] for step in task(text, tmp_path).steps]
    assert judges == [["own", "two"], ["top", "other"], ["own", "top"]]


def test_what_a_task_wants_of_a_session(tmp_path: Path) -> None:
    text = "steps: [{name: a, instructions: go, judge: {expr: turns < 3}, when: \"count(tool_calls) > 0\"}]\n"
    wants = task(text, tmp_path).wants
    assert wants.tool_calls
    assert not wants.approvals


def test_whose_a_failure_is(tmp_path: Path) -> None:
    step = "steps: [{name: a, instructions: go, submissions: {x: {path: x}}, judge: {file: {%s}}}]\n"
    (own,) = task(step % "submission: x, contains: a", tmp_path).items
    (ours,) = task(step % "path: x, contains: a", tmp_path).items
    assert (own.category, ours.category) == ("model", "fixture")
