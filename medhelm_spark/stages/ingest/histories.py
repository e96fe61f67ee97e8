"""Long records: Spark gives every record of a card the events of its patient as text.

Tasks read records and events as rows without the final text. A shuffle by patient brings both
together, and a sort within each partition puts them into the order in which
`scenarios.serialised` reads them once.

Memory: the driver has the list of parts and the numbers of drawn records, never a text. A task that
reads has one batch of rows (of Parquet, the pages of one row group). A task that makes texts has
Spark's sort, which spills to disk, one batch of entries, the lines of one patient up to the longest
text allowed, and a batch of finished rows: the first has few (`lake.rows`), the others are limited
by their bytes. None of it grows with the number of patients, records or events.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, cast

from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.history import EventTable, History
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import Frame, map_rows, sorted_rows, united
from medhelm_spark.scenarios import (
    LAKE_COLUMN,
    LEVEL_COLUMN,
    ORDER,
    ROWS,
    BroadcastFiles,
    Entry,
    Record,
    drawn,
    event_columns,
    event_entries,
    most_records,
    own_columns,
    read_events,
    read_records,
    record_entries,
    record_sources,
    renamed,
    required_columns,
    serialised,
    used_columns,
)
from medhelm_spark.stages.broadcast_files import for_tasks
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.parts import (
    Make,
    Part,
    parts_of,
    parts_of_events,
    paths_of,
    records_of,
)
from medhelm_spark.stages.ingest.source_tables import RawRow, raw_rows, record_of

PATIENT = "patient"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Cards that differ only in their records, and so share their events, which are read once.

    Their files of records are numbered consecutively, card after card.
    """

    cards: tuple[ScenarioCard, ...]

    @property
    def history(self) -> History:
        """The history of each of them."""
        return cast(History, self.cards[0].source.history)

    @property
    def files(self) -> list[tuple[ScenarioCard, int]]:
        """The card of each file, and its number there; a table of records counts as a file."""
        return [(card, n) for card in self.cards for n in range(len(record_sources(card.source)))]

    @property
    def source(self) -> DataSource:
        """All their files as one source."""
        files = tuple(record_sources(card.source)[n] for card, n in self.files)
        return replace(self.cards[0].source, files=files, table=None)


@dataclass(frozen=True, slots=True)
class ReadEntries:
    """Parts of records and of events in, entries out; of files in `rows` only the drawn rows."""

    sharing: Sharing
    rows: Mapping[int, frozenset[int]]
    open_file: BroadcastFiles

    def __call__(self, parts: Iterable[Part]) -> Iterator[Entry]:
        history = self.sharing.history
        cards = {card.name: card for card in self.sharing.cards}
        numbers = {(card.name, n): number for number, (card, n) in enumerate(self.sharing.files)}
        for part in parts:
            if part.is_event:
                path = history.files[part.file]
                events = read_events(
                    path,
                    history,
                    partition=part.partition,
                    partitions=part.partitions,
                    open_file=self.open_file,
                )
                yield from event_entries(events, history, part.file)
            else:
                number = numbers[part.scenario_name, part.file]
                records = records_of(cards[part.scenario_name], part, self.open_file)
                yield from record_entries(records, history, number, self.rows.get(number))


@dataclass(frozen=True, slots=True)
class ReadTableEntries:
    """Rows of a table in, entries out; `number` is the table's among the records' or the events'.

    `events` is None for the records' own table.
    """

    history: History
    name: str
    number: int
    events: EventTable | None = None

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[Entry]:
        records = (self._numbered(record_of(self.name, row)) for row in rows)
        if self.events is None:
            yield from record_entries(records, self.history, self.number)
            return
        named = (renamed(record, self.events.columns) for record in records)
        yield from event_entries(named, self.history, self.number)

    @staticmethod
    def _numbered(record: Record) -> Record:
        """The record with a row number that fits into the range of its table."""
        return replace(record, row=record.row % ROWS)


@dataclass(frozen=True, slots=True)
class MakeTexts:
    """Sorted entries in, the results of `make` for records with their texts out."""

    sharing: Sharing
    make: Make

    def __call__(self, entries: Iterable[Entry]) -> Iterator[object]:
        files = self.sharing.files
        records_by_file = serialised(entries, self.sharing.source)
        for number, of_file in groupby(records_by_file, key=itemgetter(0)):
            records = (record for _, record in of_file)
            if number is not None:
                yield from self.make(records, *files[number])
                continue
            for record in records:  # a bad event counts for every card
                for card in self.sharing.cards:
                    yield from self.make([record], card, 0)


def shared(cards: Iterable[ScenarioCard]) -> list[Sharing]:
    """Cards with histories, grouped if their sources differ only in the files of records."""
    sharings: list[Sharing] = []
    for card in cards:
        alike = (n for n, sharing in enumerate(sharings) if _share(sharing.cards[0], card))
        index = next(alike, None)
        if index is None:
            sharings.append(Sharing((card,)))
        else:
            sharings[index] = Sharing((*sharings[index].cards, card))
    return sharings


def _share(first: ScenarioCard, other: ScenarioCard) -> bool:
    return replace(first.source, files=()) == replace(other.source, files=())


def read_history(ctx: Context, sharing: Sharing, make: Make, out: type, watch: Watch) -> Frame:
    """The results of `make` for the cards' records with their texts, as rows of type `out`."""
    parts = [part for card in sharing.cards for part in parts_of(card, ctx.cores)]
    parts += parts_of_events(sharing.cards[0], ctx.cores)
    of_cards = {f"scenario {card.name!r}": paths_of(card) for card in sharing.cards}
    read = ReadEntries(sharing, _rows(sharing), for_tasks(ctx, of_cards))
    frames = [map_rows(ctx.lake.frame(parts, Part), read, Part, Entry)] if parts else []
    frames += _from_tables(ctx, sharing)
    partitioned = sorted_rows(united(frames), *ORDER, by=(PATIENT,))
    return map_rows(partitioned, watch(MakeTexts(sharing, make)), Entry, out)


def _from_tables(ctx: Context, sharing: Sharing) -> Iterator[Frame]:
    """The entries of the tables of records and of events; only the used columns of events."""
    history, source = sharing.history, sharing.cards[0].source
    if source.table is not None:
        required = own_columns(source, required_columns(sharing.cards[0]))
        rows = raw_rows(ctx, source.table, source.revision, required)
        yield map_rows(rows, ReadTableEntries(history, source.table, 0), RawRow, Entry)
    for number, each in enumerate(history.tables, len(history.files)):
        own = {name: each.columns.get(name, name) for name in used_columns(history)}
        required = [own[name] for name in event_columns(history)]
        selected = (*own.values(), LEVEL_COLUMN, LAKE_COLUMN)
        rows = raw_rows(ctx, each.table, each.revision, required, selected)
        read = ReadTableEntries(history, each.table, number, each)
        yield map_rows(rows, read, RawRow, Entry)


def _rows(sharing: Sharing) -> dict[int, frozenset[int]]:
    """The drawn rows of each file that is drawn in part."""
    draws = ((number, _draw(card, n)) for number, (card, n) in enumerate(sharing.files))
    return {number: draw.rows for number, draw in draws if draw}


def not_drawn(cards: Mapping[str, ScenarioCard]) -> dict[str, int]:
    """By scenario name, how many records of its files are not drawn."""
    counts = {}
    for name, card in cards.items():
        is_long = card.source.history is not None
        files = record_sources(card.source) if is_long else ()
        draws = [_draw(card, number) for number in range(len(files))]
        counts[name] = sum(draw.records - len(draw.rows) for draw in draws if draw)
    return counts


class _Draw(NamedTuple):
    """The records of a file, and the rows that are drawn of them."""

    records: int
    rows: frozenset[int]


def _draw(card: ScenarioCard, number: int) -> _Draw | None:
    """The drawn rows of a file, None if all its records are read."""
    if card.source.table is not None:
        return None
    file = record_sources(card.source)[number]
    most = most_records(file.path, cast(History, card.source.history))
    if most is None:
        return None
    records = sum(1 for _ in read_records(file, card.source, required=required_columns(card)))
    rows = drawn(records, most)
    return None if rows is None else _Draw(records, rows)
