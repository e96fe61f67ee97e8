"""A board of 9 models, 46 benchmarks and 1,000 instances each: made once, then read and compared.

    python -m benchmarks.boards [--models 9] [--benchmarks 46] [--rows 1000] [--lake FOLDER]

Every reading is a process of its own, so that its memory is its own. With `--lake` the lake is kept
there, and read again where it is there already.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.loads import write_benchmark
from medhelm_spark import Evaluation
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.statistics.bootstrap import mean_draws

SUITE = "boards"
RESULTS = Path(__file__).parent / "results" / "boards.md"

READ = """
import json, sys, time
from benchmarks.boards import peak
from medhelm_spark import Evaluation
started = time.perf_counter()
evaluation = Evaluation(sys.argv[1], site=None, tracking=False)
shown = evaluation.{call}
print(json.dumps([
    time.perf_counter() - started,
    peak() / 1e3,
    {size},
]))
"""
READINGS = {
    "the board, with tiers and pairs with the best": (
        f"board({SUITE!r})",
        "len(shown.leaderboard.rows)",
    ),
    "compare, all pairs of models": (f"compare(suite={SUITE!r})", "len(shown.pairs)"),
    "compare, two models": (
        f"compare('team/m0', 'team/m1', suite={SUITE!r})",
        "len(shown.pairs)",
    ),
}


def make(lake: Path, models: int, benchmarks: int, rows: int) -> float:
    """Run everything; returns the seconds of it."""
    entries = []
    for number in range(benchmarks):
        benchmark_folder = lake.parent / "benchmarks" / f"bench-{number}"
        benchmark_folder.mkdir(parents=True, exist_ok=True)
        texts = ({"text": f"Question {row} of {number}?"} for row in range(rows))
        write_benchmark(benchmark_folder, "{text}", 1, texts)
        entries.append(
            f"medhelm_configurable_benchmark:config_path={benchmark_folder}/benchmark.yaml"
        )
    model_deployments = deployments(models)
    evaluation = Evaluation(str(lake), site=None, tracking=False, deployments=model_deployments)
    started = time.perf_counter()
    names = [
        f"{entry},model={deployment.name}" for entry in entries for deployment in model_deployments
    ]
    evaluation.run(names, suite=SUITE)
    return time.perf_counter() - started


def deployments(models: int) -> list[Deployment]:
    """Models that answer at once and differ in how often they answer yes."""
    return [
        Deployment(
            name=f"team/m{number}",
            model=f"team/m{number}",
            engine="canned",
            locality=Locality.LOCAL,
            args={"mode": "choice", "choices": ["yes"] * (4 + number % 3) + ["no"] * 4},
        )
        for number in range(models)
    ]


def peak() -> float:
    """The most memory of this process so far, in MB; `ru_maxrss` may be that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3


def stage_seconds(lake: Path, stage: str) -> float:
    """From a stage's first start to its last end, by its records."""
    sql = f"SELECT started_at, finished_at FROM {{runs}} WHERE stage = '{stage}'"
    runs = [row for row in open_reader(str(lake)).query(sql).to_pylist() if row["finished_at"]]
    first = min(row["started_at"] for row in runs)
    return float((max(row["finished_at"] for row in runs) - first).total_seconds())


def read(lake: Path, call: str, size: str) -> tuple[float, float, int]:
    """Seconds, GB and the number of what is shown, of a process of its own."""
    code = READ.format(call=call, size=size)
    process = subprocess.run(
        [sys.executable, "-c", code, str(lake)], capture_output=True, text=True, check=True
    )
    seconds, gigabytes, count = json.loads(process.stdout.splitlines()[-1])
    return seconds, gigabytes, count


def resampling() -> float:
    """Seconds of 10,000 resamples of 100,000 answers in 20,000 clusters."""
    units = np.arange(20_000, dtype=np.uint64)
    totals = np.random.default_rng(0).binomial(5, 0.7, len(units)).astype(np.float64)
    started = time.perf_counter()
    mean_draws(units, np.full(len(units), 5.0), totals, 10_000)
    return time.perf_counter() - started


def main() -> None:
    """Make the lake, read it, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--benchmarks", type=int, default=46)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    results = args.models * args.benchmarks * args.rows
    with tempfile.TemporaryDirectory() as folder:
        lake = args.lake or Path(folder, "lake")
        seconds_to_make = (
            0.0 if lake.exists() else make(lake, args.models, args.benchmarks, args.rows)
        )
        lines = [
            "# Boards",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores: {args.models} models x "
            f"{args.benchmarks} benchmarks x {args.rows:,} instances, {results:,} results, "
            f"made in {seconds_to_make:.0f} s by `make bench-boards`. Each reading is a process of "
            "its own; its imports are not in the seconds and are in the memory.",
            "",
            "| | seconds | GB | rows |",
            "|---|---|---|---|",
            f"| summarize, with 1,000 resamples of every main mean | "
            f"{stage_seconds(lake, 'summarize'):.1f} | | {args.models * args.benchmarks:,} |",
        ]
        for name, (call, size) in READINGS.items():
            seconds, gigabytes, count = read(lake, call, size)
            lines.append(f"| {name} | {seconds:.1f} | {gigabytes:.2f} | {count:,} |")
        lines.append(
            f"| 10,000 resamples of 100,000 answers in 20,000 clusters | {resampling():.1f} | | |"
        )
    args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(args.output.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
