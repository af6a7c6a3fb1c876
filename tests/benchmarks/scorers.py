"""What scoring rows costs by itself: metadata for every score, against plain loops that give scores alone.

    python tests/benchmarks/scorers.py [--pairs 5]

Yardsticks: the same seven scorers written out by hand (`json.loads` once for each column, RapidFuzz's own call, compiled
patterns, no metadata), `json.loads` of two columns, and RapidFuzz's own call. The rows stand in memory on both sides.
Every run is a process of its own and prints the sum of each scorer; runs that do not agree are void.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Ratio, ratio, run_alone

ROWS = """
import json, random, re, sys
drawn = random.Random(5)
some = []
for number in range(1_000):
    intent = drawn.choice(["refund", "cancel", "billing", "status"])
    said = intent if drawn.random() < 0.8 else drawn.choice(["refund", "status"])
    amount = round(drawn.uniform(0, 100), 2)
    output = json.dumps({"intent": said, "amount": amount}) if drawn.random() < 0.9 else "unclassified"
    expected = json.dumps({"intent": intent, "amount": amount if drawn.random() < 0.7 else 1.0})
    wanted = str(amount if drawn.random() < 0.7 else amount + 5)
    some.append({"message": f"order {number}", "output": output, "expected": expected, "expected_intent": intent,
                 "amount": str(amount), "expected_amount": wanted})
rows = (row for _ in range(100) for row in some)
def tell(sums):
    print(*[f"{value:.6f}" for value in sums])
"""
DECLARED = """
from rulebook import scorers
declared = [
    scorers.exact_match(),
    scorers.contains(inputs=("output", "expected_intent")),
    scorers.regex_match(r'"amount": (?P<amount>[0-9.]+)'),
    scorers.levenshtein(),
    scorers.json_valid(),
    scorers.json_match(paths=["intent"]),
    scorers.numeric_close(inputs=("amount", "expected_amount"), tolerance=0.01),
]
"""
"""Seven scorers, as a program declares them."""

SEVEN = ROWS + DECLARED + """
from rulebook.measures.table import over_rows
sums = [0.0] * 7
for found in over_rows([each.measure for each in declared], rows):
    for place, (score, metadata) in enumerate(found):
        sums[place] += score
tell(sums)
"""
SEVEN_BY_HAND = ROWS + """
from rapidfuzz.distance import Levenshtein
pattern = re.compile(r'"amount": (?P<amount>[0-9.]+)')
def read(text):
    try:
        return json.loads(text)
    except ValueError:
        return None
sums = [0.0] * 7
for row in rows:
    output, expected = row["output"].strip(), row["expected"].strip()
    sums[0] += output == expected
    sums[1] += row["expected_intent"] in output
    sums[2] += pattern.search(output) is not None
    sums[3] += 1 - Levenshtein.distance(output, expected) / max(len(output), len(expected), 1)
    ours, theirs = read(output), read(expected)
    sums[4] += ours is not None
    sums[5] += ours is not None and theirs is not None and ours.get("intent") == theirs.get("intent")
    sums[6] += abs(float(row["amount"]) - float(row["expected_amount"])) <= 0.01
tell(sums)
"""
ONE = ROWS + """
from rulebook import scorers
scorer = SCORER
tell([sum(result.score for result in scorer.score_rows(rows))])
"""
DISTANCES = ROWS + """
from rapidfuzz.distance import Levenshtein
total = 0.0
for row in rows:
    output, expected = row["output"].strip(), row["expected"].strip()
    total += 1 - Levenshtein.distance(output, expected) / max(len(output), len(expected), 1)
tell([total])
"""
DOCUMENTS = ROWS + """
total = 0.0
for row in rows:
    try:
        total += json.loads(row["output"]) == json.loads(row["expected"])
    except ValueError:
        pass
tell([total])
"""
WHAT = (
    ("seven scorers with metadata / by hand without", SEVEN, SEVEN_BY_HAND, 2.5),
    ("levenshtein results / RapidFuzz's own calls", ONE.replace("SCORER", "scorers.levenshtein()"), DISTANCES, 4.0),
    ("json_match results / json.loads of both columns", ONE.replace("SCORER", "scorers.json_match()"), DOCUMENTS, 2.0),
)  # fmt: skip


def run(pairs: int, _: str | None = None) -> list[Ratio]:
    """Every ratio of this file, over 100,000 rows."""
    found = []
    for name, ours, theirs, at_most in WHAT:
        commands = [sys.executable, "-c", ours], [sys.executable, "-c", theirs]
        said = [subprocess.run(each, capture_output=True, text=True, check=True).stdout for each in commands]
        if said[0] != said[1]:
            raise RuntimeError(f"void: {name}: {said}")
        found.append(ratio(name, *commands, at_most, pairs=pairs))
    return found


if __name__ == "__main__":
    sys.exit(0 if run_alone(__doc__, run, 5) else 1)
