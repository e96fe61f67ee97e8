"""A lake of classifications whose every number is countable, written without a JVM.

Suite `clinic`. Referral: 200 letters, 40 urgent, the positive class; a missed one costs 10, a false
alarm 1. By right and predicted class (`-`: none of them):

    deployment     u>u  u>r  u>-   r>u  r>r  r>-   cost      confidence
    careful         34    4    2    16  140    4    80/200   0.9 where right, else 0.6
    alarmist        40    0    0   150   10    0   150/200   0.8
    quiet           10   30    0     2  158    0   302/200   no log-probabilities

Without a model, always urgent costs 160/200 and always routine 400/200. Triage: 60 cases of three
classes, no positive one. Notes: right or wrong, no class at all. Every answer took 40 and 6 tokens
and 0.25 seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import (
    Completion,
    Decoding,
    FinishReason,
    PlannedRequest,
    Purpose,
    RequestResult,
)
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion, Verified
from medhelm_spark.domain.stats import PerInstanceStats, Score, ScoreStatus, Stat
from medhelm_spark.metrics import run_metrics_for
from medhelm_spark.stages.summarize.run_summarizer import Observed, RunSummarizer
from tests.unit.board.planted import START, append, finish, stat

SUITE = "clinic"
CAREFUL, ALARMIST, QUIET = "careful", "alarmist", "quiet"
MODELS = (CAREFUL, ALARMIST, QUIET)
Counts = dict[tuple[int, int], int]
"""How many cases of a class (from 1 on) were given one; 0 is none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark: its metrics, its main one, and how each model answered."""

    title: str
    metrics: tuple[MetricSpec, ...]
    main: str
    counts: dict[str, Counts]


REFERRAL = Benchmark(
    title="Referral",
    metrics=(
        MetricSpec(name="exact_match"),
        MetricSpec(
            name="diagnostic_accuracy",
            args={
                "labels": "urgent|routine",
                "positive": "urgent",
                "costs": "urgent>routine=10|routine>urgent=1",
            },
        ),
        MetricSpec(name="calibration"),
    ),
    main="sensitivity",
    counts={
        CAREFUL: {(1, 1): 34, (1, 2): 4, (1, 0): 2, (2, 1): 16, (2, 2): 140, (2, 0): 4},
        ALARMIST: {(1, 1): 40, (2, 1): 150, (2, 2): 10},
        QUIET: {(1, 1): 10, (1, 2): 30, (2, 1): 2, (2, 2): 158},
    },
)
TRIAGE = Benchmark(
    title="Triage",
    metrics=(
        MetricSpec(name="diagnostic_accuracy", args={"labels": "emergency|urgent|routine"}),
        MetricSpec(name="classification", args={"labels": "emergency|urgent|routine"}),
    ),
    main="balanced_accuracy",
    counts={
        CAREFUL: {(1, 1): 8, (1, 2): 2, (2, 2): 18, (2, 3): 2, (3, 3): 28, (3, 0): 2},
        QUIET: {(1, 2): 4, (1, 3): 6, (2, 2): 10, (2, 3): 10, (3, 3): 30},
    },
)
NOTES = Benchmark(
    title="Notes",
    metrics=(MetricSpec(name="exact_match"),),
    main="exact_match",
    counts={CAREFUL: {(1, 1): 9, (1, 2): 3}, QUIET: {(1, 1): 6, (1, 2): 6}},
)
BENCHMARKS = {"referral": REFERRAL, "triage": TRIAGE, "notes": NOTES}


def unit(model: str, scenario: str) -> str:
    """The run_spec_id of a run."""
    return f"{model}-{scenario}"


def plant_clinic(lake: Path) -> Path:
    """Write the lake into an empty folder."""
    for scenario, benchmark in BENCHMARKS.items():
        size = max(sum(counts.values()) for counts in benchmark.counts.values())
        append(lake, "scenarios", [_version(scenario, benchmark, size)], f"{scenario}-w")
        finish(lake, "ingest", f"{scenario}-v1", f"{scenario}-w", -30)
        for model, counts in benchmark.counts.items():
            _plant_run(lake, model, scenario, counts)
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
        metrics=benchmark.metrics,
        annotators=(),
        groups=(),
        access_level=AccessLevel.PRIVATE,
        main_metric=benchmark.main,
        main_split="test",
    )


def _version(scenario: str, benchmark: Benchmark, size: int) -> ScenarioVersion:
    return ScenarioVersion(
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        card_hash="c",
        access_level=AccessLevel.PRIVATE,
        display_name=benchmark.title,
        category="Clinical Decision Support",
        subcategory="",
        main_metric=benchmark.main,
        main_split="test",
        verified=Verified.SAME_FORM,
        num_instances=size,
        num_quarantined=0,
        source="planted",
    )


def codes(counts: Counts) -> list[tuple[int, int]]:
    """Right and predicted class of each case."""
    return [pair for pair, number in counts.items() for _ in range(number)]


def confidence(model: str, right: int, chosen: int) -> float | None:
    """The model's confidence in an answer; None of a model without log-probabilities."""
    sure = {CAREFUL: 0.9 if right == chosen else 0.6, ALARMIST: 0.8}
    return sure.get(model)


def _values(model: str, right: int, chosen: int) -> dict[str, float | None]:
    return {
        "exact_match": float(right == chosen),
        "right_class": float(right),
        "given_class": float(chosen),
        "true_classes": float(1 << (right - 1)),
        "predicted_classes": float(1 << (chosen - 1)) if chosen else 0.0,
        "max_prob": confidence(model, right, chosen),
    }


def stats_of(spec: RunSpec, counts: Counts) -> Iterable[Stat]:
    """What summarize makes of these answers."""
    cases = [_values(spec.model_deployment, *pair) for pair in codes(counts)]
    if "exact_match" in {metric.name for metric in spec.metrics}:
        yield stat(spec.run_spec_id, "exact_match", [values["exact_match"] for values in cases])
    for index, (metric, params) in enumerate(run_metrics_for(spec.metrics)):
        observed = [
            Observed(
                run_spec_id=spec.run_spec_id,
                place=index,
                split="test",
                perturbation="",
                values=tuple(values[name] for name in metric.reads(params)),
                rows=1,
            )
            for values in cases
        ]
        yield from RunSummarizer({spec.run_spec_id: spec.metrics})(observed)


def _plant_run(lake: Path, model: str, scenario: str, counts: Counts) -> None:
    spec = spec_of(model, scenario)
    write = f"w-{spec.run_spec_id}"
    planned = SuiteRun(
        suite=SUITE,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=START,
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=spec,
    )
    pairs = codes(counts)
    append(lake, "run_specs", [planned], write)
    append(lake, "requests", [_request(spec, index) for index in range(len(pairs))], write)
    append(lake, "request_results", [_result(spec, index) for index in range(len(pairs))], write)
    append(lake, "per_instance_stats", _scores(spec, pairs), write)
    append(lake, "stats", list(stats_of(spec, counts)), write)
    for stage in ("plan", "annotate", "score", "summarize"):
        finish(lake, stage, spec.run_spec_id, write)


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
        access_level=AccessLevel.PRIVATE,
        estimated_tokens=8,
    )


def _result(spec: RunSpec, index: int) -> RequestResult:
    return RequestResult(
        request_id=f"q-{spec.run_spec_id}-{index}",
        model_deployment=spec.model_deployment,
        access_level=AccessLevel.PRIVATE,
        completed_at=START,
        engine_fingerprint="e",
        completions=(Completion(text="said", finish_reason=FinishReason.STOP),),
        prompt_tokens=40,
        completion_tokens=6,
        request_time=0.25,
    )


def _scores(spec: RunSpec, pairs: Sequence[tuple[int, int]]) -> list[PerInstanceStats]:
    return [
        PerInstanceStats(
            run_spec_id=spec.run_spec_id,
            instance_id=f"{spec.scenario_name}-i{index}",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            stats=tuple(
                Score(
                    name=name,
                    value=value,
                    status=ScoreStatus.OK if value is not None else ScoreStatus.NOT_APPLICABLE,
                )
                for name, value in _values(spec.model_deployment, *pair).items()
            ),
        )
        for index, pair in enumerate(pairs)
    ]
