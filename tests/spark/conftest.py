"""One session for all Spark tests, and a site: a folder with deployments, data and a lake."""

import csv
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark.cli import main
from medhelm_spark.config.settings import load_settings
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import open_session

# Java as for one command (`conf/settings/local.yaml`) would spend a quarter of hundreds of runs on
# garbage. The full compiler never earns back what it costs: no two tests repeat the same for long.
LONG_SESSION = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -XX:ReservedCodeCacheSize=240m"
    ),
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
}

PUBLIC = ("--access-level", "public")
"""What a person declares of data of their own under a public card."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that every command of every test finds active."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    conf = {**load_settings(None, {}).spark, **LONG_SESSION}
    conf["spark.sql.warehouse.dir"] = str(warehouse)
    session = open_session(conf, app_name="medhelm-spark-tests")
    yield session
    session.stop()


@dataclass
class Site:
    """A user's folder: configuration, benchmarks, a lake, and the commands typed in it."""

    folder: Path
    spark: SparkSession
    deployments: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "prod_env").mkdir(parents=True, exist_ok=True)

    @property
    def lake_path(self) -> Path:
        return self.folder / "lake"

    @property
    def lake(self) -> Lake:
        return Lake(self.spark, str(self.lake_path))

    def deploy(self, name: str, *, locality: str = "local", **args: Any) -> str:
        """Declare a canned deployment in the site's own file."""
        keys = ("max_attempts", "max_concurrency", "tokens_per_second", "engine")
        keys += ("max_failures_in_a_row", "on_failure", "tokenizer_name", "max_request_length")
        keys += ("model_name",)
        own = {key: args.pop(key) for key in keys if key in args}
        entry = {"engine": "canned", "locality": locality, **own, "name": name}
        self.deployments = [one for one in self.deployments if one["name"] != name]
        self.deployments.append({**entry, "client_spec": {"args": args}})
        path = self.folder / "prod_env" / "model_deployments.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"model_deployments": self.deployments}))
        return name

    def benchmark(
        self,
        name: str,
        rows: Sequence[dict[str, str]],
        *,
        template: str = "{question}\nAnswer:",
        metrics: Sequence[Any] = ("exact_match",),
        access_level: str = "public",
        judge_prompt: str | None = None,
        answer_extraction: Any = "strict",
        **keys: Any,
    ) -> str:
        """Write the three files of a configurable benchmark; returns its run entry.

        Answers are compared as they are, unless set otherwise; None leaves it to the references.
        """
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "prompt.txt").write_text(template)
        with (folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        if judge_prompt:
            (folder / "judge.txt").write_text(judge_prompt)
        config = {
            "name": name,
            "description": f"Made for a test: {name}.",
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "access_level": access_level,
            "metrics": [{"name": one} if isinstance(one, str) else one for one in metrics],
            **keys,
        }
        if answer_extraction:
            config["answer_extraction"] = answer_extraction
        (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
        return f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"

    def run(self, *arguments: str, command: str = "run", suite: str = "s") -> int:
        """`medhelm-spark COMMAND ... --suite S` in this site, without MLflow."""
        flags = ["-o", str(self.lake_path), "--local-path", str(self.folder / "prod_env")]
        quiet = (
            ["--no-tracking"]
            if command in ("run", "import-responses", "import-helm", "summarize")
            else []
        )
        return main([command, *arguments, "--suite", suite, *flags, *quiet])

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table, read without Spark: a hundredth of its time for so few."""
        reader = FileReader(str(self.lake_path))
        return reader.query(f"SELECT * FROM {{{table}}}").to_pylist()  # type: ignore[no-any-return]

    def board(self, suite: str = "s") -> list[dict[str, Any]]:
        """The board of a suite, from its json."""
        path = self.folder / "board.json"
        flags = ["--format", "json", "--output-file", str(path)]
        assert self.run(*flags, command="leaderboard", suite=suite) == 0
        cells: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
        return cells


def give_plugin(spark: SparkSession, folder: Path, name: str, source: str) -> Path:
    """Write a plug-in that executors of the session have too; its folder, for the driver's path."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text(source, encoding="utf-8")
    archive = folder / f"{name}.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(package / "__init__.py", f"{name}/__init__.py")
    spark.sparkContext.addPyFile(str(archive))
    return folder


@pytest.fixture(autouse=True)
def no_small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """These are tests of Spark: a command in a process of its own starts it too."""
    monkeypatch.setenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS", "0")


@pytest.fixture
def site(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A fresh site; commands run with its folder as the working directory."""
    monkeypatch.chdir(tmp_path)
    return Site(tmp_path, spark)


def questions(count: int, answer: Callable[[int], str] = lambda i: "yes") -> list[dict[str, str]]:
    """Rows of a small exact-match benchmark."""
    return [
        {"id": f"q{i}", "question": f"Is {i} a number?", "correct_answer": answer(i)}
        for i in range(count)
    ]


def calls(log: Path) -> list[str]:
    """The request ids of the calls that a canned engine really received."""
    return log.read_text().split() if log.exists() else []
