"""Raises a card's data to the stricter level at which the lake already has the same text.

A file that was edited, reordered or merged with others is recognised by the hashes of its texts.
Instances of stricter levels are read only if there are any.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import HashedText, ScenarioCard, ScenarioVersion
from medhelm_spark.domain.stages import INGEST, Stage
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.rows import Frame, rows_of
from medhelm_spark.policy.levels import level_sql, strictness_sql
from medhelm_spark.scenarios import Record, hashes_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.sources import read

BOILERPLATE_ROWS = 10
HELD = f"""
WITH t AS (SELECT scenario_name, file, row, {strictness_sql("access_level")} AS strictness,
                  explode(text_hashes) AS text_hash FROM {{texts}}),
h AS (SELECT data_version, {strictness_sql("access_level")} AS strictness,
             explode(text_hashes) AS text_hash FROM {{held}}),
sizes AS (SELECT data_version, count(*) AS size FROM {{held}} GROUP BY data_version),
own AS (SELECT h.text_hash, max(h.strictness) AS strictness
        FROM (SELECT data_version, text_hash, max(strictness) AS strictness, count(*) AS many
              FROM h GROUP BY data_version, text_hash) h
        JOIN sizes s ON s.data_version = h.data_version
        WHERE h.text_hash % 2 <> 0 OR h.many < {BOILERPLATE_ROWS} OR 2 * h.many <= s.size
        GROUP BY h.text_hash)
SELECT t.scenario_name, {level_sql("max(own.strictness)")} AS access_level,
       count(DISTINCT t.file, t.row) AS records
FROM t JOIN own ON own.text_hash = t.text_hash AND own.strictness > t.strictness
GROUP BY t.scenario_name
"""
"""The records to ingest whose text is in the lake at a stricter level.

A text that most rows of a data version share, ten or more, is boilerplate of a prompt and does not
count. A whole row or a text of a thousand characters always counts; its hash is odd.
"""


TEXTS_OF = """
SELECT data_version AS scenario_name, 0 AS file, source_index AS row, access_level, text_hashes
FROM {instances}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLevels:
    """How many of a scenario's records the lake has at a stricter level, and the strictest."""

    scenario_name: str
    access_level: AccessLevel
    records: int


def _texts(records: Iterable[Record], card: ScenarioCard, file: int) -> Iterator[HashedText]:
    for row, level, hashes in hashes_of(records, card):
        yield HashedText(
            scenario_name=card.name, file=file, row=row, access_level=level, text_hashes=hashes
        )


def raised_cards(
    ctx: Context, cards: Mapping[str, ScenarioCard], lowered: Collection[str] = ()
) -> dict[str, ScenarioCard]:
    """The cards whose text the lake has at a stricter level, raised to that level.

    All `cards` have the same level. The reason is printed. `lowered` are scenarios with an approved
    lowering, which may be of other data.
    """
    if not cards:
        return {}
    level = next(iter(cards.values())).access_level
    raised = stored_stricter(ctx, level, lambda: read(ctx, cards, _texts, HashedText))
    for row in raised:
        say_stricter(ctx, INGEST, row, level, is_lowered=row.scenario_name in lowered)
    return {
        row.scenario_name: replace(cards[row.scenario_name], access_level=row.access_level)
        for row in raised
    }


def stored_stricter(
    ctx: Context, level: AccessLevel, texts: Callable[[], Frame]
) -> list[StoredLevels]:
    """The scenarios of some records whose text the lake has at a stricter level than `level`.

    `texts` returns rows of HashedText; it is not called if the lake has no stricter text.
    """
    stricter = _stricter(ctx, level)
    if stricter is None:
        return []
    return rows_of(ctx.lake.query(HELD, texts=texts(), held=stricter), StoredLevels)


def say_stricter(
    ctx: Context, stage: Stage, row: StoredLevels, level: AccessLevel, *, is_lowered: bool
) -> None:
    """Print why data counts as stricter than stated, and which command changes it."""
    ctx.say(
        f"{stage.name}: {row.scenario_name} is said to be {level}, but the lake has the text "
        f"of {row.records:,} of its records as {row.access_level}: it "
        + (
            f"is read as {row.access_level}, and counts as less only where the approved "
            "lowering on record is of just this data"
            if is_lowered
            else f"stays {row.access_level} (medhelm-spark level lower records another level)"
        )
    )


def outgrown(ctx: Context, versions: Mapping[str, AccessLevel]) -> dict[str, AccessLevel]:
    """The data versions whose text was ingested at a stricter level since, with that level.

    `versions` are data versions with their levels.
    """
    ctx = ctx.within(INGEST)
    levels: dict[str, AccessLevel] = {}
    for level in AccessLevel:
        own = sorted(version for version, stored_level in versions.items() if stored_level is level)
        if own:
            rows = stored_stricter(ctx, level, partial(_of_versions, ctx, own))
            levels |= {row.scenario_name: row.access_level for row in rows}
    return levels


def _of_versions(ctx: Context, versions: Sequence[str]) -> Frame:
    """The lake's own rows as HashedText, with the data version in place of the name."""
    columns = ("data_version", "source_index", "access_level", "text_hashes")
    instances = ctx.lake.read("instances", one_of("data_version", versions), only=columns)
    return ctx.lake.query(TEXTS_OF, instances=instances)


def _stricter(ctx: Context, level: AccessLevel) -> Frame | None:
    """The instances of the lake that are stricter than a level; None where there are none."""
    stricter = [other.value for other in AccessLevel if other.strictness > level.strictness]
    sql = f"SELECT * FROM {{scenarios}} WHERE {among('access_level', stricter)}"
    rows = ctx.lake.rows(sql, ScenarioVersion)
    sizes = {
        row.data_version: row.num_instances for row in rows if row.access_level.value in stricter
    }
    if not sizes:
        return None
    ctx.lake.session.expect_rows(sum(sizes.values()))
    of_versions = one_of("data_version", sorted(sizes))
    sql = f"{of_versions.sql} AND access_level IN ({literals(stricter)})"
    columns = ("data_version", "access_level", "text_hashes")
    return ctx.lake.read("instances", replace(of_versions, sql=sql), only=columns)
