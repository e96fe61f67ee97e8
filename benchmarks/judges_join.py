"""Judges that join the order of the models, beside the same judges when the models have ended.

    python -m benchmarks.judges_join [--times 3] [--rows 1000] [--places Spark]

Two models and two judges, engines that wait a few milliseconds for each request; models and judges
run side by side as two servers do. A fresh lake and a process of its own for each
measurement, by turns, in this process and by Spark.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import yaml

from benchmarks.loads import write_benchmark

RESULTS = Path(__file__).parent / "results" / "judges_join.md"
PLUGIN = """
from medhelm_spark.engines import canned
from medhelm_spark.engines.engine import Destinations, EngineFactory, in_this_job

ENGINES = {
    "beside": EngineFactory(
        build=canned.build,
        check=canned.check,
        locality=in_this_job,
        destinations=Destinations.IN_PROCESS,
        serving=canned.ENGINE.serving,
    )
}
"""
RUBRIC = (
    'Score.\n<rubric_criteria>\n{"accuracy": ["score"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
AFTERWARDS = "import medhelm_spark.pipeline.run as run; run.follow_ups = lambda *_: None; "
MAIN = "import sys; from medhelm_spark.cli import main; sys.exit(main(sys.argv[1:]))"
WAYS = {"when the models have ended": AFTERWARDS + MAIN, "as answers come": MAIN}
LOCATIONS = {"this process": "1000000", "Spark": "0"}
"""By location the setting that selects it: up to how many requests a run is small."""

HEAD = """# Judges that join the order

{:%Y-%m-%d}; {} hardware threads; two models and two judges, {:,} questions, {:.0f} ms a request of
each; medians of {} runs by turns, each a process in a fresh lake. *Before the last answer* counts
judges' requests that were asked while a model still had some. `python -m benchmarks.judges_join`.

| computed by | judges begin | seconds | requests | before the last answer |
|---|---|---|---|---|
{}
"""
SECONDS = 0.005


def write_site(folder: Path, rows: int) -> None:
    """A site with the models, the judges and a benchmark."""
    (folder / "site").mkdir()
    (folder / "beside_engine.py").write_text(PLUGIN, encoding="utf-8")
    settings = {"plugins": ["beside_engine"]}
    (folder / "site" / "settings.yaml").write_text(yaml.safe_dump(settings))
    models = {"acme/a": "yes", "acme/b": "no"}
    entries = [
        _deployment(name, "canned", folder, text=text, mode="constant")
        for name, text in models.items()
    ]
    entries += [
        _deployment(name, "beside", folder, score=4, mode="judge") for name in ("acme/j", "acme/k")
    ]
    deployments = {"model_deployments": entries}
    (folder / "site" / "model_deployments.yaml").write_text(yaml.safe_dump(deployments))
    write_benchmark(
        folder, "{question}\nAnswer:", 5, ({"question": f"Is {n} a number?"} for n in range(rows))
    )
    (folder / "judge.txt").write_text(RUBRIC, encoding="utf-8")
    path = folder / "benchmark.yaml"
    judges = [{"name": name, "model_name": name} for name in ("acme/j", "acme/k")]
    jury = {"name": "jury_score", "prompt_file": "judge.txt", "judges": judges}
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"metrics": [jury]}))


def _deployment(name: str, engine: str, folder: Path, **args: object) -> dict[str, object]:
    answering = {**args, "delay": SECONDS, "log_file": str(folder / f"{name[-1]}.log")}
    fixed = {"locality": "local", "client_spec": {"args": answering}}
    return {"name": name, "engine": engine, **fixed}


def command(folder: Path, lake: str, location: str, way: str) -> tuple[float, int, int]:
    """Run once: its seconds, its requests, and those of judges before the last answer."""
    for log in folder.glob("*.log"):
        log.unlink()
    entry = f"medhelm_configurable_benchmark:config_path={folder}/benchmark.yaml"
    words = ["run", "-r", entry, "--models-to-run", "acme/a", "acme/b", "--suite", "s"]
    words += ["-o", lake, "--local-path", "site", "--no-tracking"]
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", WAYS[way], *words],
        cwd=folder,
        env=os.environ
        | {"MEDHELM_SPARK_SMALL_RUN_REQUESTS": LOCATIONS[location]}
        | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    early = 0
    while process.poll() is None:
        if _lines(folder, "ab") < 2 * _rows(folder):
            early = _lines(folder, "jk")
        time.sleep(0.05)
    seconds = time.monotonic() - started
    if process.returncode:
        raise SystemExit(f"{location}, judges {way}: the command ended with {process.returncode}")
    return seconds, _lines(folder, "abjk"), early


def _rows(folder: Path) -> int:
    return int((folder / "rows").read_text())


def _lines(folder: Path, names: str) -> int:
    logs = [folder / f"{name}.log" for name in names]
    return sum(log.read_bytes().count(b"\n") for log in logs if log.exists())


def measured(folder: Path, location: str, times: int) -> Iterator[str]:
    """A line of the table for each way: the medians of runs by turns."""
    runs_by_way: dict[str, list[tuple[float, int, int]]] = {way: [] for way in WAYS}
    for turn in range(times):
        for number, (way, runs) in enumerate(runs_by_way.items()):
            runs.append(command(folder, f"lake-{location[:2]}-{turn}-{number}", location, way))
    for way, runs in runs_by_way.items():
        seconds, requests, early = (statistics.median(column) for column in zip(*runs, strict=True))
        yield f"| {location} | {way} | {seconds:.1f} | {requests:,.0f} | {early:,.0f} |"


def main() -> None:
    """Measure by turns, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--places", nargs="+", choices=LOCATIONS, default=list(LOCATIONS))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "rows").write_text(str(args.rows))
        write_site(folder, args.rows)
        lines = [
            line for location in args.places for line in measured(folder, location, args.times)
        ]
    text = HEAD.format(
        datetime.now(UTC), os.cpu_count(), args.rows, 1000 * SECONDS, args.times, "\n".join(lines)
    )
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
