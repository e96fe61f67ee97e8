"""ingest: raw records -> scenarios, instances, quarantine.

Tasks read the files twice: once for keys only, to refuse bad input and to name the data version by
its content, and once to write. The same content is never written twice, and files whose bytes are
those of a data version are not read again. A source that changes meanwhile is refused: rows that
were written from it never become current.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard, ScenarioVersion
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.errors import DataError
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.policy.levels import level_sql, strictness_sql
from medhelm_spark.scenarios import (
    CLUSTER,
    LEFT_OUT,
    BadReason,
    Pins,
    Record,
    fingerprint_records,
    parse_records,
)
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.histories import not_drawn
from medhelm_spark.stages.ingest.ingested import Ingested, parse_hash, unchanged
from medhelm_spark.stages.ingest.pins import keep_new, pins_of
from medhelm_spark.stages.ingest.sources import located, read, size_of
from medhelm_spark.stages.ingest.stored_levels import raised_cards
from medhelm_spark.stages.ingest.unchanged import (
    changed,
    loose_tables,
    pinned,
    refuse_changed,
    source_hash,
    stamps,
)
from medhelm_spark.stages.run_stage import Written, run_stage

ROWS_PER_FILE = 1 << 40
BYTES_PER_ROW = 1024
SHOWN_FILES = 3

SUMMARY = f"""
SELECT scenario_name, split, reason, CAST(sum(rows) AS BIGINT) AS rows,
       CAST(sum(records) AS BIGINT) AS records, count(*) AS different,
       {level_sql("max(strictness)")} AS access_level,
       count_if(rows > 1 AND reason IS NULL) AS duplicates,
       min(CASE WHEN rows > 1 AND reason IS NULL THEN first_row END) AS first_duplicate,
       CAST(bit_xor(fingerprint) AS STRING) AS fingerprint
FROM (SELECT scenario_name, min(split) AS split, reason, count(*) AS rows,
             count_if(place = 0) AS records, min(source_row) AS first_row,
             max({strictness_sql("access_level")}) AS strictness,
             bit_xor(xxhash64(source_key, content_hash, reason, source_row)) AS fingerprint
      FROM {{keys}} GROUP BY scenario_name, source_key, reason,
             CASE WHEN reason IS NULL THEN '' ELSE concat(source_file, source_row) END)
GROUP BY scenario_name, split, reason
"""

# Of each id the first instance of the strictest level.
FIRST_OF_IDENTICAL = f"""
SELECT * EXCEPT (place)
FROM (SELECT *, row_number() OVER (
        PARTITION BY data_version, instance_id
        ORDER BY {strictness_sql("access_level")} DESC, source_index) AS place
      FROM {{instances}})
WHERE place = 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKey:
    """The key of a source record of a scenario."""

    scenario_name: str
    source_key: str
    content_hash: str
    reason: str | None
    split: str | None
    source_file: str
    source_row: int
    access_level: AccessLevel
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSummary:
    """The counts of the first pass, per scenario, split and reason.

    `records` have `rows` keys, one for every instance; `different` is the number of distinct ids.
    """

    scenario_name: str
    split: str | None
    reason: str | None
    rows: int
    records: int
    different: int
    access_level: AccessLevel
    duplicates: int
    first_duplicate: int | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class MakeRows:
    """Instances or quarantined records, one type at a time, of each scenario's data version."""

    versions: Mapping[str, str]
    kind: type

    def __call__(
        self, records: Iterable[Record], card: ScenarioCard, file: int
    ) -> Iterator[object]:
        first = file * ROWS_PER_FILE
        for row in parse_records(records, card, self.versions[card.name], first_index=first):
            if isinstance(row, self.kind):
                yield row


def make_keys(records: Iterable[Record], card: ScenarioCard, _: int) -> Iterator[SourceKey]:
    """The keys of records, for the first pass."""
    for key in fingerprint_records(records, card):
        yield SourceKey(
            scenario_name=card.name,
            source_key=key.source_key,
            content_hash=key.content_hash,
            reason=key.reason,
            split=key.split,
            source_file=key.source_file,
            source_row=key.source_row,
            access_level=key.access_level,
            place=key.instance_index,
        )


def ingest(
    ctx: Context,
    cards: Sequence[ScenarioCard],
    *,
    published: Collection[str] = (),
    stated_by: Mapping[str, str] | None = None,
    lowered: Collection[str] = (),
) -> dict[str, Ingested]:
    """Write the data versions of cards that the lake does not have yet; by scenario name.

    Bad rows are quarantined and counted. The strictest cards come first, so that their text is in
    the lake when a less strict card has the same text.

    Args:
        ctx: the lake.
        cards: the cards to read, with their stated levels.
        published: the names of the cards whose bytes are pinned by a shipped card: everybody has
            that data, and it keeps its level.
        stated_by: who stated the level, by scenario name, if the card does not.
        lowered: the names of the cards with an approved lowering on record.

    Raises:
        DataError: a source as a whole is bad, has no usable record, or repeats an id.
    """
    data: dict[str, Ingested] = {}
    for level in sorted(AccessLevel, key=lambda level: -level.strictness):
        alike = [card for card in cards if card.access_level is level]
        if alike:
            data |= _ingest(ctx.within(INGEST), alike, published, stated_by or {}, lowered)
    return data


def _ingest(
    ctx: Context,
    cards: Sequence[ScenarioCard],
    published: Collection[str],
    stated_by: Mapping[str, str],
    lowered: Collection[str],
) -> dict[str, Ingested]:
    pins = pins_of(ctx, cards)
    new_pins = {card.name: Pins(known=pins.known) for card in cards}
    located_cards = {card.name: pinned(ctx, located(card, new_pins[card.name])) for card in cards}
    before = {name: stamps(card) for name, card in located_cards.items()}
    ctx.lake.session.expect_rows(sum(map(size_of, located_cards.values())) // BYTES_PER_ROW)
    unpublished = {name: card for name, card in located_cards.items() if name not in published}
    located_cards |= raised_cards(ctx, unpublished, lowered)
    hashes = {name: source_hash(card, before[name]) for name, card in located_cards.items()}
    sizes = unchanged(ctx, located_cards, hashes)
    read_anew = {name: card for name, card in located_cards.items() if name not in sizes}
    sizes |= _first_pass(ctx, read_anew) if read_anew else {}
    for name, new in new_pins.items():
        keep_new(ctx, name, new)
    names = {size.data_version: name for name, size in sizes.items()}

    def write(ctx: Context, versions: Sequence[str], write_id: str) -> Written:
        new = {names[version]: sizes[names[version]] for version in versions}
        fresh = {name: located_cards[name] for name in new}
        refuse_changed(fresh, before)
        _write(ctx, fresh, new, write_id)
        refuse_changed(fresh, before)
        _refuse_moved(ctx, fresh, new)
        rows = [
            _version(card, new[name], stated_by.get(name), hashes[name])
            for name, card in fresh.items()
        ]
        ctx.lake.append_rows("scenarios", rows, write_id)
        return Written(counts={size.data_version: size.counts for size in new.values()})

    run_stage(ctx, INGEST, {version: version for version in names}, write)
    for name in located_cards:
        ctx.say(f"{INGEST.name}: {name} {sizes[name].account}")
    return sizes


def _first_pass(ctx: Context, cards: Mapping[str, ScenarioCard]) -> dict[str, Ingested]:
    with ctx.metered(f"{INGEST.name}: keys") as watch:
        keys = read(ctx, cards, make_keys, SourceKey, watch)
        summaries = rows_of(ctx.lake.query(SUMMARY, keys=keys), IngestSummary)
    undrawn = not_drawn(cards)
    return {name: _ingested(card, summaries, undrawn[name]) for name, card in cards.items()}


def _ingested(card: ScenarioCard, summaries: Sequence[IngestSummary], undrawn: int) -> Ingested:
    of_card = [row for row in summaries if row.scenario_name == card.name]
    own = [row for row in of_card if row.reason not in (LEFT_OUT, BadReason.UNTIMED)]
    left_out = sum(row.rows for row in of_card if row.reason == LEFT_OUT)
    untimed = sum(row.rows for row in of_card if row.reason == BadReason.UNTIMED)
    _refuse(card, own, left_out)
    prints = sorted(row.fingerprint for row in own)
    good = [row for row in own if row.reason is None]
    return Ingested(
        data_version=INGEST.fingerprint(card.name, card.access_level, prints),
        access_level=strictest([card.access_level, *(row.access_level for row in own)]),
        splits={row.split: row.different for row in good if row.split},
        bad={row.reason: row.rows for row in own if row.reason is not None},
        read=sum(row.records for row in of_card) - untimed + undrawn,
        left_out=left_out,
        identical=sum(row.rows - row.different for row in good),
        not_drawn=undrawn,
        untimed=untimed,
    )


def _write(
    ctx: Context,
    cards: Mapping[str, ScenarioCard],
    data: Mapping[str, Ingested],
    write_id: str,
) -> None:
    versions = {name: each.data_version for name, each in data.items()}
    size = sum(each.size for each in data.values())
    with ctx.metered(f"{INGEST.name}: instances", size) as watch:
        instances = read(ctx, cards, MakeRows(versions, Instance), Instance, watch)
        if any(each.identical for each in data.values()):
            instances = ctx.lake.query(FIRST_OF_IDENTICAL, instances=instances)
        ctx.lake.append("instances", instances, write_id, at_most=size)
    with_bad = {name: card for name, card in cards.items() if data[name].bad}
    if with_bad:
        refused = read(ctx, with_bad, MakeRows(versions, Quarantined), Quarantined)
        bad = sum(sum(each.bad.values()) for each in data.values())
        ctx.lake.append("quarantine", refused, write_id, at_most=bad)


def _refuse_moved(
    ctx: Context, cards: Mapping[str, ScenarioCard], data: Mapping[str, Ingested]
) -> None:
    """Read tables without versions once more, and refuse them if they have changed."""
    loose = {name: card for name, card in cards.items() if loose_tables(card)}
    again = _first_pass(ctx, loose) if loose else {}
    for name, data_now in again.items():
        if data_now.data_version != data[name].data_version:
            tables = ", ".join(map(repr, loose_tables(cards[name])))
            raise changed(f"scenario {name!r}: table {tables}")


def _refuse(card: ScenarioCard, summaries: Sequence[IngestSummary], left_out: int) -> None:
    source = _named(card)
    good = sum(row.rows for row in summaries if row.reason is None)
    duplicates = sum(row.duplicates for row in summaries)
    if duplicates and not card.merge_identical:
        first = min(row.first_duplicate for row in summaries if row.first_duplicate is not None)
        first_row = "" if card.source.table else f", the first at data row {first}"
        raise DataError(
            f"{source}: {duplicates} ids are in more than one record{first_row}; each record of "
            f"scenario {card.name!r} needs an id of its own."
        )
    if not good:
        bad = {row.reason: row.rows for row in summaries}
        bad |= {"left out by the card's rules": left_out} if left_out else {}
        why = f" (refused: {bad})" if bad else ""
        raise DataError(f"{source}: no usable record for scenario {card.name!r}{why}.")


def _named(card: ScenarioCard) -> str:
    """A card's source for a message; the first files of a folder."""
    paths = [file.shown_path for file in card.source.files]
    more = f" and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else ""
    return ", ".join(paths[:SHOWN_FILES]) + more or str(card.source.table or card.source.dataset)


def _version(
    card: ScenarioCard, data: Ingested, stated_by: str | None, hashed: str | None
) -> ScenarioVersion:
    return ScenarioVersion(
        scenario_name=card.name,
        data_version=data.data_version,
        card_hash=parse_hash(card),
        access_level=data.access_level,
        display_name=card.display_name,
        category=card.category,
        subcategory=card.subcategory,
        main_metric=card.main_metric,
        main_split=card.main_split.value,
        verified=card.verified,
        num_instances=data.size,
        num_quarantined=sum(data.bad.values()),
        source=card.source.table or card.source.dataset or card.source.format,
        level_stated_by=stated_by,
        source_hash=hashed,
        cluster_column=card.fields.get(CLUSTER),
    )
