"""Starting up and linting, against an empty Python."""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pairs import Ratio, cost_of, ratio, rulebook

RULE = """\
  rule_{n}:
    all:
      - regex: {{patterns: ['answer: {n}'], from: assistant}}
      - contains: {{from: final_message, expected: 'part {n}'}}
      - expr: 'turns <= {n} + 8 and end_reason == ''finished'''
    why: The part {n} must be there.
"""


def rule_file(lines: int) -> str:
    """A valid rule file of about so many lines."""
    head = "schema: chock.eval\nversion: 1\nname: benchmark\nexpect: {end_reason: finished, max_turns: 9}\nchecks:\n"
    return head + "".join(RULE.format(n=n) for n in range((lines - 5) // 6))


def run(pairs: int) -> list[Ratio]:
    """Every ratio of this file."""
    nothing = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder, "one.yaml")
        one.write_text(rule_file(200), encoding="utf-8")
        hundred = Path(folder, "hundred")
        hundred.mkdir()
        for number in range(100):
            (hundred / f"rules_{number}.yaml").write_text(rule_file(200), encoding="utf-8")
        found = [
            ratio("rulebook --version / python -c pass", rulebook("--version"), nothing, 3, pairs=pairs),
            ratio("lint one 200-line file / python -c pass", rulebook("lint", str(one)), nothing, 20, pairs=pairs),
        ]
        single = min(cost_of(rulebook("lint", str(one))).cpu_s for _ in range(pairs))
        many = min(cost_of(rulebook("lint", str(hundred))).cpu_s for _ in range(3))
        each = (many - single) / 99
        found.append(Ratio("lint, each further file / 8 ms", (each / 0.008,), each, 0.008, 1))
        return found
