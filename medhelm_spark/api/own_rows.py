"""What of a person's own rows cannot be used, told before anything is started."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from medhelm_spark.domain.counting import counted, first_of
from medhelm_spark.domain.scenario import ScenarioCard, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import (
    LEFT_OUT,
    RecordKey,
    fingerprint_records,
    read_records,
    required_columns,
)

SHOWN = 8


def check_own_rows(card: ScenarioCard, tell: Callable[[str], None]) -> None:
    """Tell which rows of local files a run leaves out, and refuse ids that repeat, as it does.

    A table, an archive, an object store's files, and records to which others are joined are left
    to the run.

    Raises:
        DataError: an id stands in more than one row, or a file cannot be read.
    """
    source = card.source
    files = source.files
    is_joined = bool(source.history or source.lookups or source.texts)
    if is_joined or not files or not all(map(_is_plain, files)):
        return
    rows = 0
    reasons: dict[str, list[str]] = {}
    by_key: dict[str, list[str]] = {}
    for key in _keys(card):
        rows += key.place == 0
        place = _place(key, is_only=len(files) == 1)
        if key.reason is None:
            by_key.setdefault(key.source_key, []).append(place)
        elif key.reason != LEFT_OUT:
            reasons.setdefault(key.reason, []).append(place)
    name = files[0].path if len(files) == 1 else f"{card.name}: {counted(len(files), 'file')}"
    if reasons:
        bad = sum(map(len, reasons.values()))
        told = "; ".join(f"{reason} in {_rows(places)}" for reason, places in reasons.items())
        all_rows = counted(rows, "row")
        tell(f"{name}: {bad:,} of {all_rows} cannot be used and would be left out: {told}")
    repeated = [places for places in by_key.values() if len(places) > 1]
    if repeated and not card.merge_identical:
        ids = counted(len(repeated), "id")
        places = [place for group in repeated for place in group]
        raise DataError(
            f"{name}: {ids} in more than one of {rows:,} rows: {_rows(places)}; each row needs an "
            "id of its own: mend them, or name another column of ids."
        )


def _is_plain(file: SourceFile) -> bool:
    return not file.member and Path(file.path).expanduser().is_file()


def _keys(card: ScenarioCard) -> Iterator[RecordKey]:
    for file in card.source.files:
        yield from fingerprint_records(
            read_records(file, card.source, required=required_columns(card)), card
        )


def _place(key: RecordKey, *, is_only: bool) -> str:
    return str(key.source_row) if is_only else f"{key.source_file} {key.source_row}"


def _rows(places: Sequence[str]) -> str:
    """How many rows, and the first of them.

    >>> _rows(["2", "5"])
    '2 (data rows 2, 5)'
    """
    return (
        f"{len(places):,} (data {'row' if len(places) == 1 else 'rows'} {first_of(places, SHOWN)})"
    )
