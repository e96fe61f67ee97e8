"""docs/adding-a-judge.md, adding-a-model.md and suites.md as they are, with outside packages."""

import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark import plugins
from medhelm_spark.cli.exit_codes import INCOMPLETE
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import clustered
from tests.servers import free_port
from tests.spark.conftest import Site
from tests.spark.pages import asking, commands, page, write_files

BENCHMARK = page("docs/own-benchmark.md")
JUDGE = page("docs/adding-a-judge.md")
MODEL = page("docs/adding-a-model.md")
SUITES = page("docs/suites.md")
START_SECONDS = 60


@pytest.fixture(autouse=True)
def without_plugins() -> Iterator[None]:
    yield
    plugins.activate()


def test_the_page_about_judges_runs(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    names = write_files(JUDGE, site.folder)
    package = "hospital_judge/__init__.py"
    assert package in names
    with zipfile.ZipFile(site.folder / "hospital_judge.zip", "w") as archive:
        archive.write(site.folder / package, package)
    site.spark.sparkContext.addPyFile(str(site.folder / "hospital_judge.zip"))  # --py-files
    replies = {"knee": "Your knee is worn, dear patient.", "mole": "Harmless."}
    site.deploy("acme/writer", mode="script", replies=replies)
    site.deploy("hospital/judge", mode="script", replies={"dear": " A.\n"}, text="C")
    site.deploy("hospital/second-judge", mode="script", replies={"dear": "B"}, text="no grade")
    (words,) = commands(JUDGE)
    assert site.run(*asking(words, "acme/writer")) == INCOMPLETE
    # Letter 1: A and B, (4 + 3) / 2; letter 2 has no score, since a reply is no grade.
    (cell,) = site.board()
    assert (cell["main_metric"], cell["mean"], cell["count"]) == ("tone", 3.5, 1)
    assert (cell["jury_coverage"], cell["jury_evidence"]) == (0.75, "not validated")
    capsys.readouterr()
    site.deploy("hospital/second-judge", mode="script", text="D")
    assert site.run(*asking(words, "acme/writer")) == 0
    assert "\n2 model calls" in capsys.readouterr().err, "only the changed judge is asked"
    (again,) = site.board()
    assert (again["mean"], again["jury_coverage"]) == (((4 + 1) / 2 + (2 + 1) / 2) / 2, 1.0)


@contextmanager
def served(folder: Path, port: int) -> Iterator[None]:
    """The page's own server, `python -m hospital_model PORT`."""
    words = [sys.executable, "-m", "hospital_model", str(port)]
    process = subprocess.Popen(words, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)})
    try:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def test_the_page_about_models_runs(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(BENCHMARK, site.folder)
    names = write_files(MODEL, site.folder)
    assert names[0] == "hospital_model/__main__.py"
    assert "python -m hospital_model 8010 &" in MODEL
    port = free_port()
    path = site.folder / "prod_env" / "model_deployments.yaml"
    path.write_text(path.read_text().replace(":8010", f":{port}"))
    words, *_ = commands(MODEL)
    with served(site.folder, port):
        assert site.run(*words) == 0
    assert "\n4 model calls" in capsys.readouterr().err
    (cell,) = site.board()
    assert (cell["model_deployment"], cell["mean"]) == ("hospital/alarm-signs", 0.75)
    assert f"{cell['mean']:.3f}" in MODEL
    assert {row["engine"] for row in site.rows("run_specs")} == {"openai"}
    path.write_text(path.read_text().replace(f":{port}", ":1"))
    assert site.run(*words) == 0, "a moved server is asked nothing again"
    assert "\n0 model calls" in capsys.readouterr().err


def test_a_model_that_is_added_without_the_suite_file_is_read_by_its_endpoint(site: Site) -> None:
    """The board once went over to the benchmark's first metric, and the winner with it."""
    write_files(BENCHMARK, site.folder)
    (name,) = write_files(SUITES, site.folder)
    path = site.folder / name
    site.deploy("acme/yes", text="Yes.")
    site.deploy("acme/no", text="No.")
    path.write_text(path.read_text().replace("huggingface/smollm2-135m-instruct", "acme/yes"))
    (words,) = commands(SUITES)
    assert site.run(*words) == 0
    entry = "medhelm_configurable_benchmark:config_path=referral/benchmark.yaml"
    for model in ("acme/no", "acme/yes"):
        assert site.run("-r", f"{entry},model={model}") == 0
        cells = [cell for cell in site.board() if cell["model_deployment"] == model]
        declared = [(cell["main_metric"], cell["is_primary"]) for cell in cells]
        assert declared == [("quasi_exact_match", True)]
    rows = [(row["is_primary"], row["margin"]) for row in site.rows("run_specs")]
    assert rows == [(True, 0.05)] * 3


def test_the_page_about_suites_runs(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(BENCHMARK, site.folder)
    (name,) = write_files(SUITES, site.folder)
    path = site.folder / name
    site.deploy("acme/yes", text="Yes.")
    path.write_text(path.read_text().replace("huggingface/smollm2-135m-instruct", "acme/yes"))
    (words,) = commands(SUITES)
    assert site.run(*words) == 0
    output = capsys.readouterr()
    assert "quasi_exact_match (primary endpoint, margin 0.05)" in output.out
    assert "\n12 model calls" in output.err, "four letters, three times"
    (cell,) = site.board()
    three_each = cluster_totals(np.repeat(np.arange(4), 3), np.repeat([1.0, 1.0, 0.0, 0.0], 3))
    assert (cell["count"], cell["ci_low"]) == (12, pytest.approx(clustered(three_each, 0, 1).low))
    spread = {
        (row["computed_on"], row["mean"], row["count"])
        for row in site.rows("stats")
        if (row["name"], row["perturbation"]) == ("quasi_exact_match", "repeats")
    }
    assert spread == {("mean", 0.5, 3), ("worst", 0.5, 3), ("spread", 0.0, 3)}
    # "Yes." is the right answer to two of four letters.
    assert (cell["main_metric"], cell["mean"], cell["is_primary"]) == (
        "quasi_exact_match",
        0.5,
        True,
    )
    (row,) = site.rows("run_specs")
    assert (row["is_primary"], row["margin"]) == (True, 0.05)

    text = path.read_text()
    path.write_text(text[: text.index("primary_endpoint")])
    assert site.run(*words) == 0
    (cell,) = site.board()
    assert (cell["main_metric"], cell["mean"], cell["is_primary"]) == ("exact_match", 0.5, False)
    run_specs = sorted(site.rows("run_specs"), key=lambda one: one["planned_at"])
    assert [one["is_primary"] for one in run_specs] == [True, None]
    assert "supersedes" in capsys.readouterr().err

    path.write_text(text.replace("quasi_exact_match", "exact_match"))
    assert site.run(*words) == 0
    assert len(site.rows("run_specs")) == 3, "declared of the same RunSpec"
    assert site.board()[0]["is_primary"] is True
    assert site.run(*words) == 0
    assert len(site.rows("run_specs")) == 3
    path.write_text(path.read_text().replace("margin: 0.05", "margin: 0.02"))
    assert site.run(*words) == 0
    assert site.board()[0]["margin"] == 0.02
    run_specs = sorted(site.rows("run_specs"), key=lambda one: one["planned_at"])
    assert [one["margin"] for one in run_specs] == [0.05, None, 0.05, 0.02]
