"""Text that the lake holds at a stricter level than a card says: the card's data is raised to it.

A file that was edited, reordered or put among others is known by the hashes of its texts. The
instances of stricter levels are looked at only where there are any.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.governance.levels import level_sql, strictness_sql
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.scenarios import Record, hashes_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.sources import read

HELD = f"""
SELECT t.scenario_name, {level_sql("max(h.strictness)")} AS access_level,
       count(DISTINCT t.file, t.row) AS records
FROM (SELECT scenario_name, file, row, {strictness_sql("access_level")} AS strictness,
             explode(text_hashes) AS text_hash FROM {{texts}}) t
JOIN (SELECT text_hash, max(strictness) AS strictness
      FROM (SELECT explode(text_hashes) AS text_hash,
                   {strictness_sql("access_level")} AS strictness FROM {{held}})
      GROUP BY text_hash) h ON h.text_hash = t.text_hash AND h.strictness > t.strictness
GROUP BY t.scenario_name
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """A record by the hashes of its texts, with the level that it has by its card and its row."""

    scenario_name: str
    file: int
    row: int
    access_level: AccessLevel
    text_hashes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How many of a scenario's records the lake holds at a stricter level, and the strictest."""

    scenario_name: str
    access_level: AccessLevel
    records: int


def _texts(records: Iterable[Record], card: ScenarioCard, file: int) -> Iterator[Texts]:
    for row, level, hashes in hashes_of(records, card):
        yield Texts(
            scenario_name=card.name, file=file, row=row, access_level=level, text_hashes=hashes
        )


def raised_cards(
    ctx: Context, cards: Mapping[str, ScenarioCard], lowered: Collection[str] = ()
) -> dict[str, ScenarioCard]:
    """Those of the cards, which have one level, whose text the lake holds at a stricter one.

    Each has that level, and it is said why. `lowered` are scenarios of which a lowering is
    approved: whether it is this data's is not known yet.
    """
    if not cards:
        return {}
    level = next(iter(cards.values())).access_level
    held = _stricter(ctx, level)
    if held is None:
        return {}
    raised = rows_of(ctx.lake.query(HELD, texts=read(ctx, cards, _texts, Texts), held=held), Held)
    for row in raised:
        ctx.say(
            f"ingest: {row.scenario_name} is said to be {level}, but the lake holds the text of "
            f"{row.records:,} of its records as {row.access_level}: it "
            + (
                f"is read as {row.access_level}, and counts as less only where the approved "
                "lowering on record is of just this data"
                if row.scenario_name in lowered
                else f"stays {row.access_level} (medhelm-spark level lower records another level)"
            )
        )
    return {
        row.scenario_name: replace(cards[row.scenario_name], access_level=row.access_level)
        for row in raised
    }


def outgrown(ctx: Context, versions: Mapping[str, AccessLevel]) -> dict[str, AccessLevel]:
    """The data versions whose text has come into the lake at a stricter level since, with it.

    `versions` are data versions with their levels.
    """
    ctx = ctx.within(INGEST)
    levels: dict[str, AccessLevel] = {}
    for level in AccessLevel:
        own = sorted(version for version, of in versions.items() if of is level)
        held = _stricter(ctx, level) if own else None
        if held is None:
            continue
        texts = ctx.lake.read("instances").where(F.col("data_version").isin(own))
        # By data version in place of the name: the rows are the lake's own.
        named = texts.select(
            F.col("data_version").alias("scenario_name"),
            F.lit(0).alias("file"),
            F.col("source_index").alias("row"),
            "access_level",
            "text_hashes",
        )
        rows = rows_of(ctx.lake.query(HELD, texts=named, held=held), Held)
        levels |= {row.scenario_name: row.access_level for row in rows}
    return levels


def _stricter(ctx: Context, level: AccessLevel) -> DataFrame | None:
    """The instances of the lake that are stricter than a level; None where there are none."""
    stricter = [other.value for other in AccessLevel if other.strictness > level.strictness]
    versions = sorted(
        row.data_version
        for row in ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
        if row.access_level.value in stricter
    )
    if not versions:
        return None
    return ctx.lake.read("instances").where(
        F.col("data_version").isin(versions) & F.col("access_level").isin(stricter)
    )
