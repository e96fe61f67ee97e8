"""Answers made elsewhere as they are read: a file or table in, responses out.

A record gives `source_id` or `instance_id`, and `completion`; optionally `trial` (0 where it is
absent), `prompt_tokens`, `completion_tokens` and `request_time` (seconds). `--fields` maps other
names, and paths into what a column holds: `completion=response.choices.0.message.content`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from medhelm_spark.domain.data_place import FORMATS, ending_of, table_of
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError, MissingColumnError, UnknownNameError
from medhelm_spark.lake.rows import without_text
from medhelm_spark.scenarios import Carried, Record, loads, open_data, read_records, sha256_of
from medhelm_spark.stages.source_tables import RawRow, record_of

FIELDS = (
    "source_id",
    "instance_id",
    "completion",
    "trial",
    "prompt_tokens",
    "completion_tokens",
    "request_time",
)
JSON_LINES = "jsonl"
ANSWER_FORMATS = (JSON_LINES, "csv", "tsv", "json", "parquet", "feather", "xlsx")
MOST = 2**31
"""Tokens of an answer and numbers of trials are below it."""
LONGEST_SECONDS = 86_400
"""A `request_time` above a day is a moment, as inference tables and traces call one, and no time
that an answer took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Where answers are, what they call our fields, and the id of what they hold.

    Of a file `format` names the reader. `version` is the Delta version of a `table`, None where it
    has none. `revision` is a hash of the file's bytes or the table's rows, and of `names`.
    """

    place: str
    names: Mapping[str, str] = field(default_factory=dict)
    format: str = JSON_LINES
    table: str | None = None
    version: str | None = None
    revision: str = ""

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
    """A file of answers, as a row for the seam."""

    path: str


@dataclass(frozen=True, slots=True)
class ReadResponses:
    """Files in, responses out."""

    answers: Answers
    open_file: Carried = field(default_factory=Carried)

    def __call__(self, files: Iterable[File]) -> Iterator[Response]:
        source = DataSource(format=self.answers.format)
        for file in files:
            place = SourceFile(path=file.path, split=None)
            for record in read_records(place, source, self.open_file, self.answers.required):
                yield self._response(record)

    def _response(self, record: Record) -> Response:
        return response_of(record, self.answers.names)


@dataclass(frozen=True, slots=True)
class ReadTableResponses:
    """The rows of a table in, responses out."""

    answers: Answers

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[Response]:
        for row in rows:
            record = record_of(self.answers.place, row)
            yield response_of(record, self.answers.names)


def response_of(record: Record, names: Mapping[str, str]) -> Response:
    """What a record says; `names` maps our fields to its columns or to paths into them."""
    if record.error is not None:
        return Response(row=record.row, problem=record.error.value)
    values = {name: value_at(record.fields, names.get(name, name)) for name in FIELDS}
    if problem := _problem(values):
        return Response(row=record.row, problem=problem)
    return Response(
        row=record.row,
        source_id=_text(values["source_id"]),
        instance_id=_text(values["instance_id"]),
        completion=_text(values["completion"]),
        trial=_trial(values["trial"]) or 0,
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


def _problem(values: Mapping[str, object]) -> str | None:
    if not _text(values["source_id"]) and not _text(values["instance_id"]):
        return "neither source_id nor instance_id"
    completion = values["completion"]
    if completion is None:
        return "no completion"
    if isinstance(completion, (dict, list)):
        return "completion is not text"
    if _text(values["trial"]) and _trial(values["trial"]) is None:
        return "trial is no whole number from 0 on"
    if not _is_unicode(_text(completion)):
        return "completion holds half a character (a lone surrogate)"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str:
    return "" if value is None else str(value)


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
    names: dict[str, str] = {}
    for part in (text or "").split(",") if text else []:
        name, separator, value = part.partition("=")
        if not separator or name.strip() not in FIELDS or not value.strip("'\" "):
            raise ConfigError(
                f"--fields: {part!r} is not NAME=COLUMN with a NAME of {', '.join(FIELDS)}."
            )
        names[name.strip()] = value.strip().strip("'\"")
    return names


def answers_at(place: str, names: Mapping[str, str]) -> Answers:
    """The answers at a place: a file with the id of its bytes, or a table that is yet to be read.

    Raises:
        UnknownNameError: `names` names a field that there is not.
        DataError: the file cannot be read.
    """
    for name in names:
        if name not in FIELDS:
            raise UnknownNameError("field", name, FIELDS, where="fields (--fields)")
    table = table_of(place)
    if table is not None:
        return Answers(place=place, names=names, table=table)
    revision = revision_of(sha256_of(place), names)
    return Answers(place=place, names=names, format=_format_of(place), revision=revision)


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


def check_file(answers: Answers) -> None:
    """Read a file of answers record by record and keep only its ids.

    On the driver, before the run is planned: what a refused file would answer is not left behind.

    Raises:
        DataError: the file lacks a column, has no record, one is unusable, or an id stands twice
            for one trial.
    """
    rows: dict[tuple[str, str, int], int] = {}
    reader, path, unit = ReadResponses(answers), answers.place, answers.unit
    with without_text(reader), naming_fields():
        for read in reader([File(path=path)]):
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
