"""import-scenario: an export of MedHELM's becomes a scenario of the lake."""

from collections.abc import Callable

from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.stages import IMPORT_SCENARIO
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.stages.ingest.stage import ingest


def import_scenario(
    ctx: Context,
    card: ScenarioCard,
    described: Callable[[Ingested], ImportedScenario],
    *,
    stated_by: str | None = None,
) -> Ingested:
    """Ingest an export and enter it as a scenario that run entries can name.

    Args:
        ctx: the lake.
        card: a card that reads the export's file.
        described: what the lake keeps of an import whose data is this.
        stated_by: who stated the card's level, where a person did.

    Raises:
        DataError: the file is cut off, changed, or no export.
    """
    stated = {card.name: stated_by} if stated_by else {}
    ingested = ingest(ctx, [card], stated_by=stated)[card.name]
    ctx.within(IMPORT_SCENARIO).lake.append_rows(
        "imported_scenarios", [described(ingested)], new_write_id()
    )
    return ingested
