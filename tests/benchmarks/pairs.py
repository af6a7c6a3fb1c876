"""Measuring whole processes in pairs: A B A B …, the ratio taken pair by pair, its median the headline."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one process used: CPU seconds (user and system), its peak resident memory in MB, and the time it took."""

    cpu_s: float
    peak_mb: float
    wall_s: float


def cost_of(argv: Sequence[str], *, exits: Sequence[int] = (0,)) -> Cost:
    """Run a program to its end, its output thrown away. Raises RuntimeError for another exit status."""
    began_s = time.monotonic()
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        # as for a package that pip installed, whose bytecode is there
        {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in exits:
        raise RuntimeError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - began_s)


@dataclass(frozen=True)
class Ratio:
    """A measured ratio beside the most that it may be."""

    name: str
    values: tuple[float, ...]
    ours_s: float
    theirs_s: float
    at_most: float

    @property
    def median(self) -> float:
        """The headline."""
        return statistics.median(self.values)

    def line(self) -> str:
        """One line of the table."""
        verdict = "ok" if self.median <= self.at_most else "TOO SLOW"
        spread = f"[{min(self.values):.2f}–{max(self.values):.2f}]"
        seconds = f"{self.ours_s * 1000:8.1f} ms / {self.theirs_s * 1000:8.1f} ms"
        return f"{self.name:44} {self.median:6.2f} {spread:16} at most {self.at_most:<5g} {verdict:8} {seconds}"


def ratio(
    name: str,
    ours: Sequence[str],
    theirs: Sequence[str],
    at_most: float,
    *,
    pairs: int = 9,
    exits: Sequence[int] = (0,),
    figure: Callable[[Cost], float] = lambda cost: cost.cpu_s,
) -> Ratio:
    """Our command against a yardstick by one figure of what they cost, after one warm-up of each."""
    cost_of(ours, exits=exits)
    cost_of(theirs, exits=exits)
    measured = [(figure(cost_of(ours, exits=exits)), figure(cost_of(theirs, exits=exits))) for _ in range(pairs)]
    return Ratio(
        name,
        tuple(a / b for a, b in measured),
        statistics.median(a for a, _ in measured),
        statistics.median(b for _, b in measured),
        at_most,
    )


def rulebook(*words: str) -> list[str]:
    """The command line of the product, as a user starts it."""
    return [os.path.join(os.path.dirname(sys.executable), "rulebook"), *words]


def karotte_python() -> str | None:
    """The Python that `KAROTTE_PYTHON` names. Says so where there is none: ratios against karotte are then not measured."""
    named = os.environ.get("KAROTTE_PYTHON")
    if named is None:
        print("NOT MEASURED: what is compared with karotte. KAROTTE_PYTHON must name a Python 3.12 that has karotte 3.0.100")
    return named


def run_alone(doc: str | None, run: Callable[[int, str | None], list[Ratio]], pairs: int) -> bool:
    """Measure what `run` measures and print it; whether every ratio is within its bound."""
    asked = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--pairs", type=int, default=pairs, help="how many pairs are measured")
    asked.add_argument("--karotte", metavar="PYTHON", default=karotte_python(), help="a Python that has karotte")
    given = asked.parse_args()
    print(f"load before: {os.getloadavg()[0]:.2f}")
    found = run(given.pairs, given.karotte)
    for each in found:
        print(each.line())
    return all(each.median <= each.at_most for each in found)
