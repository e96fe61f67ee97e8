"""Answers made elsewhere as they are read: a file or table in, responses out.

A record gives `source_id` or `instance_id`, and `completion`; optionally `trial` (0 where it is
absent), `prompt_tokens`, `completion_tokens` and `request_time` (seconds). `--fields` maps other
names, and paths into what a column holds: `completion=response.choices.0.message.content`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from medhelm_spark.domain.columns import parse_pairs
from medhelm_spark.domain.data_uri import FORMATS, TABLE, ending_of, is_uri, table_of
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import DataSource, SourceFile
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
"""Those that are text; the others are numbers, or absent where they are none."""
JSON_LINES = "jsonl"
ANSWER_FORMATS = (JSON_LINES, "csv", "tsv", "json", "parquet", "feather", "xlsx")
MOST = 2**31
"""Tokens of an answer and numbers of trials are below it."""
LONGEST_SECONDS = 86_400
"""A `request_time` above a day is a moment, as inference tables and traces call one, and no time
that an answer took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFile:
    """Where answers are, what they call our fields, and the id of what they hold.

    Of files `format` names the reader, and `sheet`, `separator` and `encoding` say how it reads; a
    folder has the files in it as `parts`. `version` is the Delta version of a `table`, None where
    it has none. `revision` is a hash of the file's bytes or the table's rows, and of `names`.
    """

    place: str
    names: Mapping[str, str] = field(default_factory=dict)
    format: str = JSON_LINES
    table: str | None = None
    version: str | None = None
    revision: str = ""
    parts: tuple[str, ...] = ()
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None

    @property
    def source(self) -> DataSource:
        """How the files are read."""
        return DataSource(
            format=self.format,
            sheet=self.sheet,
            separator=self.separator,
            encoding=self.encoding,
        )

    @property
    def unit(self) -> str:
        """What a record is called in messages."""
        return "line" if self.format == JSON_LINES and self.table is None else "row"

    @property
    def kind(self) -> str:
        """What the place is called in messages."""
        return "file" if self.table is None else "table"

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that a header or schema must show; `a|b` is satisfied by either."""
        ids = "|".join(_column(self.names.get(name, name)) for name in FIELDS[:2])
        others = [self.names.get("completion", "completion")]
        others += [self.names[name] for name in FIELDS[3:] if name in self.names]
        return (ids, *map(_column, others))


def _column(name: str) -> str:
    """The column that a name or path begins with."""
    first = name.partition(".")[0]
    return name if first == name else f"{name}|{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One record of answers. `problem` says why it cannot be used."""

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
    """A file of answers, as a row for the seam; `paths` are its parts where it is a folder."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadResponses:
    """Files in, responses out; rows are numbered through all parts of one."""

    answers: AnswerFile
    open_file: BroadcastFiles = field(default_factory=BroadcastFiles)
    tell: Callable[[str], None] = quiet

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
            tell=self.tell,
        )


@dataclass(frozen=True, slots=True)
class ReadTableResponses:
    """The rows of a table in, responses out."""

    answers: AnswerFile

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[Response]:
        for row in rows:
            record = record_of(self.answers.place, row)
            yield response_of(record, self.answers.names)


def response_of(record: Record, names: Mapping[str, str]) -> Response:
    """What a record says; `names` maps our fields to its columns or to paths into them."""
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
    """What stands at a path of columns, keys and numbers of list items; None where nothing does.

    A text on the way is opened as JSON. A name with a dot in it goes before a path.

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
    """Which field holds a list, an object, half a character, or bytes that are not UTF-8."""
    for name in TEXTS:
        try:
            as_text(values[name])
        except BadRecord as error:
            if error.reason is BadReason.NOT_UNICODE:
                return f"{name} holds half a character (a lone surrogate)"
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
    """A finite number, which readers hand on as text; None where there is none."""
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
    place: str,
    names: Mapping[str, str],
    *,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> AnswerFile:
    """The answers at a place: a file or folder with the id of its bytes, or a table yet to be read.

    Raises:
        UnknownNameError: `names` names a field that there is not.
        DataError: the file cannot be read.
    """
    for name in names:
        if name not in FIELDS:
            raise UnknownNameError("field", name, FIELDS, where="fields (--fields)")
    table = table_of(place)
    if table is not None:
        return AnswerFile(place=place, names=names, table=local_table(table))
    parts = _parts(place)
    return AnswerFile(
        place=place,
        names=names,
        format=_format_of(parts[0]),
        revision=revision_of(_content(parts), {**names, **_said(sheet, separator, encoding)}),
        parts=parts,
        sheet=sheet,
        separator=separator,
        encoding=encoding,
    )


def _said(sheet: str | None, separator: str | None, encoding: str | None) -> dict[str, str]:
    said = {"sheet": sheet, "separator": separator, "encoding": encoding}
    return {f"{key}:": value for key, value in said.items() if value is not None}


def _parts(place: str) -> tuple[str, ...]:
    """The file at a place, or the files of a folder, as Spark writes a table."""
    folder = Path(place).expanduser()
    if is_uri(place) or not folder.is_dir():
        return (place,)
    if has_delta_log(folder):
        raise DataError(f"{place}: is a Delta table; name it {TABLE}{place}.")
    parts = tuple(map(str, part_files(folder)))
    if len({ending_of(part) for part in parts}) != 1:
        raise DataError(f"{place}: a folder of files of one format is needed.")
    return parts


def _content(parts: Sequence[str]) -> str:
    hashes = list(map(sha256_of, parts))
    return hashes[0] if len(hashes) == 1 else content_id(*hashes)


def revision_of(content: str, names: Mapping[str, str]) -> str:
    """The id of answers: of what they are read from, and of what its fields are said to be called.

    >>> revision_of("1", {}), len(revision_of("1", {"completion": "second"}))
    ('1', 32)
    """
    return content_id(content, names) if names else content


def _format_of(path: str) -> str:
    """The format of a file by its ending; what has another one is JSON lines.

    So is a `.json` whose document is no list: lines of objects are often called so.
    """
    form = FORMATS.get(ending_of(path), JSON_LINES)
    if form == "json":
        with open_data(SourceFile(path=path)) as stream:
            head = stream.read(1 << 10).lstrip(b"\xef\xbb\xbf").lstrip()
        return form if head.startswith(b"[") else JSON_LINES
    return form if form in ANSWER_FORMATS else JSON_LINES


@contextmanager
def naming_fields() -> Iterator[None]:
    """A column that is not there may only be called otherwise: the error says how to tell."""
    try:
        yield
    except MissingColumnError as error:
        raise MissingColumnError(f"{error} --fields says what the columns are called.") from None


def check_file(answers: AnswerFile, tell: Callable[[str], None] = quiet) -> None:
    """Read a file of answers record by record and keep only its ids.

    On the driver, before the run is planned: what a refused file would answer is not left behind.
    `tell` is given what the file was recognised to be, where that is not usual.

    Raises:
        DataError: the file lacks a column, has no record, one is unusable, or an id stands twice
            for one trial.
    """
    rows: dict[tuple[str, str, int], int] = {}
    recognised: dict[str, None] = {}
    reader = ReadResponses(answers, tell=recognised.setdefault)
    path, unit = answers.place, answers.unit
    with without_text(reader), naming_fields():
        for read in reader([File(paths=answers.parts)]):
            if read.problem:
                raise DataError(f"{path}: {unit} {read.row}: {read.problem}.")
            # A source id is enough: what stands beside it may be an id of the record itself.
            instance_id = "" if read.source_id else read.instance_id
            first = rows.setdefault((read.source_id, instance_id, read.trial), read.row)
            if first != read.row:
                trial = f" for trial {read.trial}" if read.trial else ""
                raise DataError(
                    f"{path}: {unit} {read.row}: its id stands in {unit} {first} too{trial}."
                )
    if not rows:
        raise DataError(f"{path}: has no {unit}.")
    if recognised:
        tell(f"{path}: recognised {', '.join(recognised)}")
