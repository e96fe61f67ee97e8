"""A policy's table, read through the session: its text, and the rights in Unity Catalog.

Only Unity Catalog is trusted. Every other catalog is what the session's settings make of it, which
whoever runs the job may have written: tables that look like Unity Catalog's views prove nothing.
"""

from pyspark.sql import SparkSession, functions as F

from medhelm_spark.domain.data_uri import quoted_name
from medhelm_spark.domain.policy_table import OWNER, PolicyTable, Right
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literal

OWN_CATALOGS = ("spark_catalog", "hive_metastore")
"""Catalogs of a session that are no Unity Catalog's, whatever the settings say."""

EVERYBODY = "account users"
"""The group that all users of an account are in."""

SYSTEM = "system"
METASTORES = f"{SYSTEM}.information_schema.metastores"

KIND = """
SELECT table_type FROM {views}.tables
WHERE lower(table_schema) = lower({schema}) AND lower(table_name) = lower({table})
"""

# What is granted above a table is inherited; each level is queried nevertheless, in case a view
# leaves it out.
RIGHTS = f"""
SELECT 'table' AS place, table_owner AS holder, '{OWNER}' AS name FROM {{views}}.tables
WHERE lower(table_schema) = lower({{schema}}) AND lower(table_name) = lower({{table}})
UNION ALL SELECT 'schema', schema_owner, '{OWNER}' FROM {{views}}.schemata
WHERE lower(schema_name) = lower({{schema}})
UNION ALL SELECT 'catalog', catalog_owner, '{OWNER}' FROM {{views}}.catalogs
WHERE lower(catalog_name) = lower({{catalog}})
UNION ALL SELECT 'metastore', metastore_owner, '{OWNER}' FROM {{metastores}}
UNION ALL SELECT 'table', grantee, privilege_type FROM {{views}}.table_privileges
WHERE lower(table_schema) = lower({{schema}}) AND lower(table_name) = lower({{table}})
UNION ALL SELECT 'schema', grantee, privilege_type FROM {{views}}.schema_privileges
WHERE lower(schema_name) = lower({{schema}})
UNION ALL SELECT 'catalog', grantee, privilege_type FROM {{views}}.catalog_privileges
WHERE lower(catalog_name) = lower({{catalog}})
"""


def read_policy_table(spark: SparkSession, name: str) -> PolicyTable:
    """The policy in the table `catalog.schema.table`: one row, one column, a text.

    `reason` is why the catalog does not say who may change the table.

    Raises:
        ConfigError: the table cannot be read, or has anything else.
    """
    text = _text(spark, name)
    catalog = name.partition(".")[0]
    try:
        is_made = is_of_session(spark, catalog)
    except Exception as error:  # each kind of session has its own
        reason = (
            f"the session does not say whether its settings make catalog {catalog} "
            f"({type(error).__name__})"
        )
        return PolicyTable(name=name, text=text, reason=reason)
    if is_made:
        reason = f"catalog {catalog} is what the session's settings make of it"
        return PolicyTable(name=name, text=text, reason=reason)
    try:
        kind, rights = rights_of(spark, name)
    except Exception as error:  # each kind of session and catalog has its own
        reason = f"its catalog does not say who may change it ({type(error).__name__})"
        return PolicyTable(name=name, text=text, reason=reason)
    return PolicyTable(name=name, text=text, kind=kind, rights=rights)


def is_of_session(spark: SparkSession, catalog: str) -> bool:
    """Whether the session's settings make this catalog, or the one that lists the metastore.

    Raises:
        Exception: whatever a session raises that does not return a setting.
    """
    settings = (spark.conf.get(f"spark.sql.catalog.{name}", None) for name in (catalog, SYSTEM))
    return catalog.lower() in OWN_CATALOGS or any(settings)


def rights_of(spark: SparkSession, name: str) -> tuple[str, tuple[Right, ...]]:
    """The table's kind and the rights at it and above it, as the catalog shows them to this user.

    Raises:
        Exception: whatever the session raises where the catalog is none of Unity Catalog.
    """
    catalog, schema, table = name.split(".")
    values = {
        "views": f"`{catalog}`.information_schema",
        "metastores": METASTORES,
        "catalog": literal(catalog),
        "schema": literal(schema),
        "table": literal(table),
    }
    kinds = [str(row[0]) for row in spark.sql(KIND.format(**values)).collect()]
    rows = spark.sql(RIGHTS.format(**values)).collect()
    ours = _ours(spark, sorted({str(row["holder"]) for row in rows}))
    rights = (
        Right(
            securable=row["place"],
            holder=str(row["holder"]),
            name=str(row["name"]).upper().replace("_", " "),
            is_ours=ours[str(row["holder"])],
        )
        for row in rows
    )
    return ", ".join(kinds), tuple(sorted(rights, key=_in_order))


def _in_order(right: Right) -> tuple[str, str, str]:
    return right.securable, right.holder, right.name


def _ours(spark: SparkSession, holders: list[str]) -> dict[str, bool]:
    """By holder whether it is the user or a group of the user's; unknown counts as true."""
    conditions = [
        (F.lower(F.lit(holder)) == F.lower(F.current_user()))
        | F.call_function("is_account_group_member", F.lit(holder))
        for holder in holders
    ]
    (answers,) = spark.range(1).select(*conditions).collect()
    pairs = zip(holders, answers, strict=True)
    return {holder: holder == EVERYBODY or answer is not False for holder, answer in pairs}


def _text(spark: SparkSession, name: str) -> str:
    try:
        rows = spark.sql(f"SELECT * FROM {quoted_name(name)} LIMIT 2").collect()
    except Exception as error:  # each kind of session and catalog has its own
        raise ConfigError(
            f"policy {name}: the table cannot be read ({type(error).__name__}); allowed: a table "
            "that the user of the job may SELECT from."
        ) from None
    if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], str):
        return rows[0][0]
    shape = f"{'more than 1' if len(rows) > 1 else len(rows)} rows"
    raise ConfigError(
        f"policy {name}: the table has {shape}{f' of {len(rows[0])} columns' if rows else ''}; "
        "allowed: one row with one column, the policy's YAML as a text."
    )
