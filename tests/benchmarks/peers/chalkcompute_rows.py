"""Seven of chalkcompute's own scorer bodies over the rows of a JSONL file; nothing is deployed. Prints each scorer's sum.

    python chalkcompute_rows.py rows.jsonl

Needs chalkcompute 2.13.11. A declared scorer is the function that would be deployed.
"""

import json
import sys

from chalkcompute import scorers

scorers._function = lambda **_: lambda body: body

declared = [
    (scorers.exact_match(), ("output", "expected")),
    (scorers.contains(inputs=("output", "expected_intent")), ("output", "expected_intent")),
    (scorers.regex_match(r'"amount": (?P<amount>[0-9.]+)'), ("output",)),
    (scorers.levenshtein(), ("output", "expected")),
    (scorers.json_valid(), ("output",)),
    (scorers.json_match(paths=["intent"]), ("output", "expected")),
    (scorers.numeric_close(inputs=("amount", "expected_amount"), tolerance=0.01), ("amount", "expected_amount")),
]
sums = [0.0] * len(declared)
with open(sys.argv[1], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
for row in rows:
    for place, (score, columns) in enumerate(declared):
        sums[place] += score(**{column: row[column] for column in columns}).score
print(*[f"{total:.6f}" for total in sums])
