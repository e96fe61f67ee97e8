"""The rows of a person's own data that cannot be used, reported before a run is started."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from medhelm_spark.config.dataset import ANSWER_COLUMN
from medhelm_spark.domain.columns import nearest
from medhelm_spark.domain.data_source import SourceFile
from medhelm_spark.domain.data_uri import is_delta_path
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.scenario import REFERENCE, TABULAR, Instance, ScenarioCard
from medhelm_spark.errors import DataError
from medhelm_spark.lake.delta_columns import delta_values
from medhelm_spark.metrics import declared_labels
from medhelm_spark.metrics.classification import normal_label
from medhelm_spark.scenarios import (
    LEFT_OUT,
    BadRecord,
    RecordKey,
    as_text,
    fingerprint_records,
    parse_records,
    read_records,
    required_columns,
)

SHOWN = 8
MOST_ANSWERS = 20
"""Of more right answers none is suggested: they may be of one patient."""


def check_own_labels(card: ScenarioCard) -> None:
    """Refuse a label that a metric declares and that is the right answer of no row.

    Of what can be read without Spark: what `check_own_rows` reads, and a Delta folder of this
    machine. Of other data a run does it.

    Raises:
        DataError: there is such a label, or a file cannot be read.
    """
    if not declared_labels(card.metrics):
        return
    if card.source.table:
        right = _of_folder(card)
    elif _is_readable(card):
        rows = (row for file in card.source.files for row in _instances(file, card))
        right = {ref.text for row in rows for ref in row.references if ref.is_correct}
    else:
        right = None
    if right is not None:
        check_labels(card, right)


def check_labels(card: ScenarioCard, right: Iterable[str]) -> None:
    """Refuse a label that a metric declares and that is not among the `right` answers.

    It is one misspelled, or of other data.

    Raises:
        DataError: there is such a label.
    """
    right = {text.strip() for text in right}
    declared = {normal_label(label): label for label in declared_labels(card.metrics)}
    known = set(map(normal_label, right))
    missing = [label for normal, label in declared.items() if normal not in known]
    if missing:
        label = missing[0]
        near = nearest(label, sorted(right)) if len(right) <= MOST_ANSWERS else None
        raise DataError(
            f"{card.name}: the metrics' label {label!r} is the right answer of no row; declared: "
            f"{', '.join(declared.values())}{f'; is {near!r} meant?' if near else '.'}"
        )


def _of_folder(card: ScenarioCard) -> set[str] | None:
    """The right answers in a benchmark's Delta folder; None where only Spark can read it."""
    source = card.source
    if card.shape != TABULAR or source.table is None or not is_delta_path(source.table):
        return None
    role = card.fields.get(REFERENCE, ANSWER_COLUMN)
    values = delta_values(source.table, source.columns.get(role, role), source.revision)
    if values is None:
        return None
    try:
        return {text for value in values if (text := as_text(value))}
    except BadRecord:  # a column of no text, which the run refuses
        return None


def _instances(file: SourceFile, card: ScenarioCard) -> Iterator[Instance]:
    records = read_records(file, card.source, required=required_columns(card))
    return (row for row in parse_records(records, card, "") if isinstance(row, Instance))


def check_own_rows(card: ScenarioCard, report: Callable[[str], None]) -> None:
    """Report which rows of local files a run leaves out, and refuse repeated ids, as a run does.

    A table, an archive, an object store's files, and records to which others are joined are left
    to the run.

    Raises:
        DataError: an id is in more than one row, or a file cannot be read.
    """
    if not _is_readable(card):
        return
    files = card.source.files
    rows = 0
    reasons: dict[str, list[str]] = {}
    by_key: dict[str, list[str]] = {}
    for file, key in _keys(card):
        rows += key.instance_index == 0
        row = str(key.source_row)
        position = row if len(files) == 1 else f"{row} of {file.shown_path}"
        if key.reason is None:
            by_key.setdefault(key.source_key, []).append(position)
        elif key.reason != LEFT_OUT:
            reasons.setdefault(key.reason, []).append(position)
    name = files[0].shown_path if len(files) == 1 else f"{card.name}: {counted(len(files), 'file')}"
    if reasons:
        bad = sum(map(len, reasons.values()))
        left_out = "; ".join(
            f"{reason} in {_rows(positions)}" for reason, positions in reasons.items()
        )
        all_rows = counted(rows, "row")
        report(f"{name}: {bad:,} of {all_rows} cannot be used and would be left out: {left_out}")
    repeated = [positions for positions in by_key.values() if len(positions) > 1]
    if repeated and not card.merge_identical:
        ids = counted(len(repeated), "id")
        positions = [position for group in repeated for position in group]
        raise DataError(
            f"{name}: {ids} in more than one of {rows:,} rows: {_rows(positions)}; each row needs "
            "an id of its own: mend them, or name another column of ids."
        )


def _is_readable(card: ScenarioCard) -> bool:
    """Whether all rows are in files of this machine, and nothing is joined to them."""
    source = card.source
    is_joined = bool(source.history or source.lookups or source.texts)
    return not is_joined and bool(source.files) and all(map(_is_plain, source.files))


def _is_plain(file: SourceFile) -> bool:
    return not file.member and Path(file.path).expanduser().is_file()


def _keys(card: ScenarioCard) -> Iterator[tuple[SourceFile, RecordKey]]:
    for file in card.source.files:
        records = read_records(file, card.source, required=required_columns(card))
        for key in fingerprint_records(records, card):
            yield file, key


def _rows(positions: Sequence[str]) -> str:
    """How many rows, and the first of them.

    >>> _rows(["2", "5"])
    '2 (data rows 2, 5)'
    """
    noun = "row" if len(positions) == 1 else "rows"
    return f"{len(positions):,} (data {noun} {first_of(positions, SHOWN)})"
