"""docs/plugins.md as it is: its package, card and data, on the driver and in executors."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark import plugins
from medhelm_spark.cli.exit_codes import INCOMPLETE
from tests.spark.conftest import Site, questions
from tests.spark.pages import asking, commands, page, write_files

PAGE = page("docs/plugins.md")
PACKAGE = "hospital_eval/__init__.py"
ENGINE = "hospital_engine/__init__.py"
MODELS = "prod_env/model_deployments.yaml"
CARD = "prod_env/scenarios/letters.yaml"
FLAG = ("--plugins", "hospital_eval")
JUDGES = [{"name": "j", "model": "acme/judge", "model_deployment": "acme/judge"}]

ODD = """
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics.metric import Metric, scored


def odd(states, params):
    return [scored(["odd"], [float(state.completions[0].text)]) for state in states]


METRICS = {
    "odd": Metric(
        fn=odd,
        needs=frozenset({"completions"}),
        emits=(MetricInfo(name="odd", display_name="Odd"),),
        version="1",
    )
}
"""


@pytest.fixture(autouse=True)
def without_plugins() -> Iterator[None]:
    yield
    plugins.activate()


@pytest.fixture(scope="module")
def shipped(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The page's package with the executors, as `--py-files` brings it: once a session."""
    folder = tmp_path_factory.mktemp("shipped")
    write_files(PAGE, folder)
    with zipfile.ZipFile(folder / "hospital_eval.zip", "w") as archive:
        archive.write(folder / PACKAGE, PACKAGE)
        archive.write(folder / ENGINE, ENGINE)
    spark.sparkContext.addPyFile(str(folder / "hospital_eval.zip"))


@pytest.fixture
def written(site: Site, shipped: None) -> Site:
    """The page's other files in a site, and models that are always there."""
    names = write_files(PAGE, site.folder)
    own = [PACKAGE, CARD, "prod_env/rubrics/plain.md", "letters.jsonl"]
    assert names == [*own, "prod_env/policy.yaml", ENGINE, MODELS]
    declared = yaml.safe_load((site.folder / MODELS).read_text(encoding="utf-8"))
    site.deployments += declared["model_deployments"]
    replies = {"knee is fine": "Your knee is well. Regards"}
    site.deploy("acme/plain", mode="script", replies=replies, text="Come in May.")
    site.deploy("acme/judge", mode="script", replies={"May": "No"}, text="Yes")
    judges = yaml.safe_dump({"judges": JUDGES})
    (site.folder / "prod_env" / "judges.yaml").write_text(judges, encoding="utf-8")
    return site


def test_the_page_runs(written: Site, capsys: pytest.CaptureFixture[str]) -> None:
    words = asking(commands(PAGE)[0], "acme/plain")
    assert written.run(*(word for word in words if word not in FLAG)) == 1
    assert "unknown shape 'letter'" in capsys.readouterr().err
    assert written.run(*words) == 0
    assert "plug-in hospital_eval (" in capsys.readouterr().err
    (cell,) = written.board()
    assert (cell["mean"], cell["count"], cell["main_metric"]) == (0.5, 2, "greets")
    scores = [score["score"] for row in written.rows("annotations") for score in row["scores"]]
    assert sorted(scores) == [0.0, 1.0]
    texts = {row["input"] for row in written.rows("instances")}
    assert "Dear Ms A,\n\nyour knee is fine.\n\nRegards" in texts
    assert written.run(*words) == 0
    assert "\n0 model calls" in capsys.readouterr().err


def test_the_pages_perturbation_runs(written: Site, capsys: pytest.CaptureFixture[str]) -> None:
    plain, perturbed = (asking(words, "acme/plain") for words in commands(PAGE)[:2])
    arguments = [word for word in plain if word not in FLAG]
    arguments[1] = arguments[1].replace("letters:", "letters:data_augmentation=capitals,")
    assert written.run(*arguments) == 1
    assert "data_augmentation 'capitals'" in capsys.readouterr().err
    assert written.run(*perturbed) == 0
    capsys.readouterr()
    (words,) = commands(PAGE, "leaderboard")
    assert written.run(*words, "--format", "json", command="leaderboard") == 0
    rows = {row["perturbation"]: row for row in rows_of(capsys.readouterr().out)}
    # The first letter's copy has KNEE IS FINE, to which the model has no reply.
    copy = rows["capitals"]
    assert (copy["original"], copy["changed"], copy["worst"]) == (0.5, 0.0, 0.0)
    assert (copy["invariance"], copy["count"]) == (0.5, 2)
    assert (rows["robustness"]["worst"], rows["robustness"]["original"]) == (0.0, 0.5)
    copies = [row["input"] for row in written.rows("instances") if row["perturbation"]]
    assert "DEAR MS A,\n\nYOUR KNEE IS FINE.\n\nREGARDS" in copies
    (plugin,) = plugins.active()
    (spec,) = (row["run_spec"] for row in written.rows("run_specs"))
    assert [one["version"] for one in spec["perturbations"]] == [f"1+{plugin.version}"]


def test_the_pages_engine_runs(written: Site, capsys: pytest.CaptureFixture[str]) -> None:
    *_, words = commands(PAGE)
    assert written.run(*words[:-1]) == 1
    assert "'hospital/rewriter': unknown engine 'rewriter'" in capsys.readouterr().err
    assert written.run(*words) == 0
    (cell,) = written.board()
    # Each letter ends with Regards, which the card's metric requires.
    assert (cell["model_deployment"], cell["mean"], cell["count"]) == ("hospital/rewriter", 1.0, 2)
    texts = {
        one["text"]
        for row in written.rows("request_results")
        if row["model_deployment"] == "hospital/rewriter"
        for one in row["completions"]
    }
    assert len(texts) == 2
    assert all(text.endswith("\nWith kind Regards") for text in texts)


def test_values_off_a_plugins_scale_are_unscored(
    site: Site, spark: SparkSession, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "odd_eval.zip", "w") as archive:
        archive.writestr("odd_eval/__init__.py", ODD)
    spark.sparkContext.addPyFile(str(tmp_path / "odd_eval.zip"))
    (site.folder / "odd_eval").mkdir()
    (site.folder / "odd_eval" / "__init__.py").write_text(ODD, encoding="utf-8")
    bench = site.benchmark("bench", questions(4), metrics=["odd"])
    replies = {f"Is {i} a number": text for i, text in enumerate(("nan", "5", "1"))}
    site.deploy("acme/odd", mode="script", replies=replies, text="0.5")
    assert site.run("-r", f"{bench},model=acme/odd", "--plugins", "odd_eval") == INCOMPLETE
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"], cell["mean"]) == (2, 2, 0.75)
    statuses = [one["status"] for row in site.rows("per_instance_stats") for one in row["stats"]]
    assert sorted(statuses) == ["invalid", "invalid", "ok", "ok"]


def rows_of(text: str) -> list[dict[str, Any]]:
    """The table of robustness as json."""
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    return rows
