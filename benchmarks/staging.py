"""What it costs that answers are staged before their commit: CPU seconds of the write alone.

One session writes the same answers to fresh tables in turn, at once and by way of a staging folder.
Everything before the write (plan, prompts, engine) is the same in both and not in it.

    python -m benchmarks.staging [--sizes 10000 100000] [--pairs 5]
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pyspark.sql import DataFrame

from benchmarks.processes import processes, tree
from medhelm_spark.config.settings import load_settings
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Completion, FinishReason, RequestResult
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.lake.session import open_session

TABLE = "request_results"
OUTPUT = Path(__file__).parent / "results" / "staging.md"


@dataclass(frozen=True, slots=True)
class Number:
    """A row to make an answer of."""

    id: int


def answers(rows: Iterable[Number]) -> Iterator[RequestResult]:
    """An answer of a paragraph for each number."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for row in rows:
        text = f"The answer to question {row.id} is maybe. " * 8
        yield RequestResult(
            request_id=content_id(row.id),
            model_deployment="canned/yes",
            access_level=AccessLevel.PUBLIC,
            completed_at=at,
            engine_fingerprint='{"engine":"canned"}',
            completions=(Completion(text=text, finish_reason=FinishReason.STOP),),
            attempts=1,
        )


def cpu() -> float:
    """CPU seconds so far of this process and all below it that live."""
    running = processes()
    return sum(running[pid].cpu for pid in tree(os.getpid(), running))


def main() -> None:
    """Measure every size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args()
    spark = open_session(load_settings(None, {}).spark)
    lines = [
        "# Answers that are staged before their commit",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}, Spark {spark.version}. CPU seconds of the write alone, the "
        f"median of {args.pairs} alternating pairs; in brackets the least and the most.",
        "",
        "| answers | committed at once | staged, then committed | more |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        turn = 0

        def write(how: Callable[[Lake, int], object], size: int) -> float:
            nonlocal turn
            turn += 1
            lake = Lake(spark, f"{name}/{turn}")
            lake.ensure(TABLE)
            cpu_started = cpu()
            how(lake, size)
            return cpu() - cpu_started

        def rows(size: int) -> DataFrame:
            frame = map_rows(spark.range(0, size, 1, 2), answers, Number, RequestResult)
            return cast(DataFrame, frame)  # of a frame of Spark's

        def at_once(lake: Lake, size: int) -> None:
            lake.append(TABLE, rows(size), "w", at_most=size)

        def staged(lake: Lake, size: int) -> None:
            lake.append_once(TABLE, rows(size), "w", staged="staged_a_b_w")

        for how in (at_once, staged):  # what a JVM does for the first time is in neither
            write(how, 1_000)
        for size in args.sizes:
            pairs = [(write(at_once, size), write(staged, size)) for _ in range(args.pairs)]
            first, second = zip(*pairs, strict=True)
            more = statistics.median(b - a for a, b in pairs)
            lines.append(f"| {size:,} | {_cell(first)} | {_cell(second)} | {more:.1f} |")
    spark.stop()
    args.output.write_text("\n".join(lines) + "\n")
    sys.stdout.write(args.output.read_text())


def _cell(values: Iterable[float]) -> str:
    seconds = list(values)
    return f"{statistics.median(seconds):.1f} [{min(seconds):.1f}, {max(seconds):.1f}]"


if __name__ == "__main__":
    main()
