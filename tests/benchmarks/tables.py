"""One SQL scorer over a million rows of Parquet against DuckDB's own time for the bare query, and rows in constant memory.

    python tests/benchmarks/tables.py [--pairs 9]

Every run is a process of its own, imports included. Both sides must come to the same sum, else there is no ratio.
The memory of reading rows is that of ten times as many over the fewer, for JSONL and CSV.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.pairs import Ratio, cost_of, ratio, run_alone

ANSWERED = """CASE WHEN "output" IS NOT NULL AND "output" <> '' THEN 1.0 ELSE 0.0 END"""
ROWS = 1_000_000
OURS = """
import sys
from rulebook import scorers
(scores,) = scorers.score_columns([scorers.sql("score", sys.argv[2])], sys.argv[1]).values()
sys.exit((sum(scores), len(scores)) != (float(sys.argv[3]), int(sys.argv[4])))
"""
BARE = """
import sys, duckdb
connection = duckdb.connect(config={"threads": "1"})
query = f"SELECT CAST(({sys.argv[2]}) AS DOUBLE) AS score FROM read_parquet('{sys.argv[1]}')"
scores = connection.sql(query).to_arrow_table().column(0).to_pylist()
sys.exit((sum(scores), len(scores)) != (float(sys.argv[3]), int(sys.argv[4])))
"""
WRITE = """
import sys, duckdb
output = "CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 = 0 THEN '' ELSE 'answer number ' || i END"
message = "'the message ' || (i * 37 % 1000) || repeat(' lorem', 10)"
query = f"SELECT i AS id, {output} AS output, {message} AS message FROM range({sys.argv[2]}) AS t(i)"
duckdb.connect().execute(f"COPY ({query}) TO '{sys.argv[1]}' (FORMAT parquet)")
"""
READ = """
import sys
from rulebook.services.datasets import open_dataset
dataset = open_dataset(sys.argv[1])
rows = sum(1 for _ in dataset.rows())
sys.exit(rows != int(sys.argv[2]) or dataset.row_count != rows)
"""


def run(pairs: int, _karotte: str | None = None) -> list[Ratio]:
    """The ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path, total = write_parquet(Path(folder) / "rows.parquet")
        ours, bare = ([sys.executable, "-c", side, path, ANSWERED, str(total), str(ROWS)] for side in (OURS, BARE))
        found = [ratio("one SQL scorer, 1M rows / DuckDB's bare query", ours, bare, 2.0, pairs=pairs)]
        return [*found, *(memory(Path(folder), ending) for ending in ("jsonl", "csv"))]


def write_parquet(path: Path) -> tuple[str, float]:
    """A million rows, and the sum of their scores. Written by another process: a large one here would show in theirs."""
    cost_of([sys.executable, "-c", WRITE, str(path), str(ROWS)])
    return str(path), float(sum(1 for i in range(ROWS) if i % 7 and i % 5))


def memory(folder: Path, ending: str) -> Ratio:
    """The peak of reading 200,000 rows over that of 20,000."""
    peaks = []
    for rows in (20_000, 200_000):
        path = folder / f"{rows}.{ending}"
        with path.open("w", encoding="utf-8") as file:
            if ending == "csv":
                file.write("id,message,expected\n")
            for i in range(rows):
                row = {"id": i, "message": f"message {i}" + " lorem" * 10, "expected": json.dumps({"amount": i / 7})}
                quoted = row["expected"].replace('"', '""')
                file.write(f'{i},{row["message"]},"{quoted}"\n' if ending == "csv" else json.dumps(row) + "\n")
        peaks.append(cost_of([sys.executable, "-c", READ, str(path), str(rows)]).peak_mb)
    return Ratio(f"memory, 200k / 20k rows of {ending}", (peaks[1] / peaks[0],), peaks[1] / 1000, peaks[0] / 1000, 1.1)


if __name__ == "__main__":
    raise SystemExit(0 if run_alone(__doc__, run, 9) else 1)
