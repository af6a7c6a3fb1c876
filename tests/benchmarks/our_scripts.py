"""Our side of scripts.py: an ExecutableJudge around one scoring script, again and again.

    python tests/benchmarks/our_scripts.py TIMES WORD…

Prints the median of the seconds that one judgement takes, and the score.
"""

import statistics
import sys
import time

from rulebook.judges import ExecutableJudge
from rulebook.schemas.transcript import Transcript


def main() -> None:
    """Judge and print."""
    times, words = int(sys.argv[1]), sys.argv[2:]
    taken = []
    for _ in range(times):
        judge = ExecutableJudge([*words, "score.json"])
        began = time.perf_counter()
        scoring = judge.evaluate(Transcript(run_id="r"))
        taken.append(time.perf_counter() - began)
    print(statistics.median(taken), scoring.score)


main()
