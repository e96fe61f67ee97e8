"""import-responses: completions produced elsewhere become a model's results, no model called."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_uri import is_uri, normal_location
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.request import Completion, FinishReason, Purpose, RequestResult
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import IMPORT_RESPONSES, INGEST, PLAN
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import DataError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import Frame, map_rows, rows_of
from medhelm_spark.stages.broadcast_files import for_tasks
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.ingest.source_tables import RawRow, newest_version, raw_rows
from medhelm_spark.stages.ingest.unchanged import changed
from medhelm_spark.stages.states import requests_of
from medhelm_spark.user_data.read_responses import (
    AnswerFile,
    File,
    ReadResponses,
    ReadTableResponses,
    Response,
    naming_fields,
    revision_of,
)

NOT_PLANNED = "named no instance that is evaluated"

CHECK = """
SELECT problem, count(*) AS rows,
       count(*) - count(DISTINCT source_id, if(source_id = '', instance_id, ''), trial) AS repeated,
       CAST(bit_xor(xxhash64(row, source_id, instance_id, completion, trial, prompt_tokens,
                             completion_tokens, request_time)) AS STRING) AS fingerprint
FROM {responses} GROUP BY problem
"""

# A record has a row for each request that it may answer, and one without where there is none.
PLACED = """
SELECT r.row, r.trial, p.trial_index, p.request_id, p.model_deployment, p.access_level,
       r.completion, r.prompt_tokens, r.completion_tokens, r.request_time
FROM {responses} r
LEFT JOIN (SELECT DISTINCT instance_id, source_id FROM {instances_now}) k
  ON r.source_id != '' AND k.source_id = r.source_id
LEFT JOIN (SELECT * FROM {planned} WHERE perturbation = '') p
  ON p.instance_id = CASE WHEN r.source_id != '' THEN k.instance_id ELSE r.instance_id END
"""

COUNTS = """
SELECT count(DISTINCT row) AS rows,
       count(DISTINCT CASE WHEN request_id IS NOT NULL THEN row END) AS named,
       count(DISTINCT CASE WHEN trial = trial_index THEN row END) AS planned,
       count(CASE WHEN trial = trial_index THEN row END)
         - count(DISTINCT CASE WHEN trial = trial_index THEN request_id END) AS repeated
FROM {placed}
"""


# A request that two records answer is refused before; here it has one of them.
UNANSWERED = """
SELECT m.request_id, m.model_deployment, m.access_level, m.completion, m.prompt_tokens,
       m.completion_tokens, m.request_time
FROM (SELECT *, row_number() OVER (PARTITION BY request_id ORDER BY row) AS place
      FROM {placed} WHERE trial = trial_index) m
LEFT ANTI JOIN (SELECT request_id FROM {results} WHERE failure IS NULL) a
  ON a.request_id = m.request_id
WHERE m.place = 1 AND m.request_id IS NOT NULL
"""

ROWS = "SELECT count(*) AS rows FROM {records}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The rows of a table of answers that share a problem, or have none."""

    problem: str | None
    rows: int
    repeated: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many records there are, name an evaluated instance, and name a planned trial of it."""

    rows: int
    named: int
    planned: int
    repeated: int


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


def checked_table(ctx: Context, answers: AnswerFile) -> AnswerFile:
    """A table of answers at its newest Delta version, with the id of its rows.

    Before the run is planned: what a refused table would answer is not left behind.

    Raises:
        DataError: it cannot be read, lacks a column, has no row, a row is unusable, or an id occurs
            twice for one trial.
    """
    answers = replace(answers, version=newest_version(ctx, answers.table or ""))
    with naming_fields():
        return replace(answers, revision=_revision(ctx, answers))


def _revision(ctx: Context, answers: AnswerFile) -> str:
    """The id of a table's rows, which have to be of use."""
    checks = rows_of(ctx.lake.query(CHECK, responses=_responses(ctx, answers)), Checked)
    where = f"table {answers.table!r}"
    for check in checks:
        if check.problem:
            raise DataError(f"{where}: {counted(check.rows, 'row')}: {check.problem}.")
    if not checks:
        raise DataError(f"{where}: has no row.")
    (check,) = checks
    if check.repeated:
        raise DataError(
            f"{where}: {counted(check.repeated, 'row')} with an id that is in another row of "
            "the same trial too."
        )
    return revision_of(content_id(check.rows, check.fingerprint), answers.names)


def _responses(ctx: Context, answers: AnswerFile) -> Frame:
    if answers.table is None:
        file = File(paths=tuple(map(_absolute, answers.parts)))
        reading = ReadResponses(answers, for_tasks(ctx, {"the file of answers": list(file.paths)}))
        return map_rows(ctx.lake.frame([file], File), reading, File, Response)
    rows = raw_rows(ctx, answers.table, answers.version, answers.required)
    return map_rows(rows, ReadTableResponses(answers), RawRow, Response)


def _absolute(path: str) -> str:
    location = normal_location(path)
    return location if is_uri(location) else str(Path(location).expanduser().absolute())


def import_responses(ctx: Context, specs: Sequence[RunSpec], answers: AnswerFile) -> int:
    """Store completions as results of one model's RunSpecs; returns how many are new.

    A request that has an answer already keeps it: the earliest counts.

    Args:
        ctx: the lake and suite.
        specs: one model's RunSpecs of one scenario, already planned.
        answers: what `check_file` or `checked_table` has passed.

    Raises:
        DataError: no record fits the scenario, or a table changed since it was checked.
    """
    ctx = ctx.within(IMPORT_RESPONSES)
    placed = _placed(ctx, specs, answers)
    matched = _unanswered(ctx, specs, placed)
    count = _count(ctx, matched)
    (counts,) = rows_of(ctx.lake.query(COUNTS, placed=placed), Counts)
    if counts.repeated:
        raise DataError(
            f"{answers.location}: {counted(counts.repeated, answers.unit)} more than one names the "
            "same instance, by its source_id and by its instance_id; name each by one of them."
        )
    if not count and not _answered(ctx, specs):
        raise _unmatched(specs, answers, counts)
    if count:
        if answers.table and not answers.version and _revision(ctx, answers) != answers.revision:
            raise changed(f"table {answers.table!r}")
        results = map_rows(matched, _results, Matched, RequestResult)
        name = content_id(IMPORTED, sorted(spec.run_spec_id for spec in specs), answers.revision)
        ctx.lake.append("request_results", results, new_write_id(), txn=(name, 1), at_most=count)
    notes = [f"import-responses: {counted(count, 'new answer')}"]
    if unknown := counts.rows - counts.named:
        notes.append(f"{counted(unknown, answers.unit)} of the {answers.kind} {NOT_PLANNED}")
    if others := counts.named - counts.planned:
        notes.append(
            f"{counted(others, answers.unit)} of the {answers.kind} named a trial that is not "
            f"planned (planned: {_trials(specs)})"
        )
    ctx.say("; ".join(notes))
    return count


def _unmatched(specs: Sequence[RunSpec], answers: AnswerFile, counts: Counts) -> DataError:
    if counts.named:
        return DataError(
            f"{answers.location}: no {answers.unit} names a trial that is planned; planned: "
            f"{_trials(specs)}. --fields names the column of trial."
        )
    return DataError(
        f"{answers.location}: no {answers.unit}'s id is one of scenario "
        f"{specs[0].scenario_name!r}'s; --fields names the column of source_id. Ids are "
        "compared as text: 1.0 is not 1."
    )


def _trials(specs: Sequence[RunSpec]) -> str:
    last = max(spec.adapter_spec.num_trials for spec in specs) - 1
    return f"0 to {last}" if last else "0"


def _placed(ctx: Context, specs: Sequence[RunSpec], answers: AnswerFile) -> Frame:
    """The responses with the requests that they may answer, of every trial of the instance."""
    units = [spec.run_spec_id for spec in specs]
    versions = sorted({spec.data_version for spec in specs})
    return ctx.lake.query(
        PLACED,
        responses=_responses(ctx, answers),
        instances_now=ctx.current("instances", INGEST, versions, "data_version"),
        planned=requests_of(ctx, units, PLAN, Purpose.EVALUATE),
    )


def _unanswered(ctx: Context, specs: Sequence[RunSpec], placed: Frame) -> Frame:
    results = ctx.results({spec.model_deployment for spec in specs}, placed)
    return ctx.lake.query(UNANSWERED, placed=placed, results=results)


def _answered(ctx: Context, specs: Sequence[RunSpec]) -> bool:
    units = [spec.run_spec_id for spec in specs]
    planned = requests_of(ctx, units, PLAN, Purpose.EVALUATE)
    return bool(_count(ctx, ctx.results({spec.model_deployment for spec in specs}, planned)))


def _count(ctx: Context, frame: Frame) -> int:
    (counted_rows,) = rows_of(ctx.lake.query(ROWS, records=frame), _Rows)
    return counted_rows.rows


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
