"""Who may read what: refused in the plan, refused again at the engine, recorded, never sent."""

from operator import itemgetter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.cli.exit_codes import INCOMPLETE
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.session import node_addresses
from medhelm_spark.stages.decide import decide
from tests.attacks import INSIDE_ONLY, OUTSIDE, Listener
from tests.spark.conftest import Site, calls, questions

RUBRIC = (
    'Judge.\n<rubric_criteria>\n{"accuracy": ["score"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)


def test_a_model_outside_may_not_see_gated_text(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    model = site.deploy("vendor/model", locality="external", log_file=str(log))
    entry = site.benchmark("bench", questions(2), access_level="gated")
    assert site.run("-r", f"{entry},model={model}") == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("medhelm-spark: ")
    assert "may not see gated text" in line
    (decision,) = site.rows("policy_decisions")
    assert (decision["allowed"], decision["role"]) == (False, "model")
    assert not calls(log)
    assert not site.rows("prompts")


def test_a_judge_outside_may_not_see_private_text(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    model = site.deploy("acme/yes", text="yes")
    site.deploy("vendor/judge", locality="external", mode="judge", log_file=str(log))
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "vendor/judge", "model_name": "vendor/judge"}],
    }
    entry = site.benchmark(
        "bench", questions(2), metrics=[jury], judge_prompt=RUBRIC, access_level="private"
    )
    assert site.run("-r", f"{entry},model={model}") == 1
    assert "the judge 'vendor/judge'" in capsys.readouterr().err
    refused = [row for row in site.rows("policy_decisions") if not row["allowed"]]
    assert [row["role"] for row in refused] == ["judge"]
    assert not calls(log)


@pytest.mark.attack("policy", "a plan that was let through by mistake sends gated text")
def test_the_engine_asks_again_just_before_sending(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that was let through by mistake still sends nothing."""
    log = tmp_path / "calls.log"
    model = site.deploy("vendor/model", locality="external", log_file=str(log))
    entry = site.benchmark("bench", questions(3), access_level="gated")
    monkeypatch.setattr("medhelm_spark.pipeline.prepare.decide", lambda *_: [])
    assert site.run("-r", f"{entry},model={model}") == INCOMPLETE
    assert not calls(log)
    assert {row["failure"] for row in site.rows("request_results")} == {"denied"}
    (decision,) = site.rows("policy_decisions")
    assert (decision["role"], decision["model_deployment"], decision["allowed"]) == (
        "model",
        model,
        False,
    )
    assert decision["rule"].startswith("held back before it was sent; ")
    assert decision["rule"].endswith("gated allows local, not external")
    assert decision["access_level"] == "gated"
    assert decision["run_name"] in {row["name"] for row in site.rows("run_specs")}
    assert not disclosures_of(open_reader(str(site.lake_path)))
    assert not [row for row in site.rows("request_results") if row["completions"]]
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (0, 3)
    assert callable(decide)


def test_every_row_of_text_carries_its_level_and_the_first_private_run_warns(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    model = site.deploy("acme/yes", text="yes")
    site.deploy("acme/judge", mode="judge", score=4)
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    entry = site.benchmark(
        "bench", questions(2), metrics=[jury], judge_prompt=RUBRIC, access_level="private"
    )
    assert site.run("-r", f"{entry},model={model}") == 0
    assert "This run reads private text" in capsys.readouterr().err
    for table in ("instances", "prompts", "request_results", "annotations"):
        assert {row["access_level"] for row in site.rows(table)} == {"private"}, table
    disclosures = disclosures_of(open_reader(str(site.lake_path)))
    assert not (site.lake_path / "begun_waves").exists(), "local orders cost no further commit"
    destinations = {(row.access_level, row.destination, row.locality) for row in disclosures}
    assert destinations == {("private", "this job", "local")}
    assert {row.model_deployment: (row.texts, row.times, row.answered) for row in disclosures} == {
        "acme/judge": (2, 2, 2),
        "acme/yes": (2, 2, 2),
    }
    site.run("-r", f"{entry},model={model}")
    assert "This run reads" not in capsys.readouterr().err


@pytest.mark.attack("network", "a server called local whose address is outside, in a whole run")
def test_private_text_reaches_no_server_outside_the_listed_networks(
    site: Site, outside: Listener, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address in a spelling that only a look-up understands: the connection itself shows it."""
    policy = f"allowed: {{public: [local], private: [local]}}\nnetworks: {{local: [{INSIDE_ONLY}]}}"
    url = f"http://127.2:{outside.port}/v1"
    model = site.deploy("acme/served", engine="openai", base_url=url, max_attempts=1)
    (site.folder / "prod_env" / "policy.yaml").write_text(policy)
    entry = site.benchmark("bench", questions(3), access_level="private")
    assert site.run("-r", f"{entry},model={model}") == INCOMPLETE
    assert not outside.received
    results = site.rows("request_results")
    assert {(row["failure"], row["attempts"]) for row in results} == {("denied", 0)}
    assert len(results) == 3
    site.deploy("acme/served", engine="openai", base_url=outside.url, max_attempts=1)
    assert site.run("-r", f"{entry},model={model}", suite="literal") == 1
    assert f"sends to {OUTSIDE}: its address is in no network" in capsys.readouterr().err
    decisions = sorted(site.rows("policy_decisions"), key=itemgetter("decided_at"))
    refused = [row for row in decisions if not row["allowed"]]
    assert [row["suite"] for row in refused] == ["s", "literal"], "a denial at send has its row too"
    others = [{**row, "question": f"Once more: {row['question']}"} for row in questions(3)]
    open_to_all = site.benchmark("open", others)  # the same text would still be private
    assert site.run("-r", f"{open_to_all},model={model}", suite="open") == 0
    assert len(outside.received) == 3, "public text goes where its deployment is"


def test_a_jobs_machines_are_those_that_spark_knows(spark: SparkSession) -> None:
    assert "127.0.0.1" in node_addresses(spark)
