"""A board of a few models on very many instances: seconds and memory of reading it.

    python -m benchmarks.large_board [--models 5] [--rows 1000000] [--lake FOLDER]

The scores are written as `score` writes them, twelve of each answer, without asking a model: what
is measured begins at the tables. Every reading is a process of its own, so that its memory is its
own. With `--lake` the lake is kept there, and read again where it is there already.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake

from benchmarks.boards import read
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import PlannedRequest, Prompt, Purpose, RequestResult
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunRecord, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import Instance, ScenarioVersion, Verified
from medhelm_spark.domain.stats import SHARE, PerInstanceStats, ScoreStatus, Stat
from medhelm_spark.lake.columnar import arrow_schema, encode_batch
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
READ_AGAIN = 3
ID_STEP = 0x10C6F7A0B5ED  # so that a million ids take all sixteen digits
NOTE = "The patient was seen again in the clinic and had no new complaint. " * 8
READINGS = {
    "the board, with tiers and pairs with the best": (
        f"board({SUITE!r})",
        "len(shown.leaderboard.rows)",
    ),
    "compare, all pairs of models": (f"compare(suite={SUITE!r})", "len(shown.pairs)"),
    "a page of 50 answers, with the number of each kind": (
        f"instances('large', 'team/m0', suite={SUITE!r}, limit=50)",
        "shown.page.total",
    ),
}


def make(lake: Path, models: int, rows: int) -> None:
    """Write the lake."""
    _append(lake, "scenarios", [_version(rows)], "w-large")
    _texts(lake, rows)
    records = [_record("ingest", "large-v1", "w-large")]
    for number in range(models):
        spec = spec_of(number)
        write = f"w-{number}"
        suite_run = SuiteRun(
            suite=SUITE,
            name=spec.name,
            run_spec_id=spec.run_spec_id,
            planned_at=STARTED,
            locality="local",
            engine="canned",
            is_jury_validated=None,
            run_spec=spec,
        )
        _append(lake, "run_specs", [suite_run], write)
        right = np.random.default_rng(number).random(rows) < 0.6 + 0.02 * number
        for scores in _scores(spec, right):
            _write(lake, "per_instance_stats", scores, write)
        wrong = int(rows - right.sum())
        summary = summarize([(1.0, rows - wrong), (0.0, wrong)], 0, SHARE)
        stat = Stat(
            run_spec_id=spec.run_spec_id,
            name="exact_match",
            split="test",
            perturbation="",
            count=summary.count,
            num_unscored=summary.num_unscored,
            mean=summary.mean,
            stddev=summary.stddev,
            minimum=summary.minimum,
            maximum=summary.maximum,
            ci_low=summary.ci_low,
            ci_high=summary.ci_high,
            ci_method=summary.ci_method,
        )
        _append(lake, "stats", [stat], write)
        stages = ("plan", "annotate", "score", "summarize")
        records += [_record(stage, spec.run_spec_id, write) for stage in stages]
    _append(lake, "runs", records, "w-runs")


def _scores(spec: RunSpec, right: np.ndarray) -> Iterator[pa.Table]:
    """Rows of `per_instance_stats`, ROWS_AT_ONCE a table."""
    kind = arrow_schema(PerInstanceStats).field("stats").type
    for start in range(0, len(right), ROWS_AT_ONCE):
        part = right[start : start + ROWS_AT_ONCE].astype(np.float64)
        n, width = len(part), len(STATS)
        values = np.full((n, width), 8.0)
        values[:, :4] = part[:, None]
        values[:, STATS.index("inference_runtime")] = np.random.default_rng(start).random(n)
        values[:, STATS.index("unreadable")] = 0.0
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
            "instance_id": _ids(start, n),
            "perturbation": [""] * n,
            "train_trial_index": np.zeros(n, np.int64),
            "trial_index": np.zeros(n, np.int64),
            "split": ["test"] * n,
            "stats": pa.ListArray.from_arrays(offsets, struct).cast(kind),
        }
        yield _filled(PerInstanceStats, columns, n)


def _ids(start: int, n: int) -> list[str]:
    """Ids as long as a hash, in order: `score` writes its rows sorted by them."""
    return [f"large-{number * ID_STEP:016x}" for number in range(start, start + n)]


def _filled(row_type: type, columns: Mapping[str, Any], n: int) -> pa.Table:
    """Rows of a table; columns that are not given are null."""
    return pa.table(
        {
            field.name: pa.array(columns[field.name], field.type)
            if not isinstance(columns.get(field.name), pa.Array | None)
            else columns.get(field.name, pa.nulls(n, field.type))
            for field in arrow_schema(row_type)
        }
    )


def _texts(lake: Path, rows: int) -> None:
    """The data, and what the first model was asked and answered; the data is in no order of ids."""
    spec, order = spec_of(0), np.random.default_rng(0).permutation(rows)
    for start in range(0, rows, ROWS_AT_ONCE):
        ids = _ids(start, n := min(ROWS_AT_ONCE, rows - start))
        sources = order[start : start + n]
        inputs = [f"Note {source}. {NOTE[source % 100 :]}" for source in sources]
        level, plain = [AccessLevel.PUBLIC.value] * n, [""] * n
        data = {
            "instance_id": ids,
            "scenario_name": ["large"] * n,
            "data_version": [spec.data_version] * n,
            "source_id": [str(source) for source in sources],
            "source_index": sources,
            "split": ["test"] * n,
            "input": inputs,
            "references": [[{"text": "yes", "tags": ["correct"]}]] * n,
            "access_level": level,
            "perturbation": plain,
        }
        _write(lake, "instances", _filled(Instance, data, n), "w-large")
        prompts = {
            "prompt_id": [f"p-{name}" for name in ids],
            "subject_id": ids,
            "access_level": level,
            "text": inputs,
            "num_train_instances": np.zeros(n, np.int64),
            "prompt_truncated": [False] * n,
            "num_characters": [len(text) for text in inputs],
        }
        _write(lake, "prompts", _filled(Prompt, prompts, n), "w-0")
        requests = {
            "run_spec_id": [spec.run_spec_id] * n,
            "instance_id": ids,
            "perturbation": plain,
            "train_trial_index": np.zeros(n, np.int64),
            "trial_index": np.zeros(n, np.int64),
            "purpose": [Purpose.EVALUATE.value] * n,
            "request_id": [f"r-{name}" for name in ids],
            "prompt_id": prompts["prompt_id"],
            "model_deployment": [spec.model_deployment] * n,
            "decoding": [{"max_tokens": 16, "temperature": 0.0, "num_completions": 1}] * n,
            "access_level": level,
        }
        _write(lake, "requests", _filled(PlannedRequest, requests, n), "w-0")
        results = {
            "request_id": requests["request_id"],
            "model_deployment": requests["model_deployment"],
            "access_level": level,
            "completed_at": [STARTED] * n,
            "engine_fingerprint": ["{}"] * n,
            "completions": [[{"text": f"yes, as in {n % 1000}"}] for n in sources],
            "attempts": np.ones(n, np.int64),
        }
        _write(lake, "request_results", _filled(RequestResult, results, n), "w-0")


def _append(lake: Path, table: str, rows: Sequence[object], write: str) -> None:
    _write(lake, table, pa.Table.from_batches([encode_batch(TABLES[table].row, rows)]), write)


def _write(lake: Path, table: str, rows: pa.Table, write: str) -> None:
    if WRITE_ID not in rows.column_names:
        rows = rows.append_column(WRITE_ID, pa.array([write] * len(rows), pa.string()))
    table_properties = properties(TABLES[table])
    write_deltalake(str(lake / table), rows, mode="append", configuration=table_properties)


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


def spec_of(number: int) -> RunSpec:
    """The run of a model."""
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


PAGE = """
import json, sys, time
from pathlib import Path
from benchmarks.boards import peak
from benchmarks.large_board import SUITE, spec_of
from medhelm_spark.board import *
from medhelm_spark.lake.reader import open_reader
reader, spec, viewer = open_reader(sys.argv[1]), spec_of(0), Viewer.THIS_MACHINE
answers = answer_list(reader, spec) if {is_listed} else None
first = choose(reader, SUITE)  # imports and connects, as the page's server has
before, started, used = peak(), time.perf_counter(), time.process_time()
page = {call}
print(json.dumps([
    time.perf_counter() - started, time.process_time() - used, peak() - before
]))
"""
PAGES = {
    "the first page of 12 answers": ("first_page(reader, spec, limit=12)", False),
    "the first page and its first answer, with all texts": (
        "instance_detail(reader, spec, first_page(reader, spec, limit=12).scores[0].key, "
        "viewer=viewer)",
        False,
    ),
    "the list of all answers, which follows": ("answer_list(reader, spec)", False),
    "then a page from the middle": (
        "instances_of(reader, spec, limit=12, offset=500_000, answers=answers)",
        True,
    ),
    "the lowest scores": (
        "instances_of(reader, spec, limit=12, order=Order.LOWEST, answers=answers)",
        True,
    ),
    "wrong answers": (
        "instances_of(reader, spec, limit=12, only=AnswerFilter.WRONG, answers=answers)",
        True,
    ),
    "a search in data and answers": (
        "instances_of(reader, spec, limit=12, matching='Note 777.', viewer=viewer, "
        "answers=answers)",
        True,
    ),
}
"""What the dashboard's page of instances does, and whether it has the list of answers before."""


def page(lake: Path, call: str, is_listed: bool) -> tuple[float, float, float]:
    """Seconds, CPU seconds and added MB of a process of its own, the median of READ_AGAIN."""
    code = PAGE.format(call=call, is_listed=is_listed)
    words = [sys.executable, "-c", code, str(lake)]
    readings = []
    for _ in range(READ_AGAIN):
        process = subprocess.run(words, capture_output=True, text=True, check=True)
        seconds, cpu, megabytes = json.loads(process.stdout.splitlines()[-1])
        readings.append((seconds, cpu, megabytes))
    return sorted(readings)[READ_AGAIN // 2]


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
        lines = [
            f"| {name} | {seconds:.1f} | {gigabytes:.2f} | {count:,} |"
            for name, (call, size) in READINGS.items()
            for seconds, gigabytes, count in [read(lake, call, size)]
        ]
        page_lines = []
        for name, (call, is_listed) in PAGES.items():
            seconds, cpu, megabytes = page(lake, call, is_listed)
            page_lines.append(f"| {name} | {seconds:.2f} | {cpu:.2f} | {megabytes:.0f} |")
    head = (
        f"# A board of {args.models} models on {args.rows:,} instances\n\n"
        f"{time.strftime('%Y-%m-%d')}, 2 cores, `python -m benchmarks.large_board`. Twelve scores "
        "of each answer, one benchmark. Each reading is a process of its own; GB is its largest "
        "resident size.\n\n| | seconds | GB | rows |\n|---|---|---|---|\n"
    )
    below = (
        f"\nThe dashboard's page of instances, {args.rows:,} answers; MB are those that a process "
        f"takes beyond what it had, median of {READ_AGAIN} processes, load "
        f"{os.getloadavg()[1]:.1f}.\n\n"
        "| | seconds | CPU | MB |\n|---|---|---|---|\n"
    )
    text = head + "\n".join(lines) + "\n" + below + "\n".join(page_lines) + "\n"
    print(text)
    args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
