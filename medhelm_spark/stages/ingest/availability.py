"""Which data is available, checked before it is read; the runs that are left out without data.

The driver finds and downloads files. Tasks, which will read them, fetch data sets of the hub, in
one job for all of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.skipped import LeftOut, SkippedRun
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.errors import AbsentDataError, DataError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.scenarios import Hub, Pins
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.ingest.parts import Part
from medhelm_spark.stages.ingest.pins import pins_of
from medhelm_spark.stages.ingest.sources import located


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfetched:
    """A scenario whose data set of the hub is not available, and why."""

    scenario_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class FetchHub:
    """The function of this module: whole data sets in, those out that are not available."""

    cards: Mapping[str, ScenarioCard]

    def __call__(self, parts: Iterable[Part]) -> Iterator[Unfetched]:
        hub = Hub()
        for part in parts:
            try:
                hub.fetch(self.cards[part.scenario_name].source)
            except DataError as error:  # it does not exist or cannot be read
                yield Unfetched(scenario_name=part.scenario_name, reason=str(error))


def at_hand(
    ctx: Context, cards: Iterable[ScenarioCard]
) -> tuple[list[ScenarioCard], dict[str, str]]:
    """The cards whose data is available, and by scenario name why that of the others is not.

    Downloads are in the cache of this machine afterwards; ingest pins them.

    Raises:
        AbsentDataError: data that a person provided does not exist.
    """
    cards = list(cards)
    pins = pins_of(ctx.within(INGEST), cards)
    here: dict[str, ScenarioCard] = {}
    absent: dict[str, str] = {}
    for card in cards:
        try:
            here[card.name] = located(card, Pins(known=pins.known))
        except AbsentDataError as error:
            if card.source.is_own:
                raise
            absent[card.name] = str(error)
    absent |= _unfetched(ctx, {name: card for name, card in here.items() if card.source.dataset})
    return [card for card in cards if card.name not in absent], absent


def _unfetched(ctx: Context, cards: Mapping[str, ScenarioCard]) -> dict[str, str]:
    if not cards:
        return {}
    parts = ctx.lake.frame([Part(scenario_name=name, file=-1) for name in cards], Part)
    rows = rows_of(map_rows(parts, FetchHub(cards), Part, Unfetched), Unfetched)
    return {row.scenario_name: row.reason for row in rows}


def record_skipped(ctx: Context, runs: Sequence[SkippedRun]) -> tuple[LeftOut, ...]:
    """The runs as left out of this suite; adds those that are not in the table `left_out` yet."""
    ctx = ctx.within(INGEST)
    rows = [
        LeftOut(
            suite=ctx.suite,
            name=run.name,
            scenario_name=run.scenario_name,
            reason=run.reason,
            left_out_at=now(),
            is_listed=run.is_listed,
            run_by=ctx.user,
        )
        for run in runs
    ]
    if rows:
        sql = f"SELECT * FROM {{left_out}} WHERE {among('suite', [ctx.suite])}"
        stored = ctx.lake.rows(sql, LeftOut)
        known = {_identity(row) for row in stored}
        new = [row for row in rows if _identity(row) not in known]
        ctx.lake.append_rows("left_out", new, new_write_id())
    return tuple(rows)


def _identity(row: LeftOut) -> tuple[object, ...]:
    return (row.suite, row.name, row.reason, row.is_listed)
