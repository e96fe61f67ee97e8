"""Whether a source is unchanged: ingest reads it more than once, and later runs read it again.

During ingest, size and time of change identify a file. A Delta table is read at one version
throughout. A view or a table without versions has to be read once more (`loose_tables`). Between
runs, the hash of their bytes identifies the files of this machine (`source_hash`).
"""

from collections.abc import Mapping
from dataclasses import replace

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import is_uri, sha256_of, stamp
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.parts import paths_of
from medhelm_spark.stages.ingest.source_tables import newest_version
from medhelm_spark.version import VERSION

Stamps = Mapping[str, tuple[int, int] | None]

HASHED_BYTES = 1 << 30
"""The driver hashes so many bytes, in a second or two; above that, tasks read the rows instead."""


def pinned(ctx: Context, card: ScenarioCard) -> ScenarioCard:
    """The card with the newest version of each Delta table that its source names."""
    source, history = card.source, card.source.history
    if source.table is not None and source.revision is None:
        source = replace(source, revision=newest_version(ctx, source.table))
    if history and history.tables:
        tables = tuple(
            each if each.revision else replace(each, revision=newest_version(ctx, each.table))
            for each in history.tables
        )
        source = replace(source, history=replace(history, tables=tables))
    return replace(card, source=source)


def loose_tables(card: ScenarioCard) -> list[str]:
    """The tables of the source without versions: a change of them is not visible."""
    source = card.source
    events = source.history.tables if source.history else ()
    tables = {each.table: each.revision for each in events}
    if source.table is not None:
        tables[source.table] = source.revision
    return [name for name, revision in tables.items() if revision is None]


def stamps(card: ScenarioCard) -> Stamps:
    """The stamp of every file that is read for the card."""
    return {path: stamp(path) for path in paths_of(card)}


def source_hash(card: ScenarioCard, before: Stamps) -> str | None:
    """The hash of a located card's files and of how they are read; None for other sources.

    With equal hashes, one version of this package reads the same records. `before` are the files'
    stamps.
    """
    source = card.source
    sizes = [status[0] for path, status in before.items() if status and not is_uri(path)]
    tables = source.table or source.dataset or (source.history and source.history.tables)
    if tables or not sizes or len(sizes) < len(before) or sum(sizes) > HASHED_BYTES:
        return None
    return content_id(
        VERSION, card.main_split, source, {path: sha256_of(path) for path in sorted(before)}
    )


def refuse_changed(cards: Mapping[str, ScenarioCard], before: Mapping[str, Stamps]) -> None:
    """Refuse files whose stamps differ from these, which are by scenario name.

    Raises:
        DataError: a file has changed or is gone.
    """
    for name, card in cards.items():
        events = card.source.history.files if card.source.history else ()
        labels = dict.fromkeys(events, "a file of events")
        labels |= {file.path: file.shown_path for file in card.source.files}
        for path, now in stamps(card).items():
            if now != before[name][path]:
                raise changed(labels.get(path, path))


def changed(name: str) -> DataError:
    """The error for a source that changed while it was read."""
    return DataError(
        f"{name}: the data changed while it was read, and nothing of it counts; run the command "
        "again when nobody writes there."
    )
