"""A board of a few models on very many instances: seconds and memory of reading it.

    python -m benchmarks.large_board [--models 5] [--rows 1000000] [--lake FOLDER]

The scores are written as `score` writes them, twelve of each answer, without asking a model: what
is measured begins at the tables. Every reading is a process of its own, so that its memory is its
own. With `--lake` the lake is kept there, and read again where it is there already.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake

from benchmarks.boards import read
from medhelm_spark.board import answer_list, instances_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunRecord, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion, Verified
from medhelm_spark.domain.stats import SHARE, PerInstanceStats, ScoreStatus, Stat
from medhelm_spark.lake.columnar import arrow_schema, encode_batch
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.tables import TABLES, WRITE_ID, properties
from medhelm_spark.statistics.summary import summarize

SUITE = "large"
RESULTS = Path(__file__).parent / "results" / "large_board.md"
STARTED = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATS = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "num_references",
    "num_train_instances",
    "prompt_truncated",
    "num_prompt_tokens",
    "num_completion_tokens",
    "num_output_tokens",
    "inference_runtime",
    "unreadable",
)
ROWS_AT_ONCE = 200_000
READINGS = {
    "the board, with tiers and pairs with the best": (
        f"board({SUITE!r})",
        "len(shown.leaderboard.rows)",
    ),
    "compare, all pairs of models": (f"compare(suite={SUITE!r})", "len(shown.pairs)"),
    "a page of 50 answers": (
        f"instances('large', 'team/m0', suite={SUITE!r}, limit=50)",
        "shown.page.total",
    ),
}


def make(lake: Path, models: int, rows: int) -> None:
    """Write the lake."""
    _append(lake, "scenarios", [_version(rows)], "w-large")
    records = [_record("ingest", "large-v1", "w-large")]
    for number in range(models):
        spec = _spec(number)
        write = f"w-{number}"
        planned = SuiteRun(
            suite=SUITE,
            name=spec.name,
            run_spec_id=spec.run_spec_id,
            planned_at=STARTED,
            locality="local",
            engine="canned",
            is_jury_validated=None,
            run_spec=spec,
        )
        _append(lake, "run_specs", [planned], write)
        right = np.random.default_rng(number).random(rows) < 0.6 + 0.02 * number
        for scores in _scores(spec, right):
            _write(lake, "per_instance_stats", scores, write)
        wrong = int(rows - right.sum())
        counted = summarize([(1.0, rows - wrong), (0.0, wrong)], 0, SHARE)
        stat = Stat(
            run_spec_id=spec.run_spec_id,
            name="exact_match",
            split="test",
            perturbation="",
            count=counted.count,
            num_unscored=counted.num_unscored,
            mean=counted.mean,
            stddev=counted.stddev,
            minimum=counted.minimum,
            maximum=counted.maximum,
            ci_low=counted.ci_low,
            ci_high=counted.ci_high,
            ci_method=counted.ci_method,
        )
        _append(lake, "stats", [stat], write)
        stages = ("plan", "annotate", "score", "summarize")
        records += [_record(stage, spec.run_spec_id, write) for stage in stages]
    _append(lake, "runs", records, "w-runs")


def _scores(spec: RunSpec, right: np.ndarray) -> Iterator[pa.Table]:
    """Rows of `per_instance_stats`, ROWS_AT_ONCE a table."""
    schema = arrow_schema(PerInstanceStats)
    kind = schema.field("stats").type
    for start in range(0, len(right), ROWS_AT_ONCE):
        part = right[start : start + ROWS_AT_ONCE].astype(np.float64)
        n, width = len(part), len(STATS)
        values = np.full((n, width), 8.0)
        values[:, :4] = part[:, None]
        struct = pa.StructArray.from_arrays(
            [
                pa.array(np.tile(np.array(STATS, object), n), pa.string()),
                pa.array(values.ravel()),
                pa.array([ScoreStatus.OK.value] * (n * width), pa.string()),
            ],
            names=["name", "value", "status"],
        )
        offsets = pa.array(np.arange(0, (n + 1) * width, width), pa.int32())
        columns = {
            "run_spec_id": [spec.run_spec_id] * n,
            "instance_id": [f"large-{place:016d}" for place in range(start, start + n)],
            "perturbation": [""] * n,
            "train_trial_index": np.zeros(n, np.int64),
            "trial_index": np.zeros(n, np.int64),
            "split": ["test"] * n,
            "stats": pa.ListArray.from_arrays(offsets, struct),
        }
        yield pa.table(
            {
                field.name: pa.array(columns[field.name], field.type)
                if field.name in columns and field.name != "stats"
                else columns["stats"].cast(kind)
                if field.name == "stats"
                else pa.nulls(n, field.type)
                for field in schema
            }
        )


def _append(lake: Path, table: str, rows: list[object], write: str) -> None:
    _write(lake, table, pa.Table.from_batches([encode_batch(TABLES[table].row, rows)]), write)


def _write(lake: Path, table: str, rows: pa.Table, write: str) -> None:
    if WRITE_ID not in rows.column_names:
        rows = rows.append_column(WRITE_ID, pa.array([write] * len(rows), pa.string()))
    made = properties(TABLES[table])
    write_deltalake(str(lake / table), rows, mode="append", configuration=made)


def _record(stage: str, unit: str, write: str) -> RunRecord:
    return RunRecord(
        stage=stage,
        unit_id=unit,
        write_id=write,
        fingerprint=f"{stage}-{unit}",
        suite=SUITE,
        started_at=STARTED,
        finished_at=STARTED,
        counts={},
        code_version="benchmark",
        spark_version="none",
    )


def _version(rows: int) -> ScenarioVersion:
    return ScenarioVersion(
        scenario_name="large",
        data_version="large-v1",
        card_hash="c",
        access_level=AccessLevel.PUBLIC,
        display_name="Large",
        category="Clinical Decision Support",
        subcategory="",
        main_metric="exact_match",
        main_split="test",
        verified=Verified.SAME_FORM,
        num_instances=rows,
        num_quarantined=0,
        source="made by the benchmark",
    )


def _spec(number: int) -> RunSpec:
    name = f"team/m{number}"
    return RunSpec(
        run_spec_id=f"large-m{number}",
        name=f"large:model={name}",
        scenario_name="large",
        data_version="large-v1",
        model=name,
        model_deployment=name,
        deployment_fingerprint="f",
        adapter_spec=AdapterSpec(max_tokens=16),
        metrics=(MetricSpec(name="exact_match"),),
        annotators=(),
        groups=(),
        access_level=AccessLevel.PUBLIC,
        main_metric="exact_match",
        main_split="test",
    )


def pages(lake: Path) -> tuple[float, float]:
    """Seconds of a dashboard's first page of 12 answers, and of the next one from what it kept."""
    reader, spec = open_reader(str(lake)), _spec(0)
    started = time.perf_counter()
    answers = answer_list(reader, spec)
    instances_of(reader, spec, limit=12, answers=answers)
    first = time.perf_counter()
    instances_of(reader, spec, limit=12, offset=500_000, answers=answers)
    return first - started, time.perf_counter() - first


def main() -> None:
    """Make the lake, read it, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = args.lake or Path(folder, "lake")
        if not lake.exists():
            make(lake, args.models, args.rows)
        first, next_ = pages(lake)
        lines = [
            f"| {name} | {seconds:.1f} | {gigabytes:.2f} | {count:,} |"
            for name, (call, size) in READINGS.items()
            for seconds, gigabytes, count in [read(lake, call, size)]
        ]
        lines.append(
            f"| the same page in a dashboard, then the next one | {first:.1f}, {next_:.3f} | | |"
        )
    head = (
        f"# A board of {args.models} models on {args.rows:,} instances\n\n"
        f"{time.strftime('%Y-%m-%d')}, 2 cores, `python -m benchmarks.large_board`. Twelve scores "
        "of each answer, one benchmark. Each reading is a process of its own; GB is its largest "
        "resident size.\n\n| | seconds | GB | rows |\n|---|---|---|---|\n"
    )
    text = head + "\n".join(lines) + "\n"
    print(text)
    args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
