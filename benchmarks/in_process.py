"""Small runs that the command's own process computes, beside the same runs by Spark.

    python -m benchmarks.in_process [--times 3] [--rows 10 2000 10000]

An engine that answers at once, a fresh lake, a process of its own for each measurement, by turns.
The memory is that of the command's Python, without the JVM.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from benchmarks.loads import as_installed, write_benchmark

RESULTS = Path(__file__).parent / "results" / "in_process.md"
TEXT = "Is {} a number? " + "It is in a letter of some length. " * 4
WAYS = {"this process": "1000000", "Spark": "0"}
"""By way the setting that chooses it: up to how many requests a run is small."""


HEAD = """# Small runs in the command's own process

{:%Y-%m-%d}; {} hardware threads; medians of {} runs by turns, each a process in a fresh lake with
an engine that answers at once; *again* is the same command once more.
`python -m benchmarks.in_process`.

| questions | way | seconds | again | Python's peak, MB |
|---|---|---|---|---|
{}
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command took: seconds of the clock, and the peak memory of its Python in MB."""

    seconds: float
    megabytes: float


def command(folder: Path, lake: str, rows: int, way: str) -> Usage:
    """Run a benchmark of so many rows in a lake, by one of the ways."""
    entry = f"medhelm_configurable_benchmark:config_path={folder}/n{rows}/benchmark.yaml"
    words = ["run", "-r", f"{entry},model=acme/at-once", "--suite", "s", "-o", lake]
    words += ["--local-path", "site", "--no-tracking"]
    process = subprocess.Popen(
        [sys.executable, "-m", "medhelm_spark.cli", *words],
        cwd=folder,
        env=as_installed() | {"MEDHELM_SPARK_SMALL_RUN_REQUESTS": WAYS[way]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = time.monotonic()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if status:
        raise SystemExit(f"{way}, {rows} rows: the command ended with {status}")
    return Usage(seconds, usage.ru_maxrss / 1024)


def write_site(folder: Path, sizes: Iterable[int]) -> None:
    """A site with an engine that answers at once, and a benchmark of each size."""
    (folder / "site").mkdir()
    args = {"mode": "choice", "choices": ["yes", "no"]}
    entry = {"name": "acme/at-once", "engine": "canned", "locality": "local"}
    deployments = {"model_deployments": [{**entry, "client_spec": {"args": args}}]}
    (folder / "site" / "model_deployments.yaml").write_text(yaml.safe_dump(deployments))
    for rows in sizes:
        benchmark_folder = folder / f"n{rows}"
        benchmark_folder.mkdir()
        questions = ({"question": TEXT.format(n)} for n in range(rows))
        write_benchmark(benchmark_folder, "{question}\nAnswer:", 5, questions)


def measured(folder: Path, rows: int, times: int) -> Iterator[str]:
    """A line of the table for each way: the medians of runs by turns."""
    runs_by_way: dict[str, list[tuple[Usage, Usage]]] = {way: [] for way in WAYS}
    for turn in range(times):
        for way, runs in runs_by_way.items():
            lake = f"lake-{rows}-{turn}-{way.partition(' ')[0]}"
            runs.append((command(folder, lake, rows, way), command(folder, lake, rows, way)))
    for way, runs in runs_by_way.items():
        first = statistics.median(first_usage.seconds for first_usage, _ in runs)
        again = statistics.median(again_usage.seconds for _, again_usage in runs)
        peak = max(usage.megabytes for pair in runs for usage in pair)
        yield f"| {rows:,} | {way} | {first:.1f} | {again:.1f} | {peak:.0f} |"


def main() -> None:
    """Measure by turns, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 2_000, 10_000])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_site(folder, args.rows)
        lines = [line for rows in args.rows for line in measured(folder, rows, args.times)]
    RESULTS.write_text(HEAD.format(datetime.now(UTC), os.cpu_count(), args.times, "\n".join(lines)))
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
