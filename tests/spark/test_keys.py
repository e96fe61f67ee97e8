"""Runs over HTTP with a key that ends: nothing is lost, nothing asked twice, no key shown."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
import yaml

from medhelm_spark.cli.exit_codes import OUTAGE
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import Site, questions
from tests.token_server import NOISE, TOKEN, TokenServer

ROOT = Path(__file__).resolve().parents[2]
MAIN = """
import sys
from medhelm_spark.cli import main
from pyspark.sql import SparkSession
code = main(sys.argv[1:])
SparkSession.getActiveSession().stop()  # ends the log of events
sys.exit(code)
"""
MANY = 2000
MARKS = (TOKEN.encode(), NOISE.encode(), b"planted")


@pytest.fixture
def server() -> Iterator[TokenServer]:
    server = TokenServer()
    yield server
    server.close()


def entry(site: Site, server: TokenServer, count: int, *, is_listed: bool = True) -> str:
    outside = site.folder.parent / f"{site.folder.name}-outside"
    outside.mkdir(exist_ok=True)
    command = server.command(outside)
    if is_listed:
        policy = site.folder / "prod_env" / "policy.yaml"
        policy.write_text(yaml.safe_dump({"commands": [command]}))
    model = site.deploy(
        "acme/served",
        engine="openai",
        base_url=f"{server.url}/v1",
        api_key={"command": command, "lifetime": "50m"},
        max_concurrency=8,
    )
    return f"{site.benchmark('bench', questions(count))},model={model}"


def marked_locations(site: Site) -> list[str]:
    """The files of a site, and its tables unpacked, that contain what was replied or printed."""
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    tables = [path.parent.name for path in site.lake_path.glob("*/_delta_log")]
    assert files and "request_results" in tables
    texts = {str(path): path.read_bytes() for path in files}
    texts |= {table: str(site.rows(table)).encode() for table in tables}
    return [name for name, text in texts.items() if any(mark in text for mark in MARKS)]


def test_a_renewal_that_fails_keeps_all_and_the_same_command_goes_on(
    site: Site, server: TokenServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.uses = 30
    run = entry(site, server, 200)
    server.failing = set(range(3, 20))
    assert site.run("-r", run) == OUTAGE
    stderr = capfd.readouterr().err
    assert f"takes no request (no key: the command '{sys.executable}' ended with exit" in stderr
    num_answers = server.answered.total()
    assert f"{num_answers} answers kept" in stderr
    assert "py4j" not in stderr and "planted" not in stderr
    server.failing = set()
    assert site.run("-r", run) == 0
    assert site.board()[0]["count"] == 200
    assert set(server.answered.values()) == {1}, "nothing is asked twice"
    disclosures = [
        each for each in disclosures_of(open_reader(str(site.lake_path))) if not each.is_bound
    ]
    assert sum(each.times for each in disclosures) == len(server.authorization)
    assert not marked_locations(site)


def test_a_command_that_the_policy_does_not_list_is_not_run(
    site: Site, server: TokenServer, capfd: pytest.CaptureFixture[str]
) -> None:
    assert site.run("-r", entry(site, server, 2, is_listed=False)) != 0
    assert "does not list it; whoever has checked it adds" in capfd.readouterr().err
    assert server.requested == 0
    assert not site.lake_path.exists(), "it is refused before work starts"


def spark_home(folder: Path) -> str:
    """Spark as it is installed, in a folder of the test's: executors work below it."""
    home = folder / "home"
    home.mkdir()
    for part in Path(str(pyspark.__file__)).parent.iterdir():
        (home / part.name).symlink_to(part)
    return str(home)


@pytest.mark.long
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_a_long_run_with_a_key_that_ends_leaves_no_key_anywhere(
    tmp_path: Path, server: TokenServer, master: str
) -> None:
    site = Site(tmp_path, None)  # type: ignore[arg-type]  # a process of its own runs Spark
    server.seconds, server.uses, server.failing = 3.0, 300, {4}
    run = entry(site, server, MANY)
    events = tmp_path / "events"
    events.mkdir()
    settings = {
        "spark.master": master,
        "spark.log.level": "INFO",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(events),
        "spark.eventLog.compress": "false",
        # A cluster's defaults make fifty tasks of each reading of a table: too slow for two cores.
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
    }
    (tmp_path / "prod_env" / "settings.yaml").write_text(yaml.safe_dump({"spark": settings}))
    location_flags = ["-o", str(site.lake_path), "--local-path", str(tmp_path / "prod_env")]
    log = tmp_path / "log"
    with log.open("w") as stream:
        completed = subprocess.run(
            [sys.executable, "-c", MAIN, "run", "-r", run, "--suite", "s", *location_flags],
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_HOME": spark_home(tmp_path),
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
            cwd=tmp_path,
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert completed.returncode == 0, log.read_text()[-4000:]
    assert len(server.answered) == MANY
    executors = {row["executor"] for row in site.rows("request_results")}
    assert len(executors) == (2 if "cluster" in master else 1)
    assert set(server.answered.values()) == {1}, "nothing is asked twice"
    assert server.issued > MANY // server.uses, "keys ended"
    assert "INFO" in log.read_text() and list(events.rglob("*")), "Spark logs what it does"
    assert list(tmp_path.rglob("mlflow.db")), "MLflow has the run"
    assert not marked_locations(site)
    (tmp_path / "planted").write_bytes(MARKS[0])
    assert len(marked_locations(site)) == 1, "the search returns what is there"
