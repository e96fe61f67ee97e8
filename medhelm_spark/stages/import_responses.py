"""import-responses: completions produced elsewhere become a model's results, no model called.

JSON lines with `source_id` or `instance_id` and `completion`, optionally `prompt_tokens`,
`completion_tokens` and `request_time` (seconds); `--fields` maps other names.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Completion, FinishReason, Purpose, RequestResult
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.domain.stages import IMPORT_RESPONSES, INGEST, PLAN
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import map_rows, plain_errors, without_text
from medhelm_spark.scenarios import Record, read_records
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.states import requests_of

NOT_PLANNED = "named no instance that is evaluated"
FIELDS = (
    "source_id",
    "instance_id",
    "completion",
    "prompt_tokens",
    "completion_tokens",
    "request_time",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One line of a file. `problem` says why it cannot be used."""

    path: str
    data_version: str
    row: int
    source_id: str = ""
    instance_id: str = ""
    completion: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_time: float | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to read and the scenario it answers, as a row for the seam."""

    path: str
    data_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """A response and the request it answers."""

    request_id: str
    model_deployment: str
    access_level: AccessLevel
    completion: str
    prompt_tokens: int | None
    completion_tokens: int | None
    request_time: float | None


@dataclass(frozen=True, slots=True)
class ReadResponses:
    """File in, responses out. `names` maps our field names to the file's."""

    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, files: Iterable[File]) -> Iterator[Response]:
        for file in files:
            source = SourceFile(path=file.path, split=None)
            for record in read_records(source, DataSource(format="jsonl")):
                yield self._response(file, record)

    @staticmethod
    def _bad(file: File, record: Record, problem: str) -> Response:
        return Response(
            path=file.path, data_version=file.data_version, row=record.row, problem=problem
        )

    def _response(self, file: File, record: Record) -> Response:
        if record.error is not None:
            return self._bad(file, record, record.error.value)
        values = {name: record.fields.get(self.names.get(name, name)) for name in FIELDS}
        problem = _problem(values)
        if problem:
            return self._bad(file, record, problem)
        return Response(
            path=file.path,
            data_version=file.data_version,
            row=record.row,
            source_id=_text(values["source_id"]),
            instance_id=_text(values["instance_id"]),
            completion=_text(values["completion"]),
            prompt_tokens=_count(values["prompt_tokens"]),
            completion_tokens=_count(values["completion_tokens"]),
            request_time=_number(values["request_time"]),
        )


def _problem(values: Mapping[str, object]) -> str | None:
    if values["source_id"] is None and values["instance_id"] is None:
        return "neither source_id nor instance_id"
    completion = values["completion"]
    if completion is None:
        return "no completion"
    if isinstance(completion, (dict, list)):
        return "completion is not text"
    return None


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
    return None if number is None else int(number)


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


def check_file(path: Path, names: Mapping[str, str]) -> None:
    """Read a file of answers line by line and keep only its ids; `names` are as for the import.

    On the driver, before the run is planned: what a refused file would answer is not left behind.

    Raises:
        DataError: the file has no line, one is unusable, or an id stands twice.
    """
    lines: dict[tuple[str, str], int] = {}
    reader = ReadResponses(names)
    with without_text(reader):
        for read in reader([File(path=str(path.absolute()), data_version="")]):
            if read.problem:
                raise DataError(f"{path}: line {read.row}: {read.problem}.")
            first = lines.setdefault((read.source_id, read.instance_id), read.row)
            if first != read.row:
                raise DataError(f"{path}: line {read.row}: its id stands in line {first} too.")
    if not lines:
        raise DataError(f"{path}: has no line.")


def import_responses(
    ctx: Context,
    specs: Sequence[RunSpec],
    files: Mapping[str, Path],
    names: Mapping[str, str],
) -> int:
    """Store completions as results of one model's RunSpecs; returns how many are new.

    A request that has an answer already keeps it: the earliest stands.

    Args:
        ctx: the lake and suite.
        specs: one model's RunSpecs, already planned.
        files: the file of each scenario, by scenario name; `check_file` has passed them.
        names: our field names to the files'.

    Raises:
        DataError: no line fits the scenario.
    """
    ctx = ctx.within(IMPORT_RESPONSES)
    rows = [
        File(path=str(files[spec.scenario_name].absolute()), data_version=spec.data_version)
        for spec in specs
    ]
    responses = map_rows(ctx.lake.frame(rows, File), ReadResponses(dict(names)), File, Response)
    known = _known(ctx, specs, responses)
    matched = _unanswered(ctx, specs, known)
    with plain_errors():
        count, unknown = matched.count(), responses.count() - known.count()
    if not count and not _answered(ctx, specs):
        raise DataError(
            f"{rows[0].path}: no line's id is one of scenario {specs[0].scenario_name!r}'s; "
            f"--fields says which column holds source_id."
        )
    if count:
        results = map_rows(matched, _results, Matched, RequestResult)
        shas = sorted(file_id(path) for path in files.values())
        name = content_id(IMPORTED, sorted(spec.run_spec_id for spec in specs), shas, names)
        ctx.lake.append("request_results", results, new_write_id(), txn=(name, 1), at_most=count)
    unused = f"; {counted(unknown, 'line')} of the file {NOT_PLANNED}" if unknown else ""
    ctx.say(f"import-responses: {counted(count, 'new answer')}{unused}")
    return count


def file_id(path: Path) -> str:
    """The content id of a response file; ConfigError when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"--file {path}: cannot be read ({type(error).__name__}).") from None


def revision_of(path: Path, names: Mapping[str, str]) -> str:
    """The id of a file's answers: of its bytes, and of what its fields are said to be called.

    Raises:
        ConfigError: the file cannot be read.
    """
    return content_id(file_id(path), names) if names else file_id(path)


def _known(ctx: Context, specs: Sequence[RunSpec], responses: DataFrame) -> DataFrame:
    """The responses whose id is a planned instance's, each with its request."""
    units = [spec.run_spec_id for spec in specs]
    versions = sorted({spec.data_version for spec in specs})
    instances = ctx.current("instances", INGEST, versions, "data_version")
    keys = instances.select("data_version", "instance_id", "source_id")
    by_source = responses.where("source_id != ''").drop("instance_id")
    by_source = by_source.join(keys.distinct(), ["data_version", "source_id"])
    by_instance = responses.where("source_id = ''")
    answers = by_source.drop("source_id").unionByName(by_instance.drop("source_id"))
    planned = requests_of(ctx, units, PLAN, Purpose.EVALUATE)
    return (
        planned.where("trial_index = 0 AND perturbation = ''")
        .select("instance_id", "request_id", "model_deployment", "access_level")
        .join(answers, "instance_id")
        .select(*Matched.__dataclass_fields__)
    )


def _unanswered(ctx: Context, specs: Sequence[RunSpec], known: DataFrame) -> DataFrame:
    results = ctx.results({spec.model_deployment for spec in specs})
    answered = results.where("failure IS NULL").select("request_id")
    once = known.dropDuplicates(["request_id"])
    return once.join(answered, "request_id", "left_anti").select(*Matched.__dataclass_fields__)


def _answered(ctx: Context, specs: Sequence[RunSpec]) -> bool:
    units = [spec.run_spec_id for spec in specs]
    planned = requests_of(ctx, units, PLAN, Purpose.EVALUATE)
    results = ctx.results({spec.model_deployment for spec in specs}).select("request_id")
    return bool(planned.join(results, "request_id", "left_semi").limit(1).count())


def _results(rows: Iterable[Matched]) -> Iterator[RequestResult]:
    for row in rows:
        yield RequestResult(
            request_id=row.request_id,
            model_deployment=row.model_deployment,
            access_level=row.access_level,
            completed_at=now(),
            engine_fingerprint=IMPORTED,
            completions=(Completion(text=row.completion, finish_reason=FinishReason.UNKNOWN),),
            prompt_tokens=row.prompt_tokens,
            completion_tokens=row.completion_tokens,
            request_time=row.request_time,
        )
