"""Where ingest's records come from: parts of files read where tasks run, or tables."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.scenarios import (
    Record,
    check_columns,
    localize,
    read_card,
    read_records,
    required_columns,
)
from medhelm_spark.stages.context import Context

STRIPE_BYTES = 4 << 20

# What ingest makes of the records of a card; the number is that of their file.
Make = Callable[[Iterable[Record], ScenarioCard, int], Iterator[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some records of a scenario: those of one file (-1: all) that fall on one of its stripes."""

    scenario_name: str
    file: int
    stripe: int
    stripes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """A row of a table source: its position and its columns as a JSON object."""

    row: int
    fields: str


@dataclass(frozen=True, slots=True)
class Read:
    """The function of this stage: parts of sources in, whatever `make` makes of records out."""

    cards: Mapping[str, ScenarioCard]
    make: Make

    def __call__(self, parts: Iterable[Part]) -> Iterator[object]:
        for part in parts:
            card = self.cards[part.scenario_name]
            yield from self.make(_records(card, part), card, max(part.file, 0))


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The same for rows that Spark has read."""

    card: ScenarioCard
    make: Make

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[object]:
        table = self.card.source.table or ""
        records = (
            Record(source_file=table, row=row.row, fields=json.loads(row.fields)) for row in rows
        )
        yield from self.make(records, self.card, 0)


def _records(card: ScenarioCard, part: Part) -> Iterator[Record]:
    if part.file < 0:
        return read_card(card)
    file = card.source.files[part.file]
    records = read_records(file, card.source, required=required_columns(card))
    return (record for record in records if record.row % part.stripes == part.stripe)


def located(card: ScenarioCard) -> ScenarioCard:
    """The card with downloads done and local paths absolute, so that every task finds them."""
    card = localize(card, cache_folder() / "data")
    files = tuple(
        replace(file, path=file.path if "://" in file.path else str(Path(file.path).absolute()))
        for file in card.source.files
    )
    return replace(card, source=replace(card.source, files=files))


def read(ctx: Context, cards: Mapping[str, ScenarioCard], make: Make, out: type) -> DataFrame:
    """Whatever `make` makes of all records of these cards, as rows of type `out`."""
    frames = [_read_table(ctx, card, make, out) for card in cards.values() if card.source.table]
    files = {name: card for name, card in cards.items() if not card.source.table}
    if files:
        parts = [part for card in files.values() for part in _parts(card, ctx.cores)]
        dealt = ctx.lake.frame(parts, Part).repartition(
            min(len(parts), 2 * ctx.cores), "scenario_name", "file", "stripe"
        )
        frames.append(map_rows(dealt, Read(files, make), Part, out))
    return reduce(DataFrame.unionByName, frames)


def _read_table(ctx: Context, card: ScenarioCard, make: Make, out: type) -> DataFrame:
    name = card.source.table or ""
    rows = ctx.lake.spark.read.table(name)
    check_columns(name, required_columns(card), rows.columns)
    raw = rows.select(
        F.monotonically_increasing_id().alias("row"), F.to_json(F.struct("*")).alias("fields")
    )
    return map_rows(raw, ReadTable(card, make), RawRow, out)


def _parts(card: ScenarioCard, cores: int) -> list[Part]:
    if card.source.dataset:
        return [Part(scenario_name=card.name, file=-1, stripe=0, stripes=1)]
    parts = []
    for index, file in enumerate(card.source.files):
        path = Path(file.path)
        stripes = min(cores, 1 + path.stat().st_size // STRIPE_BYTES) if path.is_file() else 1
        parts += [
            Part(scenario_name=card.name, file=index, stripe=at, stripes=stripes)
            for at in range(stripes)
        ]
    return parts
