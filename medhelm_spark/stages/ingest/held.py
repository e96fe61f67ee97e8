"""Text that the lake holds at a stricter level than a card says: the card's data is raised to it.

A file that was edited, reordered or put among others is known by the hashes of its texts. The
instances of stricter levels are looked at only where there are any.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
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


def raised_cards(ctx: Context, cards: Mapping[str, ScenarioCard]) -> dict[str, ScenarioCard]:
    """Those of the cards, which have one level, whose text the lake holds at a stricter one.

    Each has that level, and it is said why.
    """
    if not cards:
        return {}
    level = next(iter(cards.values())).access_level
    stricter = [one.value for one in AccessLevel if one.strictness > level.strictness]
    versions = sorted(
        row.data_version
        for row in ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
        if row.access_level.value in stricter
    )
    if not versions:
        return {}
    found = rows_of(_held(ctx, cards, versions, stricter), Held)
    for held in found:
        ctx.say(
            f"ingest: {held.scenario_name} is said to be {level}, but the lake holds the text of "
            f"{held.records:,} of its records as {held.access_level}: it stays "
            f"{held.access_level} (medhelm-spark level lower records another level)"
        )
    return {
        held.scenario_name: replace(cards[held.scenario_name], access_level=held.access_level)
        for held in found
    }


def _held(
    ctx: Context, cards: Mapping[str, ScenarioCard], versions: list[str], stricter: list[str]
) -> DataFrame:
    held = ctx.lake.read("instances").where(
        F.col("data_version").isin(versions) & F.col("access_level").isin(stricter)
    )
    return ctx.lake.query(HELD, texts=read(ctx, cards, _texts, Texts), held=held)
