"""The pins of addresses at their first fetch, where no card pins them: in the table `pins`."""

from collections.abc import Iterable

from medhelm_spark.domain.scenario import Pin, ScenarioCard
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.scenarios import Pins
from medhelm_spark.stages.context import Context, now


def pins_of(ctx: Context, cards: Iterable[ScenarioCard]) -> Pins:
    """The pins in the lake; they are not read if every card pins its own data."""
    if not any(card.source.is_unpinned for card in cards):
        return Pins()
    rows = ctx.lake.rows("SELECT * FROM {pins}", Pin)
    rows.sort(key=lambda row: row.pinned_at, reverse=True)  # so that the oldest is the last one
    return Pins(known={row.address: row.pin for row in rows})


def keep_new(ctx: Context, scenario: str, pins: Pins) -> None:
    """Pin the addresses of a scenario that are new in this lake, and print them."""
    at = now()
    rows = [
        Pin(address=address, pin=pin, scenario_name=scenario, pinned_at=at)
        for address, pin in pins.new.items()
    ]
    ctx.lake.append_rows("pins", rows, new_write_id())
    for row in rows:
        ctx.say(f"{INGEST.name}: {row.address} is new here and pinned from now on: {row.pin}")
