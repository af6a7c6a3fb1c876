"""Golden reports: what a rule file says of a session, to the byte. `--write-golden` writes them anew, for a look."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from rulebook.api.loading import load
from rulebook.report.eval_report import eval_report
from rulebook.report.plain_json import canonical
from rulebook.report.rewards import exit_status
from rulebook.report.text import render_report

FOLDER = Path(__file__).parent / "reports"
ROOT = FOLDER.parent.parent
CASES = sorted(path for path in FOLDER.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_report(folder: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    case = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))
    monkeypatch.chdir(ROOT)
    rules = load(case.get("rules", (folder / "rules.yaml").relative_to(ROOT)))
    project = unpacked(ROOT / case["repository"], tmp_path) if "repository" in case else None
    report = rules.evaluate(case["session"], project=project, params=case.get("params"))
    compare(folder / "report.json", canonical(eval_report(report.judged)).replace(str(project), "parser"), request)
    compare(folder / "report.txt", render_report(report.judged), request)
    assert exit_status(report.judged) == case["exit"]


def unpacked(stream: Path, folder: Path) -> Path:
    """A repository from its fast-export stream."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    with stream.open("rb") as lines:
        subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], stdin=lines, check=True)
    subprocess.run(["git", "-C", str(folder), "checkout", "-q", "main"], check=True)
    return folder


def compare(path: Path, text: str, request: pytest.FixtureRequest) -> None:
    text = text if text.endswith("\n") else text + "\n"
    text = re.sub(r"in \d+\.\d+s", "in 0.000s", text)  # what a test prints of its own duration is not ours
    if request.config.getoption("--write-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_golden_reports_are_what_they_claim() -> None:
    """A golden file that nobody reads can go wrong unseen: the verdict of each stands in its case."""
    for folder in CASES:
        case = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))
        report = json.loads((folder / "report.json").read_text("utf-8"))
        found = {finding["id"]: finding["status"] for finding in report["findings"]}
        assert {id: found.get(id) for id in case["findings"]} == case["findings"], folder.name
        assert report["reward"] == case["reward"], folder.name
