"""The yardstick that is karotte 3.0.100: its ExecutableJudge around one scoring script, again and again.

    PYTHON tests/benchmarks/karotte_scripts.py TIMES WORD…

PYTHON is that of an environment with karotte: see karotte_judges.py beside this file. Prints the median of the seconds
that one judgement takes, and the score.
"""

import statistics
import sys
import time

from karotte.judges import ExecutableJudge
from karotte.schemas.transcript import Transcript


def main() -> None:
    times, words = int(sys.argv[1]), sys.argv[2:]
    taken = []
    for _ in range(times):
        judge = ExecutableJudge([*words, "score.json"])
        began = time.perf_counter()
        scoring = judge.evaluate(Transcript(run_id="r"))
        taken.append(time.perf_counter() - began)
    print(statistics.median(taken), scoring.score)


main()
