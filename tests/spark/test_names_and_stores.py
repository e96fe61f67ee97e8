"""Names that need quotes in SQL, and stores that Spark alone can open.

The catalog of three levels is Spark's own over a Derby database; the store is Hadoop's `viewfs`,
which neither Arrow nor delta-rs supports, over a local folder.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.errors import DataError
from medhelm_spark.lake.lake import Lake, SparkReader
from medhelm_spark.lake.store_reader import store_reader
from medhelm_spark.scenarios import BroadcastFiles
from medhelm_spark.stages.broadcast_files import for_tasks
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.source_tables import newest_version, raw_rows
from tests.spark.conftest import Site, questions

CATALOG = "spark.sql.catalog.prod-eu"
DERBY = {
    CATALOG: "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    f"{CATALOG}.url": "jdbc:derby:memory:prodeu;create=true",
    f"{CATALOG}.driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}
LEFT_OUT = LeftOut(
    suite="s",
    name="pubmed_qa:model=acme_m",
    scenario_name="pubmed_qa",
    reason="no such file",
    left_out_at=datetime(2026, 1, 2, tzinfo=UTC),
    is_listed=True,
    run_by="ann",
)


def mount(site: Site, name: str) -> str:
    """A folder of the site's as a store; returns its URI."""
    folder = site.folder / name
    folder.mkdir()
    authority = f"{name}{site.folder.name.replace('_', '')}".lower()
    key = f"fs.viewfs.mounttable.{authority}.link./{name}"
    site.spark.conf.set(key, folder.as_uri())
    return f"viewfs://{authority}/{name}"


def test_data_in_a_catalog_of_three_levels_whose_name_has_a_hyphen(site: Site) -> None:
    for key, value in DERBY.items():
        site.spark.conf.set(key, value)
    site.spark.sql("CREATE NAMESPACE `prod-eu`.clinic")
    site.spark.sql("CREATE TABLE `prod-eu`.clinic.letters (id INT, text STRING)")
    site.spark.sql("INSERT INTO `prod-eu`.clinic.letters VALUES (1, 'a'), (2, 'b')")
    ctx = Context(lake=site.lake, suite="s")
    for name in ("prod-eu.clinic.letters", "`prod-eu`.clinic.letters"):
        assert raw_rows(ctx, name, None, ("id", "text")).count() == 2
        assert newest_version(ctx, name) is None, "no Delta table, and no error"
    with pytest.raises(DataError, match=r"prod-eu\.clinic\.absent"):
        raw_rows(ctx, "prod-eu.clinic.absent", None, ())


def test_a_file_of_a_store_that_spark_alone_opens_travels(site: Site) -> None:
    uri = mount(site, "data")
    (site.folder / "data" / "a.csv").write_text("id\n1\n")
    ctx = Context(lake=site.lake, suite="s")
    opener = for_tasks(ctx, {"scenario 'a'": [f"{uri}/a.csv"]})
    assert opener(f"{uri}/a.csv").read() == b"id\n1\n"
    with pytest.raises(DataError, match=r"neither this process nor Spark can read it"):
        for_tasks(ctx, {"scenario 'a'": [f"{uri}/b.csv"]})


def test_the_drivers_own_file_does_not_travel_where_tasks_run_beside_it(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    ctx = Context(lake=site.lake, suite="s")
    assert for_tasks(ctx, {"": [str(tmp_path / "a.csv")]}) == BroadcastFiles()


@pytest.mark.long
def test_a_run_in_a_bucket_that_this_process_cannot_read_ends_with_its_board(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = mount(site, "lake")
    model = site.deploy("acme/yes", text="yes")
    entry = f"{site.benchmark('bench', questions(3))},model={model}"
    flags = ("-o", uri, "--local-path", str(site.folder / "prod_env"), "--no-tracking")
    assert main(["run", "-r", entry, "--suite", "s", *flags]) == 0
    output = capsys.readouterr()
    assert "lake: read through Spark" in output.err
    assert "yes" in output.out and "1.000" in output.out, "the board"
    reader = store_reader(uri, Lake(site.spark, uri), lambda _: None)
    assert isinstance(reader, SparkReader)
