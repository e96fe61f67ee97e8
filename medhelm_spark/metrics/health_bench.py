"""HealthBench: the points that an answer earns by its instance's own rubric.

The authors' rule (Arora et al. 2025, arXiv 2505.08775, and their evaluation code): the points of
all met items over the sum of the positive points. Negative items take away; a single answer may
fall below 0, and only the mean over answers is clipped to 0..1. The same over the items of one axis
gives that axis, over the instances of one theme that theme; an instance has no value on an axis
where it has no positive points. For Professional (arXiv 2604.27470) the authors also subtract
0.0147 for every 500 characters that an answer has beyond 2,000, and add it for those it lacks.

`jury_coverage` is the share of usable verdicts; params["incomplete_jury"] and params["missing"] say
what an answer gets that lacks one (see `rubric_points`), params["annotator"] whose verdicts count,
params["compared_by"] whose ratings enter `health_bench_professional_score@medhelm-0.8` (see
`health_bench_medhelm`).
"""

import json
from collections.abc import Sequence

from medhelm_spark.domain.annotation import TAGS, RubricItem, rubric_items
from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics import health_bench_medhelm as medhelm
from medhelm_spark.metrics.jury import COVERAGE
from medhelm_spark.metrics.metric import MEDHELM, Metric, Params, ScoreRow, unscored
from medhelm_spark.metrics.rubric_points import (
    Shares,
    check_missing,
    coverage_of,
    earned,
    refusal,
    score_of,
    shares_of,
    verdicts_of,
)

AXES = (
    "accuracy",
    "communication_quality",
    "completeness",
    "context_awareness",
    "instruction_following",
)
THEMES = (
    "communication",
    "complex_responses",
    "context_seeking",
    "emergency_referrals",
    "global_health",
    "health_data_tasks",
    "hedging",
)
LENGTH_CENTRE = 2000
LENGTH_PENALTY = 0.0147 / 500
"""What a character beyond the centre costs a Professional answer."""

_NEEDS = frozenset({"completions", "verdicts", "extra_data"})
_RULE = "Points earned over the positive points possible, by the physicians' own rubric."


def _points(name: str, label: str, rule: str = _RULE) -> MetricInfo:
    return MetricInfo(name=name, display_name=label, description=rule, clips_mean=True)


def _helm(name: str, label: str) -> MetricInfo:
    return MetricInfo(
        name=f"{name}{MEDHELM}",
        display_name=f"{label} (MedHELM 0.8)",
        description="MedHELM's sum, in which negative items earn points when they are met.",
    )


def _group(kind: str, name: str) -> MetricInfo:
    return _points(f"health_bench_{kind}_{name}", f"HealthBench, {name.replace('_', ' ')}")


_EMITS = (
    _points("health_bench_score", "HealthBench"),
    COVERAGE,
    _helm("health_bench_score", "HealthBench"),
    *(_group("axis", axis) for axis in AXES),
    *(_group("theme", theme) for theme in THEMES),
)
_PROFESSIONAL_EMITS = (
    _points("health_bench_professional_score", "HealthBench Professional"),
    COVERAGE,
    _helm("health_bench_professional_score", "HealthBench Professional"),
    _points(
        "health_bench_professional_length_adjusted",
        "HealthBench Professional, length adjusted",
        f"{_RULE} Less 0.0147 for every 500 characters beyond 2,000.",
    ),
)
_NAMES = tuple(info.name for info in _EMITS)
_PROFESSIONAL_NAMES = tuple(info.name for info in _PROFESSIONAL_EMITS)


def _health_bench(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state, params) for state in states]


def _row(state: RequestState, params: Params) -> ScoreRow:
    items, verdicts = rubric_items(state.extra_data), verdicts_of(state, params)
    if refused := refusal(state, items, verdicts):
        return unscored(_NAMES, refused)
    shares = shares_of(items, verdicts, params)
    value = earned(items, shares, params)
    return (
        score_of(_NAMES[0], value),
        coverage_of(items, verdicts),
        score_of(_NAMES[2], medhelm.plain(state, items, verdicts)),
        *(_of_axis(axis, items, shares, params) for axis in AXES),
        *_of_themes(state, value),
    )


def _of_axis(axis: str, items: Sequence[RubricItem], shares: Shares, params: Params) -> Score:
    tag = f"axis:{axis}"
    places = [place for place, item in enumerate(items) if tag in item.tags]
    value = earned([items[at] for at in places], [shares[at] for at in places], params)
    return score_of(f"health_bench_axis_{axis}", value)


def _of_themes(state: RequestState, value: float | ScoreStatus) -> ScoreRow:
    tags = json.loads(state.extra_data.get(TAGS, "[]"))
    return tuple(
        score_of(
            f"health_bench_theme_{theme}",
            value if f"theme:{theme}" in tags else ScoreStatus.NOT_APPLICABLE,
        )
        for theme in THEMES
    )


def _professional(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_professional_row(state, params) for state in states]


def _professional_row(state: RequestState, params: Params) -> ScoreRow:
    items, verdicts = rubric_items(state.extra_data), verdicts_of(state, params)
    if refused := refusal(state, items, verdicts):
        return unscored(_PROFESSIONAL_NAMES, refused)
    value = earned(items, shares_of(items, verdicts, params), params)
    length = len(state.completions[0].text) if state.completions else 0
    malus = LENGTH_PENALTY * (length - LENGTH_CENTRE)
    values = (
        value,
        medhelm.professional(state, items, verdicts, params),
        value if isinstance(value, ScoreStatus) else value - malus,
    )
    score, helm, adjusted = map(score_of, (_PROFESSIONAL_NAMES[at] for at in (0, 2, 3)), values)
    return (score, coverage_of(items, verdicts), helm, adjusted)


HEALTH_BENCH = Metric(
    fn=_health_bench, needs=_NEEDS, emits=_EMITS, version="2", preflight=check_missing
)
HEALTH_BENCH_PROFESSIONAL = Metric(
    fn=_professional, needs=_NEEDS, emits=_PROFESSIONAL_EMITS, version="2", preflight=check_missing
)
