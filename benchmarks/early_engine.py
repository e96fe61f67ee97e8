"""A small local model whose engine starts while data is read and planned, beside one that waits.

    python -m benchmarks.early_engine [--rows 10] [--turns 7]

The model is real (SmolLM2 by llama.cpp), each turn is a process and a lake of its own, and both
ways take turns, so that what else the machine does meets them alike. "from the order" are the
seconds from the begin of the infer stage to the engine that it asks.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.loads import write_benchmark

RESULTS = Path(__file__).parent / "results" / "early_engine.md"
MODEL = "huggingface/smollm2-135m-instruct"
RUN = """
import json, resource, sys, time
from medhelm_spark import Evaluation
from medhelm_spark.engines import engine_pool
from medhelm_spark.pipeline import prepare, run
began, at = time.perf_counter(), {}
infer, exclusive = run.infer, engine_pool._Host._exclusive
def noted(*args, **kwargs):
    at["order"] = time.perf_counter()
    return infer(*args, **kwargs)
def built(*args, **kwargs):
    engine = exclusive(*args, **kwargs)
    at["engine"] = time.perf_counter()
    return engine
run.infer, engine_pool._Host._exclusive = noted, built
if sys.argv[3] == "waits":
    prepare.early_engine = lambda ctx, runs: None
Evaluation(sys.argv[1], site=None, tracking=False).run(sys.argv[2], suite="s")
used = resource.getrusage(resource.RUSAGE_SELF)
memory = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([
    max(0.0, at["engine"] - at["order"]), time.perf_counter() - began,
    used.ru_utime + used.ru_stime, int(memory) / 1e3,
]))
"""
WAYS = ("waits", "early")


def turn(entry: str, way: str) -> list[float]:
    """From the order to the engine, seconds of the run, CPU seconds, MB."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", RUN, f"{folder}/lake", entry, way]
        process = subprocess.run(words, capture_output=True, text=True, check=True)
    numbers: list[float] = json.loads(process.stdout.splitlines()[-1])
    return numbers


def main() -> None:
    """Measure by turns, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--turns", type=int, default=7)
    args = parser.parse_args()
    lines = []
    for rows in args.rows:
        with tempfile.TemporaryDirectory() as folder:
            benchmark_folder = Path(folder, "bench")
            benchmark_folder.mkdir()
            texts = ({"text": f"Is {row} even? Answer yes or no."} for row in range(rows))
            write_benchmark(benchmark_folder, "{text}", 1, texts)
            entry = f"medhelm_configurable_benchmark:config_path={benchmark_folder}/benchmark.yaml"
            turns = [
                (way, turn(f"{entry},model={MODEL}", way))
                for _ in range(args.turns)
                for way in WAYS
            ]
        for way in WAYS:
            columns = zip(
                *(numbers for measured_way, numbers in turns if measured_way == way), strict=True
            )
            order, seconds, cpu, memory = map(statistics.median, columns)
            lines.append(
                f"| {rows:,} questions, {NAMES[way]} | {order:.2f} | {seconds:.2f} | {cpu:.2f} "
                f"| {memory:.0f} |"
            )
    head = [
        "# An engine that starts while data is read and planned",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} over "
        f"five minutes, `python -m benchmarks.early_engine`: {MODEL} by llama.cpp, a run without "
        f"Spark on an empty lake, medians of {args.turns} turns. Imports are not in the seconds.",
        "",
        "| | from the order to the engine, s | the run, s | CPU, s | MB |",
        "|---|---|---|---|---|",
    ]
    RESULTS.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    sys.stdout.write(RESULTS.read_text(encoding="utf-8"))


NAMES = {"waits": "started by the order", "early": "started before the data is read"}

if __name__ == "__main__":
    main()
