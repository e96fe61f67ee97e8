"""The data of cards in a lake: data versions, their counts, and the cards they belong to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.history import History
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.scenarios import parser_of
from medhelm_spark.stages.context import Context

QUARANTINED = "quarantined:"
READ, LEFT, IDENTICAL, NOT_DRAWN = "read", "left out", "identical merged", "not drawn"
UNTIMED = "events without a time"
"""Counts of a data version's record beside its splits and what was quarantined."""
SPLITS = frozenset(Split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """A scenario's data version, the size of each of its splits, and what was refused and why.

    `read` counts the records of its source. `left_out` are the records that the card's rules leave
    out, `identical` the duplicates of other instances, `not_drawn` the records of files that were
    not drawn. `untimed` are the events without a time, which are in no record.

    `access_level` is the strictest of its rows. `is_unreviewed`: a person lowered it on record, and
    nobody else approved: its text stays on local. `is_stated`: a person stated its level.
    """

    data_version: str
    splits: Mapping[str, int]
    bad: Mapping[str, int] = field(default_factory=dict)
    access_level: AccessLevel = AccessLevel.PRIVATE
    is_unreviewed: bool = False
    is_stated: bool = False
    read: int = 0
    left_out: int = 0
    identical: int = 0
    not_drawn: int = 0
    untimed: int = 0

    @property
    def size(self) -> int:
        """How many instances it has."""
        return sum(self.splits.values())

    @property
    def counts(self) -> dict[str, int]:
        """The counts as the run record stores them."""
        refused = {f"{QUARANTINED}{why}": rows for why, rows in self.bad.items()}
        passed = {LEFT: self.left_out, IDENTICAL: self.identical, NOT_DRAWN: self.not_drawn}
        passed |= {UNTIMED: self.untimed}
        passed = {name: rows for name, rows in passed.items() if rows}
        return {**self.splits, **refused, READ: self.read, **passed}

    @property
    def account(self) -> str:
        """What became of every record, in a line: `read 175 = 171 kept + 4 identical merged`.

        >>> Ingested(data_version="v", splits={"test": 3}, bad={"empty_id": 1}, read=4).account
        'read 4 = 3 kept (3 test) + 1 quarantined (1 empty_id)'
        """
        instances, bad = self.size, sum(self.bad.values())
        parts = [f"{instances:,} kept ({_listed(self.splits)})"]
        parts += [f"{bad:,} quarantined ({_listed(self.bad)})"] if bad else []
        parts += [f"{self.left_out:,} left out by the card's rules"] if self.left_out else []
        parts += [f"{self.identical:,} {IDENTICAL}"] if self.identical else []
        parts += [f"{self.not_drawn:,} {NOT_DRAWN}"] if self.not_drawn else []
        made = instances + bad + self.left_out + self.identical + self.not_drawn
        several = "" if made == self.read else f", which make {made:,}"
        events = f"; {self.untimed:,} {UNTIMED}, in no record" if self.untimed else ""
        return f"read {self.read:,}{several} = {' + '.join(parts)}{events}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{rows:,} {name}" for name, rows in sorted(counts.items()))


def ingested(ctx: Context, cards: Sequence[ScenarioCard]) -> dict[str, Ingested]:
    """The newest data version in the lake for each card as it parses now.

    An imported card names its data version.
    """
    known = {card.source.data_version: card.name for card in cards if card.source.data_version}
    hashes = {card.name: parse_hash(card) for card in cards if not card.source.data_version}
    of_cards = f"{among('scenario_name', hashes)} OR {among('data_version', known)}"
    sql = f"SELECT * FROM {{scenarios}} WHERE {of_cards}"
    rows = ctx.lake.rows(sql, ScenarioVersion) if cards else []
    known |= {
        row.data_version: row.scenario_name
        for row in rows
        if hashes.get(row.scenario_name) == row.card_hash
    }
    levels = {row.data_version: row.access_level for row in rows}
    stated = {row.data_version for row in rows if row.level_stated_by}
    finished = sorted(ctx.finished(INGEST, known).values(), key=lambda record: record.finished_at)
    return {
        known[record.unit_id]: replace(
            _from_record(record, levels.get(record.unit_id, AccessLevel.PRIVATE)),
            is_stated=record.unit_id in stated,
        )
        for record in finished
    }


def _from_record(record: RunRecord, level: AccessLevel) -> Ingested:
    """A data version from its run record: the inverse of `Ingested.counts`."""
    counts = record.counts
    return Ingested(
        data_version=record.unit_id,
        splits={split: n for split, n in counts.items() if split in SPLITS},
        bad={
            name.removeprefix(QUARANTINED): n
            for name, n in counts.items()
            if name.startswith(QUARANTINED)
        },
        read=counts.get(READ, 0),
        left_out=counts.get(LEFT, 0),
        identical=counts.get(IDENTICAL, 0),
        not_drawn=counts.get(NOT_DRAWN, 0),
        untimed=counts.get(UNTIMED, 0),
        access_level=level,
    )


def unchanged(
    ctx: Context, cards: Mapping[str, ScenarioCard], hashes: Mapping[str, str | None]
) -> dict[str, Ingested]:
    """The data versions of cards whose files' bytes and rules have not changed since."""
    identities = {
        (name, parse_hash(cards[name]), source_hash)
        for name, source_hash in hashes.items()
        if source_hash
    }
    names = [name for name, *_ in identities]
    sql = f"SELECT * FROM {{scenarios}} WHERE {among('scenario_name', names)}"
    rows = ctx.lake.rows(sql, ScenarioVersion) if identities else []
    stored = {
        row.data_version: row
        for row in rows
        if (row.scenario_name, row.card_hash, row.source_hash) in identities
    }
    return {
        stored[version].scenario_name: _from_record(record, stored[version].access_level)
        for version, record in ctx.finished(INGEST, stored).items()
    }


def stored_names(reader: Reader, cards: Iterable[ScenarioCard]) -> set[str]:
    """The names of the cards that have data in a lake as they parse now, without Spark."""
    hashes = {card.name: parse_hash(card) for card in cards}
    rows = reader.rows(output_of("scenarios", INGEST, "data_version"), ScenarioVersion)
    return {row.scenario_name for row in rows if hashes.get(row.scenario_name) == row.card_hash}


def parse_hash(card: ScenarioCard) -> str:
    """A hash that changes if the card would make other instances of the same records."""
    rules = (card.keep, card.drop, card.variants)
    merged = ["merge_identical"] if card.merge_identical else []
    parts = (INGEST.version, card.shape, card.fields, card.options, card.access_level)
    version = parser_of(card).version
    history = [_as_made(card.source.history)] if card.source.history else []
    more = (*(rules if any(rules) else ()), *([version] if version else ()), *history, *merged)
    return content_id(*parts, *more)


def _as_made(history: History) -> dict[str, object]:
    """The settings of a history without the files and tables of its events."""
    made = asdict(replace(history, files=(), tables=()))
    return {name: value for name, value in made.items() if name != "tables"}
