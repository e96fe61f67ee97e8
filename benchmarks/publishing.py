"""publish and verify of a board: seconds, CPU seconds and memory, each in a process of its own.

    python -m benchmarks.publishing --lake FOLDER [--models 9]

The lake is one that `benchmarks.boards` made, and is copied first. With fewer `--models` the runs
of the others are no part of the suite. CPU seconds are those of the command with Spark and its
workers, and say more than seconds where a machine does other work too.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as ds
from deltalake import DeltaTable, write_deltalake

from benchmarks.boards import SUITE
from benchmarks.processes import measured
from medhelm_spark.lake.columnar import arrow_schema, decode_batch
from medhelm_spark.lake.reader import as_schema
from medhelm_spark.lake.tables import TABLES, properties
from medhelm_spark.releases.value_hash import batch_digests, row_digest

RESULTS = Path(__file__).parent / "results" / "publishing.md"
STEP = """
import sys
from medhelm_spark import Evaluation
Evaluation(sys.argv[1], site=None, tracking=False).releases.{call}
"""
ROWS, BATCH = 40_000, 1000
"""Rows of each table, and those of one batch, as many as Spark sends a worker."""

TABLES_HASHED = ("requests", "prompts", "request_results", "per_instance_stats", "instances")
STEPS = {"publish": f"publish('R1', {SUITE!r})", "verify": "verify('R1')"}


def narrow(lake: Path, models: int) -> int:
    """Leave the first models' runs in the suite; returns how many requests they have."""
    rows = DeltaTable(str(lake / "run_specs")).to_pyarrow_table()
    of = [spec["model"] for spec in rows["run_spec"].to_pylist()]
    kept = rows.filter([model in sorted(set(of))[:models] for model in of])
    shutil.rmtree(lake / "run_specs")
    made = properties(TABLES["run_specs"])
    write_deltalake(str(lake / "run_specs"), kept, configuration=made)
    is_kept = ds.field("run_spec_id").isin(kept["run_spec_id"].to_pylist())
    requests = DeltaTable(str(lake / "requests")).to_pyarrow_dataset()
    return int(requests.count_rows(filter=is_kept))


def step(lake: Path, call: str) -> tuple[float, float, float]:
    """Seconds, CPU seconds of all processes, and GB of all by the largest size of each part."""
    taken = measured([sys.executable, "-c", STEP.format(call=call), str(lake)])
    cpu = taken.cpu_seconds(taken.started, taken.ended)
    return taken.seconds, cpu, sum(taken.gigabytes.values())


def digests(lake: Path) -> Iterator[str]:
    """Of each table a line: microseconds of CPU a row, by objects of rows and by columns."""
    for table in TABLES_HASHED:
        kind = TABLES[table].row
        rows = DeltaTable(str(lake / table)).to_pyarrow_table().slice(0, ROWS)
        batches = as_schema(rows, arrow_schema(kind)).combine_chunks().to_batches(BATCH)
        started = time.process_time()
        of_rows = [row_digest(row) for batch in batches for row in decode_batch(kind, batch)]
        between = time.process_time()
        by_columns = [digest for batch in batches for digest in batch_digests(kind, batch)]
        ended = time.process_time()
        if by_columns != of_rows:
            raise SystemExit(f"the digests of {table} differ")
        spent = (between - started, ended - between)
        yield " | ".join(["", table, *(f"{each / len(of_rows) * 1e6:.1f}" for each in spent), ""])


def main() -> None:
    """Copy the lake, publish and verify, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        shutil.copytree(args.lake, lake)
        of_digests = list(digests(lake))
        requests = narrow(lake, args.models)
        rows = [
            f"| {name} | {seconds:.1f} | {cpu:.1f} | {gigabytes:.2f} |"
            for name, call in STEPS.items()
            for seconds, cpu, gigabytes in [step(lake, call)]
        ]
    head = (
        f"# Publishing {requests:,} answers\n\n{time.strftime('%Y-%m-%d')}, {os.cpu_count()} "
        "cores, `python -m benchmarks.publishing`. Seconds, CPU seconds and GB are of the whole "
        "command: Python, Spark's start and the workers.\n\n"
        "| | seconds | CPU seconds | GB |\n|---|---|---|---|\n"
    )
    then = (
        "\n\nMicroseconds of CPU for the digest of a row, by objects of rows (before) and by "
        "columns; both give the same digests.\n\n| | rows | columns |\n|---|---|---|\n"
    )
    text = head + "\n".join(rows) + then + "\n".join(map(str.strip, of_digests)) + "\n"
    sys.stdout.write(text)
    args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
