"""What Python workers have imported before they are made; no JVM is started."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from medhelm_spark.engines import ENGINES
from medhelm_spark.lake.worker_daemon import DAEMON, PRELOAD, preloading
from medhelm_spark.subprocess_env import child_environment
from medhelm_spark.workspace.session import IN_WORKERS

VARIABLE = f"spark.executorEnv.{PRELOAD}"


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*,4]"])
def test_a_session_in_one_jvm_forks_workers_that_have_imported_modules(
    master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    settings = preloading({"spark.x": "1"}, master, ["json", "csv", "json"])
    assert settings == {
        "spark.x": "1",
        DAEMON: "medhelm_spark.lake.worker_daemon",
        VARIABLE: "pyspark.worker,json,csv",
    }


@pytest.mark.parametrize(
    ("conf", "master", "platform"),
    [
        ({}, "yarn", "linux"),
        ({}, "spark://host:7077", "linux"),
        ({}, "local-cluster[2,1,1024]", "linux"),
        ({}, "local[2]", "darwin"),
        ({DAEMON: "a_site.daemon"}, "local[2]", "linux"),
    ],
)
def test_other_sessions_and_a_sites_daemon_stay_as_they_are(
    conf: dict[str, str], master: str, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert preloading(conf, master, ["json"]) == conf


def test_what_is_named_can_be_imported() -> None:
    clients = [name for engine in ENGINES.values() for name in engine.imports]
    assert "aiohttp" in clients
    assert [name for name in (*IN_WORKERS, *clients) if find_spec(name) is None] == []


def test_imports_print_nothing_where_the_jvm_reads_and_one_that_fails_is_passed_over(
    tmp_path,
) -> None:
    (tmp_path / "talks.py").write_text("print('a port?')\n")
    (tmp_path / "broken.py").write_text("raise ValueError('no')\n")
    program = (
        "import gc, sys; from medhelm_spark.lake.worker_daemon import preload; preload(); "
        "print(sorted({'talks', 'broken', 'csv'} & sys.modules.keys()), gc.get_freeze_count() > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**child_environment(), PRELOAD: "broken,talks,csv", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['csv', 'talks'] True\n"
    assert done.stderr == "a port?\n"
