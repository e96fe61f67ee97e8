"""Groups of patients in a large suite: what they add to summarize, and the page that shows them.

    python -m benchmarks.group_stage [--models 9] [--benchmarks 46] [--rows 1000] [--lake FOLDER]

Every answer has four group columns. With `--lake` the lake is kept there, and read again where it
is there already.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import yaml

from benchmarks.boards import deployments, read, stage_seconds
from benchmarks.loads import write_benchmark
from medhelm_spark import Evaluation
from medhelm_spark.lake.reader import open_reader

SUITE = "boards"
RESULTS = Path(__file__).parent / "results" / "group_stage.md"
GROUPS = {
    "sex": ("female", "male"),
    "age_band": ("0-17", "18-64", "65 and older"),
    "language": ("de", "en", "fr", "it", "ar"),
    "site": tuple(f"site {number}" for number in range(8)),
}
STAGES = ("summarize", "assign-groups", "summarize-groups")


def rows_of(number: int, rows: int) -> Iterator[dict[str, str]]:
    """Questions with a value of each group column, no two columns alike."""
    for row in range(rows):
        place, held = row, {}
        for column, values in GROUPS.items():
            place, held[column] = place // len(values), values[place % len(values)]
        yield {"text": f"Question {row} of {number}?", **held}


def make(lake: Path, models: int, benchmarks: int, rows: int) -> None:
    """Ask, score and summarise everything, with groups."""
    entries = []
    for number in range(benchmarks):
        place = lake.parent / "grouped" / f"bench-{number}"
        place.mkdir(parents=True, exist_ok=True)
        write_benchmark(place, "{text}", 1, rows_of(number, rows))
        config = yaml.safe_load((place / "benchmark.yaml").read_text(encoding="utf-8"))
        config["groups"] = list(GROUPS)
        (place / "benchmark.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        entries.append(f"medhelm_configurable_benchmark:config_path={place}/benchmark.yaml")
    asked = deployments(models)
    here = Evaluation(str(lake), site=None, tracking=False, deployments=asked)
    here.run([f"{entry},model={each.name}" for entry in entries for each in asked], suite=SUITE)


def main() -> None:
    """Make the lake, read it, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--benchmarks", type=int, default=46)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = args.lake or Path(folder, "lake")
        if not lake.exists():
            make(lake, args.models, args.benchmarks, args.rows)
        seconds = {stage: stage_seconds(lake, stage) for stage in STAGES}
        page, gigabytes, shown = read(lake, f"subgroups.scores({SUITE!r})", "len(shown.groups)")
        stored = open_reader(str(lake)).query("SELECT count(*) AS n FROM {stats_by_group}")
    with_groups = sum(seconds.values())
    results = args.models * args.benchmarks * args.rows
    lines = [
        "# Summarize with groups",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}: "
        f"{results:,} answers by {len(GROUPS)} group columns, "
        f"{stored.to_pylist()[0]['n']:,} rows of stats_by_group, by `make bench-groups`.",
        "",
        "| | seconds |",
        "|---|---|",
        *(f"| stage {stage} | {took:.1f} |" for stage, took in seconds.items()),
        f"| together, against summarize alone | {with_groups / seconds['summarize']:.2f} times |",
        f"| `evaluation.subgroups`, {shown:,} rows, {gigabytes:.2f} GB | {page:.2f} |",
    ]
    args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
