"""A policy in a catalog's table, read through the session."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType

from medhelm_spark.config import settings
from medhelm_spark.config.policy_trust import why_ours_in_catalog
from medhelm_spark.domain.policy_table import PolicyTable
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake import policy_table
from medhelm_spark.lake.policy_table import read_policy_table, rights_of
from tests.spark.conftest import Site, questions

NAME = "spark_catalog.governance.policy"
TEXT = "allowed: {public: [local], gated: [local], private: [local, tenant]}"

VIEWS = {
    "tables": "'governance' AS table_schema, 'policy' AS table_name, 'MANAGED' AS table_type,"
    " 'officers' AS table_owner",
    "schemata": "'governance' AS schema_name, 'officers' AS schema_owner",
    "catalogs": "'spark_catalog' AS catalog_name, 'officers' AS catalog_owner",
    "metastores": "'administrators' AS metastore_owner",
    "table_privileges": "'Governance' AS table_schema, 'policy' AS table_name,"
    " 'analysts' AS grantee, 'SELECT' AS privilege_type",
    "schema_privileges": "'governance' AS schema_name, 'analysts' AS grantee,"
    " 'USE_SCHEMA' AS privilege_type",
    "catalog_privileges": "'spark_catalog' AS catalog_name, 'engineers' AS grantee,"
    " 'MODIFY' AS privilege_type",
}
"""Tables that look like those of Unity Catalog, of which this session has none."""


@pytest.fixture
def catalog(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    monkeypatch.setattr(policy_table, "METASTORES", "spark_catalog.information_schema.metastores")
    spark.sql("CREATE SCHEMA governance")
    spark.sql("CREATE SCHEMA information_schema")
    spark.sql(f"CREATE TABLE governance.policy USING delta AS SELECT '{TEXT}' AS policy")
    for name, columns in VIEWS.items():
        spark.sql(f"CREATE TABLE information_schema.{name} USING delta AS SELECT {columns}")
    spark.udf.register("is_account_group_member", lambda group: group == "analysts", BooleanType())
    yield spark
    spark.sql("DROP TEMPORARY FUNCTION is_account_group_member")
    spark.sql("DROP SCHEMA information_schema CASCADE")
    spark.sql("DROP SCHEMA governance CASCADE")


@pytest.mark.attack("policy", "a catalog of the user's own with tables like Unity Catalog's")
def test_the_rights_are_read_and_a_catalog_of_ones_own_binds_nobody(
    catalog: SparkSession,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind, rights = rights_of(catalog, NAME)
    assert kind == "MANAGED"
    assert {(each.securable, each.holder, each.name, each.is_ours) for each in rights} == {
        ("table", "officers", "OWNER", False),
        ("schema", "officers", "OWNER", False),
        ("catalog", "officers", "OWNER", False),
        ("metastore", "administrators", "OWNER", False),
        ("table", "analysts", "SELECT", True),
        ("schema", "analysts", "USE SCHEMA", True),
        ("catalog", "engineers", "MODIFY", False),
    }
    table = PolicyTable(name=NAME, text=TEXT, kind=kind, rights=rights)
    assert why_ours_in_catalog(table) is None, "Unity Catalog itself would be believed"
    read = read_policy_table(catalog, NAME)
    assert (read.text, read.rights) == (TEXT, ())
    assert read.reason == "catalog spark_catalog is what the session's settings make of it"

    # A whole run by it, `--dry-run` included, has it as an advisory one.
    settings_file = site.folder / "platform" / "settings.yaml"
    settings_file.parent.mkdir()
    settings_file.write_text(f"policy: {NAME}")
    monkeypatch.setattr(settings, "PLATFORM_FILE", settings_file)
    monkeypatch.setattr(settings, "why_ours", lambda _: None)
    model = site.deploy("vendor/model", locality="tenant")
    entry = site.benchmark("bench", questions(2), access_level="private")
    for flags in (("--dry-run",), ()):
        assert site.run("-r", f"{entry},model={model}", *flags) == 1
        stderr = capsys.readouterr().err
        assert "policy (advisory: catalog spark_catalog is what the session's" in stderr
        assert "private allows local, not tenant" in stderr

    monkeypatch.setattr(policy_table, "is_of_session", lambda *_: False)
    assert site.run("-r", f"{entry},model={model}", "--dry-run") == 0
    assert f"{NAME} (binding): private allows local, tenant" in capsys.readouterr().out
    catalog.sql("DROP TABLE information_schema.catalog_privileges")
    read = read_policy_table(catalog, NAME)
    assert read.reason == "its catalog does not say who may change it (AnalysisException)"
    catalog.sql("INSERT INTO governance.policy VALUES ('allowed: {}')")
    with pytest.raises(ConfigError, match=rf"{NAME}: the table has more than 1 rows of 1 columns"):
        read_policy_table(catalog, NAME)
    with pytest.raises(ConfigError, match=r"no_such: the table cannot be read \(AnalysisExc"):
        read_policy_table(catalog, "spark_catalog.governance.no_such")
