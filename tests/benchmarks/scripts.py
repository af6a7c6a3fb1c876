"""A scoring script judged: around `sh`, around Python, and where it leaves a child behind; the time on the clock.

    python tests/benchmarks/scripts.py [--pairs 5] [--karotte PYTHON]

PYTHON is that of an environment with karotte 3.0.100: see karotte_judges.py beside this file. Each run is a process that
judges one script many times and prints the median; both sides run the very same script, and runs whose scores do not
agree are void.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Ratio, run_alone

HERE = Path(__file__).parent
SHELL = 'printf \'{"score": 1, "metadata": {}}\' > "$0"'
PYTHON = 'import json, sys; json.dump({"score": 1, "metadata": {}}, open(sys.argv[1], "w"))'
CHILD_S = 0.05
"""A script that leaves a child behind must be judged within this."""


def run(pairs: int, karotte: str | None = None) -> list[Ratio]:
    """The ratios against karotte where `karotte`, a Python that has it, is given."""
    if karotte is None:
        return []
    return [
        _ratio("a judge around `sh` / karotte", ["sh", "-c", SHELL], karotte, 40, pairs),
        _ratio("a judge around Python / karotte", [sys.executable, "-c", PYTHON], karotte, 15, pairs),
    ]


def left_behind() -> float:
    """The seconds that judging a script takes which leaves a child behind that holds its output open."""
    return _judged([sys.executable, str(HERE / "our_scripts.py")], ["sh", "-c", f"setsid sleep 30 & {SHELL}"], 20)


def _ratio(name: str, words: list[str], karotte: str, times: int, pairs: int) -> Ratio:
    ours, theirs = [sys.executable, str(HERE / "our_scripts.py")], [karotte, str(HERE / "karotte_scripts.py")]
    measured = [(_judged(ours, words, times), _judged(theirs, words, times)) for _ in range(pairs)]
    a, b = (statistics.median(side) for side in zip(*measured, strict=True))
    return Ratio(name, tuple(one / other for one, other in measured), a, b, 1.3)


def _judged(side: list[str], words: list[str], times: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(
        [*side, str(times), *words], capture_output=True, text=True, check=True, env=environment
    ).stdout.split()
    if float(done[-1]) != 1:
        raise RuntimeError(f"void: {side[-1]} gives {done[-1]}")
    return float(done[-2])


def main() -> int:
    """Measure and print."""
    within = run_alone(__doc__, run, 5)
    child_s = left_behind()
    print(f"a script that leaves a child behind: {child_s * 1000:.1f} ms, at most {CHILD_S * 1000:.0f}")
    return 0 if within and child_s <= CHILD_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
