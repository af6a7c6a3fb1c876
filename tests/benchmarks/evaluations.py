"""Whole evaluations of seven deterministic scorers a row against other evaluators, and their memory.

    PEERS_PYTHON=… PROMPTFOO=… python tests/benchmarks/evaluations.py [--pairs 9]

PEERS_PYTHON is a Python that has chalkcompute 2.13.11 and autoevals 0.4.1, PROMPTFOO the program of promptfoo 0.121.20;
what is not there is said to be not measured. Ours is the whole command: rows read, metadata and report written. Each
side's sum of scores must be the same for every scorer, else a ratio is void; promptfoo's levenshtein, which passes or
fails, is left out.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Cost, Ratio, cost_of, ratio, rulebook, run_alone
from tests.benchmarks.scorers import DECLARED

PEERS = Path(__file__).parent / "peers"
LEVENSHTEIN = 3
FILE = """
schema: rulebook.evaluation
version: 1
name: seven
dataset: ROWS
scorers:
  - exact_match: {}
  - contains: {inputs: [output, expected_intent]}
  - regex_match: {pattern: '"amount": (?P<amount>[0-9.]+)'}
  - levenshtein: {}
  - json_valid: {}
  - json_match: {paths: [intent]}
  - numeric_close: {inputs: [amount, expected_amount], tolerance: 0.01}
"""
SCORES_ONLY = (
    DECLARED
    + """
import sys
print(*[f"{sum(column):.6f}" for column in scorers.score_columns(declared, sys.argv[1]).values()])
"""
)
IMPORTS = "import rulebook.cli.evaluation_work, rulebook.measures.levenshtein, rulebook.measures.json_match"
AT_MOST_MB = 64


def run(pairs: int, _karotte: str | None = None) -> list[Ratio]:
    """The ratios and the memory, as far as the peers are there."""
    found: list[Ratio] = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["RULEBOOK_HOME"] = f"{name}/home"
        folder = Path(name)
        python, promptfoo = os.environ.get("PEERS_PYTHON"), os.environ.get("PROMPTFOO")
        if python is None:
            print("NOT MEASURED: evaluations against chalkcompute and autoevals. PEERS_PYTHON must name a Python that has them")
        else:
            found += _against_peers(folder, python, pairs)
        if promptfoo is None:
            print("NOT MEASURED: evaluations against promptfoo. PROMPTFOO must name its program")
        else:
            found.append(_against_promptfoo(folder, promptfoo, pairs))
        return found + _memory(folder)


def _against_peers(folder: Path, python: str, pairs: int) -> list[Ratio]:
    rows = write_rows(folder, 10_000)
    ours = rulebook("evaluation", "run", _file(folder, rows))
    many = write_rows(folder, 100_000)
    alone = [sys.executable, "-c", SCORES_ONLY, many]
    found = []
    for name, at_most in (("chalkcompute", 0.14), ("autoevals", 0.75)):
        theirs = [python, str(PEERS / f"{name}_rows.py"), rows]
        _agree(name, _sums_of_report(ours), _sums_printed(theirs))
        found.append(ratio(f"evaluation, 10,000 rows / {name}", ours, theirs, at_most, pairs=pairs))
    theirs = [python, str(PEERS / "chalkcompute_rows.py"), many]
    _agree("chalkcompute", _sums_printed(alone), _sums_printed(theirs))
    # theirs takes half a minute, so that fewer pairs must do
    return [*found, ratio("scores only, 100,000 rows / chalkcompute", alone, theirs, 0.08, pairs=min(pairs, 3))]


def _against_promptfoo(folder: Path, program: str, pairs: int) -> Ratio:
    rows = write_rows(folder, 1_000)
    ours = rulebook("evaluation", "run", _file(folder, rows))
    out = folder / "out.json"
    config = folder / "promptfooconfig.json"
    cases = [{"vars": json.loads(line)} for line in Path(rows).read_text(encoding="utf-8").splitlines()]
    (folder / "cases.json").write_text(json.dumps(cases))
    config.write_text(json.dumps(_promptfoo_config()))
    os.environ |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    os.environ["PROMPTFOO_CONFIG_DIR"] = str(folder / "promptfoo")
    quiet = ["-j", "4", "--no-cache", "--no-write", "--no-table", "--no-progress-bar"]
    theirs = [program, "eval", "-c", str(config), *quiet, "-o", str(out)]
    cost_of(theirs, exits=(0, 100))
    results = json.loads(out.read_text())["results"]["results"]
    scores = [[part["score"] for part in each["gradingResult"]["componentResults"]] for each in results]
    _agree("promptfoo", _sums_of_report(ours), [float(sum(column)) for column in zip(*scores, strict=True)], LEVENSHTEIN)
    name = "evaluation, 1,000 rows / promptfoo, wall"
    return ratio(name, ours, theirs, 0.05, pairs=min(pairs, 5), exits=(0, 100), figure=lambda cost: cost.wall_s)


def _memory(folder: Path) -> list[Ratio]:
    peaks = []
    for count in (10_000, 1_000_000):
        rows = write_rows(folder, count)
        ours = rulebook("evaluation", "run", _file(folder, rows))
        cost_of([*ours, "--limit", "1"])  # the first run of a file reads it, and loads more for that
        peaks.append(cost_of(ours))
        os.remove(rows)
    imports = cost_of([sys.executable, "-c", IMPORTS]).peak_mb
    beyond = [cost.peak_mb - imports for cost in peaks]
    print(f"1,000,000 rows: {peaks[1].cpu_s:.1f} s CPU, {peaks[1].peak_mb:.0f} MB, {beyond[1]:.0f} MB beyond imports")
    return [
        _memory_ratio("memory, 1M rows beyond imports / 64 MB", beyond[1], AT_MOST_MB, 1.0, peaks[1]),
        _memory_ratio("memory, 1M rows / 10,000 rows", peaks[1].peak_mb, peaks[0].peak_mb, 1.1, peaks[1]),
    ]


def _memory_ratio(name: str, ours_mb: float, theirs_mb: float, at_most: float, cost: Cost) -> Ratio:
    return Ratio(name, (ours_mb / theirs_mb,), cost.cpu_s, cost.wall_s, at_most)


def write_rows(folder: Path, count: int) -> str:
    """The path of a JSONL file of that many rows of a support desk, the same ones every time."""
    drawn = random.Random(5)
    intents = ["refund", "cancel", "billing", "status"]
    path = folder / f"rows-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            intent = drawn.choice(intents)
            said = intent if drawn.random() < 0.8 else drawn.choice(["refund", "status"])
            amount = round(drawn.uniform(0, 100), 2)
            whole = drawn.random() < 0.9
            row = {
                "message": f"I was charged twice for order {number}, please refund {amount}",
                "output": json.dumps({"intent": said, "amount": amount}) if whole else "unclassified",
                "expected": json.dumps({"intent": intent, "amount": amount if drawn.random() < 0.7 else 1.0}),
                "expected_intent": intent,
                "amount": str(amount),
                "expected_amount": str(amount if drawn.random() < 0.7 else amount + 5),
            }
            file.write(json.dumps(row) + "\n")
    return str(path)


def _file(folder: Path, rows: str) -> str:
    path = folder / f"{Path(rows).stem}.yaml"
    path.write_text(FILE.replace("ROWS", Path(rows).name))
    return str(path)


def _sums_of_report(argv: Sequence[str]) -> list[float]:
    done = subprocess.run([*argv, "--format", "json"], capture_output=True, text=True, check=True)
    return [each["mean"] * each["scores"] for each in json.loads(done.stdout)["scorers"]]


def _sums_printed(argv: Sequence[str]) -> list[float]:
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def _agree(peer: str, ours: Sequence[float], theirs: Sequence[float], but: int | None = None) -> None:
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if place != but and abs(one - other) > 1e-5:
            raise RuntimeError(f"void: scorer {place} sums to {one} here and to {other} with {peer}")


def _promptfoo_config() -> dict[str, object]:
    same = "JSON.parse(output).intent === JSON.parse(context.vars.expected).intent"
    near = "Math.abs(Number(context.vars.amount) - Number(context.vars.expected_amount)) <= 0.01"
    checks = [
        {"type": "equals", "value": "{{expected}}"},
        {"type": "contains", "value": "{{expected_intent}}"},
        {"type": "regex", "value": '"amount": (?<amount>[0-9.]+)'},
        {"type": "levenshtein", "threshold": 5, "value": "{{expected}}"},
        {"type": "is-json"},
        {"type": "javascript", "value": f"(() => {{ try {{ return {same} }} catch {{ return false }} }})()"},
        {"type": "javascript", "value": near},
    ]
    whole = {"prompts": ["{{output}}"], "providers": ["echo"], "tests": "file://cases.json"}
    return {**whole, "defaultTest": {"assert": checks}}


if __name__ == "__main__":
    raise SystemExit(0 if run_alone(__doc__, run, 9) else 1)
