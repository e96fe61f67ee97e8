"""Reads answers made elsewhere: each record of a file or table becomes a Response.

A record has `source_id` or `instance_id`, and `completion`. It may have `trial` (0 if absent),
`prompt_tokens`, `completion_tokens` and `request_time` (seconds). `--fields` maps these names to
other columns or to paths into a column: `completion=response.choices.0.message.content`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from medhelm_spark.domain.columns import parse_pairs
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.data_uri import FORMATS, TABLE, ending_of, is_uri, table_of
from medhelm_spark.domain.ids import content_id
from medhelm_spark.encoded_text import quiet
from medhelm_spark.errors import ConfigError, DataError, MissingColumnError, UnknownNameError
from medhelm_spark.lake.rows import without_text
from medhelm_spark.local_files import has_delta_log, local_table, part_files
from medhelm_spark.scenarios import (
    BadReason,
    BadRecord,
    BroadcastFiles,
    Record,
    as_text,
    loads,
    open_data,
    read_records,
    sha256_of,
)
from medhelm_spark.stages.ingest.source_tables import RawRow, record_of

FIELDS = (
    "source_id",
    "instance_id",
    "completion",
    "trial",
    "prompt_tokens",
    "completion_tokens",
    "request_time",
)
TEXTS = FIELDS[:4]
"""The fields that are text; the others are numbers, or None if a record has no number."""
JSON_LINES = "jsonl"
ANSWER_FORMATS = (JSON_LINES, "csv", "tsv", "json", "parquet", "feather", "xlsx")
MOST = 2**31
"""The upper limit of token counts and trial numbers."""
LONGEST_SECONDS = 86_400
"""A `request_time` above a day is no duration: inference tables and traces store a date by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFile:
    """A file, folder or table of answers, and how to read it."""

    location: str
    """The file, folder or table, as the user names it."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Our field names, each with the column or path that contains it."""

    format: str = JSON_LINES
    """The reader of the files."""

    table: str | None = None
    """The table's name; None for files."""

    version: str | None = None
    """The Delta version of the table; None if it has none."""

    revision: str = ""
    """A hash of the files' bytes or the table's rows, and of `names` and the settings below."""

    parts: tuple[str, ...] = ()
    """The file, or all files of the folder."""

    sheet: str | None = None
    """The sheet of a workbook that the reader reads."""

    separator: str | None = None
    """The sign between columns."""

    encoding: str | None = None
    """The encoding of the text."""

    @property
    def source(self) -> DataSource:
        """The settings of the reader of the files."""
        return DataSource(
            format=self.format,
            sheet=self.sheet,
            separator=self.separator,
            encoding=self.encoding,
        )

    @property
    def unit(self) -> str:
        """The word for a record in messages."""
        return "line" if self.format == JSON_LINES and self.table is None else "row"

    @property
    def kind(self) -> str:
        """The word for the location in messages."""
        return "file" if self.table is None else "table"

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that a header or schema must have; for `a|b` one of the two is enough."""
        ids = "|".join(_column(self.names.get(name, name)) for name in FIELDS[:2])
        others = [self.names.get("completion", "completion")]
        others += [self.names[name] for name in FIELDS[3:] if name in self.names]
        return (ids, *map(_column, others))


def _column(name: str) -> str:
    """The column for a name; for a path, `PATH|COLUMN` with the column that it begins with."""
    first = name.partition(".")[0]
    return name if first == name else f"{name}|{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer of a record; `problem` is the reason why a record is unusable."""

    row: int
    source_id: str = ""
    instance_id: str = ""
    completion: str = ""
    trial: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_time: float | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of answers, as input row of ReadResponses; a folder has several `paths`."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadResponses:
    """Reads files and yields responses; row numbers continue through all parts of a folder."""

    answers: AnswerFile
    open_file: BroadcastFiles = field(default_factory=BroadcastFiles)
    report: Callable[[str], None] = quiet

    def __call__(self, files: Iterable[File]) -> Iterator[Response]:
        for file in files:
            records = chain.from_iterable(map(self._records, file.paths))
            for row, record in enumerate(records, 1):
                yield response_of(replace(record, row=row), self.answers.names)

    def _records(self, path: str) -> Iterator[Record]:
        return read_records(
            SourceFile(path=path, split=None),
            self.answers.source,
            self.open_file,
            self.answers.required,
            report=self.report,
        )


@dataclass(frozen=True, slots=True)
class ReadTableResponses:
    """Turns the rows of a table into responses."""

    answers: AnswerFile

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[Response]:
        for row in rows:
            record = record_of(self.answers.location, row)
            yield response_of(record, self.answers.names)


def response_of(record: Record, names: Mapping[str, str]) -> Response:
    """The Response of a record; `names` maps our fields to columns or to paths into columns."""
    if record.error is not None:
        return Response(row=record.row, problem=record.error.value)
    values = {name: value_at(record.fields, names.get(name, name)) for name in FIELDS}
    try:
        texts = {name: as_text(values[name]) or "" for name in TEXTS}
    except BadRecord:
        return Response(row=record.row, problem=_no_text(values))
    if problem := _problem(values, texts):
        return Response(row=record.row, problem=problem)
    return Response(
        row=record.row,
        source_id=texts["source_id"],
        instance_id=texts["instance_id"],
        completion=texts["completion"],
        trial=_trial(texts["trial"]) or 0,
        prompt_tokens=_count(values["prompt_tokens"]),
        completion_tokens=_count(values["completion_tokens"]),
        request_time=_seconds(values["request_time"]),
    )


def value_at(value: object, path: str) -> object:
    """The value at a path of columns, keys and list indexes; None if there is no value.

    The function parses a text on the way as JSON. It prefers a name with a dot in it to a path.

    >>> value_at({"response": '{"choices": [{"text": "yes"}]}'}, "response.choices.0.text")
    'yes'
    >>> value_at({"a.b": 1, "a": {"b": 2}}, "a.b")
    1
    """
    if not path:
        return value
    if isinstance(value, str):
        value = _opened(value)
    if isinstance(value, Mapping):
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            if (name := ".".join(parts[:end])) in value:
                return value_at(value[name], ".".join(parts[end:]))
    if isinstance(value, list):
        first, _, rest = path.partition(".")
        if first.isdecimal() and int(first) < len(value):
            return value_at(value[int(first)], rest)
    return None


def _opened(text: str) -> object:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def _no_text(values: Mapping[str, object]) -> str:
    """The message for the field with a list, an object, half a character or bytes not in UTF-8."""
    for name in TEXTS:
        try:
            as_text(values[name])
        except BadRecord as error:
            if error.reason is BadReason.NOT_UNICODE:
                return f"{name} contains half a character (a lone surrogate)"
            return f"{name} is not text"
    return ""


def _problem(values: Mapping[str, object], texts: Mapping[str, str]) -> str | None:
    if not texts["source_id"] and not texts["instance_id"]:
        return "neither source_id nor instance_id"
    if as_text(values["completion"]) is None:
        return "no completion"
    if texts["trial"] and _trial(texts["trial"]) is None:
        return "trial is no whole number from 0 on"
    return None


def _number(value: object) -> float | None:
    """A value as a finite number, else None; readers return numbers as text."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None or not 0 <= number <= MOST else int(number)


def _trial(value: object) -> int | None:
    number = _number(value)
    is_whole = number is not None and 0 <= number <= MOST and number.is_integer()
    return int(number) if number is not None and is_whole else None


def _seconds(value: object) -> float | None:
    number = _number(value)
    return None if number is None or not 0 <= number <= LONGEST_SECONDS else number


def parse_fields(text: str | None) -> dict[str, str]:
    """`source_id='Row Number',completion='LLM Answer'` as a mapping.

    >>> parse_fields("source_id='Row Number',completion=answer")
    {'source_id': 'Row Number', 'completion': 'answer'}
    """
    try:
        names = dict(parse_pairs(text or ""))
    except ValueError as error:
        raise ConfigError(
            f"--fields: {str(error)!r} is not NAME=COLUMN with a NAME of {', '.join(FIELDS)}."
        ) from None
    for name in names:
        if name not in FIELDS:
            raise ConfigError(
                f"--fields: {name!r} is not NAME=COLUMN with a NAME of {', '.join(FIELDS)}."
            )
    return names


def answers_at(
    location: str,
    names: Mapping[str, str],
    *,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> AnswerFile:
    """The answers at a location; this reads the bytes of files for their hash, but no table.

    Raises:
        UnknownNameError: `names` has an unknown field.
        DataError: the file is not readable.
    """
    for name in names:
        if name not in FIELDS:
            raise UnknownNameError("field", name, FIELDS, where="fields (--fields)")
    table = table_of(location)
    if table is not None:
        return AnswerFile(location=location, names=names, table=local_table(table))
    parts = _parts(location)
    return AnswerFile(
        location=location,
        names=names,
        format=format_of(parts[0]),
        revision=revision_of(
            _content(parts), {**names, **_stated_options(sheet, separator, encoding)}
        ),
        parts=parts,
        sheet=sheet,
        separator=separator,
        encoding=encoding,
    )


def _stated_options(
    sheet: str | None, separator: str | None, encoding: str | None
) -> dict[str, str]:
    options = {"sheet": sheet, "separator": separator, "encoding": encoding}
    return {f"{key}:": value for key, value in options.items() if value is not None}


def _parts(location: str) -> tuple[str, ...]:
    """The file at a location, or the part files of a folder, as Spark writes them."""
    folder = Path(location).expanduser()
    if is_uri(location) or not folder.is_dir():
        return (location,)
    if has_delta_log(folder):
        raise DataError(f"{location}: is a Delta table; name it {TABLE}{location}.")
    parts = tuple(map(str, part_files(folder)))
    if len({ending_of(part) for part in parts}) != 1:
        raise DataError(f"{location}: a folder of files of one format is needed.")
    return parts


def _content(parts: Sequence[str]) -> str:
    hashes = list(map(sha256_of, parts))
    return hashes[0] if len(hashes) == 1 else content_id(*hashes)


def revision_of(content: str, names: Mapping[str, str]) -> str:
    """The id of answers: a hash of `content` (the id of their bytes or rows) and of `names`.

    >>> revision_of("1", {}), len(revision_of("1", {"completion": "second"}))
    ('1', 32)
    """
    return content_id(content, names) if names else content


def format_of(path: str) -> str:
    """The format of a file by its ending; a file with an unknown ending is JSON lines.

    A `.json` file that does not begin with a list is JSON lines too: many programs name them so.
    """
    form = FORMATS.get(ending_of(path), JSON_LINES)
    if form == "json":
        with open_data(SourceFile(path=path)) as stream:
            head = stream.read(1 << 10).lstrip(b"\xef\xbb\xbf").lstrip()
        return form if head.startswith(b"[") else JSON_LINES
    return form if form in ANSWER_FORMATS else JSON_LINES


@contextmanager
def naming_fields() -> Iterator[None]:
    """Adds a hint to MissingColumnError: `--fields` names a column that has another name."""
    try:
        yield
    except MissingColumnError as error:
        raise MissingColumnError(f"{error} --fields names the columns.") from None


def check_file(answers: AnswerFile, report: Callable[[str], None] = quiet) -> None:
    """Reads a file of answers record by record and keeps only its ids.

    The driver calls this before it plans the run, so that a refused file leaves no planned request.
    The function calls `report` with what it recognised in the file, if that is not usual.

    Raises:
        DataError: a column or all records are missing, a record is unusable, or an id is used twice
            for one trial.
    """
    rows: dict[tuple[str, str, int], int] = {}
    recognised: dict[str, None] = {}
    reader = ReadResponses(answers, report=recognised.setdefault)
    path, unit = answers.location, answers.unit
    with without_text(reader), naming_fields():
        for read in reader([File(paths=answers.parts)]):
            if read.problem:
                raise DataError(f"{path}: {unit} {read.row}: {read.problem}.")
            # With a source id, ignore `instance_id`: it may be an id of the record itself.
            instance_id = "" if read.source_id else read.instance_id
            first = rows.setdefault((read.source_id, instance_id, read.trial), read.row)
            if first != read.row:
                trial = f" for trial {read.trial}" if read.trial else ""
                raise DataError(
                    f"{path}: {unit} {read.row}: its id is in {unit} {first} too{trial}."
                )
    if not rows:
        raise DataError(f"{path}: has no {unit}.")
    if recognised:
        report(f"{path}: recognised {', '.join(recognised)}")
