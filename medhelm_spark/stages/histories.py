"""Long records: Spark gives every record of a card the events of its patient as text.

Records and events are read where tasks run, as rows without the text to be. A shuffle by patient
brings both together, and a sort within each partition puts them into the order in which
`scenarios.serialised` goes through them once.

Memory: the driver holds the list of parts and the numbers of drawn records, never a text. A task
that reads holds one batch of rows (of Parquet, the pages of one row group). A task that makes texts
holds Spark's sort, which spills to disk, one batch of entries, the lines of one patient up to the
longest text allowed, and a batch of finished rows: the first has few (`lake.rows`), the others are
cut by their bytes. None of it grows with the number of patients, records or events.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import cast

from pyspark.sql import DataFrame

from medhelm_spark.domain.history import History
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.scenarios import (
    ORDER,
    Entry,
    drawn,
    event_entries,
    most_records,
    read_events,
    read_records,
    record_entries,
    required_columns,
    serialised,
)
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.parts import Make, Part, parts_of, parts_of_events, records_of

PATIENT = "patient"


@dataclass(frozen=True, slots=True)
class ReadEntries:
    """Parts of records and of events in, entries out; of some files only the rows that count."""

    card: ScenarioCard
    rows: Mapping[int, frozenset[int]]

    def __call__(self, parts: Iterable[Part]) -> Iterator[Entry]:
        history = cast(History, self.card.source.history)
        for part in parts:
            if part.is_event:
                path = history.files[part.file]
                events = read_events(path, history, stripe=part.stripe, stripes=part.stripes)
                yield from event_entries(events, history, part.file)
            else:
                records = records_of(self.card, part)
                yield from record_entries(records, history, part.file, self.rows.get(part.file))


@dataclass(frozen=True, slots=True)
class MakeTexts:
    """Sorted entries in, whatever `make` makes of records with their texts out."""

    card: ScenarioCard
    make: Make

    def __call__(self, entries: Iterable[Entry]) -> Iterator[object]:
        found = serialised(entries, self.card.source)
        for file, of_file in groupby(found, key=itemgetter(0)):
            yield from self.make((record for _, record in of_file), self.card, file)


def read_history(
    ctx: Context, card: ScenarioCard, make: Make, out: type, watch: Watch
) -> DataFrame:
    """Whatever `make` makes of a card's records, each with its text, as rows of type `out`."""
    parts = [*parts_of(card, ctx.cores), *parts_of_events(card, ctx.cores)]
    read = ReadEntries(card, _rows(card))
    entries = map_rows(ctx.lake.frame(parts, Part), read, Part, Entry)
    dealt = entries.repartition(PATIENT).sortWithinPartitions(*ORDER)
    return map_rows(dealt, watch(MakeTexts(card, make)), Entry, out)


def _rows(card: ScenarioCard) -> dict[int, frozenset[int]]:
    """The drawn rows of each file of which some are drawn."""
    history = cast(History, card.source.history)
    found = {}
    for number, file in enumerate(card.source.files):
        most = most_records(file.path, history)
        if most is None:
            continue
        records = read_records(file, card.source, required=required_columns(card))
        rows = drawn(sum(1 for _ in records), most)
        if rows is not None:
            found[number] = rows
    return found
