"""publish and verify of boards: seconds, CPU seconds and memory, each in a process of its own.

    python -m benchmarks.publishing [--rows 1000 4900] [--lakes FOLDER]

Each board has 9 models, 46 benchmarks and as many instances of each as `--rows` sets. With
`--lakes` the lakes are kept there, and copied from there where they are there already. CPU seconds
are those of the command and all processes below it, and a better measure than seconds where a
machine does other work too.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from deltalake import DeltaTable

from benchmarks.boards import SUITE, make
from benchmarks.processes import measured
from medhelm_spark.lake.columnar import arrow_schema, decode_batch
from medhelm_spark.lake.reader import as_schema
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.releases.value_hash import batch_digests, row_digest

RESULTS = Path(__file__).parent / "results" / "publishing.md"
STEP = """
import sys
from medhelm_spark import Evaluation
Evaluation(sys.argv[1], site=None, tracking=False).releases.{call}
"""
MODELS, BENCHMARKS = 9, 46
ROWS, BATCH = 40_000, 1000
"""Rows of each table, and those of one batch, as many as Spark sends a worker."""

TABLES_HASHED = ("requests", "prompts", "request_results", "per_instance_stats", "instances")
STEPS = {"publish": f"publish('R1', {SUITE!r})", "verify": "verify('R1')"}


def step(lake: Path, call: str) -> tuple[float, float, float]:
    """Seconds, CPU seconds of all processes, and GB of all by the largest size of each part."""
    usage = measured([sys.executable, "-c", STEP.format(call=call), str(lake)])
    cpu = usage.cpu_seconds(usage.started, usage.ended)
    return usage.seconds, cpu, sum(usage.gigabytes.values())


def digests(lake: Path) -> Iterator[str]:
    """Of each table a line: microseconds of CPU a row, by objects of rows and by columns."""
    for table in TABLES_HASHED:
        kind = TABLES[table].row
        rows = DeltaTable(str(lake / table)).to_pyarrow_table().slice(0, ROWS)
        batches = as_schema(rows, arrow_schema(kind)).combine_chunks().to_batches(BATCH)
        started = time.process_time()
        row_digests = [row_digest(row) for batch in batches for row in decode_batch(kind, batch)]
        rows_done = time.process_time()
        by_columns = [digest for batch in batches for digest in batch_digests(kind, batch)]
        ended = time.process_time()
        if by_columns != row_digests:
            raise SystemExit(f"the digests of {table} differ")
        durations = (rows_done - started, ended - rows_done)
        yield " | ".join(
            ["", table, *(f"{each / len(row_digests) * 1e6:.1f}" for each in durations), ""]
        )


def board(rows: int, lakes: Path) -> Iterator[str]:
    """Of a board's publishing and verifying a line each; the lake is copied first."""
    source_lake = lakes / str(rows) / "lake"
    if not source_lake.exists():
        source_lake.parent.mkdir(parents=True)
        make(source_lake, MODELS, BENCHMARKS, rows)
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        shutil.copytree(source_lake, lake)
        for name, call in STEPS.items():
            seconds, cpu, gigabytes = step(lake, call)
            answers = MODELS * BENCHMARKS * rows
            yield f"| {name}, {answers:,} answers | {seconds:.1f} | {cpu:.1f} | {gigabytes:.2f} |"


def main() -> None:
    """Make the lakes, publish and verify, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4900])
    parser.add_argument("--lakes", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lakes = args.lakes or Path(folder)
        rows = [line for number in args.rows for line in board(number, lakes)]
        digest_lines = list(digests(lakes / str(args.rows[0]) / "lake"))
    head = (
        f"# Publishing\n\n{time.strftime('%Y-%m-%d')}, {os.cpu_count()} "
        "cores, `make bench-publishing`. Seconds, CPU seconds and GB are of the whole "
        "command: Python, and Spark's start and workers where it starts Spark.\n\n"
        "| | seconds | CPU seconds | GB |\n|---|---|---|---|\n"
    )
    digest_head = (
        "\n\nMicroseconds of CPU for the digest of a row, by objects of rows and by columns; both "
        "give the same digests.\n\n| | rows | columns |\n|---|---|---|\n"
    )
    text = head + "\n".join(rows) + digest_head + "\n".join(map(str.strip, digest_lines)) + "\n"
    sys.stdout.write(text)
    args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
