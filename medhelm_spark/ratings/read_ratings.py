"""Reads files of ratings: each record becomes the values of one rater for one answer.

A record has `source_id` or `instance_id`, `model`, `rater`, and either `criterion` and `value` or a
column for each criterion. It may have `trial` (0 if absent) and `comment`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.columns import parse_pairs
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError, MissingColumnError
from medhelm_spark.lake.rows import without_text
from medhelm_spark.scenarios import BadRecord, as_text, read_records, sha256_of
from medhelm_spark.user_data.read_responses import format_of

Classes = Mapping[str, Sequence[str]]
"""The classes of criteria that have some, by criterion; a value is the index of its class."""

FIELDS = ("source_id", "instance_id", "model", "rater", "criterion", "value", "trial", "comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFile:
    """A file of ratings, and how to read it."""

    path: str
    names: Mapping[str, str]
    """Our names of columns, each with the name in the file."""
    criteria: tuple[str, ...] = ()
    """The columns that are criteria; empty where a record names its criterion."""
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None

    def column(self, name: str) -> str:
        """The file's name for one of FIELDS."""
        return self.names.get(name, name)

    @property
    def sha256(self) -> str:
        """The hash of the file's bytes."""
        return sha256_of(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedValue:
    """One value in a file; `row` is its row, from 1 on."""

    row: int
    source_id: str
    instance_id: str
    model: str
    rater: str
    criterion: str
    value: float
    trial: int
    comment: str


def parse_names(text: str | None) -> dict[str, str]:
    """`rater=clinician,model='LLM name'` as a mapping.

    >>> parse_names("rater=clinician,model='LLM name'")
    {'rater': 'clinician', 'model': 'LLM name'}
    """
    try:
        names = dict(parse_pairs(text or ""))
    except ValueError as error:
        raise _no_name(str(error)) from None
    for name in names:
        if name not in FIELDS:
            raise _no_name(name)
    return names


def _no_name(text: str) -> ConfigError:
    return ConfigError(f"--fields: {text!r} is not NAME=COLUMN with a NAME of {', '.join(FIELDS)}.")


def read_ratings(file: RatingFile, classes: Classes | None = None) -> Iterator[RatedValue]:
    """The values of a file in its order; a blank cell of a criterion is no value.

    Args:
        file: the ratings.
        classes: of the criteria that have some.

    Raises:
        DataError: a column is missing, or a row is unusable: it names the row and the column.
    """
    source = DataSource(
        format=format_of(file.path),
        sheet=file.sheet,
        separator=file.separator,
        encoding=file.encoding,
    )
    required = _required(file)
    with without_text(read_ratings):
        try:
            for record in read_records(
                SourceFile(path=file.path, split=None), source, required=required
            ):
                if record.error is not None:
                    raise DataError(f"{file.path}: row {record.row}: {record.error.value}.")
                yield from _values(file, record.row, record.fields, classes or {})
        except MissingColumnError as error:
            raise MissingColumnError(
                f"{error} --fields says what the columns are called, --criteria which columns are "
                "criteria."
            ) from None


def _required(file: RatingFile) -> tuple[str, ...]:
    ids = f"{file.column('source_id')}|{file.column('instance_id')}"
    criteria = file.criteria or (file.column("criterion"), file.column("value"))
    return (ids, file.column("model"), file.column("rater"), *criteria)


def _values(
    file: RatingFile, row: int, fields: Mapping[str, object], classes: Classes
) -> Iterator[RatedValue]:
    texts = {name: _text(file, row, fields, file.column(name)) for name in FIELDS}
    if not (texts["source_id"] or texts["instance_id"]):
        raise DataError(f"{file.path}: row {row}: neither source_id nor instance_id.")
    for name in ("model", "rater"):
        if not texts[name]:
            raise DataError(f"{file.path}: row {row}: column {file.column(name)!r} is empty.")
    trial = _number(texts["trial"] or "0")
    if trial is None or trial < 0 or not trial.is_integer():
        raise DataError(f"{file.path}: row {row}: trial is no whole number from 0 on.")
    for criterion, column in _criteria(file, row, texts):
        text = _text(file, row, fields, column)
        if not text and file.criteria:
            continue
        names = classes.get(criterion, ())
        value = _class_index(text, names) if names else _number(text)
        if value is None:
            kind = f"none of the classes {', '.join(names)}" if names else "no number"
            raise DataError(f"{file.path}: row {row}: column {column!r} is {kind}.")
        yield RatedValue(
            row=row,
            source_id=texts["source_id"],
            instance_id="" if texts["source_id"] else texts["instance_id"],
            model=texts["model"],
            rater=texts["rater"],
            criterion=criterion,
            value=value,
            trial=int(trial),
            comment=texts["comment"],
        )


def _criteria(file: RatingFile, row: int, texts: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """The criteria of a record, each with the column of its value."""
    if file.criteria:
        return [(name, name) for name in file.criteria]
    if not texts["criterion"]:
        raise DataError(f"{file.path}: row {row}: column {file.column('criterion')!r} is empty.")
    return [(texts["criterion"], file.column("value"))]


def _text(file: RatingFile, row: int, fields: Mapping[str, object], column: str) -> str:
    try:
        return (as_text(fields.get(column)) or "").strip()
    except BadRecord:
        raise DataError(f"{file.path}: row {row}: column {column!r} is not text.") from None


def _class_index(text: str, names: Sequence[str]) -> float | None:
    """The index of the class that is named, in whatever letter case."""
    folded = [name.casefold() for name in names]
    return float(folded.index(text.casefold())) if text.casefold() in folded else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
