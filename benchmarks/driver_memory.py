"""The driver's memory, measured apart from the executor's: an executor JVM of its own, three sizes.

The whole job as in `bench`, on `local-cluster[1,2,...]`. The driver's heap may grow to 512 MB; all
that grows with the instances must fit there, or be in the executor.

    python -m benchmarks.driver_memory [--sizes 1000 10000 100000]
"""

import argparse
import os
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from benchmarks.bench import measure

SIZES = (1_000, 10_000, 100_000)
APART = {
    "spark.master": "local-cluster[1,2,1536]",
    "spark.executor.memory": "1536m",
    "spark.driver.memory": "512m",
}


def set_environment() -> None:
    """Set where Spark is, which separate executors need, and keep one machine's settings."""
    spec = find_spec("pyspark")
    os.environ.setdefault("MEDHELM_SPARK_PLATFORM", "local")
    os.environ["SPARK_HOME"] = str(Path(spec.origin).parent) if spec and spec.origin else ""


def report(measurements: list[dict[str, float]]) -> str:
    """The numbers as markdown."""
    lines = [
        "# The driver's memory, without the executor's",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores. Largest resident sizes in GB; the "
        "executor is a JVM of its own with two cores, its Python workers beside it.",
        "",
        "| instances | driver JVM | driver Python | driver in all | executor JVM | workers |",
        "|---|---|---|---|---|---|",
    ]
    for measurement in measurements:
        driver_gigabytes = measurement["jvm"] + measurement["python"]
        lines.append(
            f"| {measurement['rows']:,.0f} | {measurement['jvm']:.2f} | "
            f"{measurement['python']:.2f} | **{driver_gigabytes:.2f}** | "
            f"{measurement['executor']:.2f} | {measurement['workers']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    default = Path(__file__).parent / "results" / "driver_memory.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    set_environment()
    text = report([measure(rows, {"spark": APART}) for rows in args.sizes])
    args.output.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
