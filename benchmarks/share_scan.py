"""What the scan of a share costs beside the notes that it is compared with.

    python -m benchmarks.share_scan [--rows 1000000] [--notes 100000]

Rows of scores by instance, as a share has them, and as many public texts as `--texts` sets, are
scanned against private notes of some 4 KB. The notes come from a reader without a lake.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from medhelm_spark.sharing.scan import scan

RESULTS = Path(__file__).parent / "results" / "share_scan.md"
WORDS = [f"word{number}" for number in range(20_000)]
WORDS_IN_A_NOTE = 500


class Notes:
    """A reader of private notes, 1,000 at a time; every other table is empty."""

    location = "notes"

    def __init__(self, count: int) -> None:
        self._count = count

    def query(self, sql: str, *, each: Any = None) -> pa.Table:
        """Notes where instances are asked for."""
        if each is None:  # the columns of a table
            return pa.table({})
        parts = self._parts() if "{instances}" in sql else iter(())
        return pa.concat_tables([each(part) for part in parts] or [pa.table({})])

    def _parts(self) -> Iterator[pa.Table]:
        chance = random.Random(1)
        for _start in range(0, self._count, 1000):
            texts = [" ".join(chance.choices(WORDS, k=WORDS_IN_A_NOTE)) for _ in range(1000)]
            yield pa.table({"input": texts})

    def rows(self, sql: str, row_type: type) -> list[Any]:
        """None."""
        return []


def main() -> None:
    """Scan, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    lines = []
    for texts in (0, args.texts):
        with tempfile.TemporaryDirectory() as folder:
            share_folder = Path(folder)
            items = [f"{number:020x}" for number in range(args.rows)]
            scores = {"item": items, "model": ["team/m"] * args.rows, "value": [1.0] * args.rows}
            pq.write_table(pa.table(scores), share_folder / "share-scores.parquet")
            chance = random.Random(2)
            answers = [" ".join(chance.choices(WORDS, k=60)) for _ in range(texts)]
            pq.write_table(
                pa.table({"answer": pa.array(answers, pa.string())}),
                share_folder / "share-texts.parquet",
            )
            started, cpu_started = time.perf_counter(), time.process_time()
            result = scan(share_folder, Notes(args.notes))
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        lines.append(
            f"| {args.rows:,} rows of scores, {texts:,} public texts | {seconds:.0f} | {cpu:.0f} "
            f"| {peak:.2f} "
            f"| {len(result.leaks)} |"
        )
    text = (
        f"# The scan of a share\n\n{time.strftime('%Y-%m-%d')}, one process on 2 cores that others "
        f"use too, beside {args.notes:,} private notes of {WORDS_IN_A_NOTE} words (some 4 KB), "
        "which are made while they are read.\n\n| share | seconds | CPU seconds | GB | matches |\n"
        "|---|---|---|---|---|\n" + "\n".join(lines) + "\n"
    )
    print(text)
    args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
