"""Groups of patients in a large suite: what they add to summarize, and the page that shows them.

    python -m benchmarks.group_stage [--models 9] [--benchmarks 46] [--rows 1000] [--lake FOLDER]
    python -m benchmarks.group_stage --lake FOLDER --times 10

Every answer has four group columns. With `--lake` the lake is kept there, and read again where it
is there already. With `--times` its scores are summarised by group with so many times the
instances, each under an id of its own, and the driver's memory is printed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from deltalake import DeltaTable, write_deltalake

from benchmarks.boards import deployments, read, stage_seconds
from benchmarks.loads import write_benchmark
from benchmarks.processes import measured
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
STAGES = ("summarize", "summarize-groups")
GROUP_TABLES = ("instance_groups", "group_columns")
SUMMARIZED = """
import sys
from benchmarks.boards import peak
from medhelm_spark import Evaluation
from medhelm_spark.domain.stages import SUMMARIZE_GROUPS
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.subgroups.assign import assigned_columns
from medhelm_spark.subgroups.summarize import stats_by_group
workspace = Evaluation(sys.argv[1], site=None, tracking=False)._workspace
ctx = workspace.context({SUITE!r})
specs = [row.run_spec for row in current_runs(ctx)]
ctx = ctx.within(SUMMARIZE_GROUPS)
columns = assigned_columns(ctx, {{spec.data_version for spec in specs}})
rules = workspace.registry.policy.small_cells
before = peak()
stats = stats_by_group(ctx, specs, columns, rules)
ctx.lake.append("stats_by_group", stats, "of-a-measurement", at_most=100_000)
print(f"driver's peak {{before:.0f}} MB before, {{peak():.0f}} MB after")
"""


def question_rows(number: int, rows: int) -> Iterator[dict[str, str]]:
    """Questions with a value of each group column, no two columns alike."""
    for row in range(rows):
        remainder, groups = row, {}
        for column, values in GROUPS.items():
            remainder, groups[column] = remainder // len(values), values[remainder % len(values)]
        yield {"text": f"Question {row} of {number}?", **groups}


def make(lake: Path, models: int, benchmarks: int, rows: int) -> None:
    """Ask and score everything; the groups are stored, nothing is summarised."""
    entries = []
    for number in range(benchmarks):
        benchmark_folder = lake.parent / "grouped" / f"bench-{number}"
        benchmark_folder.mkdir(parents=True, exist_ok=True)
        write_benchmark(benchmark_folder, "{text}", 1, question_rows(number, rows))
        config = yaml.safe_load((benchmark_folder / "benchmark.yaml").read_text(encoding="utf-8"))
        config["groups"] = list(GROUPS)
        (benchmark_folder / "benchmark.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        entries.append(
            f"medhelm_configurable_benchmark:config_path={benchmark_folder}/benchmark.yaml"
        )
    model_deployments = deployments(models)
    evaluation = Evaluation(str(lake), site=None, tracking=False, deployments=model_deployments)
    runs = [
        f"{entry},model={deployment.name}" for entry in entries for deployment in model_deployments
    ]
    evaluation.run(runs, suite=SUITE, upto="score")


def grow(lake: Path, times: int) -> Path:
    """A copy of the lake whose runs have so many times the instances, in the same groups."""
    grown = lake.with_name(f"{lake.name}-{times}")
    shutil.copytree(lake, grown)
    for name in ("per_instance_stats", "instance_groups"):
        rows = DeltaTable(str(grown / name)).to_pyarrow_table()
        column_index = rows.schema.get_field_index("instance_id")
        field = rows.schema.field(column_index)
        for number in range(1, times):
            ids = pc.binary_join_element_wise(
                rows["instance_id"].cast(pa.string()), str(number), ""
            )
            copied_rows = rows.set_column(column_index, field, ids.cast(field.type))
            write_deltalake(str(grown / name), copied_rows, mode="append")
    return grown


def print_memory(lake: Path, times: int) -> None:
    """Print the driver's memory over the grown lake, which is removed afterwards."""
    grown = grow(lake, times)
    try:
        code = SUMMARIZED.format(SUITE=SUITE)
        subprocess.run([sys.executable, "-c", code, str(grown)], check=True)
    finally:
        shutil.rmtree(grown)


def seconds_of(lake: Path, stored: Path | None = None) -> float:
    """Seconds of `summarize` in a copy of the lake, without its groups where it is not `stored`."""
    with tempfile.TemporaryDirectory(dir=lake.parent) as folder:
        copy = stored or Path(folder, "lake")
        shutil.copytree(lake, copy)
        if not stored:
            for table in GROUP_TABLES:
                shutil.rmtree(copy / table)
        command = ["summarize", "--suites", SUITE, "-o", str(copy), "--no-tracking"]
        return measured([sys.executable, "-m", "medhelm_spark.cli", *command]).seconds


def main() -> None:
    """Make the lake, read it, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--benchmarks", type=int, default=46)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--times", type=int)
    args = parser.parse_args()
    if args.times:
        if not args.lake:
            parser.error("--times takes a lake that is there: give --lake.")
        print_memory(args.lake, args.times)
        return
    with tempfile.TemporaryDirectory() as folder:
        lake = args.lake or Path(folder, "lake")
        if not lake.exists():
            make(lake, args.models, args.benchmarks, args.rows)
        stored = lake.with_name(f"{lake.name}-summarised")
        turns = []
        for _ in range(args.turns):
            shutil.rmtree(stored, ignore_errors=True)
            turns.append((seconds_of(lake), seconds_of(lake, stored)))
        lake, assigned = stored, stage_seconds(lake, "assign-groups")
        seconds = {stage: stage_seconds(lake, stage) for stage in STAGES}
        page, gigabytes, num_rows = read(lake, f"subgroups.scores({SUITE!r})", "len(shown.groups)")
        rows = open_reader(str(lake)).query("SELECT count(*) AS n FROM {stats_by_group}")
    results = args.models * args.benchmarks * args.rows
    lines = [
        "# Summarize with groups",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}: "
        f"{results:,} answers by {len(GROUPS)} group columns, "
        f"{rows.to_pylist()[0]['n']:,} rows of stats_by_group, by `make bench-groups`.",
        "",
        "| | seconds |",
        "|---|---|",
        *(
            f"| `summarize` without groups and with | {without:.1f} and {by_group:.1f}, "
            f"{by_group / without:.2f} times |"
            for without, by_group in turns
        ),
        *(
            f"| stage {stage} of the last | {stage_time:.1f} |"
            for stage, stage_time in seconds.items()
        ),
        f"| stage assign-groups of the run before, once for a data version | {assigned:.1f} |",
        f"| `evaluation.subgroups`, {num_rows:,} rows, {gigabytes:.2f} GB | {page:.2f} |",
    ]
    args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
