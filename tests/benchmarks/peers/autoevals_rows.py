"""Seven scorers of autoevals over the rows of a JSONL file, four of them own ones of its documented kind. Prints each sum.

    python autoevals_rows.py rows.jsonl

Needs autoevals 0.4.1. It has no scorer for a part of a text, a pattern, one key of a document and a tolerance.
"""

import json
import re
import sys

from autoevals import ExactMatch, Levenshtein, Score, Scorer, ValidJSON


class Contains(Scorer):
    def _run_eval_sync(self, output, expected=None, **_):
        return Score(name="contains", score=float(expected in output))


class Pattern(Scorer):
    pattern = re.compile(r'"amount": (?P<amount>[0-9.]+)')

    def _run_eval_sync(self, output, expected=None, **_):
        return Score(name="pattern", score=float(self.pattern.search(output) is not None))


class Intent(Scorer):
    def _run_eval_sync(self, output, expected=None, **_):
        try:
            same = json.loads(output)["intent"] == json.loads(expected)["intent"]
        except ValueError:
            same = False
        return Score(name="intent", score=float(same))


class Close(Scorer):
    def _run_eval_sync(self, output, expected=None, **_):
        return Score(name="close", score=float(abs(float(output) - float(expected)) <= 0.01))


declared = [
    (ExactMatch(), "output", "expected"),
    (Contains(), "output", "expected_intent"),
    (Pattern(), "output", "expected"),
    (Levenshtein(), "output", "expected"),
    (ValidJSON(), "output", None),
    (Intent(), "output", "expected"),
    (Close(), "amount", "expected_amount"),
]
sums = [0.0] * len(declared)
with open(sys.argv[1], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
for row in rows:
    for place, (scorer, output, expected) in enumerate(declared):
        sums[place] += scorer.eval(row[output], None if expected is None else row[expected]).score
print(*[f"{total:.6f}" for total in sums])
