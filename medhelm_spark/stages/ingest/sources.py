"""Where ingest's records come from: parts of files read where tasks run, or tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.data_uri import is_uri, normal_location
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.lake.progress import Watch, unwatched
from medhelm_spark.lake.rows import Frame, map_rows, united
from medhelm_spark.scenarios import (
    BroadcastFiles,
    Pins,
    Received,
    as_files,
    at_commit,
    localize,
    needed_history,
    no_progress,
    required_columns,
    spread,
)
from medhelm_spark.stages.broadcast_files import for_tasks
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.histories import read_history, shared
from medhelm_spark.stages.ingest.parts import Make, Part, bytes_of, parts_of, paths_of, records_of
from medhelm_spark.stages.ingest.source_tables import RawRow, raw_rows, record_of


@dataclass(frozen=True, slots=True)
class Read:
    """The function of this stage: parts of sources in, the results of `make` for records out."""

    cards: Mapping[str, ScenarioCard]
    make: Make
    open_file: BroadcastFiles

    def __call__(self, parts: Iterable[Part]) -> Iterator[object]:
        for part in parts:
            card = self.cards[part.scenario_name]
            records = records_of(card, part, self.open_file)
            yield from self.make(records, card, max(part.file, 0))


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The same for rows that Spark has read."""

    card: ScenarioCard
    make: Make

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[object]:
        records = (record_of(self.card.source.table or "", row) for row in rows)
        yield from self.make(records, self.card, 0)


def located(
    card: ScenarioCard, pins: Pins | None = None, received: Received = no_progress
) -> ScenarioCard:
    """The card with downloads done and local paths absolute, so that every task finds them.

    `pins` has the pins of addresses without a hash or a commit, and receives new ones.

    Raises:
        AbsentDataError: a file does not exist, and no address provides it.
    """
    pins = pins or Pins()
    card = replace(card, source=spread(needed_history(at_commit(as_files(card.source), pins))))
    source = localize(card, cache_folder() / "data", pins, received).source
    history = source.history
    if history:
        history = replace(history, files=tuple(map(_absolute, history.files)))
    source = replace(
        source,
        files=tuple(replace(file, path=_absolute(file.path)) for file in source.files),
        lookups=tuple(replace(lookup, path=_absolute(lookup.path)) for lookup in source.lookups),
        texts={column: _absolute(path) for column, path in source.texts.items()},
        history=history,
    )
    return replace(card, source=source)


def _absolute(path: str) -> str:
    location = normal_location(path)
    return location if is_uri(location) else str(Path(location).expanduser().absolute())


def read(
    ctx: Context,
    cards: Mapping[str, ScenarioCard],
    make: Make,
    out: type,
    watch: Watch = unwatched,
) -> Frame:
    """The results of `make` for all records of these cards, as rows of type `out`."""
    long = {
        name: card
        for name, card in cards.items()
        if card.source.history and card.source.history.has_events
    }
    tables = [card for name, card in cards.items() if _is_table(card) and name not in long]
    frames = [_read_table(ctx, card, make, out) for card in tables]
    frames += [read_history(ctx, alike, make, out, watch) for alike in shared(long.values())]
    files = {n: card for n, card in cards.items() if not _is_table(card) and n not in long}
    if files:
        parts = [part for card in files.values() for part in parts_of(card, ctx.cores)]
        # Spark slices these rows evenly over its cores; repartitioned by hash, two would meet.
        of_cards = {f"scenario {name!r}": paths_of(card) for name, card in files.items()}
        reading = Read(files, make, for_tasks(ctx, of_cards))
        frames.append(map_rows(ctx.lake.frame(parts, Part), watch(reading), Part, out))
    return united(frames)


def _is_table(card: ScenarioCard) -> bool:
    return card.source.table is not None


def _read_table(ctx: Context, card: ScenarioCard, make: Make, out: type) -> Frame:
    source = card.source
    rows = raw_rows(ctx, source.table or "", source.revision, required_columns(card))
    return map_rows(rows, ReadTable(card, make), RawRow, out)


def size_of(card: ScenarioCard) -> int:
    """Bytes of the card's local files; 0 for other files."""
    events = card.source.history.files if card.source.history else ()
    return sum(bytes_of(path) for path in (*(file.path for file in card.source.files), *events))
