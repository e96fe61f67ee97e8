"""Request states: requests, results, instances and verdicts joined by key, as metrics see them."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.medhelm_reading import as_medhelm_got
from medhelm_spark.adaptation.render import output_mapping
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    EVALUATION_KEY,
    Completion,
    FinishReason,
    Purpose,
    RequestState,
)
from medhelm_spark.domain.run import (
    READ_OPTIONS,
    STRICT,
    AdapterSpec,
    ExtractionMethod,
    RunSpec,
    Unreadable,
)
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stages import ANNOTATE, IMPORT_HELM, INGEST, PLAN, Stage
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.engines import IMPORTED
from medhelm_spark.lake.columnar import fields_of
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.rows import Frame, rows_of
from medhelm_spark.stages.context import Context, results_where

INSTANCE_KEY = ("data_version", "instance_id", "perturbation")
ALWAYS = ("split", "cluster_id")
FROM_INSTANCE = ("input", "references", "extra_data")
FROM_PROMPT = ("num_train_instances", "prompt_truncated")
FROM_RESULT = ("completions", "failure", "prompt_tokens", "completion_tokens", "request_time")

FEW_ASKED = 500
"""Up to so many requests are listed in a condition, which files' statistics can answer."""

# One row per instance, however often and by whichever prompt variant it is asked.
AS_IT_IS = "perturbation = '' AND train_trial_index = 0 AND trial_index = 0"

# The same in Spark SQL and DataFusion. Results are only ever added: for the requests of one write,
# another result changes the number of tries.
INPUTS = f"""
SELECT q.run_spec_id, q.write_id AS planned_by, count(*) AS requests,
       sum(CASE WHEN r.answered THEN 1 ELSE 0 END) AS answered,
       sum(CASE WHEN NOT r.answered THEN 1 ELSE 0 END) AS failed,
       sum(coalesce(r.tries, 0)) AS tries,
       sum(CASE WHEN r.imported THEN 1 ELSE 0 END) AS imported
FROM (@planned) q LEFT JOIN (
    SELECT request_id, count(*) AS tries, bool_or(failure IS NULL) AS answered,
           bool_or(engine_fingerprint = '{IMPORTED}') AS imported
    FROM (@results) a GROUP BY request_id) r ON r.request_id = q.request_id
GROUP BY q.run_spec_id, q.write_id
"""

DRAWN = f"""
SELECT run_spec_id, count(*) AS instances, CAST(bit_xor(xxhash64(instance_id)) AS STRING) AS drawn
FROM {{planned}} WHERE {AS_IT_IS} GROUP BY run_spec_id
"""


PROMPTS_OF = """
SELECT p.* FROM {prompts} p LEFT SEMI JOIN {planned} q ON q.prompt_id = p.prompt_id
"""

_ON_KEY = " AND ".join(f"{{0}}.{name} = q.{name}" for name in EVALUATION_KEY)

# Instances come last: joined rows are shuffled by the next join's key, and an input may be long.
JOINED = """
FROM {planned} q JOIN {data} d ON d.run_spec_id = q.run_spec_id
LEFT JOIN {results} r ON r.request_id = q.request_id
JOIN {instances_now} i ON i.data_version = d.data_version AND i.instance_id = q.instance_id
 AND i.perturbation = q.perturbation
"""

# A text that was rendered twice counts as one prompt.
OF_PROMPTS = f"""
JOIN (SELECT prompt_id, {", ".join(f"max({name}) AS {name}" for name in FROM_PROMPT)}
      FROM {{prompts_now}} GROUP BY prompt_id) p ON p.prompt_id = q.prompt_id
"""

VERDICTS = f"""
LEFT JOIN (SELECT {", ".join(EVALUATION_KEY)},
                  sort_array(collect_list(struct(annotator, judge, rubric_item, status, scores)))
                  AS verdicts
           FROM {{annotations_now}} GROUP BY {", ".join(EVALUATION_KEY)}) v
  ON {_ON_KEY.format("v")}
"""

# A file of imported answers may have several rows of one answer.
STORED = f"""
LEFT JOIN (SELECT {", ".join(EVALUATION_KEY)},
                  flatten(collect_list(
                    transform(stats, s -> named_struct('name', s.name, 'value', s.value))))
                  AS stored
           FROM {{stored_now}} GROUP BY {", ".join(EVALUATION_KEY)}) t
  ON {_ON_KEY.format("t")}
"""

_SOURCES = (
    dict.fromkeys(EVALUATION_KEY, "q")
    | dict.fromkeys((*ALWAYS, *FROM_INSTANCE), "i")
    | dict.fromkeys(FROM_RESULT, "r")
    | dict.fromkeys(FROM_PROMPT, "p")
    | {"verdicts": "v", "stored": "t"}
)
"""By field of RequestState, the table that `states` reads it from."""

NULLABLE = (
    "failure",
    "prompt_tokens",
    "completion_tokens",
    "request_time",
    "completions",
    "unreadable",
    "medhelm",
    "cluster_id",
    "stored",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The outcomes of a RunSpec's requests.

    `tries` counts all results, including superseded ones; `imported` the requests with an imported
    result. `planned_by` is the write of the requests.
    """

    run_spec_id: str
    planned_by: str
    requests: int
    answered: int
    failed: int
    tries: int
    imported: int

    @property
    def missing(self) -> int:
        return self.requests - self.answered - self.failed

    @property
    def fingerprint(self) -> str:
        """Changes with the requests, and with each further result of one."""
        return content_id(self.planned_by, self.tries)

    @property
    def counts(self) -> dict[str, int]:
        return {
            "requests": self.requests,
            "answered": self.answered,
            "failed": self.failed,
            "missing": self.missing,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Number and digest of the instances that a RunSpec's requests ask about."""

    run_spec_id: str
    instances: int
    drawn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOf:
    """Which data version a RunSpec evaluates."""

    run_spec_id: str
    data_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FewAsked:
    """Requests and their prompts, so few that conditions name them."""

    request_ids: tuple[str, ...]
    prompt_ids: tuple[str, ...]


def requests_of(ctx: Context, run_spec_ids: Iterable[str], stage: Stage, purpose: Purpose) -> Frame:
    """The current requests of these RunSpecs that a stage planned for a purpose."""
    current = ctx.is_current(stage, run_spec_ids)
    sql = f"purpose = '{purpose.value}' AND ({current.sql})"
    return ctx.lake.read("requests", replace(current, sql=sql))


def planned_sql(ctx: Context, run_spec_ids: Iterable[str], stage: Stage, purpose: Purpose) -> str:
    """The same as SQL, which is the same in Spark SQL and DataFusion."""
    current = ctx.is_current(stage, run_spec_ids).sql
    return f"SELECT * FROM {{requests}} WHERE purpose = '{purpose.value}' AND ({current})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """The ids of a request and its prompt."""

    request_id: str
    prompt_id: str


def few_asked(
    ctx: Context, run_spec_ids: Iterable[str], stage: Stage, purpose: Purpose
) -> FewAsked | None:
    """The requests of these RunSpecs and their prompts if they are few, else None."""
    planned = planned_sql(ctx, run_spec_ids, stage, purpose)
    if planned not in ctx.few_requests:
        sql = f"SELECT request_id, prompt_id FROM ({planned}) p LIMIT {FEW_ASKED + 1}"
        rows = ctx.lake.rows(sql, _Planned)
        ctx.few_requests[planned] = (
            FewAsked(
                request_ids=tuple(sorted({row.request_id for row in rows})),
                prompt_ids=tuple(sorted({row.prompt_id for row in rows})),
            )
            if len(rows) <= FEW_ASKED
            else None
        )
    few: FewAsked | None = ctx.few_requests[planned]
    return few


def results_sql(
    ctx: Context,
    run_spec_ids: Iterable[str],
    stage: Stage,
    purpose: Purpose,
    deployments: Iterable[str],
) -> str:
    """All results of the requests of these RunSpecs, as SQL for Spark SQL and DataFusion.

    They are narrowed to these requests first: a deployment has results of every suite.
    """
    units = list(run_spec_ids)
    few = few_asked(ctx, units, stage, purpose)
    where = results_where(deployments, few.request_ids if few else None)
    narrowed = ctx.lake.narrowed("request_results", where)
    if few:
        return f"SELECT * FROM {{request_results}} WHERE {narrowed}"
    planned = planned_sql(ctx, units, stage, purpose)
    return (
        f"SELECT a.* FROM (SELECT DISTINCT request_id AS asked_id FROM ({planned}) p) k "
        f"JOIN (SELECT * FROM {{request_results}} WHERE {narrowed}) a "
        "ON a.request_id = k.asked_id"
    )


def inputs_of(
    ctx: Context,
    run_spec_ids: Sequence[str],
    stage: Stage,
    purpose: Purpose,
    deployments: Iterable[str],
) -> dict[str, Inputs]:
    """The outcomes of the requests of these RunSpecs, by one query whatever their number.

    Args:
        ctx: the lake and suite.
        run_spec_ids: the RunSpecs.
        stage: the stage that planned their requests.
        purpose: the purpose of the requests.
        deployments: the deployments of the requests.
    """
    sql = INPUTS.replace("@planned", planned_sql(ctx, run_spec_ids, stage, purpose)).replace(
        "@results", results_sql(ctx, run_spec_ids, stage, purpose, deployments)
    )
    return {row.run_spec_id: row for row in ctx.lake.rows(sql, Inputs)}


def drawn_of(ctx: Context, run_spec_ids: Iterable[str]) -> dict[str, Drawn]:
    """The instances that these RunSpecs ask about, by run_spec_id."""
    planned = requests_of(ctx, run_spec_ids, PLAN, Purpose.EVALUATE)
    return {row.run_spec_id: row for row in rows_of(ctx.lake.query(DRAWN, planned=planned), Drawn)}


def states(ctx: Context, specs: Sequence[RunSpec], needs: frozenset[str]) -> Frame:
    """RequestState rows of these RunSpecs, with only the fields in `needs`."""
    units = [spec.run_spec_id for spec in specs]
    data = [DataOf(run_spec_id=spec.run_spec_id, data_version=spec.data_version) for spec in specs]
    planned = requests_of(ctx, units, PLAN, Purpose.EVALUATE)
    few = few_asked(ctx, units, PLAN, Purpose.EVALUATE)
    results = ctx.results(
        {spec.model_deployment for spec in specs}, planned, few.request_ids if few else None
    )
    instances = ctx.current(
        "instances", INGEST, {spec.data_version for spec in specs}, "data_version"
    )
    frames: dict[str, Frame] = {
        "planned": planned,
        "data": ctx.lake.frame(data, DataOf),
        "results": results,
        "instances_now": instances,
    }
    joins = [JOINED]
    if needs & {*FROM_PROMPT}:
        frames["prompts_now"] = prompts_of(ctx, planned, few)
        joins.append(OF_PROMPTS)
    if "verdicts" in needs:
        frames["annotations_now"] = ctx.current("annotations", ANNOTATE, units)
        joins.append(VERDICTS)
    if "stored" in needs:
        frames["stored_now"] = ctx.current("per_instance_stats", IMPORT_HELM, units)
        joins.append(STORED)
    fields = {*EVALUATION_KEY, *ALWAYS, "failure", "completions", *needs}
    columns = [_column(name, fields) for name in RequestState.__dataclass_fields__]
    return ctx.lake.query(f"SELECT {', '.join(columns)} {''.join(joins)}", **frames)


def prompts_of(ctx: Context, planned: Frame, few: FewAsked | None) -> Frame:
    """The prompts of planned requests; `few` are these requests if they are few."""
    ids = few.prompt_ids if few else ctx.ids_here("prompts", planned, "prompt_id")
    if ids is not None:
        return ctx.lake.read("prompts", one_of("prompt_id", ids, len(ids)))
    return ctx.lake.query(PROMPTS_OF, prompts=ctx.lake.read("prompts"), planned=planned)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersRead:
    """Completions as metrics and judges get them; None if there are none or none that count.

    `unreadable` is about the first one, and None if there was nothing to read. `medhelm` are the
    completions as MedHELM would have got them, None if they are the same or cannot be determined.
    """

    completions: tuple[Completion, ...] | None
    output_mapping: Mapping[str, str]
    unreadable: bool | None = None
    medhelm: tuple[Completion, ...] | None = None


def read_answers(
    completions: tuple[Completion, ...] | None,
    spec: RunSpec,
    references: Sequence[Reference],
    question: str,
    adapter: AdapterSpec | None = None,
) -> AnswersRead:
    """Stored completions without thinking, each text reduced to the answer that the RunSpec reads.

    The only place where answers are extracted. An unreadable answer is an empty one, and no answer
    if the RunSpec leaves it unscored. `adapter` is that of a prompt variant.
    """
    options = output_mapping(adapter or spec.adapter_spec, references)
    if not completions:
        return AnswersRead(completions=None, output_mapping=options)
    answers, how = tuple(map(without_thinking, completions)), spec.answer_extraction or STRICT
    if how.method is ExtractionMethod.STRICT:
        unread = answers[0].text.strip() not in options if options else None
        same = completions if answers == completions else answers
        return AnswersRead(completions=same, output_mapping=options, unreadable=unread)
    texts = [
        read_answer(
            completion.text,
            how,
            output_mapping=options,
            references=[reference.text for reference in references],
            question=question,
            is_cut=completion.finish_reason is FinishReason.LENGTH,
        )
        for completion in answers
    ]
    read = tuple(
        replace(completion, text=text or "")
        for completion, text in zip(answers, texts, strict=True)
    )
    unread = texts[0] is None
    is_left_out = unread and how.unreadable is Unreadable.UNSCORED
    return AnswersRead(
        completions=None if is_left_out else read,
        output_mapping=options,
        unreadable=unread,
        medhelm=_as_medhelm_got(answers, spec),
    )


def _as_medhelm_got(
    completions: Sequence[Completion], spec: RunSpec
) -> tuple[Completion, ...] | None:
    if spec.medhelm is None:
        return None
    is_cut = spec.is_cut_for_medhelm
    cut = [as_medhelm_got(completion, spec.medhelm, is_cut=is_cut) for completion in completions]
    known = tuple(completion for completion in cut if completion is not None)
    return known if len(known) == len(cut) else None


def read_state(
    state: RequestState, spec: RunSpec, adapter: AdapterSpec | None = None
) -> RequestState:
    """A state as metrics get it: with the options of the prompt and the answer that was read."""
    answers = read_answers(state.completions, spec, state.references, state.input, adapter)
    if answers.completions is state.completions and not answers.output_mapping:
        return state
    return replace(
        state,
        completions=answers.completions,
        output_mapping=answers.output_mapping,
        unreadable=answers.unreadable,
        medhelm=answers.medhelm,
    )


def reading_needs(spec: RunSpec) -> frozenset[str]:
    """The RequestState fields that are needed to read this RunSpec's answers.

    A question may ask for the wrong option ("EXCEPT"), so that every method that finds an option
    reads the input too.
    """
    how, has_options = spec.answer_extraction or STRICT, spec.adapter_spec.method.shows_options
    finds_option = has_options and how.method is not ExtractionMethod.STRICT
    if finds_option or how.method in READ_OPTIONS:
        return frozenset({"references", "input"})
    return frozenset({"references"}) if has_options else frozenset()


def _column(name: str, fields: Set[str]) -> str:
    """A column of RequestState in SQL; its default value if it is not in `fields`."""
    source = _SOURCES.get(name)
    if source is None or name not in fields:
        return f"{_absent(name)} AS {name}"
    return f"{source}.{name}"


def _absent(name: str) -> str:
    kind = fields_of(RequestState)[name].ddl.replace(": ", ":")
    empty = {"ARRAY": "array()", "MAP": "map()", "STRING": "''"}.get(kind.split("<")[0], "0")
    return f"CAST({'NULL' if name in NULLABLE else empty} AS {kind})"
