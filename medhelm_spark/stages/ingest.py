"""ingest: raw records -> scenarios, instances, quarantine.

Files are read where the tasks run, twice: once for keys only, to refuse bad input and to name the
data version by its content, and once to write. The same content is never written twice.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard, ScenarioVersion
from medhelm_spark.errors import DataError
from medhelm_spark.lake.jars import cache_folder
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.scenarios import (
    Record,
    RecordKey,
    check_columns,
    fingerprint_records,
    localize,
    parse_records,
    read_card,
    read_records,
    required_columns,
)
from medhelm_spark.stages.context import Context, now

STAGE = "ingest"
VERSION = "1"
STRIPE_BYTES = 4 << 20
ROWS_PER_FILE = 1 << 40
QUARANTINED = "quarantined:"

SUMMARY = """
SELECT split, reason, CAST(sum(rows) AS BIGINT) AS rows,
       count_if(rows > 1 AND reason IS NULL) AS duplicates,
       min(CASE WHEN rows > 1 AND reason IS NULL THEN first_row END) AS first_duplicate,
       CAST(bit_xor(fingerprint) AS STRING) AS fingerprint
FROM (SELECT min(split) AS split, reason, count(*) AS rows, min(source_row) AS first_row,
             bit_xor(xxhash64(source_key, content_hash, reason, source_row)) AS fingerprint
      FROM {keys} GROUP BY source_key, reason, CASE WHEN reason IS NULL THEN '' ELSE
             concat(source_file, source_row) END)
GROUP BY split, reason
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some records of a source: those of one file (-1: all) that fall on one of its stripes."""

    file: int
    stripe: int
    stripes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """A row of a table source: its position and its columns as a JSON object."""

    row: int
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the first pass found, per split and reason."""

    split: str | None
    reason: str | None
    rows: int
    duplicates: int
    first_duplicate: int | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Read:
    """The function of this stage: parts of a source in, whatever `make` makes of records out."""

    card: ScenarioCard
    make: Callable[..., Iterator[object]]

    def __call__(self, parts: Iterable[Part]) -> Iterator[object]:
        for part in parts:
            yield from self.make(_records(self.card, part), self.card, part)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The same for rows that Spark has read."""

    card: ScenarioCard
    make: Callable[..., Iterator[object]]

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[object]:
        table = self.card.source.table or ""
        records = (
            Record(source_file=table, row=row.row, fields=json.loads(row.fields)) for row in rows
        )
        yield from self.make(records, self.card, Part(file=0, stripe=0, stripes=1))


@dataclass(frozen=True, slots=True)
class Make:
    """Instances or quarantined records of a data version, as one output type each."""

    data_version: str
    kind: type

    def __call__(
        self, records: Iterable[Record], card: ScenarioCard, part: Part
    ) -> Iterator[object]:
        first = max(part.file, 0) * ROWS_PER_FILE
        for row in parse_records(records, card, self.data_version, first_index=first):
            if isinstance(row, self.kind):
                yield row


def make_keys(records: Iterable[Record], card: ScenarioCard, _: Part) -> Iterator[RecordKey]:
    """The keys of records, for the first pass."""
    return fingerprint_records(records, card)


def _records(card: ScenarioCard, part: Part) -> Iterator[Record]:
    if part.file < 0:
        return read_card(card)
    file = card.source.files[part.file]
    records = read_records(file, card.source, required=required_columns(card))
    return (record for record in records if record.row % part.stripes == part.stripe)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """A scenario's data version and the size of each of its splits."""

    data_version: str
    splits: Mapping[str, int]


def ingest(ctx: Context, card: ScenarioCard) -> Ingested:
    """Write the card's data as a data version, unless the lake holds it; bad rows are quarantined.

    Raises:
        DataError: the source as a whole is bad, holds no usable record, or repeats an id.
    """
    started_at, write_id = now(), new_write_id()
    card = _located(card)
    found = rows_of(ctx.lake.query(SUMMARY, keys=_read(ctx, card, make_keys, RecordKey)), Summary)
    _refuse(card, found)
    version = content_id(
        STAGE, VERSION, card.name, card.access_level, sorted(row.fingerprint for row in found)
    )
    counts = {row.split: row.rows for row in found if row.split and row.reason is None}
    bad = {row.reason: row.rows for row in found if row.reason is not None}
    if version not in ctx.finished(STAGE, [version]):
        made = _read(ctx, card, Make(version, Instance), Instance)
        ctx.lake.append("instances", made, write_id)
        if bad:
            refused = _read(ctx, card, Make(version, Quarantined), Quarantined)
            ctx.lake.append("quarantine", refused, write_id)
        ctx.lake.append_rows("scenarios", [_version(card, version, counts, bad)], write_id)
        totals = {**counts, **{f"{QUARANTINED}{reason}": rows for reason, rows in bad.items()}}
        ctx.record(STAGE, {version: version}, write_id, started_at, {version: totals})
    _tell(ctx, card, counts, bad)
    return Ingested(data_version=version, splits=counts)


def ingested(ctx: Context, card: ScenarioCard) -> Ingested | None:
    """The newest data version that the lake holds for this card as it parses now."""
    known = [
        row.data_version
        for row in rows_of(ctx.lake.read("scenarios"), ScenarioVersion)
        if row.scenario_name == card.name and row.card_hash == parse_hash(card)
    ]
    finished = ctx.finished(STAGE, known).values()
    newest = max(finished, key=lambda record: record.finished_at, default=None)
    if newest is None:
        return None
    splits = {name: n for name, n in newest.counts.items() if not name.startswith(QUARANTINED)}
    return Ingested(data_version=newest.unit_id, splits=splits)


def parse_hash(card: ScenarioCard) -> str:
    """Changes when the card would make other instances of the same records."""
    return content_id(VERSION, card.shape, card.fields, card.options, card.access_level)


def _located(card: ScenarioCard) -> ScenarioCard:
    """The card with downloads done and local paths absolute, so that every task finds them."""
    card = localize(card, cache_folder() / "data")
    files = tuple(
        replace(file, path=file.path if "://" in file.path else str(Path(file.path).absolute()))
        for file in card.source.files
    )
    return replace(card, source=replace(card.source, files=files))


def _read(
    ctx: Context, card: ScenarioCard, make: Callable[..., Iterator[object]], out: type
) -> DataFrame:
    if card.source.table:
        rows = ctx.lake.spark.read.table(card.source.table)
        check_columns(card.source.table, required_columns(card), rows.columns)
        raw = rows.select(
            F.monotonically_increasing_id().alias("row"), F.to_json(F.struct("*")).alias("fields")
        )
        return map_rows(raw, ReadTable(card, make), RawRow, out)
    parts = _parts(card, ctx.cores)
    frame = ctx.lake.frame(parts, Part).repartition(len(parts), "file", "stripe")
    return map_rows(frame, Read(card, make), Part, out)


def _parts(card: ScenarioCard, cores: int) -> list[Part]:
    if card.source.dataset:
        return [Part(file=-1, stripe=0, stripes=1)]
    parts = []
    for index, file in enumerate(card.source.files):
        path = Path(file.path)
        stripes = min(cores, 1 + path.stat().st_size // STRIPE_BYTES) if path.is_file() else 1
        parts += [Part(file=index, stripe=at, stripes=stripes) for at in range(stripes)]
    return parts


def _refuse(card: ScenarioCard, found: list[Summary]) -> None:
    source = ", ".join(file.path for file in card.source.files) or str(
        card.source.table or card.source.dataset
    )
    good = sum(row.rows for row in found if row.reason is None)
    duplicates = sum(row.duplicates for row in found)
    if duplicates:
        first = min(row.first_duplicate for row in found if row.first_duplicate is not None)
        raise DataError(
            f"{source}: {duplicates} ids stand in more than one record, the first at data row "
            f"{first}; each record of scenario {card.name!r} needs an id of its own."
        )
    if not good:
        bad = {row.reason: row.rows for row in found}
        why = f" (refused: {bad})" if bad else ""
        raise DataError(f"{source}: no usable record for scenario {card.name!r}{why}.")


def _version(
    card: ScenarioCard, version: str, counts: Mapping[str, int], bad: Mapping[str, int]
) -> ScenarioVersion:
    return ScenarioVersion(
        scenario_name=card.name,
        data_version=version,
        card_hash=parse_hash(card),
        access_level=card.access_level,
        display_name=card.display_name,
        category=card.category,
        subcategory=card.subcategory,
        main_metric=card.main_metric,
        main_split=card.main_split.value,
        verified=card.verified,
        num_instances=sum(counts.values()),
        num_quarantined=sum(bad.values()),
        source=card.source.table or card.source.dataset or card.source.format,
    )


def _tell(
    ctx: Context, card: ScenarioCard, counts: Mapping[str, int], bad: Mapping[str, int]
) -> None:
    sizes = ", ".join(f"{rows} {split}" for split, rows in sorted(counts.items()))
    refused = f"; quarantined {dict(bad)}" if bad else ""
    ctx.say(f"{STAGE}: {card.name} has {sizes} instances{refused}")
