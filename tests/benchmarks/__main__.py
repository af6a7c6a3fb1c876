"""Runs every benchmark and prints one line each; exit status 1 when a ratio is above what it may be."""

import argparse
import os
import sys

from tests.benchmarks import (
    custody,
    evaluations,
    large_session,
    log_check,
    rubric,
    scorers,
    scripts,
    startup,
    tables,
    transcripts,
    tree,
)
from tests.benchmarks.pairs import karotte_python


def main() -> int:
    """Run them."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Ratios against yardsticks, in one run.")
    parser.add_argument("--pairs", type=int, default=9, help="how many pairs of runs each ratio takes")
    given = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.2f}")
    found = []
    for alone in (startup, tree, log_check, rubric, scorers):
        found += alone.run(given.pairs)
    karotte = karotte_python()
    for against in (transcripts, custody, scripts):
        found += against.run(given.pairs, karotte)
    found += tables.run(given.pairs)
    found += evaluations.run(given.pairs)
    found += large_session.run()
    for each in found:
        print(each.line())
    print(f"load after: {os.getloadavg()[0]:.2f}")
    return 0 if all(each.median <= each.at_most for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
