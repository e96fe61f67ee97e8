"""gc and optimize through Spark, and a lake that an earlier version wrote."""

import re
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from medhelm_spark import AnswerFilter, Deployment, Entries, Evaluation
from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.cli.demo import BASELINE, BASELINE_ANSWERS, CONFIGURABLE, MODEL
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.retention import Retention
from medhelm_spark.domain.stages import SCORE, SUMMARIZE
from medhelm_spark.lake import maintenance
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.maintenance import maintenance_of, merge_small_files
from medhelm_spark.lake.tables import STATISTICS
from medhelm_spark.maintenance.gc import gc
from medhelm_spark.stages.context import Context
from tests.ledger import scored

KEPT = Path(__file__).parent.parent / "lakes" / "schema_1.tar.xz"
"""`medhelm-spark demo` and `publish --suites demo --release 2026-q1`, by 0.1.0 at schema 1."""

MEANS = {
    (BASELINE, "DISCHARGE-NOTE"): 0.0,
    (BASELINE, "TRIAGE-CHOICE"): 5 / 12,
    (BASELINE, "pubmed_qa"): 0.3,
    (MODEL, "DISCHARGE-NOTE"): 0.0,
    (MODEL, "TRIAGE-CHOICE"): 2 / 12,
    (MODEL, "pubmed_qa"): 0.3,
}
"""As that version's board showed."""


@pytest.fixture
def site(tmp_path: Path, spark: SparkSession) -> Evaluation:
    """The stored lake as a user of this version opens it, with the demo's canned model."""
    with tarfile.open(KEPT) as archive:
        archive.extractall(tmp_path, filter="data")
    baseline = Deployment(
        name=BASELINE,
        model=BASELINE,
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "script", "replies": BASELINE_ANSWERS, "text": "A"},
        origin="demo",
    )
    return Evaluation(
        tmp_path / "lake", site=None, spark=spark, tracking=False, deployments=[baseline]
    )


def means(site: Evaluation, **which: str) -> dict[tuple[str, str], float | None]:
    board = site.board(**which).leaderboard
    return {
        (row.model_deployment, cell.scenario_name): cell.mean
        for row in board.rows
        for cell in row.cells
    }


def test_a_lake_of_schema_1_opens_and_goes_on(site: Evaluation) -> None:
    assert means(site, suite="demo") == pytest.approx(MEANS)
    assert means(site, release="2026-q1") == pytest.approx(MEANS)
    manifest = site.releases.verify("2026-q1")
    wrong = site.answers(suite="demo", only=AnswerFilter.WRONG)
    assert wrong.to_rows() if hasattr(wrong, "to_rows") else wrong

    entry = f"{CONFIGURABLE}=triage_choice/benchmark.yaml,max_eval_instances={{}},model={BASELINE}"
    entries = Entries(run_entries=[entry.format(12)], base_dir=conf_path("demos"))
    assert site.run(entries, suite="demo").model_calls == 0, "its answers are this version's cache"
    more = Entries(run_entries=[entry.format(20)], base_dir=conf_path("demos"))
    assert site.run(more, suite="more").model_calls == 8

    site.lake.gc()
    site.lake.optimize()
    assert means(site, suite="demo") == pytest.approx(MEANS)
    assert site.releases.verify("2026-q1") == manifest


def test_a_release_of_schema_1_keeps_its_numbers_beside_one_made_now(site: Evaluation) -> None:
    before = site.board(release="2026-q1").render("json")
    manifest = site.releases.verify("2026-q1")
    site.releases.publish("now", "demo")  # scored and summarised by this version; nobody is asked
    assert site.board(release="2026-q1").render("json") == before
    assert site.releases.verify("2026-q1") == manifest
    read = f"method changed (extraction v4 -> v{EXTRACTION_VERSION}"
    rows = site.releases.compare("2026-q1", "now").runs
    reasons = {row.scenario_name: row.why for row in rows}
    assert re.sub(r" [0-9a-f]{8}\b", "", str(reasons.pop("DISCHARGE-NOTE"))) == (
        f"{read}, metric jury_score v2 -> jury_score v3, other versions unknown)"
    )
    assert reasons == {
        "TRIAGE-CHOICE": f"{read})",
        "pubmed_qa": f"{read})",
    }
    old, new = (site.releases.show(name).release.manifest for name in ("2026-q1", "now"))
    assert old is None or old.stage_versions is None
    now = {stage.name: stage.version for stage in (SCORE, SUMMARIZE)}
    assert new and new.stage_versions == now


@pytest.fixture
def lake(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake whose files this process is not sure to read: Spark does all that is done."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    return Lake(spark, str(tmp_path / "lake"))


def test_small_files_are_merged_by_spark_where_it_does_all(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MANY_SMALL_FILES", 2)
    local_lake = Lake(spark, str(tmp_path / "lake"))
    for number in range(3):
        scored(local_lake, f"u{number}", f"w{number}", datetime.now(UTC))
    older = DeltaTable(local_lake.location.table("per_instance_stats"))
    older.alter.set_table_properties({STATISTICS: "write_id"})
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    cluster_lake = Lake(spark, str(tmp_path / "lake"))
    assert not cluster_lake.is_folder_of_ours
    assert merge_small_files(cluster_lake) == {"per_instance_stats": 3, "runs": 3}
    assert maintenance_of(cluster_lake).files("runs").count == 1
    assert {row.unit_id for row in cluster_lake.read("runs").collect()} == {"u0", "u1", "u2"}
    assert merge_small_files(cluster_lake) == {}
    maintenance_of(cluster_lake).rewrite("per_instance_stats")
    configuration = (
        DeltaTable(local_lake.location.table("per_instance_stats")).metadata().configuration
    )
    assert configuration[STATISTICS] == "run_spec_id,write_id"
    assert cluster_lake.read("per_instance_stats").count() == 3


@pytest.mark.long
def test_gc_and_optimize_by_spark(lake: Lake, spark: SparkSession) -> None:
    today = datetime.now(UTC)
    for number in range(4):
        scored(lake, f"u{number}", f"old{number}", today - timedelta(days=90))
    for number in range(4):
        scored(lake, f"u{number}", f"new{number}", today - timedelta(days=60))
    ctx = Context(lake=lake, suite="")
    planned = gc(ctx, Retention(), dry_run=True)
    assert {each.table: each.rows for each in planned} == {"per_instance_stats": 4, "runs": 4}
    assert gc(ctx, Retention()) == planned
    writes = spark.sql(
        f"SELECT write_id FROM {lake.location.quoted('per_instance_stats')}"
    ).toArrow()
    assert sorted(writes["write_id"].to_pylist()) == [f"new{number}" for number in range(4)]
    table = DeltaTable(lake.location.table("per_instance_stats"))
    assert table.metadata().configuration["delta.appendOnly"] == "true"
    assert gc(ctx, Retention()) == []

    # Into several files again, so that what is read of one write is decided by their statistics.
    some = maintenance_of(lake).files("per_instance_stats").size // 4
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(some))
    try:
        maintenance_of(lake).rewrite("per_instance_stats")
    finally:
        spark.conf.unset("spark.databricks.delta.optimize.maxFileSize")
    read = lake.read("per_instance_stats").where("write_id = 'new2' AND run_spec_id = 'u2'")
    assert read.count() == 1
    assert len(read.inputFiles()) < maintenance_of(lake).files("per_instance_stats").count
