"""What it costs to ask whether the lake has a text as gated or private already.

Notes of some 4 KB are ingested as private. Then rows of another data set, among them copies of a
few of these notes with other blanks and capitals, are ingested as public: on a lake without the
notes, and on the one with them. The difference is the comparison.

    python -m benchmarks.known_text [--notes 100000] [--rows 10000]
"""

import argparse
import os
import random
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pyarrow import parquet

from benchmarks.processes import Usage, measured
from medhelm_spark.lake.reader import open_reader

WORDS_OF_A_NOTE = 600
COPIES = 50
LEVELS = "SELECT access_level, count(*) AS n FROM {instances} GROUP BY access_level"


def notes(count: int, seed: int) -> list[str]:
    """Texts of words that nobody wrote, each 4 KB."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnoprstuv", k=6)) for _ in range(20_000)]
    return [" ".join(draw.choices(words, k=WORDS_OF_A_NOTE)) for _ in range(count)]


def card(name: str, level: str) -> dict[str, Any]:
    """A scenario of one file."""
    return {
        "name": name,
        "display_name": name,
        "description": "Made for a measurement.",
        "access_level": level,
        "source": {"format": "parquet", "files": [{"path": f"{name}.parquet", "split": "test"}]},
        "shape": "free_text",
        "fields": {"id": "id", "input": "text", "reference": "label"},
        "adapter_spec": {"method": "generation"},
        "metrics": [{"name": "exact_match"}],
        "main_metric": "exact_match",
        "main_split": "test",
    }


def make_data(path: Path, texts: list[str]) -> None:
    """The texts as a table with ids and labels."""
    ids = [f"{path.stem}-{number}" for number in range(len(texts))]
    columns = {"id": ids, "text": texts, "label": ["yes"] * len(texts)}
    parquet.write_table(pa.table(columns), path)


def ingest(folder: Path, scenario: str, level: str, lake: str) -> Usage:
    """One ingest by the command line."""
    return measured(
        [
            sys.executable, "-m", "medhelm_spark.cli", "ingest", "--scenario", scenario,
            "--source", str(folder), "--access-level", level, "-o", str(folder / lake),
            "--local-path", str(folder / "prod_env"),
        ]
    )  # fmt: skip


def measure(count: int, rows: int) -> str:
    """The numbers as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cards = folder / "prod_env" / "scenarios"
        cards.mkdir(parents=True)
        for scenario, level in (("notes", "private"), ("letters", "public")):
            (cards / f"{scenario}.yaml").write_text(yaml.safe_dump(card(scenario, level)))
        private = notes(count, seed=1)
        copies = [text.upper().replace(" ", "  ") + " ." for text in private[:COPIES]]
        make_data(folder / "notes.parquet", private)
        make_data(folder / "letters.parquet", [*copies, *notes(rows - COPIES, seed=2)])
        alone_usage = ingest(folder, "letters", "public", "alone")
        notes_usage = ingest(folder, "notes", "private", "both")
        beside_usage = ingest(folder, "letters", "public", "both")
        reader = open_reader(str(folder / "both"))
        rows_by_level = {row["access_level"]: row["n"] for row in reader.query(LEVELS).to_pylist()}
    table = "\n".join(
        f"| {label} | {usage.seconds:.1f} | {usage.gigabytes.get('python', 0):.2f} | "
        f"{usage.gigabytes.get('jvm', 0):.2f} |"
        for label, usage in (
            (f"{rows:,} public rows, empty lake", alone_usage),
            (f"{count:,} private notes", notes_usage),
            (f"{rows:,} public rows beside the notes", beside_usage),
        )
    )
    return (
        "# Text that is in the lake already\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores. Notes and rows have 4 KB each; "
        f"{COPIES} of the rows are copies of notes, in capitals, with further blanks and a stop. "
        "Seconds are of the whole command with Spark's start, gigabytes the largest resident "
        "size of the driver's Python and of its JVM.\n\n"
        "| ingest | seconds | Python GB | JVM GB |\n|---|---|---|---|\n"
        f"{table}\n\n"
        "Rows by level afterwards: "
        f"{', '.join(f'{n:,} {level}' for level, n in rows_by_level.items())}.\n"
    )


def main() -> None:
    """Measure and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=10_000)
    default = Path(__file__).parent / "results" / "known_text.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    text = measure(args.notes, args.rows)
    args.output.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
