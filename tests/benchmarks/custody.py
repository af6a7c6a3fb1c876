"""Taking over a submission of 1,000 files on tmpfs, against karotte's own `save_submission`.

    python tests/benchmarks/custody.py [--pairs 9] [--karotte PYTHON]

PYTHON is that of an environment with karotte 3.0.100. Every run is a process of its own, which saves the same folder
several times and prints the CPU seconds of the median one: what is measured is the saving, not the start.
"""

import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Ratio, run_alone

FILES = 1000
TMPFS = "/dev/shm"

SAVING = """
import statistics, sys, time
from pathlib import Path
from {module} import save_submission
source, place = Path(sys.argv[1]), Path(sys.argv[2])
spent = []
for number in range(7):
    began = time.process_time()
    save_submission(source, place / str(number))
    spent.append(time.process_time() - began)
    assert sum(path.is_file() for path in (place / str(number)).rglob("*")) == {files}
print(statistics.median(spent))
"""


def run(pairs: int, karotte: str | None = None) -> list[Ratio]:
    """The ratio, where `karotte`, a Python that has it, is given."""
    if karotte is None:
        return []
    with tempfile.TemporaryDirectory(dir=TMPFS) as place:
        source = Path(place, "work")
        write_submission(source)
        ours = [sys.executable, "-c", SAVING.format(module="rulebook.services.custody", files=FILES)]
        theirs = [karotte, "-c", SAVING.format(module="karotte", files=FILES)]
        spent = [(saved_s(ours, source), saved_s(theirs, source)) for _ in range(pairs + 1)][1:]
    return [
        Ratio(
            "save_submission of 1,000 files / karotte",
            tuple(a / b for a, b in spent),
            statistics.median(a for a, _ in spent),
            statistics.median(b for _, b in spent),
            1.2,
        )
    ]


def write_submission(folder: Path) -> None:
    """1,000 files of 0 to 8 KB in 50 folders, the same bytes every time."""
    chance = random.Random(1)
    for number in range(FILES):
        path = folder / f"part_{number % 50:02}" / f"file_{number:04}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(chance.randrange(8192)))


def saved_s(argv: Sequence[str], source: Path) -> float:
    """The CPU seconds of one save, as the process says."""
    with tempfile.TemporaryDirectory(dir=TMPFS) as place:
        said = subprocess.run([*argv, str(source), place], capture_output=True, text=True, check=True, cwd="/")
    return float(said.stdout)


def main() -> int:
    """Measure and print."""
    return 0 if run_alone(__doc__, run, 9) else 1


if __name__ == "__main__":
    raise SystemExit(main())
