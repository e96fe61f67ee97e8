"""Every command that writes, killed at moments over its whole length: repeated, it completes.

`make test-kills`. What the lake gives afterwards is what it gives where nothing was killed.
"""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.views import CURRENT_RESULTS
from tests import helm_folder

OLD_LAKE = Path(__file__).resolve().parents[1] / "lakes" / "schema_1.tar.xz"
MOMENTS = (0.35, 0.5, 0.65, 0.8, 0.92)
"""Shares of what the command took without a kill; before the first it imports and checks."""

ROWS = 12
BENCHMARK = "medhelm_configurable_benchmark:config_path=mine/benchmark.yaml"
TWO = tuple(f"{BENCHMARK},model=canned/{name}" for name in ("constant", "echo"))
RUN = ("run", "--suite", "s", "-r", *TWO)
IMPORT = (
    "import-responses", "--suite", "s", "-r", f"{BENCHMARK},model=acme/elsewhere",
    "--file", "answers.csv", "--fields", "source_id=id,completion=reply",
    "--attest-locality", "local",
)  # fmt: skip
POLICY = """
retention: {superseded_days: 1, lease_days: 1, file_days: 7}
audiences: [{name: research, content: scores}]
"""


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes; `before` are those that make its lake."""

    name: str
    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    old_lake: bool = False
    finished: str = ""
    """What the repeated command prints where the killed one had done all of its work."""


UNTRACKED = (*RUN, "--no-tracking")
PUBLISH = ("publish", "--release", "r", "--suites", "s", "--no-tracking")
RATINGS = (
    "ratings", "import", "--suite", "s", "--scenario", "MINE", "--file", "ratings.csv",
    "--criteria", "accuracy", "--scale", "1-5", "--key-file", "keys/raters.key",
)  # fmt: skip
SHARE = (
    "release", "share", "r", "--audience", "research", "--out", "shared", "--local-path", "site",
)  # fmt: skip
PURGE = ("scenarios", "purge", "MINE", "--agreement", "DUA", "--yes")
WRITERS = (
    Writer("run", UNTRACKED),
    Writer("import-responses", (*IMPORT, "--no-tracking")),
    Writer("import-helm", ("import-helm", "theirs", "--suite", "s")),
    Writer("export-helm", ("export-helm", "out", "--suite", "s"), (UNTRACKED,)),
    Writer("publish", PUBLISH, (UNTRACKED,)),
    Writer("ratings import", RATINGS, (UNTRACKED,)),
    Writer("release share", SHARE, (UNTRACKED, PUBLISH), finished="shared is there already"),
    Writer("purge", PURGE, (UNTRACKED, PUBLISH)),
    Writer("first tracking", ("summarize", "--suite", "s"), (UNTRACKED,)),
    Writer("gc", ("gc", "--local-path", "site"), (("summarize", "--suite", "demo"),), True),
    Writer(
        "optimize",
        ("optimize",),
        tuple(("run", "--suite", f"s{n}", "-r", TWO[n % 2], "--no-tracking") for n in range(9)),
    ),
)


def start(folder: Path, words: tuple[str, ...]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "medhelm_spark.cli", *words],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "MLFLOW_TRACKING_URI"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def done(folder: Path, words: tuple[str, ...], finished: str = "") -> str:
    process = start(folder, words)
    output, _ = process.communicate(timeout=300)
    ended = process.returncode == 0 or (finished and finished in output)
    assert ended, f"{words}: {output[-2000:]}"
    assert "Traceback" not in output
    return output


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The input files of the commands."""
    folder = tmp_path_factory.mktemp("base")
    answer = ["no", "yes"]
    rows = [f"{n},Is letter {n} urgent?,{answer[n % 2]}" for n in range(ROWS)]
    (folder / "rows.csv").write_text("\n".join(["id,q,a", *rows]))
    replies = [f"{n},{answer[n % 3 == 0]}" for n in range(ROWS)]
    (folder / "answers.csv").write_text("\n".join(["id,reply", *replies]))
    rated = [
        f"{n},canned/{name},{rater},{1 + n * len(rater) % 5}"
        for n in range(ROWS)
        for name in ("constant", "echo")
        for rater in ("ann", "bertram")
    ]
    (folder / "ratings.csv").write_text("\n".join(["source_id,model,rater,accuracy", *rated]))
    states = [helm_folder.state(f"id{n}", text=f"{n} degrees") for n in range(ROWS)]
    values = [helm_folder.values(f"id{n}", exact_match=1.0) for n in range(ROWS)]
    helm_folder.write_run(folder / "theirs", states=states, per_instance_stats=values)
    (folder / "site").mkdir()
    (folder / "site" / "policy.yaml").write_text(POLICY)
    done(folder, ("init", "mine", "--file", "rows.csv", "--text", "q", "--label", "a"))
    return folder


def tables(folder: Path) -> dict[str, Counter[str]]:
    """What a reader of the lake sees: stats, answers and releases, without names of writes."""
    reader = FileReader(str(folder / "benchmark_output"))
    answers = reader.rows(CURRENT_RESULTS, RequestResult)
    assert len({row.request_id for row in answers}) == len(answers)
    stored = reader.query("SELECT request_id FROM {request_results}").to_pylist()
    assert len(stored) == len({row["request_id"] for row in stored}), "an answer is stored twice"
    return {
        "answers": Counter(f"{row.request_id} {row.completions}" for row in answers),
        "boards": Counter(board(folder, name) for name in suites(reader)),
        "released": Counter(
            f"{row['release']} {row['run_spec_id']} {row['suite']}"
            for row in reader.query("SELECT * FROM {releases}").to_pylist()
        ),
    }


def suites(reader: FileReader) -> list[str]:
    rows = reader.query("SELECT DISTINCT suite FROM {run_specs}").to_pylist()
    return sorted(row["suite"] for row in rows)[:3]


def board(folder: Path, suite: str, lake: str = "benchmark_output") -> str:
    return done(folder, ("leaderboard", "--suite", suite, "--format", "json", "-o", lake))


def exported(folder: Path) -> dict[str, bytes]:
    """Each file that a command wrote beside the lake; hidden ones too."""
    files = (path for path in (folder / "out").rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def tracked(folder: Path) -> Counter[str]:
    """The runs in MLflow by name and status."""
    if not (folder / "benchmark_output" / "mlflow.db").exists():
        return Counter()
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/benchmark_output/mlflow.db")
    ids = [each.experiment_id for each in client.search_experiments()]
    return Counter(
        f"{run.info.run_name} {run.info.status} {sorted(run.data.metrics.items())}"
        for run in client.search_runs(ids)
    )


def age(lake: Path) -> None:
    """Have all that was done to a lake be done ninety days ago."""
    tables = FileTables(str(lake))
    rows = tables.query("SELECT * FROM {runs}")
    for name in ("started_at", "finished_at"):
        times = pc.subtract(rows[name], pa.scalar(timedelta(days=90)))
        rows = rows.set_column(rows.column_names.index(name), name, times)
    shutil.rmtree(lake / "runs")
    tables.append("runs", rows)


def rated(folder: Path) -> Counter[tuple[object, ...]]:
    """The ratings; a rater is a number, since the key of pseudonyms is each folder's own."""
    reader = FileReader(str(folder / "benchmark_output"))
    rows = reader.query("SELECT * FROM {ratings}").to_pylist()
    raters = {name: number for number, name in enumerate(sorted({row["rater"] for row in rows}))}
    assert len(raters) in (0, 2)
    return Counter((row["instance_id"], row["criterion"], row["value"]) for row in rows)


def shared(folder: Path) -> Counter[str]:
    """The files of a share by kind and rows, and whether it is as it was made."""
    out = folder / "shared"
    if not out.is_dir():
        return Counter()
    done(folder, ("release", "shares", "--out", "shared"))
    sizes = {
        path.name.rpartition("-")[2]: pq.read_metadata(path).num_rows
        for path in out.glob("*.parquet")
    }
    return Counter({**sizes, "files": len(list(out.iterdir()))})


def buried(folder: Path) -> Counter[str]:
    """The tombstones of a lake, which is verified where it has any."""
    rows = FileReader(str(folder / "benchmark_output")).query("SELECT * FROM {tombstones}")
    if rows.num_rows:
        done(folder, ("release", "verify", "r"))
    return Counter(f"{row['table_name']} {row['digest']}" for row in rows.to_pylist())


STATES: tuple[Callable[[Path], object], ...] = (tables, exported, tracked, rated, shared, buried)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_a_killed_command_completes_when_repeated(
    writer: Writer, base: Path, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    shutil.copytree(base, ready)
    if writer.old_lake:
        with tarfile.open(OLD_LAKE) as archive:
            archive.extractall(ready, filter="data")
        (ready / "lake").rename(ready / "benchmark_output")
    for words in writer.before:
        done(ready, words)
    if writer.old_lake:
        age(ready / "benchmark_output")
    reference = tmp_path / "whole"
    shutil.copytree(ready, reference)
    started = time.monotonic()
    output = done(reference, writer.words)
    seconds = time.monotonic() - started
    assert writer.name != "gc" or "nothing to remove" not in output
    expected = [state(reference) for state in STATES]
    killed = 0
    for moment in MOMENTS:
        folder = tmp_path / "killed"
        shutil.copytree(ready, folder)
        process = start(folder, writer.words)
        try:
            process.communicate(timeout=seconds * moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            killed += 1
        done(folder, writer.words, writer.finished)
        assert [state(folder) for state in STATES] == expected, f"killed at {moment:.0%}"
        shutil.rmtree(folder)
    assert killed >= len(MOMENTS) // 2
