"""Ten questions, and `leaderboard`, in lakes that are empty, used 2,000 times, and full.

    python -m benchmarks.lake_age [--runs 2000] [--copies 50] [--rows 100000] [--times 2]
        [--optimized] [--folder FOLDER]

The lakes are made of real runs by copying their commits: of each row the ids get a suffix (those of
runs, requests, prompts, data and writes, and the suite's name), so that each copy is a run of its
own. `used` is one run of ten questions, copied commit by commit, as its tables' logs have them.
`full` is a run of `--rows` questions to each of two models, copied `--copies` times; of the second
model's results and the first one's equally many are there. Each measurement is a process of its own
on a copy of the lake by hard links; the memory is that of the driver's Python, without the JVM.
With `--folder` the lakes are kept there, and used again where they are there already.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.loads import as_installed, write_benchmark

RESULTS = Path(__file__).parent / "results" / "lake_age.md"
MODELS = ("team/one", "team/two")
ENTRY = "medhelm_configurable_benchmark:config_path={}/benchmark.yaml,model={}"
SUFFIXED = frozenset(
    (
        *("suite", "run_spec_id", "request_id", "judged_request_id", "prompt_id", "render_id"),
        *("data_version", "unit_id", "write_id"),
    )
)
"""The columns by which one run's rows differ from another's."""

SINCE = 25
"""So many runs follow the last merging of small files: `runs` has 150 more then."""

CHECKPOINT = 50
"""The commits from one checkpoint of a table's log to the next, by the tables' properties."""

CALL = """
import os, re, sys
from pathlib import Path
from medhelm_spark.cli import main
code = main(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
parents, ticks = {}, {}
for process in Path("/proc").glob("[0-9]*"):
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        continue
    parents[int(process.name)] = int(fields[1])
    ticks[int(process.name)] = sum(map(int, fields[11:15]))
ours = {os.getpid()}
while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
    ours |= more
cpu = sum(ticks[pid] for pid in ours) / os.sysconf("SC_CLK_TCK")
sys.stderr.write(f"\\nTOOK {cpu} {peak[1]}\\n")
sys.exit(code)
"""
GROW = """
import sys
from pathlib import Path
from benchmarks.lake_age import grow
grow(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one command took, with all of its processes, and what it printed."""

    seconds: float
    cpu: float
    gigabytes: float
    printed: str


def write_site(folder: Path, rows: int) -> None:
    """Two models that answer at once, and the questions: ten of before, ten to ask, and `rows`."""
    deployments = [
        {
            "name": name,
            "engine": "canned",
            "locality": "local",
            "client_spec": {"args": {"mode": "choice", "choices": ["yes", "yes", "no"]}},
        }
        for name in MODELS
    ]
    (folder / "site").mkdir(parents=True)
    text = yaml.safe_dump({"model_deployments": deployments})
    (folder / "site" / "model_deployments.yaml").write_text(text, encoding="utf-8")
    for name, count in {"before": 10, "ten": 10, "many": rows}.items():
        benchmark_folder = folder / name
        benchmark_folder.mkdir()
        write_benchmark(
            benchmark_folder, "{text}", 1, ({"text": f"{name} {n}?"} for n in range(count))
        )


def command(folder: Path, lake: Path, *arguments: str) -> Usage:
    """One command in a process of its own; SystemExit where it fails."""
    code = [sys.executable, "-c", CALL, *arguments, "-o", str(lake)]
    started = time.perf_counter()
    process = subprocess.run(
        code, cwd=folder, env=as_installed(), capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(
            f"{' '.join(arguments)} failed:\n{(process.stdout + process.stderr)[-3000:]}"
        )
    cpu, peak = re.findall(r"^TOOK (\S+) (\d+)$", process.stderr, re.MULTILINE)[-1]
    return Usage(seconds, float(cpu), int(peak) / 1e6, process.stdout)


def ask(folder: Path, lake: Path, questions: str, models: Iterable[str], suite: str) -> Usage:
    """Run all questions of a benchmark to these models."""
    entries = [part for model in models for part in ("-r", ENTRY.format(questions, model))]
    site = ("--local-path", "site", "--no-tracking")
    return command(folder, lake, "run", *entries, "--suite", suite, *site)


def board(folder: Path, lake: Path, suite: str) -> Usage:
    """Print a suite's board."""
    return command(folder, lake, "leaderboard", "--suite", suite)


def link_copy(lake: Path, copy: Path) -> Path:
    """The lake once more; files on the disk are the same, but for those that are overwritten."""

    def link(source: str, target: str) -> None:
        if Path(source).name.startswith(("_last", "._last")):
            shutil.copy2(source, target)
        else:
            os.link(source, target)

    shutil.copytree(lake, copy, copy_function=link)
    return copy


def grow(lake: Path, first: int, last: int) -> None:
    """Append copies number `first` to `last` of the lake's first run to all of its tables."""
    for table in sorted(path.parent for path in lake.glob("*/_delta_log")):
        _grow_table(table, first, last)


def _grow_table(table: Path, first: int, last: int) -> None:
    """Copies of a table's commits: files with suffixed ids, and the entries of the log for them.

    The log is written by hand, as fast as files are: a writer would read it for each commit.
    """
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    log = table / "_delta_log"
    template = table / "_template.json"  # the commits of the first run
    if template.exists():
        commits = json.loads(template.read_text(encoding="utf-8"))
    else:
        commits = list(_commits(log))
        template.write_text(json.dumps(commits), encoding="utf-8")
    tables = {add["path"]: pq.read_table(table / add["path"]) for adds in commits for add in adds}
    version = DeltaTable(str(table)).version()
    for number in range(first, last + 1):
        for adds in commits:
            version += 1
            actions: list[dict[str, Any]] = [{"commitInfo": {"operation": "WRITE"}}]
            for add in adds:
                path = table / f"copy-{number}-{add['path']}"
                rows = suffix_rows(tables[add["path"]], f"-{number}")
                pq.write_table(rows, path, compression="snappy")
                copied = {**add, "path": path.name, "size": path.stat().st_size}
                stats = json.loads(add["stats"])
                for bound in ("minValues", "maxValues"):
                    stats[bound] = _suffix_ids(stats.get(bound, {}), f"-{number}")
                actions.append({"add": {**copied, "stats": json.dumps(stats)}})
            lines = "".join(json.dumps(action) + "\n" for action in actions)
            (log / f"{version:020}.json").write_text(lines, encoding="utf-8")
        is_due = version % CHECKPOINT < len(commits)
        if is_due and number > last - 2 * CHECKPOINT:  # as any writer does; readers need the last
            checkpoint_version = version - version % CHECKPOINT
            DeltaTable(str(table), version=checkpoint_version).create_checkpoint()


def _commits(log: Path) -> Iterator[list[dict[str, Any]]]:
    for path in sorted(log.glob("*.json")):
        actions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if adds := [action["add"] for action in actions if "add" in action]:
            yield adds


def suffix_rows(rows: Any, suffix: str) -> Any:
    """A table's rows as another run's; of run_specs also what lies within."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in rows.column_names:
        column = rows.column(name)
        column_index = rows.column_names.index(name)
        if name in SUFFIXED and pa.types.is_string(column.type):
            # An empty id means none.
            suffixes = pc.if_else(pc.equal(column, ""), "", suffix)
            joined = pc.binary_join_element_wise(column, suffixes, "")
            rows = rows.set_column(column_index, rows.schema.field(name), joined)
        elif name == "run_spec":
            values = [_suffix_ids(value, suffix) for value in column.to_pylist()]
            rows = rows.set_column(
                column_index, rows.schema.field(name), pa.array(values, column.type)
            )
    return rows


def _suffix_ids(values: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    return {
        name: value + suffix if name in SUFFIXED and isinstance(value, str) and value else value
        for name, value in values.items()
    }


def grow_in_process(lake: Path, first: int, last: int) -> None:
    """`grow` in a process of its own: memory of this one would count as its children's memory."""
    subprocess.run([sys.executable, "-c", GROW, str(lake), str(first), str(last)], check=True)


def make(folder: Path, runs: int, copies: int, rows: int) -> None:
    """The lakes, those that are not there yet."""
    if not (folder / "site").exists():
        write_site(folder, rows)
    one, large = folder / "lakes" / "one", folder / "lakes" / "large"
    steps = {
        one: lambda lake: ask(folder, lake, "before", MODELS[:1], "before"),
        folder / "lakes" / "used": lambda lake: grow_in_process(link_copy(one, lake), 2, runs),
        large: lambda lake: ask(folder, lake, "many", MODELS, "many"),
        folder / "lakes" / "full": lambda lake: grow_in_process(link_copy(large, lake), 2, copies),
    }
    for path, step in steps.items():
        _make_if_absent(path, step)


def _make_if_absent(path: Path, step: Callable[[Path], object]) -> Path:
    """A lake that a step makes where it is not there yet; one that is half made does not stay."""
    if not path.exists():
        started = time.perf_counter()
        partial = path.with_suffix(".making")
        shutil.rmtree(partial, ignore_errors=True)
        step(partial)
        partial.rename(path)
        sys.stderr.write(f"{path.name}: made in {time.perf_counter() - started:.0f} s\n")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The row of a lake: the run and the board after it, as often as it was measured."""

    name: str
    runs: list[Usage]
    boards: list[Usage]

    def cells(self) -> str:
        """Seconds and CPU seconds of each measurement, and the most memory."""
        parts = []
        for usages in (self.runs, self.boards):
            parts.append(" / ".join(f"{usage.seconds:.1f}" for usage in usages))
            parts.append(" / ".join(f"{usage.cpu:.1f}" for usage in usages))
            parts.append(f"{max(usage.gigabytes for usage in usages):.2f}")
        return " | ".join(parts)


def measured(folder: Path, name: str, lake: Path | None, times: int) -> Line:
    """Ten new questions to the first model, and the board of their suite."""
    line = Line(name=name, runs=[], boards=[])
    for _ in range(times):
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            copy = Path(temporary, "lake")
            if lake:
                link_copy(lake, copy)
            line.runs.append(ask(folder, copy, "ten", MODELS[:1], "ten"))
            line.boards.append(board(folder, copy, "ten"))
    sys.stderr.write(f"{name} | {line.cells()}\n")
    return line


def optimized(folder: Path, name: str) -> Path:
    """A lake after `optimize`."""
    return _make_if_absent(
        folder / "lakes" / f"{name}-optimized",
        lambda lake: command(folder, link_copy(folder / "lakes" / name, lake), "optimize"),
    )


def maintained(folder: Path, runs: int) -> Path:
    """The used lake after one real run, which rewrites its small tables, and `SINCE` more runs."""

    def step(lake: Path) -> None:
        link_copy(folder / "lakes" / "used", lake)
        ask(folder, lake, "ten", MODELS[1:], "between")
        grow_in_process(lake, runs + 1, runs + SINCE)

    return _make_if_absent(folder / "lakes" / "used-maintained", step)


def size_of(lake: Path) -> str:
    """How many results and how many files of `runs` a lake has."""
    import pyarrow as pa
    from deltalake import DeltaTable

    counts = []
    for table in ("request_results", "runs"):
        files = pa.table(DeltaTable(str(lake / table)).get_add_actions(flatten=True))
        counts.append((files.num_rows, sum(files["num_records"].to_pylist())))
    (result_files, results), (run_files, _) = counts
    return f"{results:,} | {result_files:,} / {run_files:,}"


def main() -> None:
    """Make the lakes, measure, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--optimized", action="store_true", help="the full lake optimised, too")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.folder or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, args.runs, args.copies, args.rows)
        lakes = {
            "empty": None,
            "one run before": folder / "lakes" / "one",
            f"{args.runs:,} runs, never merged": folder / "lakes" / "used",
            f"{args.runs:,} runs, merged by the last but {SINCE}": maintained(folder, args.runs),
            "full": folder / "lakes" / "full",
        }
        if args.optimized:
            lakes["full, after `optimize`"] = optimized(folder, "full")
        lines = [measured(folder, name, lake, args.times) for name, lake in lakes.items()]
        printed = {each.printed for line in lines for each in line.runs}
        if len(printed) != 1:
            raise SystemExit("the board of the ten questions is not the same in all lakes")
        sizes = ["0 | 0 / 0", *(size_of(lake) for lake in lakes.values() if lake)]
    page = report(lines, sizes, args.runs)
    args.output.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


def report(lines: Iterable[Line], sizes: Iterable[str], runs: int) -> str:
    """The numbers as markdown."""
    head = [
        "# Lakes of every age",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads. Ten new questions to a "
        "model that answers at once, then the board of their suite; each a process of its own, "
        "seconds from nothing to its end and of CPU (with the JVM and its workers), memory of the "
        "driver's Python (GB, the most). The lakes "
        f"are copies of real runs (`benchmarks/lake_age.py`): {runs:,} runs of ten questions, each "
        "commit of them copied; and a run of many questions to two models, the one that is asked "
        "now and another. The boards of the ten questions are equal in all of them.",
        "",
        "| lake | results | files of results, `runs` | run, s | CPU | GB | board, s | CPU | GB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {line.name} | {size} | {line.cells()} |"
        for line, size in zip(lines, sizes, strict=True)
    ]
    return "\n".join([*head, *rows]) + "\n"


if __name__ == "__main__":
    main()
