"""Judges join the order of the models: when they begin, how often engines start, what is asked."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark import plugins
from medhelm_spark.adaptation.decoding import (
    ESTIMATED_TOKENS_SQL,
    REQUEST_ID_SQL,
    estimated_tokens,
    request_id,
)
from medhelm_spark.cli.exit_codes import INCOMPLETE, OUTAGE
from medhelm_spark.domain.request import Decoding
from tests.spark.conftest import Site, calls, give_plugin, questions
from tests.spark.test_in_process import rows_of_lake

ENGINES = """
from dataclasses import replace
from pathlib import Path

from medhelm_spark.engines import canned
from medhelm_spark.engines.engine import Destinations, EngineFactory, in_this_job


def start(deployment, max_in_flight):
    args = dict(deployment.args)
    with Path(args["log_file"]).with_name("starts.log").open("a") as log:
        log.write(deployment.name + "\\n")
    engine = canned.build(deployment, max_in_flight)
    engine.own_process = True
    return engine


def engine(**fields):
    return EngineFactory(
        check=canned.check,
        locality=in_this_job,
        destinations=Destinations.IN_PROCESS,
        serving=canned.ENGINE.serving,
        **fields,
    )


ENGINES = {
    "beside": engine(build=canned.build),
    "fills": engine(build=start, exclusive=True),
}
"""
RUBRIC = (
    'Score.\n<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)


def jury(*judges: str) -> dict[str, object]:
    return {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": name, "model_name": name} for name in judges],
    }


@pytest.fixture(scope="module")
def plug_in(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an engine that answers beside others, and of one that fills its slot."""
    return give_plugin(spark, tmp_path_factory.mktemp("plugin"), "judged_engines", ENGINES)


@pytest.fixture
def judged(site: Site, plug_in: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with these engines."""
    monkeypatch.syspath_prepend(str(plug_in))
    settings = site.folder / "prod_env" / "settings.yaml"
    settings.write_text(yaml.safe_dump({"plugins": ["judged_engines"]}))
    yield site
    plugins.activate()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.log"


def by_purpose(site: Site, purpose: str) -> set[str]:
    return {row["request_id"] for row in site.rows("requests") if row["purpose"] == purpose}


@pytest.mark.parametrize(("ready", "begins"), [(100, True), (1000, False)])
def test_a_judge_begins_with_enough_requests_or_when_the_models_have_ended(
    judged: Site, log: Path, monkeypatch: pytest.MonkeyPatch, ready: int, begins: bool
) -> None:
    monkeypatch.setattr("medhelm_spark.stages.infer.follow_ups.READY", ready)
    site = judged
    site.deploy("acme/slow", mode="echo", delay=0.01, log_file=str(log))
    site.deploy("acme/judge", engine="beside", mode="judge", score=4, log_file=str(log))
    metrics = [jury("acme/judge")]
    entry = site.benchmark("bench", questions(500), metrics=metrics, judge_prompt=RUBRIC)
    assert site.run("-r", f"{entry},model=acme/slow") == 0
    request_ids = calls(log)
    judges = by_purpose(site, "judge")
    assert Counter(request_ids) == Counter([*by_purpose(site, "evaluate"), *judges])
    assert len(judges) == 500
    of_judge = [request in judges for request in request_ids]
    last_answer = 999 - of_judge[::-1].index(False)
    before = sum(of_judge[:last_answer])
    assert of_judge.index(True) >= min(ready, 500)
    assert (before > 0) == begins


def test_a_model_that_is_a_judge_too_is_started_once(judged: Site, log: Path) -> None:
    site = judged
    for name, reply in (("acme/a", "yes"), ("acme/b", "no")):
        site.deploy(name, engine="fills", mode="judge", text=reply, score=4, log_file=str(log))
    metrics = ["exact_match", jury("acme/a")]
    entry = site.benchmark("bench", questions(20), metrics=metrics, judge_prompt=RUBRIC)
    assert site.run("-r", entry, "--models-to-run", "acme/a", "acme/b") == 0
    assert Counter(calls(log.with_name("starts.log"))) == {"acme/a": 1, "acme/b": 1}
    assert set(Counter(calls(log)).values()) == {1}
    assert {cell["count"] for cell in site.board()} == {20}


def test_scenarios_with_and_without_judges_are_asked_in_one_order(judged: Site, log: Path) -> None:
    site = judged
    site.deploy("acme/m", text="yes", log_file=str(log))
    site.deploy("acme/judge", engine="beside", mode="judge", score=4, log_file=str(log))
    with_judge = site.benchmark(
        "notes",
        questions(10),
        metrics=["exact_match", jury("acme/judge")],
        judge_prompt=RUBRIC,
        template="A note: {question}",
    )
    without = site.benchmark("choice", questions(200), template="Which? {question}")
    entries = [f"{entry},model=acme/m" for entry in (with_judge, without)]
    assert site.run("-r", entries[0], "-r", entries[1]) == 0
    asked = by_purpose(site, "evaluate") | by_purpose(site, "judge")
    assert Counter(calls(log)) == Counter(asked)
    assert len(site.rows("annotations")) == 10


def test_the_lake_is_the_one_of_judges_that_begin_afterwards(
    judged: Site, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two models that answer alike bring one request, and what cannot be judged brings none."""
    site, lakes = judged, (tmp_path / "joined", tmp_path / "afterwards")
    for name in ("acme/a", "acme/b"):
        site.deploy(name, mode="script", text="yes", replies={"Is 3 ": " "}, log_file=str(log))
    for name in ("acme/judge", "acme/other"):
        site.deploy(name, engine="beside", mode="judge", score=4, log_file=str(log))
    metrics = ["exact_match", jury("acme/judge", "acme/other")]
    entry = site.benchmark("bench", questions(30), metrics=metrics, judge_prompt=RUBRIC)
    call_counts = []
    for lake in lakes:
        lake.mkdir()
        site.lake_path.unlink(missing_ok=True)
        site.lake_path.symlink_to(lake)
        log.unlink(missing_ok=True)
        assert site.run("-r", entry, "--models-to-run", "acme/a", "acme/b") == 0
        call_counts.append(Counter(calls(log)))
        monkeypatch.setattr("medhelm_spark.pipeline.run.follow_ups", lambda *_: None)
    assert call_counts[0] == call_counts[1]
    assert call_counts[0].total() == 2 * 30 + 2 * 29
    joined, afterwards = map(rows_of_lake, lakes)
    for table in ("prompts", "requests", "request_results", "annotations", "stats"):
        assert joined[table] == afterwards[table], table


def test_what_a_judge_failed_is_asked_again_by_the_next_command_alone(
    judged: Site, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = judged
    site.deploy("acme/yes", mode="echo", log_file=str(log))
    failing = {"fail_every": 7, "failure": "timeout", "max_attempts": 1}
    site.deploy("acme/judge", engine="beside", mode="judge", score=4, log_file=str(log), **failing)
    metrics = [jury("acme/judge")]
    entry = site.benchmark("bench", questions(30), metrics=metrics, judge_prompt=RUBRIC)
    assert site.run("-r", f"{entry},model=acme/yes") == INCOMPLETE
    assert set(Counter(calls(log)).values()) == {1}
    assert "the same command asks again" in capsys.readouterr().err
    failed = [row["request_id"] for row in site.rows("request_results") if row["failure"]]
    assert failed
    site.deploy("acme/judge", engine="beside", mode="judge", score=4, log_file=str(log))
    assert site.run("-r", f"{entry},model=acme/yes") == 0
    assert Counter(calls(log)) - Counter(set(calls(log))) == Counter(failed)


def test_a_judge_that_does_not_answer_is_an_outage_after_the_models_answers(
    judged: Site, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = judged
    site.deploy("acme/yes", mode="echo", log_file=str(log))
    out = {"fail_every": 1, "failure": "unreachable", "max_attempts": 1, "max_failures_in_a_row": 3}
    site.deploy("acme/judge", engine="beside", mode="judge", max_concurrency=1, **out)
    metrics = [jury("acme/judge")]
    entry = site.benchmark("bench", questions(30), metrics=metrics, judge_prompt=RUBRIC)
    assert site.run("-r", f"{entry},model=acme/yes") == OUTAGE
    assert "annotate: deployment 'acme/judge' does not answer" in capsys.readouterr().err
    results = site.rows("request_results")
    failed = [row for row in results if row["model_deployment"] == "acme/judge"]
    assert 3 <= len(failed) < 12, "nor is it asked once more by annotate"
    assert sum(row["failure"] is None for row in results) == 30


def test_a_slot_that_dies_leaves_its_core_to_the_next_try(judged: Site, log: Path) -> None:
    site = judged
    dies = {"die_after": 40, "die_marker": str(log.with_name("died"))}
    site.deploy("acme/dies", mode="echo", log_file=str(log), **dies)
    site.deploy("acme/judge", engine="beside", mode="judge", score=4, log_file=str(log))
    metrics = [jury("acme/judge")]
    entry = site.benchmark("bench", questions(200), metrics=metrics, judge_prompt=RUBRIC)
    assert site.run("-r", f"{entry},model=acme/dies") == 0
    call_counts = Counter(calls(log))
    assert by_purpose(site, "judge") <= call_counts.keys()
    assert len(call_counts) == 400
    assert call_counts.total() <= 400 + 2 * 64
    assert {cell["count"] for cell in site.board()} == {200}


def test_ids_and_estimates_of_one_request_are_those_of_the_plan(spark: SparkSession) -> None:
    for characters, most in ((0, 1), (9, 3), (4001, 256)):
        decoding = Decoding(max_tokens=most, num_completions=2)
        row = spark.sql(
            f"SELECT {REQUEST_ID_SQL} AS id, {ESTIMATED_TOKENS_SQL} AS tokens FROM (SELECT 'p' AS "
            f"prompt_id, 'c' AS call_id, {characters} AS num_characters, "
            f"named_struct('max_tokens', {most}, 'num_completions', 2) AS decoding)"
        ).first()
        assert row
        assert row.id == request_id("p", "c")
        assert row.tokens == estimated_tokens(characters, decoding)
