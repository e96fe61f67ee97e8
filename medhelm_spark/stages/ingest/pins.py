"""What addresses gave at their first fetch, where no card pins it: kept in the table `pins`."""

from collections.abc import Iterable

from medhelm_spark.domain.scenario import Pin, ScenarioCard
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.scenarios import Pins
from medhelm_spark.stages.context import Context, now


def pins_of(ctx: Context, cards: Iterable[ScenarioCard]) -> Pins:
    """What the lake pinned; it is not asked where every card pins its own data."""
    if not any(card.source.is_unpinned for card in cards):
        return Pins()
    rows = ctx.lake.rows("SELECT * FROM {pins}", Pin)
    rows.sort(key=lambda row: row.pinned_at, reverse=True)  # so that the oldest is the last one
    return Pins(known={row.address: row.pin for row in rows})


def keep_new(ctx: Context, scenario: str, pins: Pins) -> None:
    """Pin what a scenario's addresses gave for the first time in this lake, and say so."""
    at = now()
    rows = [
        Pin(address=address, pin=pin, scenario_name=scenario, pinned_at=at)
        for address, pin in pins.new.items()
    ]
    ctx.lake.append_rows("pins", rows, new_write_id())
    for row in rows:
        ctx.say(f"{INGEST.name}: {row.address} is new here and pinned from now on: {row.pin}")
