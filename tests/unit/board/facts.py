"""A lake with one of every fact that a page has to show right, and what each page shows of it.

Suite `facts`, ten instances a benchmark, written without a JVM:

    model    triage (public)   dose (gated, lower is better)   coding (gated)        note (private)
    alpha    .6, ties          .1                              .8                    3.0
    beta     .6, ties          .3                              .7                    2.5
    epsilon  .5                .2                              .9, other prompt      4.0
    gamma    .3                missing                         .5, scored again      7 of 10
    delta    denied            missing                         missing               missing

Of gamma's notes a judge failed on three of ten. Alpha's triage run is in suite `second` too.
Releases of both suites: `approved` and `withdrawn`. Nothing here is
computed by the code that reads boards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.comparability import PARTS
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest, ReleaseStatus
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
from medhelm_spark.domain.scenario import Instance, Reference, ScenarioVersion, Verified
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stats import (
    PerInstanceStats,
    Score,
    ScoreStatus,
    Stat,
    Summary,
    values_of,
)
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.metrics import info
from medhelm_spark.releases.pinned import read_release
from medhelm_spark.releases.tables import ReleasedScores, ReleasedStat, ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from medhelm_spark.statistics.bootstrap import mean_draws
from medhelm_spark.statistics.summary import summarize
from tests.unit.board.planted import append

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SUITE, SECOND = "facts", "second"
APPROVED, WITHDRAWN = "approved", "withdrawn"
REASON = "the key of coding was wrong"
ALPHA, BETA, GAMMA, DELTA, EPSILON = "alpha", "beta", "gamma", "delta", "epsilon"
LOCALITIES = {
    ALPHA: "local",
    BETA: "tenant",
    GAMMA: "external",
    DELTA: "external",
    EPSILON: "local",
}
Values = Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What a scenario's card contains about a benchmark of the lake."""

    title: str
    category: str
    subcategory: str
    level: str
    metric: str
    stat: str
    declared: dict[str, str] = field(default_factory=dict)


BENCHMARKS = {
    "triage": Benchmark(
        title="Triage",
        category="Clinical Decision Support",
        subcategory="Emergency",
        level="public",
        metric="exact_match",
        stat="exact_match",
        declared={"licence": "MIT", "contamination": "public since 2019"},
    ),
    "dose": Benchmark(
        title="Dose",
        category="Clinical Decision Support",
        subcategory="Pharmacy",
        level="gated",
        metric="numeric_match",
        stat="numeric_unreadable",
        declared={"data_holder": "PhysioNet, DUA 1.5.0"},
    ),
    "coding": Benchmark(
        title="Coding",
        category="Administration",
        subcategory="",
        level="gated",
        metric="exact_match",
        stat="exact_match",
        declared={"data_holder": "PhysioNet, DUA 1.5.0", "licence": "PhysioNet 1.5.0"},
    ),
    "note": Benchmark(
        title="Note",
        category="Note Generation",
        subcategory="",
        level="private",
        metric="jury_score",
        stat="jury_score",
        declared={"data_holder": "the hospital"},
    ),
}


def ones(indices: Sequence[int]) -> tuple[float, ...]:
    """Ten values, 1 at these indices."""
    return tuple(float(index in indices) for index in range(10))


CELLS: dict[tuple[str, str], Values] = {
    (ALPHA, "triage"): ones(range(6)),
    (BETA, "triage"): ones(range(4, 10)),
    (EPSILON, "triage"): ones(range(5)),
    (GAMMA, "triage"): ones((0, 5, 9)),
    (DELTA, "triage"): (None,) * 10,
    (ALPHA, "dose"): ones((9,)),
    (BETA, "dose"): ones((0, 1, 9)),
    (EPSILON, "dose"): ones((2, 3)),
    (ALPHA, "coding"): ones(range(8)),
    (BETA, "coding"): ones(range(3, 10)),
    (EPSILON, "coding"): ones(range(9)),
    (GAMMA, "coding"): ones(range(5)),
    (ALPHA, "note"): (3, 3, 3, 3, 3, 2, 4, 2, 4, 3),
    (BETA, "note"): (2.5, 2, 3, 2, 3, 2, 3, 2.5, 2.5, 2.5),
    (EPSILON, "note"): (4, 4, 4, 5, 3, 4, 4, 5, 3, 4),
    (GAMMA, "note"): (3.5, None, 3.5, 3.5, None, 4, 3, None, 3.5, 3.5),
}
AGAIN: Values = ones((0,))
"""The new scores of gamma's coding, made after its stats."""
WIN_RATES = {
    # triage: (1/2 + 1 + 1) / 3, dose: 1, coding: 1 of beta and gamma, note: 1 of beta and epsilon
    ALPHA: (2.5 / 3 + 1 + 1 + 0.5) / 4,
    BETA: (2.5 / 3 + 0 + 0.5 + 0) / 4,
}
"""By hand; epsilon lacks coding, gamma dose and note, delta all."""
NAMED = (ALPHA, BETA)
"""The models whose records say who ran them."""
LATE = (EPSILON,)
"""The models that were scored two days ago; all others at START."""
JUDGED_BY = {ALPHA: "other makers", BETA: "same maker"}
VALIDATED = (BETA,)


def unit(model: str, scenario: str) -> str:
    """The run_spec_id of a run."""
    return f"{model}-{scenario}"


def plant_facts(lake: Path) -> Path:
    """Write the lake into an empty folder."""
    for scenario in BENCHMARKS:
        _plant_data(lake, scenario)
    for model, scenario in CELLS:
        _plant_run(lake, model, scenario)
    append(lake, "run_specs", [planned(ALPHA, "triage", SECOND)], "p-second")
    append(lake, "policy_decisions", [_denied()], "w-denied")
    for number, name in enumerate((WITHDRAWN, APPROVED)):
        manifest = _pin(lake, name, number)
        _review(lake, name, manifest)
    _score_again(lake)
    return lake


def spec_of(model: str, scenario: str) -> RunSpec:
    """A RunSpec as the plan makes it."""
    benchmark = BENCHMARKS[scenario]
    return RunSpec(
        run_spec_id=unit(model, scenario),
        name=f"{scenario}:model={model}",
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        model=model,
        model_deployment=model,
        deployment_fingerprint="f",
        adapter_spec=AdapterSpec(max_tokens=16),
        metrics=(MetricSpec(name=benchmark.metric),),
        annotators=(AnnotatorSpec(name="jury"),) if benchmark.metric == "jury_score" else (),
        groups=(),
        access_level=AccessLevel(benchmark.level),
        main_metric=benchmark.stat,
        main_split="test",
    )


def planned(model: str, scenario: str, suite: str = SUITE) -> SuiteRun:
    """A row of `run_specs`."""
    spec = spec_of(model, scenario)
    judged = {"judge_independence": JUDGED_BY[model]} if model in JUDGED_BY else {}
    return SuiteRun(
        suite=suite,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=START,
        locality=LOCALITIES[model],
        engine="canned",
        is_jury_validated=model in VALIDATED if spec.annotators else None,
        run_spec=spec,
        declared={**BENCHMARKS[scenario].declared, **(judged if spec.annotators else {})},
    )


def _comparability(model: str, scenario: str) -> dict[str, str]:
    parts = dict.fromkeys(PARTS, "same")
    parts["data"] = f"n=10 {scenario}"
    if (model, scenario) == (EPSILON, "coding"):
        parts["prompt"] = "other"
    return parts


def _plant_data(lake: Path, scenario: str) -> None:
    benchmark, write = BENCHMARKS[scenario], f"{scenario}-w"
    level = AccessLevel(benchmark.level)
    version = ScenarioVersion(
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        card_hash="c",
        access_level=level,
        display_name=benchmark.title,
        category=benchmark.category,
        subcategory=benchmark.subcategory,
        main_metric=benchmark.stat,
        main_split="test",
        verified=Verified.SAME_FORM,
        num_instances=10,
        num_quarantined=0,
        source="planted",
    )
    instances = [
        Instance(
            instance_id=f"{scenario}-i{index}",
            scenario_name=scenario,
            data_version=version.data_version,
            source_id=f"record-{index}",
            source_index=index,
            split=Split.TEST,
            input=f"{benchmark.title} case {index}",
            references=(Reference(text=f"right {index}", tags=("correct",)),),
            access_level=level,
        )
        for index in range(10)
    ]
    prompts = [
        Prompt(
            prompt_id=f"p-{row.instance_id}",
            render_id="render",
            subject_id=row.instance_id,
            access_level=level,
            text=f"{row.input}\nAnswer:",
        )
        for row in instances
    ]
    append(lake, "scenarios", [version], write)
    append(lake, "instances", instances, write)
    append(lake, "prompts", prompts, write)
    _record(lake, "ingest", version.data_version, write, START, run_by="ada")


def _record(
    lake: Path, stage: str, unit_id: str, write: str, at: datetime, run_by: str | None
) -> None:
    row = RunRecord(
        stage=stage,
        unit_id=unit_id,
        write_id=write,
        fingerprint=write,
        suite=SUITE,
        started_at=at,
        finished_at=at,
        counts={},
        code_version="0",
        spark_version="4",
        run_by=run_by,
    )
    append(lake, "runs", [row], write)


def _plant_run(lake: Path, model: str, scenario: str) -> None:
    spec, values = spec_of(model, scenario), CELLS[model, scenario]
    write = f"w-{spec.run_spec_id}"
    append(lake, "run_specs", [planned(model, scenario)], write)
    append(lake, "requests", [_request(spec, index) for index in range(10)], write)
    append(lake, "request_results", [_result(spec, index, model) for index in range(10)], write)
    append(
        lake,
        "per_instance_stats",
        [_scores(spec, i, v, model) for i, v in enumerate(values)],
        write,
    )
    if spec.annotators:
        verdicts = [
            _verdict(spec, index, judge, is_failed=value is None and judge == "j2")
            for index, value in enumerate(values)
            for judge in ("j1", "j2")
        ]
        append(lake, "annotations", verdicts, write)
    append(lake, "stats", [_stat(spec, values, _comparability(model, scenario))], write)
    at = datetime.now(UTC) - timedelta(days=2) if model in LATE else START
    for stage in ("plan", "annotate", "score", "summarize"):
        _record(lake, stage, spec.run_spec_id, write, at, "ada" if model in NAMED else None)


def _stat(spec: RunSpec, values: Values, comparability: dict[str, str]) -> Stat:
    scored = [(float(value), index) for index, value in enumerate(values) if value is not None]
    counts: dict[float, int] = {}
    for value, _ in scored:
        counts[value] = counts.get(value, 0) + 1
    scale = info(spec.main_metric, spec.metrics)
    summary = summarize(sorted(counts.items()), sum(v is None for v in values), scale)
    draws = mean_draws(
        np.array([index + 1 for _, index in scored], np.uint64),
        np.ones(len(scored)),
        np.array([value for value, _ in scored], np.float64),
    )
    return Stat(
        run_spec_id=spec.run_spec_id,
        name=spec.main_metric,
        split="test",
        perturbation="",
        **values_of(summary, Summary),
        comparability=comparability,
        draws=None if draws is None else tuple(draws.tolist()),
    )


def _key(spec: RunSpec, index: int) -> dict[str, object]:
    return {
        "run_spec_id": spec.run_spec_id,
        "instance_id": f"{spec.scenario_name}-i{index}",
        "perturbation": "",
        "train_trial_index": 0,
        "trial_index": 0,
    }


def _request(spec: RunSpec, index: int) -> PlannedRequest:
    return PlannedRequest(
        **_key(spec, index),  # type: ignore[arg-type]
        purpose=Purpose.EVALUATE,
        request_id=f"q-{spec.run_spec_id}-{index}",
        prompt_id=f"p-{spec.scenario_name}-i{index}",
        model_deployment=spec.model_deployment,
        decoding=Decoding(max_tokens=16),
        access_level=spec.access_level,
        estimated_tokens=8,
    )


def _result(spec: RunSpec, index: int, model: str) -> RequestResult:
    is_denied = model == DELTA
    text = f"{model} answers {spec.scenario_name} {index}"
    return RequestResult(
        request_id=f"q-{spec.run_spec_id}-{index}",
        model_deployment=model,
        access_level=spec.access_level,
        completed_at=START,
        engine_fingerprint="e",
        completions=() if is_denied else (Completion(text=text, finish_reason=FinishReason.STOP),),
        failure=FailureKind.DENIED if is_denied else None,
        prompt_tokens=40,
        completion_tokens=6,
        request_time=0.25,
    )


def _scores(spec: RunSpec, index: int, value: float | None, model: str) -> PerInstanceStats:
    status = ScoreStatus.OK
    if value is None:
        status = ScoreStatus.NO_ANSWER if model == DELTA else ScoreStatus.NO_VERDICT
    number = None if value is None else float(value)
    return PerInstanceStats(
        **_key(spec, index),  # type: ignore[arg-type]
        split="test",
        stats=(Score(name=spec.main_metric, value=number, status=status),),
    )


def _verdict(spec: RunSpec, index: int, judge: str, *, is_failed: bool) -> Annotation:
    return Annotation(
        **_key(spec, index),  # type: ignore[arg-type]
        annotator="jury",
        judge=judge,
        status=VerdictStatus.UNPARSEABLE if is_failed else VerdictStatus.OK,
        access_level=spec.access_level,
        scores=() if is_failed else (CriterionScore(criterion="accuracy", score=4.0),),
    )


def _denied() -> PolicyDecision:
    return PolicyDecision(
        suite=SUITE,
        run_name=spec_of(DELTA, "dose").name,
        role="model",
        subject=DELTA,
        model_deployment=DELTA,
        locality=LOCALITIES[DELTA],
        access_level=AccessLevel.GATED,
        allowed=False,
        rule="gated text reaches local and tenant alone",
        policy_version="p",
        decided_at=START,
    )


def _pin(lake: Path, release: str, minutes: int) -> str:
    """Pin what the lake has, as `release publish` does; a run in both suites once."""
    reader = open_reader(str(lake))
    copy, made_at = f"w-{release}", START + timedelta(minutes=minutes)
    members = []
    for model, scenario in CELLS:
        run, suite = unit(model, scenario), SUITE
        if (model, scenario) == (ALPHA, "triage"):
            suite = SECOND  # the one that is named last
        where = f"WHERE run_spec_id = '{run}'"
        stats = reader.rows(f"SELECT * FROM {{stats}} {where}", Stat)
        scores = reader.rows(f"SELECT * FROM {{per_instance_stats}} {where}", PerInstanceStats)
        append(
            lake,
            "release_stats",
            [_released_row(ReleasedStat, row, release) for row in stats],
            copy,
        )
        append(
            lake,
            "release_scores",
            [_released_row(ReleasedScores, row, release) for row in scores],
            copy,
        )
        write = f"w-{run}"
        writes = dict.fromkeys(("run_specs", "requests", "request_results", "annotations"), write)
        data = dict.fromkeys(("scenarios", "instances", "prompts"), f"{scenario}-w")
        members.append(
            ReleaseMember(
                release=release,
                status=ReleaseStatus.DRAFT,
                suite=suite,
                name=spec_of(model, scenario).name,
                run_spec_id=run,
                stats_write_id=write,
                created_at=made_at,
                manifest_hash="",
                writes={**writes, **data, "release_stats": copy, "release_scores": copy},
            )
        )
    manifest = _manifest(release, made_at)
    append(lake, "release_manifests", [manifest], copy)
    pinned = read_release(reader, members)
    members = [replace(row, value_hashes=pinned.hashes(row)) for row in members]
    written = manifest_hash(members, manifest)
    append(lake, "releases", [replace(row, manifest_hash=written) for row in members], copy)
    return written


def _manifest(release: str, made_at: datetime) -> ReleaseManifest:
    return ReleaseManifest(
        release=release,
        created_at=made_at,
        suites=(SUITE, SECOND),
        lacking=(),
        made_by="ada",
        ran_by=("ada",),
        num_unnamed=0,
        schema_hash="",
        taxonomy={},
        judges={},
        policy_version="p",
        policy="policy.yaml",
        delta_versions={"stats": 1},
        code_version="0",
        lake_schema_version=1,
    )


def _review(lake: Path, release: str, manifest: str) -> None:
    """Approved by bob; one of the two is withdrawn afterwards."""
    steps = [(ReleaseStatus.IN_REVIEW, ""), (ReleaseStatus.APPROVED, "")]
    steps += [(ReleaseStatus.WITHDRAWN, REASON)] if release == WITHDRAWN else []
    before = ReleaseStatus.DRAFT
    for minutes, (status, note) in enumerate(steps, start=10):
        change = ReleaseChange(
            release=release,
            manifest_hash=manifest,
            from_status=before,
            to_status=status,
            changed_by="bob",
            changed_at=START + timedelta(minutes=minutes),
            note=note,
        )
        append(lake, "release_changes", [change], "c")
        before = status


def _score_again(lake: Path) -> None:
    """Gamma's coding has new scores, and the stats of before."""
    spec = spec_of(GAMMA, "coding")
    rows = [_scores(spec, index, value, GAMMA) for index, value in enumerate(AGAIN)]
    append(lake, "per_instance_stats", rows, "w-again")
    _record(lake, "score", spec.run_spec_id, "w-again", START + timedelta(hours=1), None)


def _released_row(kind: type, row: object, release: str) -> object:
    names = [each.name for each in fields(row)]  # type: ignore[arg-type]
    return kind(release=release, **{name: getattr(row, name) for name in names})
