"""Everything but the model: the whole job with the canned engine, at two sizes.

Each size is one `medhelm-spark run` in a process of its own, on a fresh lake: Spark's start,
ingest, plan, infer, score, summarize and the board. Memory is the largest resident size of the
driver, its Python and its JVM apart; Python workers are executors and counted apart too.

    python -m benchmarks.bench [--sizes 10000 100000] [--output benchmarks/results/pipeline.md]
"""

import argparse
import csv
import json
import os
import platform
import random
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.processes import measured

WORDS = """
patients with mild disease were randomised to usual care or early treatment and followed for twelve
months the primary outcome was admission to hospital secondary outcomes included quality of life
adverse events and cost there was no difference between groups after adjustment for age sex and
baseline severity confidence intervals were wide
""".split()  # noqa: SIM905 - prose is easier to read than a list of words
TARGETS_MS = {10_000: 4.0, 100_000: 0.6}


def make_benchmark(folder: Path, rows: int) -> str:
    """A configurable benchmark of PubMedQA's size per row; returns its run entry."""
    draw = random.Random(0)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "context", "question", "correct_answer"])
        for row in range(rows):
            context = " ".join(draw.choices(WORDS, k=220))
            question = " ".join(draw.choices(WORDS, k=14))
            answer = draw.choice(["yes", "no", "maybe"])
            writer.writerow([row, context, f"Does {question}?", answer])
    (folder / "prompt.txt").write_text("Abstract: {context}\n\nQuestion: {question}\n\nAnswer:")
    config = {
        "name": f"bench-{rows}",
        "description": "Made for a measurement.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "max_tokens": 16,
        "answer_extraction": "strict",
        "metrics": [{"name": "exact_match"}],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    (folder / "prod_env").mkdir()
    deployment = {
        "name": "canned/yes",
        "engine": "canned",
        "locality": "local",
        "client_spec": {"args": {"mode": "constant", "text": "yes"}},
    }
    path = folder / "prod_env" / "model_deployments.yaml"
    path.write_text(yaml.safe_dump({"model_deployments": [deployment]}))
    return f"medhelm_configurable_benchmark:config_path={folder}/benchmark.yaml,model=canned/yes"


def measure(rows: int, settings: Mapping[str, Any] | None = None) -> dict[str, float]:
    """One run of one size, under a site's own settings if any."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entry = make_benchmark(folder, rows)
        if settings:
            (folder / "prod_env" / "settings.yaml").write_text(yaml.safe_dump(settings))
        command = [
            sys.executable, "-m", "medhelm_spark.cli", "run", "-r", entry, "--suite", "bench",
            "-o", str(folder / "lake"), "--local-path", str(folder / "prod_env"), "--no-tracking",
        ]  # fmt: skip
        usage = measured(command)
    ms_per_row = 1000 * usage.seconds / rows
    return {"rows": rows, "seconds": usage.seconds, "ms_per_row": ms_per_row, **usage.gigabytes}


def report(measurements: list[dict[str, float]]) -> str:
    """The numbers as markdown, with the machine they come from."""
    lines = [
        "# The whole job with the canned engine",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}.",
        "",
        "| instances | seconds | ms per instance | target | driver JVM GB | driver Python GB |",
        "|---|---|---|---|---|---|",
    ]
    for measurement in measurements:
        target = TARGETS_MS.get(int(measurement["rows"]), "")
        lines.append(
            f"| {measurement['rows']:,.0f} | {measurement['seconds']:.1f} | "
            f"{measurement['ms_per_row']:.2f} | {target} | "
            f"{measurement.get('jvm', 0):.2f} | {measurement.get('python', 0):.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(TARGETS_MS))
    default = Path(__file__).parent / "results" / "pipeline.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    measurements = [measure(rows) for rows in args.sizes]
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(report(measurements))
    sys.stdout.write(report(measurements) + json.dumps(measurements) + "\n")


if __name__ == "__main__":
    main()
