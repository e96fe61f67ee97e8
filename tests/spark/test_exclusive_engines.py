"""Engines that fill their slot and leave their memory taken: a second model in one suite."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark import plugins
from tests.spark.conftest import Site, calls, give_plugin, questions

ENGINE = """
from medhelm_spark.engines import canned
from medhelm_spark.engines.engine import Destinations, EngineFactory, in_this_job

BUILT = []


def build(deployment, max_in_flight):
    if BUILT:
        raise RuntimeError("the memory of the first engine was not given back")
    BUILT.append(deployment.name)
    return canned.build(deployment, max_in_flight)


ENGINES = {
    "fills": EngineFactory(
        build=build,
        check=canned.check,
        exclusive=True,
        locality=in_this_job,
        destinations=Destinations.IN_PROCESS,
        serving=canned.ENGINE.serving,
    )
}
"""
RUBRIC = (
    'Score.\n<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}


@pytest.fixture
def filling(
    site: Site, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A site with the plug-in `one_model`, on the driver and in executors."""
    monkeypatch.syspath_prepend(str(give_plugin(spark, tmp_path, "one_model", ENGINE)))
    settings = site.folder / "prod_env" / "settings.yaml"
    settings.write_text(yaml.safe_dump({"plugins": ["one_model"]}))
    yield site
    plugins.activate()


def test_two_models_and_their_judge_finish_and_nothing_is_asked_twice(
    filling: Site, tmp_path: Path
) -> None:
    log, site = tmp_path / "calls.log", filling
    for name, text in (("acme/a", "yes"), ("acme/b", "no")):
        site.deploy(name, engine="fills", text=text, log_file=str(log))
    site.deploy("acme/judge", engine="fills", mode="judge", score=4, log_file=str(log))
    entry = site.benchmark(
        "bench", questions(6), metrics=["exact_match", JURY], judge_prompt=RUBRIC
    )
    assert site.run("-r", entry, "--models-to-run", "acme/a", "acme/b") == 0
    call_counts = Counter(calls(log))
    assert set(call_counts.values()) == {1}
    assert len(call_counts) == 6 + 6 + 12
    assert {cell["count"] for cell in site.board()} == {6}
