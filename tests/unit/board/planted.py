"""A small lake with known facts, written without a JVM: every number on its board is countable.

Suite `s1` (T: triage_choice, public; C: medcalc_bench, gated; D: discharge_note, private):

    deployment          locality   T                     C                      D
    alpha/large         local      1 1 1 0   tie         1 0 - (one unscored)   4.5 2.0, demo jury
    beta/medium         tenant     1 1 0 1   tie         1 1 1                  missing
    gamma/small         external   0 0 1 0               planned, never scored  missing

Planted beside them: an older plan of alpha's T with mean 0, whose stats are finished (superseded);
stats of beta's T with mean 0.99 that no record of `runs` finished; suite `s0` with one run; release
`R1`, which pinned older stats of alpha's T (mean 0.5).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import (
    Annotation,
    Completion,
    CriterionScore,
    Decoding,
    FailureKind,
    FinishReason,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
    VerdictStatus,
)
from medhelm_spark.domain.run import (
    AdapterSpec,
    AnnotatorSpec,
    MetricSpec,
    RunRecord,
    RunSpec,
    SuiteRun,
)
from medhelm_spark.domain.scenario import Instance, Message, Reference, ScenarioVersion, Verified
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stats import (
    SHARE,
    PerInstanceStats,
    Score,
    ScoreStatus,
    Stat,
    Summary,
    values_of,
)
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.tables import TABLES, WRITE_ID, properties
from medhelm_spark.releases.pinned import read_release
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from medhelm_spark.statistics.summary import summarize

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALPHA, BETA, GAMMA = "alpha/large", "beta/medium", "gamma/small"
LOCALITIES = {ALPHA: "local", BETA: "tenant", GAMMA: "external"}
HOSTILE = "<img src=//evil.test/a.png> ![x](http://evil.test/b.png) $5 \\1 {braces} <b>bold</b>"
SOURCE_ID = "MRN-0042"

# scenario: (title, category, access level, main metric, metric)
SCENARIOS = {
    "triage_choice": (
        "Triage choice",
        "Clinical Decision Support",
        "public",
        "exact_match",
        "exact_match",
    ),
    "medcalc_bench": (
        "MedCalc-Bench",
        "Clinical Decision Support",
        "gated",
        "medcalc_bench_accuracy",
        "medcalc_bench_accuracy",
    ),
    "discharge_note": (
        "Discharge note",
        "Clinical Note Generation",
        "private",
        "jury_score",
        "jury_score",
    ),
}
Values = Sequence[float | None]
CELLS: dict[tuple[str, str], Values] = {
    (ALPHA, "triage_choice"): (1, 1, 1, 0),
    (BETA, "triage_choice"): (1, 1, 0, 1),
    (GAMMA, "triage_choice"): (0, 0, 1, 0),
    (ALPHA, "medcalc_bench"): (1, 0, None),
    (BETA, "medcalc_bench"): (1, 1, 1),
    (ALPHA, "discharge_note"): (4.5, 2.0),
}


def unit(model: str, scenario: str) -> str:
    """The run_spec_id of a planted run."""
    return f"{model.partition('/')[0]}-{scenario}"


def append(lake: Path, table: str, rows: Sequence[object], write_id: str) -> None:
    """Append rows to a table of the lake, as a stage would."""
    batch = pa.Table.from_batches([encode_batch(TABLES[table].row, rows)])
    if WRITE_ID not in batch.column_names:
        batch = batch.append_column(WRITE_ID, pa.array([write_id] * len(rows), pa.string()))
    write_deltalake(
        str(lake / table), batch, mode="append", configuration=properties(TABLES[table])
    )


def finish(lake: Path, stage: str, unit_id: str, write_id: str, minutes: int = 0) -> None:
    """Mark a unit of work finished, `minutes` after the lake's start."""
    at = START + timedelta(minutes=minutes)
    record = RunRecord(
        stage=stage,
        unit_id=unit_id,
        write_id=write_id,
        fingerprint=write_id,
        suite="s1",
        started_at=at,
        finished_at=at,
        counts={},
        code_version="0",
        spark_version="4",
    )
    append(lake, "runs", [record], write_id)


def run_spec(run_spec_id: str, model: str, scenario: str) -> RunSpec:
    """A RunSpec as the plan makes it."""
    _, _, level, main_metric, metric = SCENARIOS[scenario]
    jury = (AnnotatorSpec(name="jury"),) if metric == "jury_score" else ()
    return RunSpec(
        run_spec_id=run_spec_id,
        name=f"{scenario}:model={model.replace('/', '_')}",
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        model=model,
        model_deployment=model,
        deployment_fingerprint="f",
        adapter_spec=AdapterSpec(max_tokens=16),
        metrics=(MetricSpec(name=metric),),
        annotators=jury,
        groups=(),
        access_level=level,
        main_metric=main_metric,
        main_split="test",
    )


def planned(spec: RunSpec, suite: str = "s1", minutes: int = 0) -> SuiteRun:
    """A row of `run_specs`."""
    return SuiteRun(
        suite=suite,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=START + timedelta(minutes=minutes),
        locality=LOCALITIES[spec.model_deployment],
        engine="canned",
        is_jury_validated=False if spec.annotators else None,
        run_spec=spec,
    )


def stat(run_spec_id: str, name: str, values: Values) -> Stat:
    """A row of `stats` over these values."""
    counts = Counter(float(value) for value in values if value is not None)
    summary = summarize(sorted(counts.items()), sum(v is None for v in values), SHARE)
    return Stat(
        run_spec_id=run_spec_id,
        name=name,
        split="test",
        perturbation="",
        **values_of(summary, Summary),
    )


def write_stats(lake: Path, run_spec_id: str, scenario: str, values: Values, write_id: str) -> None:
    """The stats of a run, not yet marked finished."""
    rows = [stat(run_spec_id, SCENARIOS[scenario][3], values), stat(run_spec_id, "other", (0.0,))]
    if scenario == "discharge_note":
        rows.append(stat(run_spec_id, "jury_coverage", (1.0, 0.5)))
    append(lake, "stats", rows, write_id)


def plant(lake: Path) -> Path:
    """Write the whole lake into an empty folder."""
    for scenario in SCENARIOS:
        _plant_scenario(lake, scenario)
    for (model, scenario), values in CELLS.items():
        _plant_run(lake, model, scenario, values)
    append(
        lake, "run_specs", [planned(run_spec("gamma-medcalc_bench", GAMMA, "medcalc_bench"))], "p"
    )
    _plant_traps(lake)
    return lake


def plant_answers(lake: Path, number: int) -> None:
    """A further run `many` of alpha's, with so many answers to triage_choice."""
    scenario, write_id = "triage_choice", "w-many"
    level = AccessLevel(SCENARIOS[scenario][2])
    first = len(CELLS[ALPHA, scenario])
    more = [_instance(scenario, level, index) for index in range(first, number)]
    append(lake, "instances", more, f"{scenario}-w")
    spec = replace(run_spec("many", ALPHA, scenario), name=f"{scenario}:model=many")
    append(lake, "run_specs", [planned(spec)], write_id)
    append(lake, "per_instance_stats", [_scores(spec, i, 1.0) for i in range(number)], write_id)
    write_stats(lake, spec.run_spec_id, scenario, [1.0] * number, write_id)
    for stage in ("plan", "score", "summarize"):
        finish(lake, stage, spec.run_spec_id, write_id)


def _plant_traps(lake: Path) -> None:
    old = run_spec("alpha-triage-old", ALPHA, "triage_choice")
    append(lake, "run_specs", [planned(old, minutes=-60)], "p-old")
    write_stats(lake, old.run_spec_id, "triage_choice", (0, 0), "w-old")
    finish(lake, "summarize", old.run_spec_id, "w-old", -50)
    write_stats(lake, unit(BETA, "triage_choice"), "triage_choice", (0.99,), "w-unfinished")
    alone = run_spec("alpha-alone", ALPHA, "triage_choice")
    append(lake, "run_specs", [planned(alone, "s0", -90)], "p0")
    member = ReleaseMember(
        release="R1",
        status="draft",
        suite="s1",
        name="triage_choice:model=alpha_large",
        run_spec_id=unit(ALPHA, "triage_choice"),
        stats_write_id="w-first",
        created_at=START,
        manifest_hash="",
        writes={"scenarios": "triage_choice-w"},
    )
    write_stats(lake, member.run_spec_id, "triage_choice", (1, 0), "w-first")
    finish(lake, "summarize", member.run_spec_id, "w-first", -5)
    rows = read_release(open_reader(str(lake)), [member])
    member = replace(member, value_hashes=rows.hashes(member))
    append(lake, "releases", [replace(member, manifest_hash=manifest_hash([member]))], "r")


def _plant_scenario(lake: Path, scenario: str) -> None:
    title, category, level, main_metric, _ = SCENARIOS[scenario]
    num = max(len(values) for (_, name), values in CELLS.items() if name == scenario)
    version = ScenarioVersion(
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        card_hash="c",
        access_level=AccessLevel(level),
        display_name=title,
        category=category,
        subcategory="",
        main_metric=main_metric,
        main_split="test",
        verified=Verified.SAME_FORM,
        num_instances=num,
        num_quarantined=0,
        source="planted",
    )
    instances = [_instance(scenario, AccessLevel(level), index) for index in range(num)]
    append(lake, "scenarios", [version], f"{scenario}-w")
    append(lake, "instances", instances, f"{scenario}-w")
    append(lake, "prompts", [_prompt(one) for one in instances], f"{scenario}-w")
    finish(lake, "ingest", f"{scenario}-v1", f"{scenario}-w", -30)


def prompt_of(scenario: str, level: AccessLevel) -> Prompt:
    """A row of `prompts`."""
    return _prompt(_instance(scenario, level, 0))


def _instance(scenario: str, level: AccessLevel, index: int) -> Instance:
    return Instance(
        instance_id=f"{scenario}-i{index}",
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        source_id=SOURCE_ID,
        source_index=index,
        split=Split.TEST,
        input=f"Case {index}: {HOSTILE}",
        references=(Reference(text=f"answer {index}", tags=("correct",)), Reference(text="wrong")),
        access_level=level,
        extra_data={"ward": f"ward {index}"},
    )


def _prompt(instance: Instance) -> Prompt:
    is_chat = instance.scenario_name == "discharge_note"
    turns = (
        Message(role="system", content="Be brief."),
        Message(role="user", content=instance.input),
    )
    return Prompt(
        prompt_id=f"p-{instance.instance_id}",
        render_id="render",
        subject_id=instance.instance_id,
        access_level=instance.access_level,
        messages=turns if is_chat else (),
        text="" if is_chat else f"{instance.input}\nAnswer:",
    )


def _plant_run(lake: Path, model: str, scenario: str, values: Values) -> None:
    spec = run_spec(unit(model, scenario), model, scenario)
    write_id = f"w-{spec.run_spec_id}"
    append(lake, "run_specs", [planned(spec)], write_id)
    append(lake, "requests", [_request(spec, i) for i in range(len(values))], write_id)
    append(lake, "request_results", [_result(spec, i, v) for i, v in enumerate(values)], write_id)
    append(
        lake, "per_instance_stats", [_scores(spec, i, v) for i, v in enumerate(values)], write_id
    )
    if spec.annotators:
        verdicts = [_verdict(spec, i, judge) for i in range(len(values)) for judge in ("j1", "j2")]
        append(lake, "annotations", verdicts, write_id)
    write_stats(lake, spec.run_spec_id, scenario, values, write_id)
    for stage in ("plan", "annotate", "score", "summarize"):
        finish(lake, stage, spec.run_spec_id, write_id)


def _request(spec: RunSpec, index: int) -> PlannedRequest:
    return PlannedRequest(
        run_spec_id=spec.run_spec_id,
        instance_id=f"{spec.scenario_name}-i{index}",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        purpose=Purpose.EVALUATE,
        request_id=f"q-{spec.run_spec_id}-{index}",
        prompt_id=f"p-{spec.scenario_name}-i{index}",
        model_deployment=spec.model_deployment,
        decoding=Decoding(max_tokens=16),
        access_level=AccessLevel(spec.access_level),
        estimated_tokens=8,
    )


def _result(spec: RunSpec, index: int, value: float | None) -> RequestResult:
    text = f"{spec.model} says {index} {HOSTILE}"
    return RequestResult(
        request_id=f"q-{spec.run_spec_id}-{index}",
        model_deployment=spec.model_deployment,
        access_level=AccessLevel(spec.access_level),
        completed_at=START,
        engine_fingerprint="e",
        completions=()
        if value is None
        else (Completion(text=text, finish_reason=FinishReason.STOP),),
        failure=FailureKind.TIMEOUT if value is None else None,
        prompt_tokens=40,
        completion_tokens=6,
        request_time=0.25,
    )


def _scores(spec: RunSpec, index: int, value: float | None) -> PerInstanceStats:
    status = ScoreStatus.NO_ANSWER if value is None else ScoreStatus.OK
    number = None if value is None else float(value)
    return PerInstanceStats(
        run_spec_id=spec.run_spec_id,
        instance_id=f"{spec.scenario_name}-i{index}",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        stats=(
            Score(name="other", value=0.0),
            Score(name=spec.main_metric, value=number, status=status),
        ),
    )


def _verdict(spec: RunSpec, index: int, judge: str) -> Annotation:
    failed = judge == "j2" and index == 1
    score = CriterionScore(criterion="accuracy", score=4.0, explanation=f"Because {HOSTILE}")
    return Annotation(
        run_spec_id=spec.run_spec_id,
        instance_id=f"{spec.scenario_name}-i{index}",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        annotator="jury",
        judge=judge,
        status=VerdictStatus.UNPARSEABLE if failed else VerdictStatus.OK,
        access_level=AccessLevel.PRIVATE,
        scores=() if failed else (score,),
    )


def ingested(lake: Path, name: str, card_hash: str) -> None:
    """A scenario whose data is in the lake, as a card of this hash read it."""
    version = ScenarioVersion(
        scenario_name=name,
        data_version=f"v-{name}",
        card_hash=card_hash,
        access_level=AccessLevel.PUBLIC,
        display_name=name,
        category="",
        subcategory="",
        main_metric="exact_match",
        main_split="test",
        verified=Verified.REAL,
        num_instances=1,
        num_quarantined=0,
        source="csv",
    )
    record = RunRecord(
        stage="ingest",
        unit_id=version.data_version,
        write_id=name,
        fingerprint="f",
        suite="s",
        started_at=START,
        finished_at=START,
        counts={"test": 1},
        code_version="0",
        spark_version="4",
        schema_version=1,
    )
    append(lake, "scenarios", [version], name)
    append(lake, "runs", [record], name)
