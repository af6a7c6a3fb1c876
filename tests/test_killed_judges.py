"""A run with model scorers that is killed while it asks goes on: no answer is asked for twice, and none is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from model_server import Endpoint, Handler, Lasting, endpoint, says

import rulebook

ROOT = Path(rulebook.__file__).parent.parent
ROWS = 10_000
AT_ONCE = 8
JUDGED = """\
schema: rulebook.evaluation
version: 1
name: judged
dataset: rows.jsonl
scorers:
  - llm_judge:
      name: fit
      model: here/small
      inputs: [message, output]
      instructions: You grade replies to customers.
      answer: {stars: {type: integer, min: 0, max: 4}, why: {type: string}}
      score: stars / 4
  - jev:
      name: intent
      model: here/quick
      fallback_model: here/slow
      inputs: [topic]
      labels: {right: 1, wrong: 0}
      rubric: 'right: it is what was asked for. wrong: anything else.'
"""

Asked = tuple[str, str]
"""A model, and what of which row it was asked about."""


class Court:
    """Answers every question by its row, and ends a program while so many of its questions wait for an answer."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.asked: Counter[Asked] = Counter()
        self.answered: Counter[Asked] = Counter()
        self.waiting: list[Asked] = []
        self.held: list[Asked] = []
        self.victim: subprocess.Popen[str] | None = None
        self.kill_at: tuple[str, int] | None = None
        self.killed = threading.Event()

    def act(self, handler: Handler) -> None:
        shown = handler.body["messages"][-1]["content"]
        found = re.search(r"(row|topic) (\d+)", shown)
        assert found is not None
        model, number = handler.body["model"], int(found[2])
        key = (model, found[0])
        if self._is_held(key, number):
            self.killed.wait(60)
            handler.close_connection = True
            return
        says(json.dumps(verdict(model, number)))(handler)

    def _is_held(self, key: Asked, number: int) -> bool:
        with self.turn:
            self.asked[key] += 1
            if self.kill_at is None or key[0] != self.kill_at[0] or number < self.kill_at[1]:
                self.answered[key] += 1
                return False
            self.waiting.append(key)
            if len(self.waiting) == AT_ONCE:  # no other question of the program is on its way
                assert self.victim is not None
                os.kill(self.victim.pid, signal.SIGKILL)
                self.held, self.waiting, self.kill_at = self.held + self.waiting, [], None
                self.killed.set()
            return True


def verdict(model: str, number: int) -> dict[str, object]:
    if model == "small":
        return {"stars": number % 5, "why": f"because of {number}"}
    sure = 0.95 if number % 10 else 0.6
    choice = "right" if number % 3 or model == "slow" else "wrong"
    other = "wrong" if choice == "right" else "right"
    shares = [{"label": choice, "probability": sure}, {"label": other, "probability": 1 - sure}]
    return {"choice": choice, "rationale": f"so it is with {number}", "probabilities": shares}


RUN = ("-m", "rulebook", "evaluation", "run", "judged.yaml", "--resume", "--format", "json")


def start(place: Path, home: str = "home", argv: tuple[str, ...] = RUN) -> "subprocess.Popen[str]":
    env = {**os.environ, "PYTHONPATH": f"{ROOT}", "RULEBOOK_HOME": str(place / home)}
    env = {key: value for key, value in env.items() if not key.lower().endswith("_proxy")}
    return subprocess.Popen([sys.executable, *argv], cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write(place: Path, server: Endpoint) -> None:
    (place / "judged.yaml").write_text(JUDGED, encoding="utf-8")
    config = f'[models]\nconcurrency = {AT_ONCE}\n[[providers]]\nname = "here"\nbase_url = "{server.url}"\n'
    prices = ", ".join(f"{model} = {{input = 1.0, output = 5.0}}" for model in ("small", "quick", "slow"))
    (place / "rulebook.toml").write_text(f"{config}prices = {{{prices}}}\n", encoding="utf-8")
    lines = [json.dumps({"message": f"row {n}", "output": "yes", "topic": f"topic {n // 10}"}) for n in range(ROWS)]
    (place / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def journal_of(home: Path) -> list[dict]:
    (journal,) = home.rglob("journal.jsonl")
    _, *lines = journal.read_text(encoding="utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "spent"} for line in lines]


def test_a_run_that_is_killed_while_it_asks_asks_for_no_answer_twice(tmp_path: Path) -> None:
    """Ten rows share a topic, about which the second scorer asks once."""
    court = Court()
    with endpoint(court.act, handler=Lasting) as server:
        write(tmp_path, server)
        for kill_at in (("small", 5_000), ("quick", 700)):
            court.kill_at, court.killed = kill_at, threading.Event()
            with start(tmp_path) as court.victim:
                _, told = court.victim.communicate()
            assert court.victim.returncode == -signal.SIGKILL, told
        resumed = ended(start(tmp_path))
        rows, topics = range(ROWS), range(ROWS // 10)
        every = Counter([("small", f"row {n}") for n in rows] + [("quick", f"topic {n}") for n in topics])
        every += Counter(("slow", f"topic {n}") for n in topics if n % 10 == 0)
        assert court.answered == every
        assert court.asked == every + Counter(court.held)
        assert len(court.held) == 2 * AT_ONCE
    # a run that nobody stops, with the same answers, and without any endpoint
    (tmp_path / "other").mkdir()
    (tmp_path / "home" / "cache").rename(tmp_path / "other" / "cache")
    unbroken = ended(start(tmp_path, "other"))
    spent = [report.pop("models") for report in (resumed, unbroken)]
    assert {**resumed, "run": ""} == {**unbroken, "run": ""}
    assert journal_of(tmp_path / "home") == journal_of(tmp_path / "other")
    assert [record["results"][0][0][0] for record in journal_of(tmp_path / "home")] == [n % 5 / 4 for n in rows]
    assert resumed["rows"] == {"count": ROWS, "damaged": 0, "task_failed": 0}
    assert [each["failed"] for each in resumed["scorers"]] == [0, 0]
    assert spent[1]["calls"] == 0
    assert spent[0]["since_resume"]["calls"] < spent[0]["calls"] < every.total()


def ended(process: "subprocess.Popen[str]") -> dict:
    with process:
        out, told = process.communicate()
    assert process.returncode == 0, told
    report: dict = json.loads(out)
    return report


OWN = """\
import json
import rulebook
from pydantic import BaseModel

class Fit(BaseModel):
    stars: int
    why: str
    score: float = 0.5

judge = rulebook.scorers.llm_judge(Fit, model="here/small", inputs=("message", "output"))
rows = [{"message": f"row {n}", "output": "yes"} for n in range(400)]
run = rulebook.Evaluation.create("own", dataset=rows, scorers=[judge]).run()
print(json.dumps(run.report()))
"""


def test_answers_that_a_killed_program_of_python_got_are_not_asked_for_again(tmp_path: Path) -> None:
    court = Court()
    with endpoint(court.act, handler=Lasting) as server:
        write(tmp_path, server)
        court.kill_at = ("small", 300)
        with start(tmp_path, argv=("-c", OWN)) as court.victim:
            _, told = court.victim.communicate()
        assert court.victim.returncode == -signal.SIGKILL, told
        report = ended(start(tmp_path, argv=("-c", OWN)))
    every = Counter(("small", f"row {n}") for n in range(400))
    assert court.answered == every
    assert court.asked == every + Counter(court.held)
    assert [each["failed"] for each in report["scorers"]] == [0]
    assert (report["models"]["calls"], report["models"]["cached"]) == (100, 300)
