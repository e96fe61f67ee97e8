"""Parts of a scenario's files: one task of ingest reads one part."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios import (
    BroadcastFiles,
    Record,
    beside,
    is_archive,
    read_card,
    read_records,
    required_columns,
)

PARTITION_BYTES = 4 << 20

BYTES_OF_A_ROW = 250
"""The approximate bytes of a row in a file whose lines are not rows."""

LINES = ("csv", "tsv", "jsonl", "lines")
"""The formats in which a row takes a line or more."""

# A function of the records of a card and the number of their file.
Make = Callable[[Iterable[Record], ScenarioCard, int], Iterator[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some rows of a scenario: those of one file (-1: all) that fall on one of its partitions.

    `is_event`: the file has events of its history.
    """

    scenario_name: str
    file: int
    partition: int = 0
    partitions: int = 1
    is_event: bool = False


def parts_of(card: ScenarioCard, cores: int) -> list[Part]:
    """The parts of a card's records."""
    if card.source.dataset:
        return [Part(scenario_name=card.name, file=-1)]
    paths = [file.path for file in card.source.files]
    return list(_partitioned(card.name, paths, cores, is_event=False))


def parts_of_events(card: ScenarioCard, cores: int) -> list[Part]:
    """The parts of the events of a card's history."""
    paths = card.source.history.files if card.source.history else ()
    return list(_partitioned(card.name, paths, cores, is_event=True))


def _partitioned(name: str, paths: Iterable[str], cores: int, *, is_event: bool) -> Iterator[Part]:
    for file, path in enumerate(paths):
        partitions = min(cores, 1 + bytes_of(path) // PARTITION_BYTES)
        for partition in range(partitions):
            yield Part(
                scenario_name=name,
                file=file,
                partition=partition,
                partitions=partitions,
                is_event=is_event,
            )


def paths_of(card: ScenarioCard) -> tuple[str, ...]:
    """The paths of all files that are read for a card."""
    return (*(file.path for file in card.source.files), *beside(card.source))


def records_of(card: ScenarioCard, part: Part, open_file: BroadcastFiles) -> Iterator[Record]:
    """The records of a part, read from their file."""
    if part.file < 0:
        return read_card(card, open_file)
    file = card.source.files[part.file]
    return read_records(
        file,
        card.source,
        open_file,
        required=required_columns(card),
        partition=part.partition,
        partitions=part.partitions,
    )


def bytes_of(path: str) -> int:
    """The size of a local file; 0 for any other file."""
    local = Path(path)
    return local.stat().st_size if local.is_file() else 0


def most_rows(card: ScenarioCard) -> int:
    """How many rows the card's local files have at most; from their size if lines are not rows."""
    paths = [file.path for file in card.source.files]
    if card.source.format in LINES and not any(map(_is_packed, paths)):
        return sum(map(_lines, paths))
    return 1 + sum(map(bytes_of, paths_of(card))) // BYTES_OF_A_ROW


def _is_packed(path: str) -> bool:
    return is_archive(path) or path.lower().endswith(".gz")


def _lines(path: str) -> int:
    local = Path(path)
    if not local.is_file():
        return 0
    content = local.read_bytes()
    return 1 + max(content.count(b"\n"), content.count(b"\r"))
